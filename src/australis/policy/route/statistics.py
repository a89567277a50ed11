"""What an operator of a distributed eddy learns about itself and reports to the others (Table 4.9)."""

from __future__ import annotations

from dataclasses import dataclass

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
        old = self._known
        selectivity, cost = old.selectivity, old.cost
        if self._served:
            selectivity = smoothed(selectivity, self._emitted / self._served)
            # A clock may be too coarse to see any time pass, and costs are divisors.
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
