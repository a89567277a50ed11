"""Resample: for each left tuple, a function over the right tuples near it (Aurora 5.2.2.4)."""

from __future__ import annotations

from dataclasses import dataclass, field

from australis.algebra.boxes import Resample
from australis.algebra.expr import Value
from australis.algebra.quarantine_text import order_reason
from australis.algebra.schema import Schema
from australis.reference.functions import window_value
from australis.reference.interpolation import INTERPOLATIONS, interpolated
from australis.reference.machine import Machine
from australis.reference.order import Key, group_attributes
from australis.reference.row import Item, Tuple, oldest
from australis.reference.sides import Kept, Side, is_beyond


@dataclass(order=True)
class Waiting:
    """A left tuple, and the groups whose windows around it have been completed."""

    left: Kept
    answered: set[Key] = field(default_factory=set, compare=False)


class ResampleMachine(Machine):
    """Keeps the left tuples that some group has not passed, and the right tuples that they may need."""

    def __init__(self, box: Resample, schemas: tuple[Schema, ...], timezone: str) -> None:
        self._box, self._schemas = box, schemas
        self._bound = box.bind(*schemas)
        self._timezone = timezone
        super().__init__()

    def start(self) -> None:
        left, right = self._box.left, self._box.right
        self._left = Side(left, left.type(self._schemas[0]))
        self._right = Side(right, right.type(self._schemas[1]))
        self._waiting: list[Waiting] = []

    @property
    def kept(self) -> tuple[int, int]:
        """How many left and right tuples are kept."""
        return (len(self._waiting), len(self._right.kept))

    def take(self, port: int, tuple: Tuple, now: int) -> list[Item]:
        side = (self._left, self._right)[port]
        value = side.value(tuple.values)
        reason = order_reason(side.order.on, value)
        if value is None or reason is not None:
            return self.reject(port, tuple, str(reason))
        arrived = side.arrive(tuple, value)
        if arrived is None:
            self.late += 1
            return []
        if port == 0:
            self._waiting.append(Waiting(arrived))
        else:
            self._right.kept.append(arrived)
        emitted = self._complete()
        self._forget()
        return emitted

    # --- windows

    def _complete(self) -> list[Item]:
        """Emit what the event has completed: left tuples by their order, groups by their first arrival."""
        emitted: list[Item] = []
        for waiting in sorted(self._waiting):
            for key in self._unanswered(waiting):
                if is_beyond(self._right.passed(key), waiting.left.value, self._bound.size):
                    waiting.answered.add(key)
                    emitted += self._result(waiting.left, key)
        return emitted

    def finish(self) -> list[Item]:
        emitted: list[Item] = []
        for waiting in sorted(self._waiting):
            for key in self._unanswered(waiting):
                emitted += self._result(waiting.left, key)
        return emitted

    def _unanswered(self, waiting: Waiting) -> list[Key]:
        return [key for key in self._right.groups if key not in waiting.answered]

    def _result(self, left: Kept, key: Key) -> list[Item]:
        """The result of one window, or nothing if it is empty."""
        group = [each for each in sorted(self._right.kept) if each.key == key]
        window = [each for each in group if abs(left.value - each.value) <= self._bound.size]
        if not window:
            return []
        tuples = [each.tuple for each in window]
        values: dict[str, Value] = group_attributes(tuples[0].values, self._right.order.group_by)
        values[self._left.order.on] = left.tuple.values[self._left.order.on]
        for name, call in self._bound.calls.items():
            if call.function in INTERPOLATIONS:
                values[name] = interpolated(call, window, left.value, self._timezone)
            else:
                values[name] = window_value(call, [each.values for each in tuples], self._timezone)
        return [(0, Tuple(values, oldest([left.tuple, *tuples])))]

    # --- what is dropped

    def _forget(self) -> None:
        """Drop left tuples that all known groups have answered, and right tuples that no window needs."""
        if self._right.groups:
            self._waiting = [waiting for waiting in self._waiting if self._unanswered(waiting)]
        self._right.kept = [each for each in self._right.kept if not self._is_useless(each)]

    def _is_useless(self, right: Kept) -> bool:
        if not is_beyond(self._left.passed(()), right.value, self._bound.size):
            return False
        waiting = [each.left.value for each in self._waiting if right.key not in each.answered]
        return all(value - right.value > self._bound.size for value in waiting)
