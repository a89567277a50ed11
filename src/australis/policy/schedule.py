"""Schedules: which superbox runs next. Round robin over outputs; quality of service is to decide later."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Protocol


class Schedule(Protocol):
    """Chooses among the superboxes that have something to do."""

    def choose(self, waiting: Mapping[str, int], busy: Collection[str]) -> str | None:
        """The superbox to run next: one that waits and is not busy; None if there is none."""


class RoundRobin:
    """The outputs take turns; for an output, the superbox nearest to it that has tuples waiting runs.

    `upstream` has for each output the superboxes that lead to it, nearest last.

    >>> turns = RoundRobin({"alarm": ["filter", "count"], "log": ["filter"]})
    >>> waiting = {"filter": 7, "count": 2}
    >>> [turns.choose(waiting, busy=()) for _ in range(3)]
    ['count', 'filter', 'count']
    >>> turns.choose(waiting, busy=("filter", "count")) is None
    True
    """

    def __init__(self, upstream: Mapping[str, Sequence[str]]) -> None:
        self._ways = list(upstream.values())
        self._turn = 0

    def choose(self, waiting: Mapping[str, int], busy: Collection[str]) -> str | None:
        """The next output's choice, or that of the first one behind it that has any."""
        for step in range(len(self._ways)):
            turn = (self._turn + step) % len(self._ways)
            ready = (each for each in reversed(self._ways[turn]) if each in waiting and each not in busy)
            chosen = next(ready, None)
            if chosen is not None:
                self._turn = turn + 1
                return chosen
        return None
