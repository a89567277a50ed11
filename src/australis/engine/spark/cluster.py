"""Whether a cluster can run trains: its master answers, it has a worker, and its workers can do the work.

Spark waits a minute for a master and forever for a worker, and reports what it waits for only in its log.
"""

from __future__ import annotations

import importlib.metadata
import logging
import os
import platform
import re
import shutil
import socket
import sys
import threading
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from australis.engine.settings import WORKER_WAIT, WORKER_WAIT_S
from australis.engine.store import PLANS, Root
from australis.errors import EngineError, Problem

_log = logging.getLogger(__name__)

_CONNECT_S = 5.0
_SAY_S = 2.0
_LOOK_S = 0.1
_KNOWN = re.compile(r"local(\[.*\]|-cluster\[.*\])?|yarn|k8s://.+|spark://.+")
_STANDALONE = "spark://"


@dataclass(frozen=True)
class Sighting:
    """A worker's versions, and what it sees of the root."""

    host: str
    python: str
    australis: str
    pyspark: str
    seen: str
    """The text of the root's file, or after a `!` why it cannot be read."""


# --- before Spark starts


def check_master(master: str) -> None:
    """Refuse an invalid master, and the address of a standalone master where nothing answers."""
    if not _KNOWN.fullmatch(master):
        raise EngineError(Problem("master", f"is {master!r}", "local[2], local[*] or spark://HOST:7077"))
    if not master.startswith(_STANDALONE):
        return
    # A master with standbys has several addresses.
    troubles = [_trouble(address, master) for address in master.removeprefix(_STANDALONE).split(",")]
    if all(troubles):
        what = f"no Spark master answers: {'; '.join(filter(None, troubles))}"
        expected = "the address of a running master as its web page shows it, spark://HOST:7077"
        raise EngineError(Problem(master, what, expected))


def _trouble(address: str, master: str) -> str | None:
    """Why an address cannot be reached; None if it can."""
    host, _, port = address.rpartition(":")
    if not host or not port.isdecimal() or not 0 < int(port) < 65536:
        raise EngineError(Problem(master, f"{address!r} has no host and port", "spark://HOST:7077"))
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=_CONNECT_S).close()
    except OSError as error:
        return f"{address}: {error.strerror or error}"
    return None


# --- once it has started


def check_workers(session: SparkSession, root: Root) -> None:
    """Wait for a worker, and refuse workers that do not see the root or have other versions than ours."""
    master = session.sparkContext.master or ""
    if re.fullmatch(r"local(\[.*\])?", master):
        if _has_our_python(session):
            return
    else:
        _wait_for_worker(session, master)
    name, word = root.new_name(PLANS, "seen", ".tmp"), root.disk.token()
    root.write(name, word.encode())
    try:
        found = _sightings(session, master, root.uri, name)
    finally:
        root.delete(name)
    for each in found:
        _check_versions(each, master)
        if each.seen != word:
            why = each.seen.removeprefix("!")
            what = f"the worker on {each.host} does not see the root {root.uri}: {why}"
            expected = "a root on storage that the driver and all workers reach under the same path or URI"
            raise EngineError(Problem(master, what, expected))


def _has_our_python(session: SparkSession) -> bool:
    """Whether the workers of this machine run the Python of this process; Spark takes `python3` by itself."""
    found = shutil.which(session.sparkContext.pythonExec)
    # Not resolved: the Python of a virtual environment is a link to one without its packages.
    return found is not None and os.path.abspath(found) == os.path.abspath(sys.executable)


def _wait_for_worker(session: SparkSession, master: str) -> None:
    """Wait until an executor is there, which takes a worker with a free core and enough memory."""
    seconds = float(session.conf.get(WORKER_WAIT, str(WORKER_WAIT_S)) or WORKER_WAIT_S)
    began, is_said, pause = time.monotonic(), False, threading.Event()
    while not _executors(session):
        waited = time.monotonic() - began
        if waited > seconds:
            what = f"no worker has taken the application for {seconds:g} s"
            expected = (
                "a worker with a free core and enough memory, as the master's web page shows them; "
                f"or more time, {WORKER_WAIT} (run --worker-wait)"
            )
            raise EngineError(Problem(master, what, expected))
        if waited > _SAY_S and not is_said:
            is_said = True
            _log.warning("waiting for a worker of %s: none has taken the application so far", master)
        pause.wait(_LOOK_S)


def _executors(session: SparkSession) -> int:
    """How many executors there are; Spark counts the driver among them."""
    context = session.sparkContext._jsc
    if context is None:
        raise EngineError(Problem("Spark", "has ended", "a session that runs"))
    return int(context.sc().getExecutorMemoryStatus().size()) - 1


def _sightings(session: SparkSession, master: str, uri: str, name: str) -> list[Sighting]:
    """What each worker has and sees, from one task per core."""
    context = session.sparkContext
    tasks = context.defaultParallelism
    try:
        return context.parallelize(range(tasks), tasks).mapPartitions(_Look(uri, name)).collect()
    except (Py4JError, PySparkException, OSError) as error:
        raise _job_failed(str(error), master) from error


def _job_failed(told: str, master: str) -> EngineError:
    """The error for a failure of the first small job."""
    if "PYTHON_VERSION_MISMATCH" in told:
        what = "the workers have another version of Python"
        return EngineError(Problem(master, what, f"Python {_minor()}: PYSPARK_PYTHON names it"))
    missing = re.search(r"No module named '?([\w.]+)", told)
    if missing:
        what = f"the Python of the workers has no {missing[1].split('.')[0]}"
        expected = "Australis installed on every worker, in the Python that PYSPARK_PYTHON names"
        return EngineError(Problem(master, what, expected))
    lines = [line.strip() for line in told.splitlines() if "Exception" in line or "Error" in line]
    what = f"the workers cannot run a small job: {(lines or [told])[-1][:500]}"
    return EngineError(Problem(master, what, "workers that can run Python tasks"))


def _check_versions(found: Sighting, master: str) -> None:
    ours = _sighting("")
    for name in ("python", "australis", "pyspark"):
        theirs, wanted = getattr(found, name), getattr(ours, name)
        if theirs != wanted:
            what = f"the worker on {found.host} has {name} {theirs}"
            raise EngineError(Problem(master, what, f"{name} {wanted}, which the driver has"))


# --- what runs in a Python worker


@dataclass(frozen=True)
class _Look:
    """Reads a file of the root from a worker."""

    uri: str
    name: str

    def __call__(self, rows: Iterable[int]) -> Iterator[Sighting]:
        del rows
        yield _sighting(self._read())

    def _read(self) -> str:
        try:
            with Root(self.uri).open(self.name) as file:
                return str(file.read().decode())
        except (EngineError, OSError) as error:
            return f"!{error}"


def _sighting(seen: str) -> Sighting:
    australis, pyspark = (importlib.metadata.version(name) for name in ("australis", "pyspark"))
    return Sighting(platform.node(), _minor(), australis, pyspark, seen)


def _minor() -> str:
    return f"{sys.version_info.major}.{sys.version_info.minor}"
