"""The CPU time and the memory of a process and all its descendants; Linux only."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

TICKS = os.sysconf("SC_CLK_TCK")
PAGE = os.sysconf("SC_PAGE_SIZE")
Stat = tuple[int, int, int]


def cpu_seconds(process: int | None = None) -> float:
    """CPU seconds of this process, or another, and its descendants, including those that have ended."""
    stats = dict(_stats())
    return sum(stats[pid][1] for pid in _family(stats, process) if pid in stats) / TICKS


def cpu_by_process() -> dict[int, float]:
    """CPU seconds of this process and of each of its descendants."""
    stats = dict(_stats())
    return {pid: stats[pid][1] / TICKS for pid in _family(stats) if pid in stats}


def resident_bytes() -> int:
    """The memory of this process and its descendants; what they share counts for each."""
    stats = dict(_stats())
    return sum(stats[pid][2] for pid in _family(stats) if pid in stats) * PAGE


def family() -> set[int]:
    """This process and its descendants."""
    return _family(dict(_stats()))


def _family(stats: Mapping[int, Stat], process: int | None = None) -> set[int]:
    """This process, or another, and its descendants."""
    family = {process or os.getpid()}
    grown = True
    while grown:
        children = {pid for pid, (parent, _, _) in stats.items() if parent in family} - family
        family |= children
        grown = bool(children)
    return family


def _stats() -> Iterator[tuple[int, Stat]]:
    """For each process: its id, and its parent's, its ticks and its pages in memory."""
    for entry in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = entry.read_text().rpartition(")")[2].split()
        except OSError:
            continue  # it has ended meanwhile
        yield int(entry.parent.name), (int(fields[1]), sum(map(int, fields[11:15])), int(fields[21]))
