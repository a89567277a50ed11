"""A simulation shows how far it is, and can be ended at any time: nothing is left, and nothing complains."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.app.files import australis
from tests.crash.processes import below
from tests.waiting import until

from australis.app.papers.trade.command import KINDS, LEAST, RUNS

COMMAND = [sys.executable, "-m", "australis.app.cli", "simulate"]
SMALL = ("simulate", "market", "--nodes", "40", "--prices", "fixed", "--contracts", "3", "--processes", "1")


def is_at_work(process: subprocess.Popen[str]) -> bool:
    """Whether two processes simulate, and not only the one that tracks semaphores is there."""
    return sum("spawn_main" in " ".join(each.command) for each in below(process.pid)) >= 2


@pytest.mark.parametrize(
    ("number", "code", "said"), [(signal.SIGINT, 130, "australis: interrupted\n"), (signal.SIGTERM, 143, "")]
)
def test_a_sweep_is_ended_cleanly(number: signal.Signals, code: int, said: str) -> None:
    """By Ctrl-C, which all processes of a terminal get, and by a polite kill, which one gets."""
    process = subprocess.Popen(
        [*COMMAND, "market", "--full", "--processes", "2"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        until(lambda: is_at_work(process), seconds=60)
        children = below(process.pid)
        if number is signal.SIGINT:
            os.killpg(process.pid, number)
        else:
            process.send_signal(number)
        out, errors = process.communicate(timeout=60)
    finally:
        process.kill()
        process.wait()
    assert (process.returncode, out, errors) == (code, "", said)
    # What tracks semaphores ends when it finds that the others have ended.
    until(lambda: not any(Path(f"/proc/{each.pid}/cmdline").exists() for each in children))


def test_progress_is_shown_where_it_is_asked_for() -> None:
    shown = australis(*SMALL, "--progress").stderr.splitlines()
    assert shown[0] == "Simulating the market: 0 of 5 done, 0 s"
    assert shown[-1].startswith("Simulating the market: 5 of 5 done, ")
    assert australis(*SMALL).stderr == ""


def test_sizes_are_quick_unless_all_is_asked_for() -> None:
    text = " ".join(australis("simulate", "market", "--help").stdout.split())
    assert f"{LEAST} {KINDS} {RUNS}" == (
        "[default: 10; with --full 1, 3, 5, 7, 9, 10] "
        "[default: fixed, bounded; with --full fixed, bounded, random, random-bounded] "
        "[default: 1; with --full 9]"
    )
    for size in (LEAST, KINDS, RUNS):
        assert str(size) in text
