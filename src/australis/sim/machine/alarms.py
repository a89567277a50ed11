"""Alarms: which threads wait with a timeout, and whose expires first."""

from __future__ import annotations

from collections.abc import Iterator
from heapq import heappop, heappush

from australis.sim.machine.lives import VirtualThread


class Alarms:
    """The timeouts of threads, in the order of time, and of setting for equal times."""

    def __init__(self) -> None:
        self._planned: list[tuple[int, int, VirtualThread]] = []
        self._serial = 0

    def set(self, thread: VirtualThread, when_ns: int) -> None:
        """Wake a thread at a time, unless it resets its `alarm` to 0 before."""
        self._serial += 1
        thread.alarm = self._serial
        heappush(self._planned, (when_ns, self._serial, thread))

    def next_ns(self) -> int | None:
        """When the next alarm is due."""
        while self._planned and self._planned[0][2].alarm != self._planned[0][1]:
            heappop(self._planned)
        return self._planned[0][0] if self._planned else None

    def ring(self, now_ns: int) -> Iterator[VirtualThread]:
        """The threads whose alarms are due."""
        while self._planned and self._planned[0][0] <= now_ns:
            _, number, thread = heappop(self._planned)
            if thread.alarm == number:
                yield thread
