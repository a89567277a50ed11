"""One input of a box with two: which of its tuples are late, and what its groups have passed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from australis.algebra.expr import Value
from australis.algebra.order import Order, SortKey
from australis.algebra.types import DataType
from australis.reference.order import Disorder, Key, Number, disorder_of, group_key, sort_value, to_units
from australis.reference.row import Row, Tuple


@dataclass(order=True, frozen=True)
class Kept:
    """A tuple that is kept; partners and windows are taken by order value, ties by arrival."""

    value: Number
    number: int
    tuple: Tuple = field(compare=False)
    key: Key = field(compare=False)
    """The group of the tuple in its own stream."""


def leaving(kept: Kept, names: Sequence[str]) -> tuple[Number, list[tuple[bool, Any]], int]:
    """What decides when a tuple leaves among others that leave at once: order value, key, then arrival."""
    return (kept.value, sort_value(kept.tuple.values, [SortKey(name) for name in names]), kept.number)


class Side:
    """A stream with an order."""

    def __init__(self, order: Order, order_type: DataType, length: Number | None = None) -> None:
        self.order = order
        self.order_type = order_type
        self._length = length
        self.mark: Number | None = None
        """What the arc promises, for an order by progress."""
        self.groups: dict[Key, Disorder] = {}
        """The groups in the order of their first arrivals."""
        self.kept: list[Kept] = []
        self._number = 0

    def value(self, row: Row) -> Number | None:
        """The order value of a tuple, in its units."""
        return to_units(row[self.order.on], self.order_type)

    def arrive(self, tuple: Tuple, value: Number) -> Kept | None:
        """Note a tuple; None if it is late."""
        key = group_key(tuple.values, self.order.group_by)
        if self.mark is not None and value < self.mark:
            return None
        slack = self.groups.setdefault(key, disorder_of(self.order, self._length))
        if slack.is_late(value):
            return None
        slack.add(value)
        self._number += 1
        return Kept(value, self._number, tuple, key)

    def passed(self, key: Key) -> Number | None:
        """What a group has passed; None if it has passed nothing or is unknown. All pass a mark together."""
        if self.order.by_progress:
            return self.mark
        return self.groups[key].passed if key in self.groups else None

    def passed_for(self, row: Row) -> Number | None:
        """What the group has passed to which some attributes belong; None if they do not determine it."""
        if self.order.by_progress:
            return self.mark
        names = self.order.group_by
        return self.passed(group_key(row, names)) if set(names) <= row.keys() else None


def is_beyond(passed: Number | None, value: Number, size: Number) -> bool:
    """Whether a group has passed `value` by more than `size`, so that no later tuple can be near it."""
    return passed is not None and passed - value > size


def partner_key(equated: list[tuple[str, str]], port: int, row: Row) -> dict[str, Value]:
    """The values that attributes of the other side must have for a partner of a tuple at a port.

    Of several equalities with one attribute the first decides; if they differ, there is no partner at all.
    """
    return {pair[1 - port]: row[pair[port]] for pair in reversed(equated)}
