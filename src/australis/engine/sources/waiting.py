"""Time as a source sees it: a clock, and a wait that can be ended at once."""

from __future__ import annotations

import threading
import time
from typing import Protocol

from australis.engine.files import Ended


class Waiter(Protocol):
    """A clock in seconds, and a way to wait on it; tests pass one with virtual time."""

    def now(self) -> float: ...

    def until(self, moment: float) -> bool:
        """Wait for a moment; returns False, at once, when the source is to end."""

    @property
    def is_ended(self) -> bool: ...


class SignalWaiter:
    """Waits on the clock of the machine until `end` is called, by any thread.

    >>> waiter = SignalWaiter()
    >>> waiter.until(waiter.now() - 1)
    True
    >>> waiter.end()
    >>> waiter.until(waiter.now() + 3600)
    False
    """

    def __init__(self) -> None:
        self._end = threading.Event()

    def now(self) -> float:
        return time.monotonic()

    def until(self, moment: float) -> bool:
        # One wait may not be longer than the platform's maximum; after a year of nothing the next one
        # follows.
        while (left := moment - self.now()) > 0 and not self._end.is_set():
            self._end.wait(min(left, threading.TIMEOUT_MAX))
        return not self._end.is_set()

    @property
    def is_ended(self) -> bool:
        return self._end.is_set()

    def end(self) -> None:
        """Let every wait return, now and from now on."""
        self._end.set()


def check(waiter: Waiter) -> None:
    """Unwind a reader that waits for more, if the source is to end."""
    if waiter.is_ended:
        raise Ended


def pause(waiter: Waiter, seconds: float) -> None:
    """Wait a little, and unwind if the source is to end."""
    if not waiter.until(waiter.now() + seconds):
        raise Ended
