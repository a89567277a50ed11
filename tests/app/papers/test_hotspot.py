"""`australis simulate hotspots` and `recovery`: text, JSON and pictures; here and on processes."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest
from tests.app.files import australis

from australis.app.papers.hotspot import report as hotspots_report
from australis.app.papers.jobs import mapper
from australis.app.papers.recover import report as recovery_report
from australis.sim.hotspot import experiments
from australis.sim.hotspot.workload import Setting
from australis.sim.recover import experiments as recovery_experiments
from australis.sim.recover import pipeline
from australis.sim.recover.experiments import Frequency


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs of three minutes with few peers, in few variants."""
    monkeypatch.setattr(experiments, "Setting", lambda: replace(Setting(), minutes=3, peers=12))
    monkeypatch.setattr(experiments, "LEVELS", (3, 7))
    monkeypatch.setattr(experiments, "CRITERIA", ((1.0, 0.2), (2.0, 0.2)))
    monkeypatch.setattr(recovery_experiments, "PERIODS_S", (0.5, 2.0))
    monkeypatch.setattr(recovery_experiments, "UNTIL_S", 12.0)
    monkeypatch.setattr(recovery_experiments, "CRASH_S", 5.0)
    monkeypatch.setattr(pipeline, "UNTIL_S", 20.0)


def pictures(directory: Path) -> dict[str, str]:
    return {
        path.name: ElementTree.parse(path).getroot().tag.rpartition("}")[2] for path in directory.iterdir()
    }


@pytest.mark.usefixtures("short")
def test_hot_spots(tmp_path: Path) -> None:
    arguments = (
        "simulate",
        "hotspots",
        "--runs",
        "1",
        "--seeds",
        "3",
        "--seed",
        "5",
        "--processes",
        "1",
        "--plot",
        str(tmp_path),
    )
    found = json.loads(australis(*arguments, "--json").stdout)
    assert found["paper"]["overhead"] == 0.0635
    assert found["without"]["migrations"] == 0 < found["balanced"]["migrations"]
    assert set(found["updates"]) == {"3", "7"}
    assert found["trials"]["seeds"] == 3
    assert found["trials"]["lost"] == found["trials"]["doubled"] == found["trials"]["ping_pong"] == 0
    text = australis(*arguments).stdout
    assert f"{found['first']['overhead']:.2%}" in text
    assert "3 unreliable worlds" in text
    assert pictures(tmp_path) == dict.fromkeys(
        ("hotspots-delay.svg", "hotspots-loads.svg", "hotspots-messages.svg"), "svg"
    )


@pytest.mark.usefixtures("short")
def test_recovery(tmp_path: Path) -> None:
    arguments = ("simulate", "recovery", "--seeds", "3", "--processes", "1", "--plot", str(tmp_path))
    found = json.loads(australis(*arguments, "--json").stdout)
    assert len(found["volumes"]) == 2 * 4
    assert [each["machines"] for each in found["granularities"]] == list(range(1, 9))
    assert found["trials"]["lost"] == found["trials"]["wrong"] == 0
    assert "lost 0, wrong 0" in australis(*arguments).stdout
    assert pictures(tmp_path) == dict.fromkeys(
        ("recovery-checkpoints.svg", "recovery-virtual-machines.svg"), "svg"
    )


@pytest.mark.usefixtures("short")
def test_hot_spots_on_processes_are_those_of_one() -> None:
    every = hotspots_report.jobs(seed=4, runs=2, seeds=60)
    assert len(every) == len(set(every))
    one, two = (
        hotspots_report.make_report(every, mapper(processes)(hotspots_report.run_job, every))
        for processes in (1, 2)
    )
    assert one == two
    assert (one.found.seed, one.found.runs, one.trials.seeds) == (4, 2, 60)


def test_recovery_on_processes_is_that_of_one() -> None:
    every = [Frequency(1, 5.0), *recovery_report.jobs(seed=4, seeds=60)[-2:]]
    one, two = (
        recovery_report.make_report(4, mapper(processes)(recovery_report.run_job, every))
        for processes in (1, 2)
    )
    assert one == two
    assert (len(one.volumes), one.trials.seeds) == (1, 60)


@pytest.mark.parametrize("command", ["hotspots", "recovery"])
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--seeds", "-1"), "Invalid value for '--seeds': -1 is not in the range x>=0."),
        (("--seed", "one"), "Invalid value for '--seed': 'one' is not a valid integer range."),
        (("--processes", "0"), "Invalid value for '--processes': 0 is not in the range x>=1."),
        (("--plot", "{file}"), "Directory '{file}' is a file."),
        (("--plot", "{file}/plots"), "{file}/plots cannot be made: Not a directory."),
    ],
)
def test_what_cannot_be_asked_for_is_refused_before_anything_runs(
    command: str, arguments: tuple[str, str], message: str, tmp_path: Path
) -> None:
    file = tmp_path / "file"
    file.touch()
    done = australis("simulate", command, *(each.format(file=file) for each in arguments))
    assert done.exit_code == 2
    assert message.format(file=file) in done.stderr


@pytest.mark.parametrize("command", ["hotspots", "recovery"])
def test_help_has_examples(command: str) -> None:
    assert f"Examples:\n    australis simulate {command}" in australis("simulate", command, "--help").stdout
