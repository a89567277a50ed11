"""Resample: for each left tuple, a function over the right tuples near it (Aurora 5.2.2.4)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from australis.algebra.boxes import Resample
from australis.algebra.expr import Value, WindowCall
from australis.algebra.schema import Schema
from australis.reference.functions import computed, window_value
from australis.reference.interpolation import INTERPOLATIONS, interpolated
from australis.reference.machine import Machine
from australis.reference.order import Key, Number, group_attributes, group_key
from australis.reference.row import Item, Tuple, oldest
from australis.reference.sides import Kept, Side, is_beyond, leaving, partner_key


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
        slacks = self._bound.slacks
        self._left = Side(left, left.type(self._schemas[0]), slacks[0])
        self._right = Side(right, right.type(self._schemas[1]), slacks[1])
        self._waiting: list[Waiting] = []

    @property
    def kept(self) -> tuple[int, int]:
        """How many left and right tuples are kept."""
        return (len(self._waiting), len(self._right.kept))

    def take(self, port: int, tuple: Tuple, now: int) -> list[Item]:
        side = (self._left, self._right)[port]
        arrived = self.enter(port, side, tuple)
        if isinstance(arrived, list):
            return arrived
        if port == 0:
            self._waiting.append(Waiting(arrived))
        else:
            self._right.kept.append(arrived)
        return self._advance()

    def progress(self, marks: Mapping[int, Number]) -> list[Item]:
        for port, mark in marks.items():
            (self._left, self._right)[port].mark = mark
        return self._advance()

    def _advance(self) -> list[Item]:
        emitted = self._complete()
        self._forget()
        return emitted

    # --- windows

    def _complete(self) -> list[Item]:
        """Emit what the event has completed: left tuples by their order, groups by their first arrival."""
        emitted: list[Item] = []
        for waiting in self._in_sequence():
            for key in self._unanswered(waiting):
                if is_beyond(self._right.passed(key), waiting.left.value, self._bound.size):
                    waiting.answered.add(key)
                    emitted += self._result(waiting.left, key)
        return emitted

    def finish(self) -> list[Item]:
        emitted: list[Item] = []
        for waiting in self._in_sequence():
            for key in self._unanswered(waiting):
                emitted += self._result(waiting.left, key)
        return emitted

    def _in_sequence(self) -> list[Waiting]:
        """The left tuples that wait: by their order, those of a predicate's keys also by these."""
        names = [pair[0] for pair in self._bound.equated]
        return sorted(self._waiting, key=lambda each: leaving(each.left, names))

    def _unanswered(self, waiting: Waiting) -> list[Key]:
        """The known groups that a left tuple asks, and that have not answered."""
        return [
            key for key in self._right.groups if key not in waiting.answered and self._asks(waiting.left, key)
        ]

    def _asks(self, left: Kept, key: Key) -> bool:
        """Whether a left tuple asks a group: with a predicate, only the one with its own key."""
        return self._box.predicate is None or key == self._own_group(left)

    def _own_group(self, left: Kept) -> Key | None:
        """The group with the key of a left tuple; none has a NULL."""
        row = partner_key(self._bound.equated, 0, left.tuple.values)
        key = group_key(row, self._right.order.group_by)
        return None if None in key else key

    def _result(self, left: Kept, key: Key) -> list[Item]:
        """The result of one window, or nothing if it is empty."""
        group = [each for each in sorted(self._right.kept) if each.key == key]
        window = [each for each in group if abs(left.value - each.value) <= self._bound.size]
        if not window:
            return []
        tuples = [each.tuple for each in window]
        values: dict[str, Value] = group_attributes(tuples[0].values, self._right.order.group_by)
        values |= {name: left.tuple.values[name] for name in (self._left.order.on, *self._box.keep)}
        results = [self._call_value(call, window, left.value) for call in self._bound.functions.calls]
        values |= computed(self._bound.functions, results, self._timezone)
        return [(0, Tuple(values, oldest([left.tuple, *tuples])))]

    def _call_value(self, call: WindowCall, window: list[Kept], position: Number) -> Value:
        if call.function in INTERPOLATIONS:
            inside = self._box.extrapolate
            return interpolated(call, window, position, self._timezone, extrapolate=inside)
        return window_value(call, [each.tuple.values for each in window], self._timezone)

    # --- what is dropped

    def _forget(self) -> None:
        """Drop left tuples that have their answers, and right tuples that no window needs."""
        self._waiting = [waiting for waiting in self._waiting if not self._is_done(waiting)]
        self._right.kept = [each for each in self._right.kept if not self._is_useless(each)]

    def _is_done(self, waiting: Waiting) -> bool:
        """Whether all known groups have answered a left tuple; with a predicate, its own group."""
        if is_beyond(self._right.mark, waiting.left.value, self._bound.size):
            return True
        if self._box.predicate is None:
            return bool(self._right.groups) and not self._unanswered(waiting)
        key = self._own_group(waiting.left)
        return key is None or key in waiting.answered

    def _is_useless(self, right: Kept) -> bool:
        row = partner_key(self._bound.equated, 1, right.tuple.values)
        if None in row.values():
            return True
        passed = self._left.passed_for(row)
        if not is_beyond(passed, right.value, self._bound.size):
            return False
        unanswered = [each.left for each in self._waiting if right.key not in each.answered]
        waiting = [each.value for each in unanswered if self._asks(each, right.key)]
        return all(value - right.value > self._bound.size for value in waiting)
