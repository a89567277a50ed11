"""The ledger's lock: who holds it, for how long, and how to wait for a change without missing one."""

from __future__ import annotations

import threading
from collections.abc import Callable
from types import TracebackType
from typing import Self

from australis.engine.threads import Threads

_here = threading.local()


def is_held_here() -> bool:
    """Whether this thread holds the lock of any ledger: then it must not use files, networks or kernels."""
    return getattr(_here, "depth", 0) > 0


class Guard:
    """A re-entrant lock that measures how long it is held, and a count of all changes."""

    def __init__(self, threads: Threads) -> None:
        self._condition, self._ticks = threads.condition(), threads.ticks_ns
        self._since = self._depth = 0
        self.longest_ns = 0
        """The longest time that a thread has held it."""
        self.version = 0
        """The number of changes so far."""

    def __enter__(self) -> Self:
        self._condition.__enter__()
        _here.depth = getattr(_here, "depth", 0) + 1
        self._depth += 1
        if self._depth == 1:
            self._since = self._ticks()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._depth == 1:
            self._measure()
        self._depth -= 1
        _here.depth -= 1
        self._condition.__exit__(kind, error, trace)

    def _measure(self) -> None:
        self.longest_ns = max(self.longest_ns, self._ticks() - self._since)

    def notify(self) -> None:
        """Wake everybody who waits for a change. The caller holds the lock."""
        self.version += 1
        self._condition.notify_all()

    def wait(self, seconds: float | None = None) -> None:
        """Release the lock until something changes, or the time is up."""
        self._measure()
        depth, self._depth = self._depth, 0
        _here.depth -= depth
        try:
            self._condition.wait(seconds)
        finally:
            self._depth = depth
            _here.depth += depth
            self._since = self._ticks()

    def wait_beyond(self, version: int, seconds: float | None = None) -> None:
        """Wait for a change later than a version."""
        with self:
            if self.version == version:
                self.wait(seconds)

    def wait_until(
        self,
        happened: Callable[[], bool],
        check: Callable[[], None] = lambda: None,
        limit_s: float | None = None,
    ) -> bool:
        """Wait until a condition holds, or the time is up; `check` raises if it never will.

        Returns whether the condition holds.
        """
        with self:
            begin = self._ticks()
            while not happened():
                check()
                left = None if limit_s is None else limit_s - (self._ticks() - begin) / 1e9
                if left is not None and left <= 0:
                    return False
                self.wait(left)
        return True
