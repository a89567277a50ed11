"""BSort and WSort: a sort bounded by slack, and one bounded by time (Aurora 5.2.2.1, Aurora* 2.2)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from australis.algebra.boxes import BSort, WSort
from australis.algebra.quarantine_text import order_reason
from australis.algebra.schema import Schema
from australis.algebra.spans import microseconds
from australis.reference.machine import Machine
from australis.reference.order import Key, Number, Slack, ascending, group_key, to_units
from australis.reference.row import Item, Row, Tuple


@dataclass(order=True)
class Buffered:
    """A tuple in a buffer; buffers are sorted by value, ties by arrival."""

    value: Any
    number: int
    tuple: Tuple = field(compare=False)
    arrival: int = field(compare=False)


class BSortMachine(Machine):
    """Keeps a buffer for each group; when it holds slack + 1 tuples, the least is emitted."""

    def __init__(self, box: BSort, schemas: tuple[Schema, ...], timezone: str) -> None:
        super().__init__()
        self._order = box.order
        self._order_type = box.order.type(schemas[0])

    def start(self) -> None:
        self._slacks: dict[Key, Slack] = {}
        self._buffers: dict[Key, list[Buffered]] = {}
        self._number = 0

    def take(self, port: int, tuple: Tuple, now: int) -> list[Item]:
        value = to_units(tuple.values[self._order.on], self._order_type)
        reason = order_reason(self._order.on, value)
        if value is None or reason is not None:
            return self.reject(port, tuple, str(reason))
        key = group_key(tuple.values, self._order.group_by)
        self._count_if_late(key, value)
        buffer = self._buffers.setdefault(key, [])
        buffer.append(Buffered(value, self._number, tuple, now))
        self._number += 1
        if len(buffer) <= self._order.slack:
            return []
        least = min(buffer)
        buffer.remove(least)
        return [(0, least.tuple)]

    def _count_if_late(self, key: Key, value: Number) -> None:
        """Count a late tuple: it is less than all buffered ones, so BSort emits it at once."""
        slack = self._slacks.setdefault(key, Slack(self._order.slack))
        if slack.is_late(value):
            self.late += 1
        slack.add(value)

    def finish(self) -> list[Item]:
        buffered = sorted(each for buffer in self._buffers.values() for each in buffer)
        return [(0, each.tuple) for each in buffered]


class WSortMachine(Machine):
    """Holds tuples back; one that has waited too long is emitted, after all that sort before it."""

    def __init__(self, box: WSort, schemas: tuple[Schema, ...], timezone: str) -> None:
        super().__init__()
        self._by = box.by
        self._timeout = microseconds(box.timeout)

    def start(self) -> None:
        self._buffer: list[Buffered] = []
        self._last: Buffered | None = None
        self._number = 0

    def take(self, port: int, tuple: Tuple, now: int) -> list[Item]:
        for name in self._by:
            if tuple.values[name] is None:
                return self.reject(port, tuple, str(order_reason(name, None)))
        value = sort_key(tuple.values, self._by)
        if self._last is not None and value < self._last.value:
            self.late += 1
            return []
        self._buffer.append(Buffered(value, self._number, tuple, now))
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


def sort_key(row: Row, names: tuple[str, ...]) -> tuple[Any, ...]:
    """The sort attributes of a tuple, in a form that Python sorts as WSort does."""
    return tuple(ascending(row[name]) for name in names)
