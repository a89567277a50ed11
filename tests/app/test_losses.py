"""What a run loses nobody overlooks: a table by output, and a warning; files are never shed unasked."""

from __future__ import annotations

import json
import signal
import subprocess
import threading
from pathlib import Path

import pyarrow as pa
import pytest
from tests.app.files import australis, write
from tests.app.running import COMMAND

from australis import Node
from australis.algebra.form import loads
from australis.app.running.conductor import Conductor
from australis.app.showing.losses import Loss
from australis.app.showing.run_losses import OutputResult, RunLosses
from australis.engine.ledger import Entry
from australis.engine.sources import Delivery, Options, parse_source
from australis.errors import EngineError

NETWORK = """\
australis: 1
name: tanks
inputs:
  levels: {schema: {tank: string, level: double}}
boxes:
  high: {box: filter, from: levels, predicates: [level > 90]}
  low: {box: filter, from: levels, predicates: [level < 10]}
outputs:
  alarms:
    {from: high, quality: {delay: [[0, 1], [600, 1], [900, 0]], loss: [[0, 0], [1, 1]], weight: 3}}
  notes: {from: low}
"""
COUNTED = """\
australis: 1
name: vans
inputs:
  reports: {schema: {van: int not null, at: long, speed: double}}
boxes:
  counts: {box: aggregate, from: reports, functions: {n: count(*)}, order: {on: at}, size: 10}
outputs:
  counts: {from: counts, quality: {loss: [[0, 0], [1, 1]]}}
  all: {from: reports}
"""
ROWS = 20_000
OVERLOAD = ("--headroom=0.000001", "--batch=500", "--train=500", "--runner=light[1]")
"""Next to no time for boxes: whoever may shed sheds."""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "tanks.yaml", NETWORK)
    write(tmp_path / "vans.yaml", COUNTED)
    lines = "".join(f"t{n % 9},{95 if n % 4 else 5}\n" for n in range(ROWS))
    write(tmp_path / "levels.csv", f"tank,level\n{lines}")
    return tmp_path


# --- files are never shed unasked


@pytest.mark.parametrize(
    "source", ["levels.csv", "incoming", f"generator:seed=1,tuples={ROWS},level=uniform(91,99)"]
)
def test_what_has_an_end_is_never_shed_unasked(folder: Path, source: str) -> None:
    (folder / "incoming").mkdir()
    (folder / "incoming" / "levels.csv").symlink_to(folder / "levels.csv")
    answer = australis(
        "run", "tanks.yaml", "-i", f"levels={source}", "-o", "alarms=a.csv", *OVERLOAD, "--json"
    )
    assert answer.exit_code == 0, answer.output
    found = json.loads(answer.stdout)
    assert found["lost"] == {"late": {}, "shed": {}, "quarantined": {}}
    assert found["outputs"]["alarms"]["fraction"] == 1.0
    assert found["outputs"]["alarms"]["tuples"] + found["outputs"]["notes"]["tuples"] == ROWS
    assert answer.stderr == ""


def test_a_file_is_shed_if_asked_for(folder: Path) -> None:
    answer = australis(
        "run", "tanks.yaml", "-i", "levels=levels.csv", "-o", "alarms=a.csv", *OVERLOAD, "--shed"
    )
    assert answer.exit_code == 0, answer.output
    said = answer.stderr.splitlines()
    warning = said.index(next(line for line in said if line.startswith("WARNING")))
    assert said[warning].startswith("WARNING: this run lost tuples, so its results are incomplete: ")
    assert said[warning].endswith(" shed")
    assert said[warning + 1].startswith("  output alarms: ")
    assert " shed at high (for alarms): more came than could be processed in time" in said[warning + 2]
    assert said[warning + 2].endswith("use more cores, a lower rate, or --no-shed")
    assert len(said) == warning + 3, "it is the last that is said"


