"""A query writes into a node and another reads from it; all three are killed in the middle of batches."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from tests.client.test_control import network

from australis.client import Client

ROOT = Path(__file__).parents[2]
ROWS_OF_FILE = 20
LIGHT = ("--runner", "light[1]")


class World:
    """The three processes, and the folders between them."""

    def __init__(self, folder: Path, files: int) -> None:
        self.folder, self.files = folder, files
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.running: dict[str, subprocess.Popen[bytes]] = {}
        (folder / "in").mkdir()
        for number in range(files):
            rows = range(number * ROWS_OF_FILE, (number + 1) * ROWS_OF_FILE)
            text = "".join(json.dumps({"sid": 1, "time": n, "pos": 40}) + "\n" for n in rows)
            (folder / "in" / f"{number:05}.json").write_text(text)

    def start(self, name: str) -> None:
        """Start a process, with whatever it starts, as a group."""
        folder = {each: str(self.folder / each) for each in ("root", "in", "out", "write", "read")}
        address, programs = f"127.0.0.1:{self.port}", "tests.pyspark_australis.programs"
        commands = {
            "node": [
                "australis",
                "serve",
                "--root",
                folder["root"],
                "--listen",
                address,
                "--runner",
                "light[1]",
            ],
            "write": [programs, "write", self.url, folder["in"], folder["write"]],
            "read": [programs, "read", self.url, folder["out"], folder["read"]],
        }
        with open(self.folder / f"{name}.log", "ab") as log:
            command = [sys.executable, "-m", *commands[name]]
            self.running[name] = subprocess.Popen(
                command, cwd=ROOT, stdout=log, stderr=log, start_new_session=True
            )

    def kill(self, name: str) -> None:
        """Kill a process and all that it has started."""
        process = self.running.pop(name)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()

    def batches(self, name: str) -> int:
        """How many micro-batches a query has begun."""
        return len(list((self.folder / name / "offsets").glob("[0-9]*")))

    def times(self) -> list[int]:
        """What the reading query has committed to its files."""
        log = self.folder / "out" / "_spark_metadata"
        names = {
            json.loads(line)["path"].removeprefix("file://")
            for entry in log.glob("[0-9]*")
            for line in entry.read_text().splitlines()[1:]
        }
        return sorted(n for name in names for n in pq.read_table(name)["time"].to_pylist())


def free_port() -> int:
    """A port that is free, and the one after it, which Flight takes."""
    while True:
        with socket.socket() as one, socket.socket() as other:
            one.bind(("127.0.0.1", 0))
            port: int = one.getsockname()[1]
            try:
                other.bind(("127.0.0.1", port + 1))
            except OSError:
                # Somebody else has it: another pair.
                continue
            return port


@contextmanager
def world(folder: Path, files: int) -> Iterator[World]:
    made = World(folder, files)
    try:
        made.start("node")
        with Client(made.url, patience_s=200) as node:
            node.deploy(network())
        made.start("write")
        made.start("read")
        yield made
    finally:
        for name in list(made.running):
            made.kill(name)


def until(made: World, is_so: Callable[[], bool]) -> None:
    """Look until something is so; a process that has ended by itself is started again, as anyone would."""
    while not is_so():
        for name, process in list(made.running.items()):
            if process.poll() is not None:
                made.start(name)
        time.sleep(0.01)


def kill_in_a_batch(made: World, victim: str, query: str) -> None:
    """Kill a process as soon as a query has begun another batch, and start it again."""
    begun = made.batches(query)
    until(made, lambda: made.batches(query) > begun)
    made.kill(victim)
    made.start(victim)


@pytest.mark.long
@pytest.mark.parametrize("kills", [pytest.param(1, id="once"), pytest.param(10, id="ten-times")])
@pytest.mark.timeout(3600)
def test_each_tuple_arrives_once(tmp_path: Path, kills: int) -> None:
    with world(tmp_path, files=12 + 6 * kills) as made:
        for _ in range(kills):
            kill_in_a_batch(made, "write", "write")
            kill_in_a_batch(made, "node", "write")
            kill_in_a_batch(made, "read", "read")
        expected = list(range(made.files * ROWS_OF_FILE))
        until(made, lambda: len(made.times()) >= len(expected))
        assert made.times() == expected
