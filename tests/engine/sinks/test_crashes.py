"""Killed at every system call, started again, killed again: each tuple is in the file once, and in order."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize(
    ("name", "step_again"),
    [("out.csv", 70), ("out.csv.gz", 20), ("out.parquet", 20), ("out.parquet", 70)],
)
def test_a_kill_at_any_call_changes_nothing(tmp_path: Path, name: str, step_again: int) -> None:
    command = [sys.executable, "-m", "tests.engine.sinks.crash_points", str(tmp_path), name, str(step_again)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)
    points = re.fullmatch(r"(\d+) points\n", done.stdout)
    assert points, done.stdout + done.stderr
    assert int(points[1]) >= 12
