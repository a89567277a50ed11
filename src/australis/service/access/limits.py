"""Limits of rate: so many calls per second for each caller."""

from __future__ import annotations

import threading
from collections.abc import Callable

from australis.errors import ErrorCode, Problem, ServiceError

CALLERS_MOST = 10_000
"""Beyond so many callers, those that have not called for a second are forgotten."""


class Rates:
    """A bucket for each caller that fills at a rate, and holds what comes in a second.

    >>> moments = iter([0.0, 0.0, 0.0])
    >>> rates = Rates(2, lambda: next(moments))
    >>> rates.take("a"), rates.take("a")
    (None, None)
    >>> rates.take("a")
    Traceback (most recent call last):
    australis.errors.ServiceError: a made more than 2 calls in a second; expected fewer ...
    """

    def __init__(self, rate: float, clock: Callable[[], float]) -> None:
        self._rate, self._clock, self._lock = rate, clock, threading.Lock()
        self._room = max(rate, 1.0)
        self._filled: dict[str, tuple[float, float]] = {}

    def take(self, caller: str) -> None:
        """Count a call; raises `too_many` with the time to wait."""
        with self._lock:
            now = self._clock()
            level, since = self._filled.get(caller, (self._room, now))
            level = min(self._room, level + (now - since) * self._rate)
            if level < 1:
                raise self._refused(caller, (1 - level) / self._rate)
            self._filled[caller] = level - 1, now
            if len(self._filled) > CALLERS_MOST:
                self._filled = {name: each for name, each in self._filled.items() if now - each[1] < 1}

    def _refused(self, caller: str, wait_s: float) -> ServiceError:
        what = f"{caller} made more than {self._rate:g} calls in a second"
        problem = Problem("", what, "fewer, or larger ones; access.limits.rate is the setting")
        return ServiceError(ErrorCode.TOO_MANY, problem, wait_s)
