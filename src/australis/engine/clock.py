"""Local time, as the world has it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable


def wall_clock() -> int:
    """Local time in microseconds since 1970."""
    return time.time_ns() // 1000


def never_back(clock: Callable[[], int]) -> Callable[[], int]:
    """The clock, but standing still while it is set back: in a network time only passes."""
    lock, latest = threading.Lock(), [clock()]

    def now() -> int:
        with lock:
            latest[0] = max(latest[0], clock())
            return latest[0]

    return now
