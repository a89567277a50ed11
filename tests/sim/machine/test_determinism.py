"""A seed determines a run: the same switch points, in any process."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.sim.machine.store import simulate, story

from australis.errors import SimulationError
from australis.sim.machine.chance import FAILURES, Chances, draw_chances
from australis.sim.machine.disk import VirtualDisk
from australis.sim.machine.machine import Machine

ROOT = Path(__file__).parents[3]


def test_a_store_that_syncs_before_it_commits_keeps_what_it_told() -> None:
    counts: dict[str, int] = {}
    for seed in range(150):
        for name, count in simulate(seed).faults.counts.items():
            counts[name] = counts.get(name, 0) + count
    assert {"power loss", "kill", "sync", "commit", "stall"} <= set(counts)


def test_a_store_that_does_not_sync_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(VirtualDisk, "sync", lambda disk, name: None)
    found = 0
    for seed in range(20):
        try:
            simulate(seed)
        except (AssertionError, KeyError):
            found += 1
    assert found > 5


def test_a_seed_gives_one_run_and_seeds_differ() -> None:
    stories = [story(simulate(seed)) for seed in range(20)]
    assert stories == [story(simulate(seed)) for seed in range(20)]
    assert len({one[0] for one in stories}) == 20


def test_a_seed_gives_the_same_run_in_another_process() -> None:
    program = "from tests.sim.machine.store import *; print([story(simulate(seed)) for seed in range(5)])"
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
        env={**os.environ, "PYTHONHASHSEED": "12345"},
    )
    assert done.stdout.strip() == str([story(simulate(seed)) for seed in range(5)])


def test_the_recent_switch_points_are_kept() -> None:
    machine = Machine(1, Chances(), keep=3)
    machine.run(lambda: [machine.pause(f"step {index}") for index in range(5)])
    assert machine.recent == [("main", "step 3"), ("main", "step 4"), ("main", "end")]


def test_many_runs_have_few_failures_and_some_have_many() -> None:
    drawn = [draw_chances(seed) for seed in range(300)]
    most = [max(getattr(chances, name) for name in FAILURES) for chances in drawn]
    assert sum(one == 0 for one in most) > 60
    assert sum(0 < one < 0.05 for one in most) > 60
    assert sum(one > 0.1 for one in most) > 10
    assert {chances.schedule for chances in drawn} == {"uniform", "priorities"}
    assert all(max(getattr(chances.calm(), name) for name in FAILURES) == 0 for chances in drawn)


def test_chances_that_are_none_are_refused() -> None:
    for values in ({"sync": 1.5}, {"schedule": "fair"}, {"step_ns": 0}, {"crashes": -1}):
        with pytest.raises(SimulationError, match=f"chances.{next(iter(values))}"):
            Chances(**values)  # type: ignore[arg-type]
