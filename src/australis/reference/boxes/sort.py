"""BSort and WSort: a sort bounded by slack, and one bounded by time (Aurora 5.2.2.1, Aurora* 2.2)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from australis.algebra.boxes import BSort, WSort
from australis.algebra.quarantine_text import order_reason
from australis.algebra.schema import Schema
from australis.algebra.spans import microseconds
from australis.reference.machine import Machine
from australis.reference.order import (
    Disorder,
    Key,
    Number,
    Sorted,
    ascending,
    disorder_of,
    group_key,
    sort_value,
    to_units,
)
from australis.reference.row import Item, Tuple


@dataclass(order=True)
class Buffered:
    """A tuple in a buffer; buffers are sorted by value, then by more keys, ties by arrival."""

    value: Any
    then: Any
    """What tuples with equal values are sorted by."""
    number: int
    tuple: Tuple = field(compare=False)
    arrival: int = field(compare=False)


class BSortMachine(Machine):
    """Keeps a buffer for each group; when it holds slack + 1 tuples, the least is emitted."""

    def __init__(self, box: BSort, schemas: tuple[Schema, ...], timezone: str) -> None:
        super().__init__()
        self._order, self._keys = box.order, box.keys
        self._order_type = box.order.type(schemas[0])
        self._length = box.order.length(schemas[0])

    def start(self) -> None:
        self._mark: Number | None = None
        self._slacks: dict[Key, Disorder] = {}
        self._buffers: dict[Key, list[Buffered]] = {}
        self._number = 0

    def take(self, port: int, tuple: Tuple, now: int) -> list[Item]:
        value = to_units(tuple.values[self._order.on], self._order_type)
        reason = order_reason(self._order.on, value)
        if value is None or reason is not None:
            return self.reject(port, tuple, str(reason))
        key, late = group_key(tuple.values, self._order.group_by), self.late
        passed = self._note(key, value)
        if self._order.late and self.late > late:
            return [(1, tuple)]
        buffer = self._buffers.setdefault(key, [])
        then = sort_value(tuple.values, self._keys)
        buffer.append(Buffered(value, then, self._number, tuple, now))
        self._number += 1
        if self._order.by_count:
            return self._leave([min(buffer)] if len(buffer) > self._order.count else [])
        return self._leave([each for each in buffer if passed is not None and each.value <= passed])

    def _note(self, key: Key, value: Number) -> Number | None:
        """Note a tuple, and count it if it is late; returns what has been passed.

        A late tuple is less than all buffered ones, so BSort emits it at once.
        """
        if self._order.by_progress:
            self.late += self._mark is not None and value < self._mark
            return self._mark
        slack = self._slacks.setdefault(key, disorder_of(self._order, self._length))
        self.late += slack.is_late(value)
        slack.add(value)
        return slack.passed

    def progress(self, marks: Mapping[int, Number]) -> list[Item]:
        mark = self._mark = marks[0]
        return self._leave([each for each in self._buffered() if each.value <= mark])

    def _buffered(self) -> list[Buffered]:
        return [each for buffer in self._buffers.values() for each in buffer]

    def _leave(self, leaving: list[Buffered]) -> list[Item]:
        for key, buffer in self._buffers.items():
            self._buffers[key] = [each for each in buffer if each not in leaving]
        return [(0, each.tuple) for each in sorted(leaving)]

    def finish(self) -> list[Item]:
        return self._leave(self._buffered())


class WSortMachine(Machine):
    """Holds tuples back; one that has waited too long is emitted, after all that sort before it."""

    def __init__(self, box: WSort, schemas: tuple[Schema, ...], timezone: str) -> None:
        super().__init__()
        self._keys = box.keys
        self._timeout = microseconds(box.timeout)

    def start(self) -> None:
        self._buffer: list[Buffered] = []
        self._last: Buffered | None = None
        self._number = 0

    def take(self, port: int, tuple: Tuple, now: int) -> list[Item]:
        for key in self._keys:
            if tuple.values[key.name] is None:
                return self.reject(port, tuple, str(order_reason(key.name, None)))
        value = [Sorted(ascending(tuple.values[key.name]), key.descending) for key in self._keys]
        if self._last is not None and value < self._last.value:
            self.late += 1
            return []
        self._buffer.append(Buffered(value, (), self._number, tuple, now))
        self._number += 1
        return []

    def tick(self, now: int) -> list[Item]:
        due = [each for each in self._buffer if now > each.arrival + self._timeout]
        return self._leave([each for each in self._buffer if each <= max(due)]) if due else []

    def finish(self) -> list[Item]:
        return self._leave(list(self._buffer))

    def _leave(self, leaving: list[Buffered]) -> list[Item]:
        self._buffer = [each for each in self._buffer if each not in leaving]
        self._last = max(leaving, default=self._last)
        return [(0, each.tuple) for each in sorted(leaving)]
