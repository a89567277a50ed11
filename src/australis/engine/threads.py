"""Threads and clocks passed to a node: those of the system, or virtual ones under a simulator.

Everything in the engine that waits, locks or reads the time does so through a `Threads`, so a simulator can
decide which thread runs next, and nothing depends on chance.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any, Protocol


class Thread(Protocol):
    """A started thread."""

    def join(self, timeout: float | None = None) -> None:
        """Wait until it has ended, or the time is up."""

    def is_alive(self) -> bool:
        """Whether it has not ended."""


class Event(Protocol):
    """A flag that threads can wait for."""

    def set(self) -> None: ...

    def clear(self) -> None: ...

    def is_set(self) -> bool: ...

    def wait(self, timeout: float | None = None) -> bool: ...


class Condition(Protocol):
    """A re-entrant lock, and a way to wait until its holder signals that something has changed."""

    def __enter__(self) -> Any: ...

    def __exit__(self, *error: Any) -> Any: ...

    def wait(self, timeout: float | None = None) -> bool: ...

    def notify_all(self) -> None: ...


class Threads(Protocol):
    """Starts threads, makes locks and conditions, and tells the time."""

    def lock(self) -> AbstractContextManager[Any]:
        """A re-entrant lock."""

    def condition(self) -> Condition: ...

    def event(self) -> Event: ...

    def start(self, target: Callable[[], None], name: str) -> Thread:
        """Run a function in a thread that does not keep the process alive."""

    def now_us(self) -> int:
        """Local time in microseconds since 1970."""

    def ticks_ns(self) -> int:
        """A clock for durations, in nanoseconds."""


class SystemThreads:
    """The threads and clocks of the operating system."""

    def lock(self) -> AbstractContextManager[Any]:
        return threading.RLock()

    def condition(self) -> Condition:
        return threading.Condition(threading.RLock())

    def event(self) -> Event:
        return threading.Event()

    def start(self, target: Callable[[], None], name: str) -> Thread:
        thread = threading.Thread(target=target, name=name, daemon=True)
        thread.start()
        return thread

    def now_us(self) -> int:
        return time.time_ns() // 1000

    def ticks_ns(self) -> int:
        return time.perf_counter_ns()


SYSTEM = SystemThreads()
