"""What an operator of a distributed eddy learns of itself, and tells the others (Table 4.9)."""

from __future__ import annotations

from dataclasses import dataclass

REMEMBERED = 0.8
"""The part of the old number in the new one: it follows changes, and no spike moves it far."""


@dataclass(frozen=True)
class OperatorStatistics:
    """What one operator tells the others."""

    queue: float = 0.0
    """The mean length of its queue, smoothed (Q)."""
    ticket: float = 0.0
    """A rough measure of what it has eaten and not given back (T)."""
    selectivity: float = 1.0
    """The tuples that it makes of one, smoothed (S)."""
    cost: float = 1.0
    """The time that it works on a tuple (C)."""


class Monitor:
    """Learns the statistics of an operator from what happens there.

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
        """A tuple came into the queue."""
        self._ticket += 1

    def served(self, time: float, emitted: int) -> None:
        """A tuple was worked on for a time, and so many were made of it."""
        self._ticket = max(0, self._ticket - emitted)
        self._served += 1
        self._emitted += emitted
        self._time += time

    def told(self, queue: float) -> OperatorStatistics:
        """What the others are told now, after a queue of some mean length; the next interval begins."""
        if queue > self._overloaded:
            self._ticket = 0
        old = self._known
        selectivity, cost = old.selectivity, old.cost
        if self._served:
            selectivity = smoothed(selectivity, self._emitted / self._served)
            # A clock may be too coarse to see any time pass, and costs are divided by.
            cost = self._time / self._served or cost
        self._known = OperatorStatistics(smoothed(old.queue, queue), self._ticket, selectivity, cost)
        self._served = self._emitted = 0
        self._time = 0.0
        return self._known


def smoothed(old: float, measured: float) -> float:
    """A statistic after one more interval.

    >>> smoothed(1.0, 0.5)
    0.9
    """
    return REMEMBERED * old + (1 - REMEMBERED) * measured
