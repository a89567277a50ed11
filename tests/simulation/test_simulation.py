"""The engine in the simulator: worlds, half of them by the seed of the run; mutations that it must find."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from random import Random
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
NEW_SEEDS_FROM = 1_000_000
"""Seeds from here on are drawn by the seed of the run."""


def campaign(*arguments: str, code: int = 0) -> dict[str, Any]:
    """What a campaign says in its last line; all that it said, if it does not end as it should."""
    command = [sys.executable, "-m", "tests.simulation.campaign", "--processes", "1", *arguments]
    environment = {**os.environ, "PYTHONHASHSEED": "0", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == code, f"{done.stdout[-4000:]}\n{done.stderr[-2000:]}"
    report: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return report


def first_new_seed() -> int:
    return NEW_SEEDS_FROM + Random(os.environ["AUSTRALIS_SEED"]).randrange(1 << 30)


@pytest.mark.timeout(400)
@pytest.mark.parametrize("first", [0, pytest.param(first_new_seed(), id="new")])
def test_nothing_is_lost_duplicated_or_wrong(first: int) -> None:
    report = campaign("--first", str(first), "--seeds", "24")
    assert report["seeds"] == 24
    assert report["crashes"] > 10, "seeds without crashes show nothing"
    assert report["faults"] > 10


@pytest.mark.timeout(400)
@pytest.mark.parametrize(
    "mutation",
    [
        "readers_are_ignored",
        "state_is_not_committed",
        "position_in_another_change",
        "mark_comes_before_its_tuple",
    ],
)
def test_mutations_are_found(mutation: str) -> None:
    """Those that the first few seeds notice; `make test-sim ARGS=--mutations` looks for all of them."""
    report = campaign("--mutation", mutation, "--seeds", "60", code=1)
    assert report["lost"] + report["duplicated"] + report["wrong"] > 0


@pytest.mark.timeout(400)
def test_a_seed_decides_everything() -> None:
    script = (
        "import logging; logging.disable(50)\n"
        "from tests.simulation.play import play\n"
        "print([(each.trace, each.crashes, each.faults) for each in map(play, range(4))])"
    )
    environment = {**os.environ, "PYTHONHASHSEED": "0", "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", script]
    runs = [
        subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
        for _ in "ab"
    ]
    assert runs[0].stdout == runs[1].stdout
