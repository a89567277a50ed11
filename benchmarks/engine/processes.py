"""The CPU time that a process and all its descendants have used."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

TICKS = os.sysconf("SC_CLK_TCK")


def cpu_seconds() -> float:
    """CPU seconds of this process and its descendants, including those that have ended; Linux only."""
    stats = dict(_stats())
    family = {os.getpid()}
    grown = True
    while grown:
        children = {pid for pid, (parent, _) in stats.items() if parent in family} - family
        family |= children
        grown = bool(children)
    return sum(stats[pid][1] for pid in family if pid in stats) / TICKS


def _stats() -> Iterator[tuple[int, tuple[int, int]]]:
    """For each process: its id, its parent's and its ticks."""
    for entry in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = entry.read_text().rpartition(")")[2].split()
        except OSError:
            continue  # it has ended meanwhile
        yield int(entry.parent.name), (int(fields[1]), sum(map(int, fields[11:15])))
