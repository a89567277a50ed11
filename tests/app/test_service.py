"""What a run says of outputs with graphs: what each got and is worth, and what was shed where."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from tests.app.files import australis, write

from australis.app.running.on_node import _print_line
from australis.app.showing.losses import Loss, losses_between
from australis.app.showing.progress import ProgressSample
from australis.app.showing.served_quality import Service
from australis.engine.ledger.counts.drops import Entry
from australis.engine.observe.inspect import look
from australis.engine.observe.quality import OutputQuality, QualityReport
from australis.engine.observe.statistics import OutputStatistics, Statistics, SuperboxStatistics

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
LEVELS = "tank,level\na,95\nb,50\nc,99\nd,5\n"

FULL = OutputQuality(1_000, 80.0, 120.0, 150.0, 1.0, None, None, 5.0, 1.0, 1.0, 1.0, 5.0)
POOR = OutputQuality(700, 80.0, 1_500.0, 1_900.0, 0.702, None, None, 0.35, 0.7, 0.75, 0.667, 1.0)
NONE = OutputQuality(0, None, None, None, 1.0, None, None, None, None, None, None, 2.0)
REPORT = QualityReport(60, {"guard": FULL, "report": POOR, "idle": NONE}, 5.35, 6.0)


def entry(number: int, superbox: str, arrived: int, shed: int, where: str = "") -> Entry:
    return Entry(number, superbox, "s", where, 0.5, 0, None, arrived, shed)


def test_losses_are_told_place_by_place() -> None:
    superbox = SuperboxStatistics((), 0, 0, 0, None, None, ("report", "screen"))
    before = [entry(1, "here", 100, 50), entry(2, "there", 10, 5)]
    after = [
        entry(1, "here", 160, 80),
        entry(2, "there", 10, 5),
        entry(3, "here", 40, 8, "v < 1"),
        entry(4, "there", 10, 0),
        entry(5, "gone", 10, 5),
    ]
    (found,) = losses_between(before, after, {"here": superbox, "there": superbox})
    assert (found.superbox, found.stream, found.arrived, found.shed) == ("here", "s", 100, 38)
    assert [each.number for each in found.dropboxes] == [1, 3]
    assert str(found) == "of 100, meant for report, screen; by 2 drop boxes, the last: 50.0% of v < 1"
    assert json.loads(json.dumps(found.as_dict()))["shed"] == 38


def test_service_for_people_and_for_programs() -> None:
    service = Service(REPORT, (Loss("summary", "s", ("report",), (entry(1, "summary", 1_000, 298),)),))
    assert list(service.lines()) == [
        "  utility 5.35 of 6",
        "    report  0.35 of 1: delay 0.70, loss 0.75, value 0.67",
    ]
    told = service.as_dict()
    assert (told["utility"], told["utility_most"], told["shed"][0]["superbox"]) == (5.35, 6.0, "summary")
    assert service.output_dict("guard") == {
        "utility": 5.0,
        "by_delay": 1.0,
        "by_loss": 1.0,
        "by_value": 1.0,
        "weight": 5.0,
    }


def test_a_line_of_a_run_under_way(capsys: pytest.CaptureFixture[str]) -> None:
    plain = Statistics("plant", 0, {}, {"guard": OutputStatistics(7, 1.0, 1.0, 1.0, {})}, {}, {})
    _print_line(ProgressSample(2.04, {"readings": 9}, plain))
    shed = replace(plain, bytes=5, disk=5, quality=REPORT, shed={"report": 298})
    _print_line(ProgressSample(2.04, {"readings": 9}, shed))
    first, second = (json.loads(line) for line in capsys.readouterr().out.splitlines())
    assert first == {"seconds": 2.0, "inputs": {"readings": 9}, "outputs": {"guard": 7}, "waiting": 0}
    delivered = {"guard": 1.0, "report": 0.702, "idle": 1.0}
    assert second == first | {
        "utility": 5.35,
        "delivered": delivered,
        "shed": {"report": 298},
        "held_back": True,
    }


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "net.yaml", NETWORK)
    write(tmp_path / "levels.csv", LEVELS)
    return tmp_path


@pytest.mark.usefixtures("spark")
def test_a_run_tells_what_it_was_worth(folder: Path) -> None:
    run = ("run", "net.yaml", "-i", "levels=levels.csv", "--root=root", "-o", "alarms=alarms.csv", "-o")
    answer = australis(*run, "notes=notes.csv", "--metrics=0", "--disk=1GB")
    assert answer.exit_code == 0, answer.output
    said = answer.stderr.splitlines()
    assert said[0].startswith("australis: metrics at http://127.0.0.1:")
    assert said[-1] == "  utility 4.00 of 4"
    assert [line.split()[:7] for line in said if line.startswith(("  alarms", "  notes"))] == [
        ["alarms", "2", "0", "0", "0", "0", "100.0%"],
        ["notes", "1", "0", "0", "0", "0", "100.0%"],
    ]
    write(folder / "levels.csv", LEVELS + "e,91\n")
    found = json.loads(australis(*run, "notes=notes.csv", "--json").stdout)
    assert (found["utility"], found["utility_most"], found["shed"]) == (3.0, 3.0, [])
    assert found["outputs"]["alarms"]["tuples"] == 1
    assert found["outputs"]["alarms"]["utility"] == 3.0
    assert found["outputs"]["notes"]["utility"] is None, "nothing was due in this run"
    assert look(folder / "root").disk is None, "that of the last run"


@pytest.mark.usefixtures("spark")
def test_what_is_shed_is_told(folder: Path) -> None:
    """With next to no time for its boxes, a run sheds where it may, and says so."""
    source = "levels=generator:seed=1,tuples=20k,level=uniform(0,100)"
    run = ("run", "net.yaml", "-i", source, "--rate=10k/s", "--headroom=0.000001", "--root=root")
    answer = australis(*run, "--json", "-o", "notes=notes.csv")
    assert answer.exit_code == 0, answer.output
    found = json.loads(answer.stdout)
    (loss,) = found["shed"]
    assert (loss["superbox"], loss["outputs"]) == ("high", ["alarms"])
    assert found["outputs"]["alarms"]["shed"] == loss["shed"] > 0
    assert found["outputs"]["alarms"]["fraction"] == pytest.approx(1 - loss["shed"] / 20_000, abs=1e-6)
    assert found["outputs"]["notes"]["fraction"] == 1.0
    known = look(folder / "root")
    assert known.shed == {"alarms": loss["shed"]}
    assert known.standing == [], "they go with the node"
    assert (
        sum(each["shed"] for each in json.loads(australis("stats", "root", "--shed", "--json").stdout))
        == (loss["shed"])
    )


@pytest.mark.parametrize("place", ["http", "70000", "localhost:"])
def test_what_is_no_port(folder: Path, place: str) -> None:
    answer = australis("run", "net.yaml", "-i", "levels=levels.csv", f"--metrics={place}")
    assert answer.exit_code == 2
    assert "is no port: try 9464 or 0.0.0.0:9464" in answer.stderr