@pytest.mark.parametrize(("option", "is_shed"), [((), True), (("--no-shed",), False)])
def test_a_stream_is_shed_unless_forbidden(option: tuple[str, ...], is_shed: bool) -> None:
    source = f"levels=generator:seed=1,tuples={ROWS},level=uniform(91,99)"
    answer = australis("run", "tanks.yaml", "-i", source, "--rate=20k/s", *OVERLOAD, "--json", *option)
    found = json.loads(answer.stdout)
    assert list(found["lost"]["shed"]) == (["high"] if is_shed else [])
    assert ("WARNING" in answer.stderr) is is_shed


def test_files_wait_until_there_is_room(folder: Path) -> None:
    """No more tuples wait than may: the next are brought when those before have gone through."""
    waited = []
    with Node(runner="light[1]", train=100) as node:
        node.deploy(loads(NETWORK, ".yaml"))
        schema = loads(NETWORK, ".yaml").inputs["levels"].schema
        source = parse_source("levels", "levels.csv", schema, Options(batch=1_000))

        def heard(delivery: Delivery) -> None:
            waited.append(node.statistics().waiting)

        assert Conductor(node, [source], [], flush=False, heard=heard, waiting_most=3_000).run()
    assert len(waited) == ROWS / 1_000
    assert max(waited) <= 3_000


# --- what is lost is said


@pytest.fixture
def late(folder: Path) -> Path:
    """Of nine rows one is no row, and two are late."""
    return write(
        folder / "reports.csv",
        "van,at,speed\n1,1,5\n1,30,5\n1,2,5\n1,3,5\n1,fast,5\n1,60,5\n1,90,5\n1,120,5\n1,121,5\n",
    )


ENGINES = [("--engine=kernels",), ("--engine=reference",), ("--runner=light[1]",)]


@pytest.mark.usefixtures("late")
@pytest.mark.parametrize("engine", ENGINES)
def test_every_engine_tells_of_every_output(engine: tuple[str, ...]) -> None:
    answer = australis("run", "vans.yaml", "-i", "reports=reports.csv", "-o", "counts=c.csv", *engine)
    assert answer.exit_code == 0, answer.output
    said = answer.stderr.splitlines()
    header, *table = (line.split() for line in said[said.index(next(s for s in said if " late " in s)) :])
    rows = {row[0]: row for row in table[:2]}
    counts, everything = (dict(zip(header, rows[name], strict=False)) for name in ("counts", "all"))
    assert (counts["late"], counts["quarantined"], counts["delivered"]) == ("2", "1", "66.7%")
    assert (everything["late"], everything["quarantined"], everything["delivered"]) == ("0", "1", "88.9%")
    warning = said.index(
        "WARNING: this run lost tuples, so its results are incomplete: 2 late, 1 quarantined"
    )
    assert said[warning + 1 : warning + 5] == [
        "  output counts: 66.7% delivered, 2 late, 1 quarantined",
        "  output all: 88.9% delivered, 1 quarantined",
        "  2 late at counts: they came later than its order admits: raise its slack, or its input's",
        "  1 quarantined at reports: --output quarantine=FILE keeps them",
    ]


@pytest.mark.usefixtures("late")
def test_the_utility_counts_late_tuples() -> None:
    answer = australis(
        "run", "vans.yaml", "-i", "reports=reports.csv", "--runner=light[1]", "--json", "--flush"
    )
    counts = json.loads(answer.stdout)["outputs"]["counts"]
    assert (counts["late"], counts["shed"], counts["quarantined"], counts["waiting"]) == (2, 0, 1, 0)
    assert counts["fraction"] == pytest.approx(6 / 9, abs=1e-6)
    assert counts["by_loss"] == pytest.approx(6 / 9)
    assert counts["utility"] == pytest.approx(6 / 9)


