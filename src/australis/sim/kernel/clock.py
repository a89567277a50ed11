"""Virtual time: planned actions run in the order of time, and of planning for equal times."""

from __future__ import annotations

from collections.abc import Callable
from heapq import heappop, heappush
from math import inf
from typing import Any

from australis.errors import Problem, SimulationError

Action = Callable[..., object]


class Clock:
    """Advances from event to event.

    >>> clock, seen = Clock(), []
    >>> clock.after(2.0, seen.append, "later")
    >>> clock.after(1.0, seen.append, "first")
    >>> clock.after(1.0, seen.append, "second")
    >>> clock.run(until=1.5)
    >>> seen, clock.now
    (['first', 'second'], 1.5)
    """

    def __init__(self) -> None:
        self.now = 0.0
        self.happened = 0
        """How many events have happened."""
        self._planned: list[tuple[float, int, Action, tuple[Any, ...]]] = []
        self._serial = 0

    def at(self, time: float, action: Action, *arguments: Any) -> None:
        """Plan an action for a time that has not passed."""
        if not time >= self.now:
            raise SimulationError(Problem("clock", f"was asked for {time:g}", f"{self.now:g} or later"))
        self._serial += 1
        heappush(self._planned, (time, self._serial, action, arguments))

    def after(self, delay: float, action: Action, *arguments: Any) -> None:
        """Plan an action after a delay."""
        self.at(self.now + delay, action, *arguments)

    def every(self, period: float, action: Action, *arguments: Any, first: float | None = None) -> None:
        """Plan a repeated action; `first` is when it begins, if not after one period."""
        self.at(self.now + period if first is None else first, self._again, period, action, arguments)

    def _again(self, period: float, action: Action, arguments: tuple[Any, ...]) -> None:
        self.after(period, self._again, period, action, arguments)
        action(*arguments)

    def run(self, until: float = inf) -> None:
        """Run planned actions, until a time or until none is left.

        Time never goes back.
        """
        planned = self._planned
        while planned and planned[0][0] <= until:
            self.now, _, action, arguments = heappop(planned)
            self.happened += 1
            action(*arguments)
        if self.now < until < inf:
            self.now = until
