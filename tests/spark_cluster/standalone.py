"""A Spark standalone cluster on this machine, from the pip package: a master and workers of one core each."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Self

import pyspark

from australis.engine.spark.java import find_java

HOST = "127.0.0.1"
SPARK = Path(pyspark.__file__).parent
MASTER, WORKER = "org.apache.spark.deploy.master.Master", "org.apache.spark.deploy.worker.Worker"
EXECUTOR = "org.apache.spark.executor.CoarseGrainedExecutorBackend"
MEMORY = "1g"


class Cluster:
    """A cluster that runs; its processes are in groups of their own, which end with it."""

    def __init__(self, folder: Path, workers: int = 2) -> None:
        self.url = f"spark://{HOST}:{_free_port()}"
        self._folder = folder
        self.started: list[subprocess.Popen[str]] = []
        """Its processes, each the leader of a group."""
        port = self.url.rpartition(":")[2]
        master = self._start(MASTER, "--host", HOST, "--port", port, "--webui-port", "0")
        _read_until(master, "I have been elected leader")
        for _ in range(workers):
            self.start_worker()
        for _ in range(workers):
            _read_until(master, "Registering worker")

    def start_worker(self, *wrapper: str) -> None:
        """Start a worker, by a command that starts another one if there is a wrapper."""
        work = self._folder / f"worker-{len(self.started)}"
        room = ("--cores", "1", "--memory", MEMORY, "--work-dir", str(work))
        where = ("--host", HOST, "--port", "0", "--webui-port", "0")
        self._start(WORKER, *where, *room, self.url, wrapper=wrapper)

    def _start(self, name: str, *arguments: str, wrapper: tuple[str, ...] = ()) -> subprocess.Popen[str]:
        log = self._folder / f"{name.rpartition('.')[2]}-{len(self.started)}.log"
        with open(log, "w") as errors:
            process = subprocess.Popen(
                [*wrapper, SPARK / "bin" / "spark-class", name, *arguments],
                env=_environment(),
                stdout=errors,
                stderr=subprocess.PIPE if name == MASTER else errors,
                text=True,
                start_new_session=True,
            )
        self.started.append(process)
        return process

    def executors(self) -> dict[str, int]:
        """The processes that run tasks, by application and number: `app-20261116013000-0000/1`."""
        groups = {process.pid for process in self.started}
        return {_name(command): pid for pid, command in _commands(groups) if EXECUTOR in command}

    def kill_executor(self, name: str | None = None) -> None:
        """End an executor as a loss of power would: the one of this name, or any."""
        running = self.executors()
        os.kill(running[name or min(running)], signal.SIGKILL)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        for process in reversed(self.started):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            if process.stderr is not None:
                process.stderr.close()


def _environment() -> dict[str, str]:
    # A cluster's daemons live for a test only, so compiling well does not pay.
    java = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
    return {
        **os.environ,
        "JAVA_HOME": str(find_java()),
        "SPARK_HOME": str(SPARK),
        "SPARK_LOCAL_IP": HOST,
        "SPARK_DAEMON_MEMORY": "256m",
        "SPARK_DAEMON_JAVA_OPTS": java,
    }


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return int(probe.getsockname()[1])


def _read_until(process: subprocess.Popen[str], words: str) -> None:
    """Wait until a process has said something."""
    assert process.stderr is not None
    said = []
    for line in process.stderr:
        said.append(line)
        if words in line:
            return
    raise AssertionError(f"it ended and never said {words!r}:\n{''.join(said[-20:])}")


def _name(command: list[str]) -> str:
    """What an executor is called in the folders of its worker."""
    return "/".join(command[command.index(option) + 1] for option in ("--app-id", "--executor-id"))


def _commands(groups: set[int]) -> Iterator[tuple[int, list[str]]]:
    """The commands of the processes in some groups."""
    for place in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if os.getpgid(int(place.name)) in groups:
                yield int(place.name), (place / "cmdline").read_text().split("\0")
