"""Light nodes in processes of their own, to be killed and looked at."""

from __future__ import annotations

import os
import select
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

PREAMBLE = """
import signal, sys, time
import pyarrow as pa
import australis
from australis import Node

# Where tests run in the background, it is ignored.
signal.signal(signal.SIGINT, signal.default_int_handler)

def slow(values):
    seconds = float(open(sys.argv[1] + "/seconds").read())
    print("in a worker")
    with open(sys.argv[1] + "/began", "a") as file:
        file.write(".")
    time.sleep(seconds)
    return values

australis.register_function("mine:slow", slow, takes=("int",), returns="int")
net = australis.NetworkBuilder("n")
stream = net.input("s", "k int, t int").map({"k": "`mine:slow`(k)", "t": "t"})
stream.aggregate({"n": "count(*)"}, australis.Order("t"), size=2).output("out")
network = net.build()
rows = pa.table({"k": pa.array([1, 2, 3], pa.int32()), "t": pa.array([0, 1, 2], pa.int32())})

def answer(node):
    tables = node.subscribe("out", follow=False)
    return [row for table in tables for row in table.select(["t", "n"]).to_pylist()]
"""
RIGHT = [{"t": 0, "n": 2}, {"t": 2, "n": 1}]


def started(code: str, folder: Path, seconds: float = 0.0) -> subprocess.Popen[str]:
    """A process that runs some code behind the preamble; its function takes so many seconds."""
    folder.joinpath("seconds").write_text(str(seconds))
    return subprocess.Popen(
        [sys.executable, "-c", PREAMBLE.replace("sys.argv[1]", repr(str(folder))) + code],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env={name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"},
    )


def until_began(folder: Path, process: subprocess.Popen[str]) -> None:
    """Wait until a worker is inside the function."""
    while not (folder / "began").exists():
        with suppress(subprocess.TimeoutExpired):
            process.wait(0.02)
            raise AssertionError(f"ended too soon: {process.communicate()}")


def ended_within(pids: list[int], seconds: float) -> bool:
    """Whether all of some processes end in time, none of which is a child of this one."""
    return all(_ended(pid, seconds) for pid in pids)


def _ended(pid: int, seconds: float) -> bool:
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([handle], [], [], seconds)[0])
    finally:
        os.close(handle)
