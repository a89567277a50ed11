"""What every box does in the reference: takes events, keeps state, counts, emits."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping

from australis.algebra.quarantine_text import order_reason
from australis.errors import KernelError, Problem
from australis.reference.order import Number
from australis.reference.row import Item, Rejected, Row, Tuple
from australis.reference.sides import Kept, Side


class Machine(ABC):
    """A running box. `now` is local time in microseconds; it never goes back.

    `start` resets the tuples that it keeps, when it is made and after each flush; the counters continue.
    """

    def __init__(self) -> None:
        self.late = 0
        """Tuples that were late for the order."""
        self.ignored = 0
        """In-order tuples that belonged only to windows that had already timed out."""
        self.rejected = 0
        """Tuples that went to the quarantine."""
        self.late_outputs: Mapping[int, int] = {}
        """The output for the late tuples of each input port that has one."""
        self.start()

    @abstractmethod
    def start(self) -> None:
        """Forget all tuples: the state in which the streams begin. `__init__` calls it."""

    def load(self, row: Row) -> None:
        """Take one more row of the stored table, before the stream begins."""
        name = type(self).__name__.removesuffix("Machine")
        raise KernelError(Problem("", f"{name} reads no stored table", "a box with a table side"))

    def push(self, port: int, tuple: Tuple, now: int) -> list[Item]:
        """Take a tuple that arrives on an input port; timeouts that are due fire before it."""
        return [*self.tick(now), *self.take(port, tuple, now)]

    @abstractmethod
    def take(self, port: int, tuple: Tuple, now: int) -> list[Item]:
        """What the tuple itself makes the box emit."""

    def tick(self, now: int) -> list[Item]:
        """Let time pass: timeouts that are due fire."""
        return []

    def progress(self, marks: Mapping[int, Number]) -> list[Item]:
        """Take the marks of the orders at some ports, which have risen; only for orders by progress."""
        return []

    def flush(self, now: int) -> list[Item]:
        """End the streams and start again; timeouts that are due fire first."""
        emitted = [*self.tick(now), *self.finish()]
        self.start()
        return emitted

    def finish(self) -> list[Item]:
        """What is still to be emitted: every buffer is released and every window closed."""
        return []

    def come_late(self, port: int, tuple: Tuple) -> list[Item]:
        """Count a tuple that is late for the order of its port; it leaves by the late output, if any."""
        self.late += 1
        return [(self.late_outputs[port], tuple)] if port in self.late_outputs else []

    def enter(self, port: int, side: Side, tuple: Tuple) -> Kept | list[Item]:
        """Let a tuple into the order of its port, or say what becomes of it: rejected, or late."""
        value = side.value(tuple.values)
        reason = order_reason(side.order.on, value)
        if value is None or reason is not None:
            return self.reject(port, tuple, str(reason))
        arrived = side.arrive(tuple, value)
        return self.come_late(port, tuple) if arrived is None else arrived

    def reject(self, port: int, tuple: Tuple, reason: str) -> list[Item]:
        """Send a tuple to the quarantine."""
        self.rejected += 1
        return [Rejected(port, tuple, reason)]
