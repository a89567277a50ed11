"""The processes below a child: its JVM, what forks Python workers, and these, found by their parents."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from australis.engine.crash_points import LOG_VARIABLE

FORKING = "australis.engine.light.forking"
"""What is in the command of a zygote."""


@dataclass(frozen=True)
class Process:
    """A process, its parent, and the words of its command."""

    pid: int
    parent: int
    command: tuple[str, ...]


def below(pid: int) -> list[Process]:
    """All processes that a process started, and those that they did."""
    every = list(processes())
    found, parents = [], {pid}
    while fresh := [each for each in every if each.parent in parents]:
        found += fresh
        parents = {each.pid for each in fresh}
    return found


def of_folder(folder: Path) -> list[Process]:
    """What runs of all that the children of a folder have started: it is in their environment."""
    mark = f"{LOG_VARIABLE}={folder}/"
    return [each for each in processes() if any(word.startswith(mark) for word in _environment(each.pid))]


def _environment(pid: int) -> list[str]:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/environ").read_text(errors="replace").split("\0")
    return []


def left_of(folder: Path, seconds: float) -> list[Process]:
    """What still runs of the children of a folder when there was time to end."""
    until = time.monotonic() + seconds
    for each in of_folder(folder):
        with contextlib.suppress(ProcessLookupError):
            _wait(each.pid, max(0.0, until - time.monotonic()))
    return of_folder(folder)


def _wait(pid: int, seconds: float) -> None:
    """Wait for a process that is no child of this one."""
    handle = os.pidfd_open(pid)
    try:
        select.select([handle], [], [], seconds)
    finally:
        os.close(handle)


def processes() -> Iterator[Process]:
    """All that run; those that have ended and were not waited for are left out."""
    for place in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            state, parent = (place / "stat").read_text().rpartition(")")[2].split()[:2]
            command = tuple((place / "cmdline").read_text().rstrip("\0").split("\0"))
            if state != "Z":
                yield Process(int(place.name), int(parent), command)


def jvms(child: int) -> list[int]:
    """The JVM of a child."""
    return [each.pid for each in below(child) if each.command[0].endswith("java")]


def daemons(child: int) -> list[int]:
    """The Python process that forks workers: Spark's, or the zygote of a light runner."""
    virtual = set(jvms(child))
    found = below(child)
    light = [each.pid for each in found if each.parent == child and FORKING in each.command[-1]]
    return light + [each.pid for each in found if each.parent in virtual]


def workers(child: int) -> list[int]:
    """The Python processes that run tasks."""
    daemon = set(daemons(child))
    return [each.pid for each in below(child) if each.parent in daemon]


def kill(pid: int) -> bool:
    """End a process as a loss of power would; whether it was there."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)
        return True
    return False


def kill_all(folder: Path) -> None:
    """End what is left of the children of a folder."""
    for each in of_folder(folder):
        kill(each.pid)
