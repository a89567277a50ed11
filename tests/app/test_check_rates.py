"""`australis check --rate`: rates, verdicts and exit codes, where costs come from, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.app.files import NAMES, NETWORK, REPORTS, australis, write

from australis.app.checking import rehearsal
from australis.engine.store.home import CATALOG
from australis.errors import EngineError, Problem

COSTS = {
    "boxes": {
        "across": {"tuple_us": 10, "selectivity": [0.5, 0.5]},
        "count": {"tuple_us": 20, "selectivity": [0.01]},
        "named": {"tuple_us": 40, "selectivity": [1]},
    },
    "inputs_us": {"reports": 1},
    "outputs_us": {"near": 2},
    "train_us": 80_000,
}
GRAPHS = "{delay: [[0, 1], [0.05, 1], [1, 0]], loss: [[0, 0], [0.5, 0.9], [1, 1]]}"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "net.yaml", NETWORK)
    write(tmp_path / "graphs.yaml", NETWORK.replace("{from: named}", f"{{from: named, quality: {GRAPHS}}}"))
    write(tmp_path / "costs.json", json.dumps(COSTS))
    write(tmp_path / "reports.csv", REPORTS)
    write(tmp_path / "names.csv", NAMES)
    return tmp_path


def analysis(*arguments: str, code: int = 0) -> dict[str, Any]:
    answer = australis("check", *arguments, "--json")
    assert answer.exit_code == code, answer.output
    found: dict[str, Any] = json.loads(answer.stdout)
    assert found["valid"]
    said: dict[str, Any] = found["analysis"]
    return said


WITH_COSTS = ("net.yaml", "--costs=costs.json", "--capacity=1")


def test_a_load_that_fits() -> None:
    answer = australis("check", *WITH_COSTS, "--rate", "reports=20000/s", "--capacity=2")
    assert answer.exit_code == 0
    lines = answer.stdout.splitlines()
    assert lines[0] == "soldiers is valid: 1 input, 1 stored table, 3 boxes, 2 outputs"
    assert [line.split() for line in lines if line.startswith(("across", "count "))] == [
        ["across", "20,000", "20,000", "10.000", "1", "0.200"],
        ["count", "10,000", "100", "20.000", "0.01", "0.200"],
    ]
    assert "soldiers fits: it needs 0.840 of 2 cores" in lines
    assert "  bottleneck  named: 0.400 of the 1 core that it can have" in lines


def test_everything_as_json() -> None:
    found = analysis(*WITH_COSTS, "--rate=reports=20k/s", "--headroom=0.5")
    assert (found["verdict"], found["capacity"], found["headroom"]) == ("tight", 1, 0.5)
    assert found["min_cap"] == pytest.approx(0.84)
    assert found["excess"] == pytest.approx(0.34)
    assert found["shed"] == pytest.approx(0.34 / 0.84)
    assert found["inputs"]["reports"]["cores"] == pytest.approx(0.02)
    assert found["outputs"]["near"]["received"] == 10_000
    assert found["costs"]["boxes"]["across"] == COSTS["boxes"]["across"]  # type: ignore[index]
    assert found["delays"] == []


def test_a_load_without_room_for_ad_hoc_queries() -> None:
    answer = australis("check", *WITH_COSTS, "--rate=reports=20k/s", "--headroom=0.5")
    assert answer.exit_code == 0
    assert "soldiers fits, without room for ad hoc queries: it needs 0.840 of 1 core" in answer.stdout


def test_a_load_that_is_too_much() -> None:
    answer = australis("check", *WITH_COSTS, "--rate=reports=50k/s")
    assert answer.exit_code == 3
    assert "soldiers is overloaded: it needs 2.100 of 1 core" in answer.stdout
    assert "crowded     across, count, named: one partition, and so one core, for 2.000" in answer.stdout
    assert "52.4% of every input" in answer.stdout
    assert "without a loss or value graph" in answer.stdout


def test_what_the_shedder_would_do() -> None:
    rate = ("--costs=costs.json", "--capacity=1", "--rate=reports=30k/s")
    found = analysis("graphs.yaml", *rate, code=3)
    (place,) = found["shedding"]["boxes"]
    kept = 1 - found["shedding"]["boxes"][place]["rate"]
    assert place == "named", "it leads to the only output that may lose tuples"
    assert found["shedding"]["delivered"]["near"] == pytest.approx(kept)
    assert found["shedding"]["recovered"] == pytest.approx(found["excess"])
    assert "of what comes to named" in australis("check", "graphs.yaml", *rate).stdout


def test_a_good_zone_that_no_train_can_reach() -> None:
    answer = australis("check", "graphs.yaml", "--costs=costs.json", "--rate=reports=1/s")
    assert answer.exit_code == 0
    zone = "warning: soldiers.near can never be in its good zone, which ends at 0.05 s: a train and "
    assert zone + "reports > across > named take 0.0801 s, 0.0301 s more" in answer.stderr
    faster = australis("check", "graphs.yaml", "--costs=costs.json", "--rate=reports=1/s", "--train-ms=20")
    assert "good zone" not in faster.stderr


@pytest.mark.parametrize(("text", "rate"), [("20000/s", 20_000), ("5/min", 1 / 12), ("3.6M/h", 1_000)])
def test_rates(text: str, rate: float) -> None:
    found = analysis(*WITH_COSTS, f"--rate=reports={text}")
    assert found["inputs"]["reports"]["received"] == pytest.approx(rate)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--rate=poz=5/s"], "--rate poz=5/s: there is no input 'poz'; the inputs are reports"),
        (["--rate=names=5/s"], "--rate names=5/s: 'names' is a stored table, which has no rate"),
        (["--rate=reports=many"], "'many' is no rate; expected tuples per time"),
        (["--rate=reports"], "'reports' is no rate; expected tuples per time"),
        (["--rate=reports=0/s"], "would bring no tuple, ever"),
        (["--rate=reports=5/s", "--rate=reports=6/s"], "--rate reports is given twice"),
        (["--capacity=2"], "--capacity is for the analysis of a load: add --rate NAME=N/s"),
        (["--train-ms=2"], "--train-ms is for the analysis of a load"),
        (["--rate=reports=5/s", "--headroom=2"], "Invalid value for '--headroom'"),
        (["--rate=reports=5/s", "--capacity=0"], "Invalid value for '--capacity'"),
        (["--rate=reports=5/s", "--capacity=nan"], "'--capacity': nan is not a finite number"),
        (["--rate=reports=5/s", "--train-ms=inf"], "'--train-ms': inf is not a finite number"),
        (["--rate=reports=5/s", "--costs=none.json"], "--costs none.json: No such file"),
        (["--rate=reports=5/s", "--costs=net.yaml"], "--costs net.yaml: is not a file of costs"),
        (["--rate=reports=5/s", "--costs=costs.json", "--root=x"], "--root and --costs both tell the costs"),
        (
            ["--rate=reports=5/s", "--calibrate=x=y"],
            "there is no input 'x'; the inputs are reports, names",
        ),
    ],
)
def test_what_is_refused(arguments: list[str], message: str) -> None:
    answer = australis("check", "net.yaml", *arguments)
    assert answer.exit_code == 2
    assert message in answer.stderr
    assert answer.stdout == ""


def test_every_input_needs_a_rate() -> None:
    write(Path("two.yaml"), NETWORK.replace("inputs:\n", "inputs:\n  more: {schema: {a: int}}\n"))
    answer = australis("check", "two.yaml", "--rate=reports=5/s")
    assert (answer.exit_code, answer.stdout) == (2, "")
    assert "no rate for more: add, for example, --rate more=1000/s" in answer.stderr


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"boxes": {"across": COSTS["boxes"]["across"]}}, "has no box 'count'; it has across"),  # type: ignore[index]
        ({"boxes": {"across": {"tuple_us": -1, "selectivity": [1, 1]}}}, "-1 is not a cost or a selectivity"),
        ({"boxes": {"across": {"tuple_us": 1, "selectivity": [1]}}}, "2 output ports, and 1 selectivities"),
        ({"boxes": {"across": {}}}, "is not a file of costs (KeyError: 'tuple_us')"),
    ],
)
def test_files_that_are_not_costs(change: dict[str, Any], message: str) -> None:
    write(Path("bad.json"), json.dumps(COSTS | change))
    answer = australis("check", "net.yaml", "--rate=reports=5/s", "--costs=bad.json")
    assert answer.exit_code == 2
    assert message in answer.stderr


def test_costs_are_measured_where_none_are_given() -> None:
    found = analysis("net.yaml", "--rate=reports=1000/s", "--tuples=20000", "--capacity=64", "--no-rehearse")
    assert found["verdict"] == "fits"
    assert all(found["costs"]["boxes"][box]["tuple_us"] > 0 for box in ("across", "count"))
    assert 0 < found["costs"]["boxes"]["count"]["selectivity"][0] < 1
    assert found["costs"]["train_us"] > 0


def test_what_a_node_needs_besides_boxes_counts() -> None:
    rate = ("net.yaml", "--rate=reports=1000/s", "--tuples=9000", "--capacity=64")
    whole, boxes = analysis(*rate), analysis(*rate, "--no-rehearse")
    assert boxes["costs"]["node_us"] == 0.0
    assert whole["costs"]["node_us"] > 0.0
    assert whole["node"]["cores"] == pytest.approx(whole["costs"]["node_us"] * 1_000 / 1e6)
    parts = [load["cores"] for part in ("inputs", "boxes", "outputs") for load in whole[part].values()]
    assert whole["min_cap"] == pytest.approx(sum(parts) + whole["node"]["cores"])
    answer = australis("check", *WITH_COSTS, "--rate=reports=20k/s")
    assert "trains and commits" not in answer.stdout, "the file of costs does not tell"


def test_what_a_node_needs_besides_can_be_in_a_file() -> None:
    write(Path("more.json"), json.dumps(COSTS | {"node_us": 10}))
    rate = ("net.yaml", "--costs=more.json", "--capacity=1", "--rate=reports=20k/s")
    answer = australis("check", *rate)
    assert "soldiers is overloaded: it needs 1.040 of 1 core" in answer.stdout
    assert "trains and commits" in answer.stdout
    found = analysis("graphs.yaml", *rate[1:], code=3)
    # Of 0.8 cores for boxes and outputs, what is shed also saves its part of the 0.2.
    assert found["shedding"]["recovered"] == pytest.approx(0.04)


def test_a_network_that_no_node_can_rehearse_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> float:
        raise EngineError(Problem("node", "cannot start"))

    monkeypatch.setattr(rehearsal, "_rehearse", refuse)
    found = analysis("net.yaml", "--rate=reports=1000/s", "--tuples=2000", "--capacity=64")
    assert found["costs"]["node_us"] == 0.0
    assert any(note.startswith("a node could not rehearse it") for note in found["notes"])


def test_costs_are_measured_with_the_tuples_of_files() -> None:
    files = ("--calibrate=reports=reports.csv", "--calibrate=names=names.csv")
    found = analysis("net.yaml", "--rate=reports=1/s", *files, "--no-rehearse")
    assert found["costs"]["boxes"]["across"]["selectivity"] == [0.75, 0.25]
    assert "only 8 tuples were measured: in short batches each costs more" in found["notes"]


def test_what_was_printed_can_be_asked_again() -> None:
    first = australis("check", *WITH_COSTS, "--rate=reports=5/s", "--json").stdout
    write(Path("known.json"), first)
    again = australis("check", *WITH_COSTS, "--rate=reports=5/s", "--costs=known.json", "--json")
    assert again.stdout == first


def test_a_file_without_tuples_measures_nothing(folder: Path) -> None:
    write(folder / "reports.csv", "sid,time,pos\n")
    answer = australis("check", "net.yaml", "--rate=reports=1/s", "--calibrate=reports=reports.csv")
    assert (answer.exit_code, answer.stdout) == (1, "")
    assert answer.stderr.startswith("australis: soldiers: there is no tuple to measure with")


@pytest.mark.usefixtures("spark")
def test_costs_are_known_from_a_node(folder: Path) -> None:
    files = ("-i", "reports=reports.csv", "-i", "names=names.csv")
    assert australis("run", "net.yaml", *files, "--root=root", "--flush").exit_code == 0
    assert (folder / "root" / CATALOG).is_file()
    found = analysis("net.yaml", "--rate=reports=8/s", "--root=root")
    emitted = {name: (load["received"], load["emitted"]) for name, load in found["boxes"].items()}
    assert emitted == {"across": (8, 8), "count": (6, 3), "named": (2, 2)}
    assert found["costs"]["train_us"] > 0
    write(folder / "other.yaml", NETWORK.replace("across", "beyond"))
    refused = australis("check", "other.yaml", "--rate=reports=8/s", "--root=root")
    assert refused.exit_code == 1
    assert "expected the root of this very network" in refused.stderr
