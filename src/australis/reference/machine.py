"""What every box does in the reference: takes events, keeps what it must remember, counts, emits."""

from __future__ import annotations

from abc import ABC, abstractmethod

from australis.errors import KernelError, Problem
from australis.reference.row import Item, Rejected, Row, Tuple


class Machine(ABC):
    """A running box. `now` is local time in microseconds; it never goes back.

    What it remembers of its tuples is set by `start`, when it is made and behind each flush; what it counts
    goes on.
    """

    def __init__(self) -> None:
        self.late = 0
        """Tuples that came too late for the order."""
        self.ignored = 0
        """Tuples in order that only windows had a place for that had timed out already."""
        self.rejected = 0
        """Tuples that went to the quarantine."""
        self.start()

    @abstractmethod
    def start(self) -> None:
        """Remember no tuples: the state in which the streams begin. `__init__` calls it."""

    def load(self, row: Row) -> None:
        """One more row of the stored table, before the stream begins."""
        name = type(self).__name__.removesuffix("Machine")
        raise KernelError(Problem("", f"{name} reads no stored table", "a box with a table side"))

    def push(self, port: int, tuple: Tuple, now: int) -> list[Item]:
        """A tuple arrives on an input port; timeouts that are due fire before it."""
        return [*self.tick(now), *self.take(port, tuple, now)]

    @abstractmethod
    def take(self, port: int, tuple: Tuple, now: int) -> list[Item]:
        """What the tuple itself causes."""

    def tick(self, now: int) -> list[Item]:
        """Time passes: timeouts that are due fire."""
        return []

    def flush(self, now: int) -> list[Item]:
        """The streams end, and the box begins anew; timeouts that are due fire before that."""
        emitted = [*self.tick(now), *self.finish()]
        self.start()
        return emitted

    def finish(self) -> list[Item]:
        """What is still to be emitted: every buffer is released, every window closed."""
        return []

    def reject(self, port: int, tuple: Tuple, reason: str) -> list[Item]:
        """Send a tuple to the quarantine."""
        self.rejected += 1
        return [Rejected(port, tuple, reason)]
