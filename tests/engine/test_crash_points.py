"""Crash points end the process in which they are reached, and only when they are asked to."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import australis.engine
from australis.engine.crash_points import COPY_POINTS, LOG_VARIABLE, POINTS, VARIABLE

REACH_THREE_TIMES = """
from australis.engine.crash_points import crash_point
for time in range(3):
    print(time, flush=True)
    crash_point("train.ran")
"""


def run(log: Path, wanted: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, VARIABLE: wanted, LOG_VARIABLE: str(log)}
    command = [sys.executable, "-c", REACH_THREE_TIMES]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def test_a_process_ends_at_the_named_time(tmp_path: Path) -> None:
    ended = run(tmp_path / "log", "train.ran:2")
    assert (ended.returncode, ended.stdout.split()) == (-signal.SIGKILL, ["0", "1"])
    assert (tmp_path / "log").read_text().split()[0] == "train.ran"


def test_other_points_do_nothing(tmp_path: Path) -> None:
    ended = run(tmp_path / "log", "train.committed:1")
    assert (ended.returncode, ended.stdout.split()) == (0, ["0", "1", "2"])
    assert not (tmp_path / "log").exists()


def test_every_name_is_reached_somewhere() -> None:
    texts = [path.read_text() for path in Path(australis.engine.__path__[0]).rglob("*.py")]
    reached = {name for text in texts for name in re.findall(r'crash_point\("([\w.]+)"\)', text)}
    assert reached == {*POINTS, *COPY_POINTS}
