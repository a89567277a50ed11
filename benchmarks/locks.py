"""The longest time for which the nodes of a benchmark held their locks, over all its processes."""

from __future__ import annotations

import os
from pathlib import Path

from australis import Node

FOLDER = "AUSTRALIS_BENCH_LOCKS"
"""The variable that names the folder into which each process writes its nodes' longest holds."""


def watch(folder: str | Path) -> None:
    """Let the nodes of this process and of its children record their longest hold when they stop."""
    os.environ[FOLDER] = str(folder)
    Path(folder).mkdir(exist_ok=True)
    watch_here()


def watch_here() -> None:
    """Watch the nodes of this process, if the variable is set."""
    folder, stop = os.environ.get(FOLDER), Node.stop
    if folder is None:
        return

    def stop_and_note(self: Node, *, now: bool = False) -> None:
        Path(folder, f"{os.getpid()}-{id(self)}").write_text(str(self.lock_held_ms))
        stop(self, now=now)

    Node.stop = stop_and_note  # type: ignore[method-assign]


def longest_ms(folder: str | Path) -> float:
    """The longest hold that was recorded."""
    return max((float(file.read_text()) for file in Path(folder).iterdir()), default=0.0)
