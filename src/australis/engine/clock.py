"""Local time, as the world has it."""

from __future__ import annotations

from collections.abc import Callable

from australis.engine.threads import SYSTEM, Threads


def wall_clock() -> int:
    """Local time in microseconds since 1970."""
    return SYSTEM.now_us()


def never_back(clock: Callable[[], int], threads: Threads = SYSTEM) -> Callable[[], int]:
    """The clock, but standing still while it is set back: in a network time only passes."""
    lock, latest = threads.lock(), [clock()]

    def now() -> int:
        with lock:
            latest[0] = max(latest[0], clock())
            return latest[0]

    return now