@pytest.mark.usefixtures("late")
def test_a_root_tells_of_each_run_and_of_all(folder: Path) -> None:
    run = ("run", "vans.yaml", "-i", "reports=reports.csv", "--root=root", "--runner=light[1]", "--strict")
    first = australis(*run)
    assert first.exit_code == 1, "--strict: something was lost"
    assert (
        "  1 quarantined at reports: kept in root, and --output quarantine=FILE writes them\n" in first.stderr
    )
    with open(folder / "reports.csv", "a") as file:
        file.write("1,150,5\n")
    again = australis(*run)
    assert again.exit_code == 0, again.output
    assert "WARNING" not in again.stderr
    found = json.loads(australis("stats", "root", "--json").stdout)
    assert found["outputs"]["counts"]["late"] == 2
    assert found["outputs"]["counts"]["quarantined"] == 1
    assert found["outputs"]["counts"]["fraction"] == pytest.approx(9 / 10 * 7 / 9)
    shown = australis("stats", "root").stdout
    words = [" ".join(line.split()) for line in shown.splitlines()]
    assert "output tuples late quarantined waiting delivered delay p50 p95 utility" in words


@pytest.mark.usefixtures("heeding_signals")
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_run_that_is_ended_warns_as_well(folder: Path, late: Path, number: int, code: int) -> None:
    options = (
        "-i",
        "reports=reports.csv",
        "-o",
        "all=all.csv",
        "--follow",
        "--root=root",
        "--runner=light[1]",
    )
    with subprocess.Popen(
        [*COMMAND, "run", "vans.yaml", *options], cwd=folder, stderr=subprocess.PIPE, text=True
    ) as process:
        until_written(folder / "all.csv", 9)
        process.send_signal(number)
        _, said = process.communicate(timeout=100)
    assert process.returncode == code, said
    assert "WARNING: this run lost tuples, so its results are incomplete: 2 late, 1 quarantined\n" in said
    assert said.index("australis: interrupted") < said.index("WARNING")


def until_written(path: Path, lines: int) -> None:
    """Wait until a file has so many lines."""
    pause = threading.Event()
    for _ in range(1_000):
        if path.exists() and len(path.read_text().splitlines()) >= lines:
            return
        pause.wait(0.1)
    raise AssertionError(f"{path} has no {lines} lines")


# --- the words


def test_nothing_is_said_where_nothing_was_lost() -> None:
    losses = RunLosses({"a": OutputResult(5)}, {}, {}, (), {})
    losses.refuse()
    assert not losses
    assert losses.as_dict() == {"late": {}, "shed": {}, "quarantined": {}}
    assert list(losses.lines()) == []


def test_all_that_can_be_lost() -> None:
    entry = Entry(1, "high", "s", "", 0.5, 0, None, 4_000, 1_000)
    losses = RunLosses(
        {"a": OutputResult(5), "b": OutputResult(5, 1, 1_000, 2, fraction=0.7)},
        {"windows": 1},
        {"timed": 3},
        (Loss("high", "s", ("b",), (entry,)),),
        {"reports": 2},
        ["tanks.reports: line 3: no"],
    )
    assert losses.headline().endswith(": late at 2 places, 1,000 shed, 2 quarantined")
    assert losses.as_dict() == {
        "late": {"windows": 1, "timed": 3},
        "shed": {"high": 1_000},
        "quarantined": {"reports": 2},
    }
    assert list(losses.lines()) == [
        "  output b: 70.0% delivered, 1 late, 1,000 shed, 2 quarantined",
        "  1 late at windows: it came later than its order admits: raise its slack, or its input's",
        "  3 late at timed: they came after the windows had timed out: raise its timeout",
        "  1,000 of 4,000 shed at high (for b): more came than could be processed in time; use more cores, "
        "a lower rate, or --no-shed",
        "  2 quarantined at reports: --output quarantine=FILE keeps them",
        "    tanks.reports: line 3: no",
        "    ... and 1 more",
    ]
    with pytest.raises(EngineError, match=r"1,000 shed, 2 quarantined \(--strict\)\n  output b: 70.0%"):
        losses.refuse()


def test_a_quarantined_tuple_of_a_program_counts_too() -> None:
    with Node(runner="light[1]") as node:
        node.deploy(loads(COUNTED, ".yaml"))
        van = pa.array([1, None], pa.int32())
        node.push("reports", pa.table({"van": van, "at": [1, 2], "speed": [1.0, 2.0]}))
        node.drain()
        assert node.statistics().outputs["all"].quarantined == 1
