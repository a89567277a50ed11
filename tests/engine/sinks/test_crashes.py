"""Killed at every system call, started again, killed again: each tuple is in the file once, and in order."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize(
    ("name", "step_again", "part_bytes"),
    [
        ("out.csv", 70, 1),
        ("out.csv.gz", 20, 1),
        ("out.parquet", 20, 1),
        ("out.parquet", 70, 1),
        ("out.parquet", 20, 128_000_000),
    ],
)
def test_a_kill_at_any_call_changes_nothing(
    tmp_path: Path, name: str, step_again: int, part_bytes: int
) -> None:
    program = [sys.executable, "-m", "tests.engine.sinks.crash_points"]
    command = [*program, str(tmp_path), name, str(step_again), str(part_bytes)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)
    points = re.fullmatch(r"(\d+) points\n", done.stdout)
    assert points, done.stdout + done.stderr
    assert int(points[1]) >= 12
