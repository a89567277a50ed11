"""The time of one thing: the median of some passes.

Of work in one thread that waits for nothing, CPU time: the same as the time by the clock on a quiet machine.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from statistics import median


def seconds(work: Callable[[], object], passes: int = 5) -> float:
    """The median time that some work takes, by the clock."""
    return median(_once(work, time.perf_counter) for _ in range(passes))


def cpu_seconds(work: Callable[[], object], passes: int = 5) -> float:
    """The median CPU time of this process that some work takes."""
    return median(_once(work, time.process_time) for _ in range(passes))


def _once(work: Callable[[], object], clock: Callable[[], float]) -> float:
    began = clock()
    work()
    return clock() - began
