"""Local time: the system's wall clock, and the clock of a log, which never goes back."""

from __future__ import annotations

import logging
from collections.abc import Callable

from australis.engine.threads import SYSTEM, Threads

STEP_US = 1_000_000
"""A clock that differs by more than this from the elapsed time was set; by less, it was adjusted."""
_log = logging.getLogger(__name__)


def wall_clock() -> int:
    """Local time in microseconds since 1970."""
    return SYSTEM.now_us()


class LogClock:
    """The time of a log: follows a clock, but never goes back, and never stands still for long.

    If the clock is set back, log time continues from where it was, at the pace of the clock: a timeout that
    begins now is due after its full length. The lead over the clock shrinks when the clock is set forward,
    and while no node runs.

    >>> moments = iter([0, 9_000_000, 2_000_000, 5_000_000])
    >>> now = LogClock(lambda: next(moments))
    >>> [now(), now(), now()]
    [9000000, 9000000, 12000000]
    """

    def __init__(
        self,
        clock: Callable[[], int],
        *,
        ticks_ns: Callable[[], int] | None = None,
        least: Callable[[], int] = lambda: 0,
        threads: Threads = SYSTEM,
    ) -> None:
        self._clock, self._ticks_ns, self._least = clock, ticks_ns, least
        self._lock, self._lead = threads.lock(), 0
        self._seen, self._ticks = clock(), self._ticks_us(0)
        self._latest = self._seen

    def __call__(self) -> int:
        """Local time in microseconds since 1970; at least that of the last event of the log."""
        warnings: list[str] = []
        with self._lock:
            seen = self._clock()
            self._follow(seen, warnings)
            least = self._least()
            if least - seen - self._lead > STEP_US:
                self._lead = least - seen
                warnings.append(self._behind())
            self._latest = max(self._latest, seen + self._lead, least)
            found = self._latest
        for each in warnings:
            _log.warning("%s", each)
        return found

    def _follow(self, seen: int, warnings: list[str]) -> None:
        """Note the time that the clock shows, and find out whether it was set since it was last read."""
        ticks = self._ticks_us(self._ticks + max(0, seen - self._seen))
        step = (seen - self._seen) - (ticks - self._ticks)
        self._seen, self._ticks = seen, ticks
        if step < -STEP_US:
            self._lead -= step
            warnings.append(self._behind())
        elif step > STEP_US:
            ahead = step - self._lead
            self._lead = max(0, self._lead - step)
            if ahead > STEP_US:
                warnings.append(
                    f"the clock was set forward by {ahead / 1e6:,.0f} s: what is due by it is due now"
                )

    def _ticks_us(self, unknown: int) -> int:
        """Time elapsed since some fixed moment; without a monotonic clock, what the wall clock shows."""
        return unknown if self._ticks_ns is None else self._ticks_ns() // 1000

    def _behind(self) -> str:
        return (
            f"the clock is {self._lead / 1e6:,.0f} s behind the time of the log, "
            "which continues from its last event at the pace of the clock"
        )
