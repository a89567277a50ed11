"""What an operator of a distributed eddy learns about itself and reports to the others (Table 4.9)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

REMEMBERED = 0.8
"""The weight of the old value in the new one: it follows changes, but not single spikes."""


@dataclass(frozen=True)
class OperatorStatistics:
    """What one operator reports to the others."""

    queue: float = 0.0
    """The mean length of its queue, smoothed (Q)."""
    ticket: float = 0.0
    """A rough measure of what it has consumed and not returned (T)."""
    selectivity: float = 1.0
    """The tuples that it emits per tuple, smoothed (S)."""
    cost: float = 1.0
    """The processing time of a tuple (C)."""


def together(copies: Sequence[OperatorStatistics]) -> OperatorStatistics:
    """An operator as its senders see it: its copies work in parallel, each on as many tuples as it is fast.

    >>> together([OperatorStatistics(4, 2, 0.5, 1.0), OperatorStatistics(0, 1, 0.5, 1.0)])
    OperatorStatistics(queue=4, ticket=3, selectivity=0.5, cost=0.5)
    """
    speeds = [1 / each.cost for each in copies]
    whole = sum(speeds)
    return OperatorStatistics(
        sum(each.queue for each in copies),
        sum(each.ticket for each in copies),
        sum(each.selectivity * speed for each, speed in zip(copies, speeds, strict=True)) / whole,
        1 / whole,
    )


class Monitor:
    """Computes the statistics of an operator from its events.

    >>> monitor = Monitor(selectivity=1.0)
    >>> for emitted in (1, 0, 1, 0):
    ...     monitor.received()
    ...     monitor.served(time=0.5, emitted=emitted)
    >>> monitor.told(queue=0)
    OperatorStatistics(queue=0.0, ticket=2, selectivity=0.9, cost=0.5)
    """

    def __init__(self, *, selectivity: float = 1.0, cost: float = 1.0, overloaded: int = 10_000) -> None:
        self._known = OperatorStatistics(selectivity=selectivity, cost=cost)
        self._overloaded = overloaded
        self._ticket = 0
        self._served = self._emitted = 0
        self._time = 0.0

    def received(self) -> None:
        """A tuple entered the queue."""
        self._ticket += 1

    def served(self, time: float, emitted: int) -> None:
        """A tuple was processed for a time, and so many were emitted."""
        self._ticket = max(0, self._ticket - emitted)
        self._served += 1
        self._emitted += emitted
        self._time += time

    def told(self, queue: float) -> OperatorStatistics:
        """The current report, after a queue of some mean length; the next interval begins."""
        if queue > self._overloaded:
            self._ticket = 0
        self._known = replace(
            interval(self._known, self._served, self._emitted, self._time, queue), ticket=self._ticket
        )
        self._served = self._emitted = 0
        self._time = 0.0
        return self._known


def interval(
    old: OperatorStatistics, served: int, emitted: int, time: float, queue: float
) -> OperatorStatistics:
    """Statistics after one more interval, but for the tickets."""
    selectivity, cost = old.selectivity, old.cost
    if served:
        selectivity = smoothed(selectivity, emitted / served)
        # A clock may be too coarse to see any time pass, and costs are divisors.
        cost = time / served or cost
    return OperatorStatistics(smoothed(old.queue, queue), old.ticket, selectivity, cost)


def smoothed(old: float, measured: float) -> float:
    """A statistic after one more interval.

    >>> smoothed(1.0, 0.5)
    0.9
    """
    return REMEMBERED * old + (1 - REMEMBERED) * measured
