"""Orders: groups, order values in their units, and what a group has passed (Aurora 5.2.2)."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import total_ordering
from typing import Any

from australis.algebra.expr import Value
from australis.algebra.order import Order, SortKey
from australis.algebra.types import DataType
from australis.reference.row import Row

Number = int | float
"""An order value in the units of its type: for decimals, steps of the last digit."""
Key = tuple[Hashable, ...]
"""A key that two tuples share if and only if they are in one group."""


def group_key(row: Row, names: tuple[str, ...]) -> Key:
    """The attributes grouped by, as a key that is equal where SQL's GROUP BY says so.

    >>> group_key({"b": float("nan")}, ("b",)) == group_key({"b": float("nan")}, ("b",))
    True
    """
    return tuple(comparable(row[name]) for name in names)


def comparable(value: Value) -> Hashable:
    """A key that equals another of its type where GROUP BY says so: NULL is NULL, NaN is NaN."""
    if isinstance(value, float) and math.isnan(value):
        return "NaN"
    return value


def ascending(value: Any) -> tuple[bool, Any]:
    """A key that sorts values of one type: NaN after all other numbers, texts by their UTF-8 bytes."""
    if isinstance(value, float) and math.isnan(value):
        return (True, 0.0)
    return (False, value.encode("utf-8") if isinstance(value, str) else value)


@dataclass(frozen=True)
@total_ordering
class Sorted:
    """A key that sorts ascending or descending."""

    key: Any
    descending: bool

    def __lt__(self, other: Sorted) -> bool:
        less: bool = other.key < self.key if self.descending else self.key < other.key
        return less


def sort_value(row: Row, keys: Sequence[SortKey]) -> list[tuple[bool, Any]]:
    """What a tuple is sorted by: for each key whether it is NULL, which is last, then its value."""
    values = [(row[key.name], key.descending) for key in keys]
    return [
        (value is None, None if value is None else Sorted(ascending(value), descending))
        for value, descending in values
    ]


def group_attributes(row: Row, names: tuple[str, ...]) -> dict[str, Value]:
    """The attributes grouped by, as a result shows them: 0.0 for both zeros."""
    return {name: 0.0 if row[name] == 0 and isinstance(row[name], float) else row[name] for name in names}


def to_units(value: Value, order_type: DataType) -> Number | None:
    """An order value in the units of its type."""
    if isinstance(value, Decimal):
        return int(value.scaleb(order_type.scale))
    assert value is None or isinstance(value, int | float), f"{value!r} cannot be an order"
    return value


def from_units(units: Number, order_type: DataType) -> Value:
    """The order value that a number of units stands for; 0.0 stands for both zeros."""
    if order_type.is_decimal:
        return Decimal(units).scaleb(-order_type.scale)
    return units + 0


def is_value(units: Number, order_type: DataType) -> bool:
    """Whether a number of units is a value of the type: aligned windows may start below its least one."""
    if order_type.is_decimal:
        return bool(abs(units) < 10**order_type.precision)
    return order_type.name != "int" or -(2**31) <= units < 2**31


class Length:
    """The disorder of one group whose slack is a length: its greatest value tells what it has passed.

    >>> group = Length(10)
    >>> for value in (1, 25, 18):
    ...     group.add(value)
    >>> group.passed, group.is_late(14), group.is_late(15)
    (15, True, False)
    """

    def __init__(self, length: Number) -> None:
        self._length = length
        self.passed: Number | None = None

    def is_late(self, value: Number) -> bool:
        """Whether it is further than the slack below the greatest value before it."""
        return self.passed is not None and value < self.passed

    def add(self, value: Number) -> None:
        """Note a tuple with this value."""
        passed = value - self._length
        self.passed = passed if self.passed is None else max(self.passed, passed)


class Slack:
    """The disorder of one group: it keeps the slack + 1 greatest values, which tell what it has passed.

    >>> group = Slack(1)
    >>> for value in (1, 5, 3):
    ...     group.add(value)
    >>> group.passed, group.is_late(2), group.is_late(3)
    (3, True, False)
    """

    def __init__(self, slack: int) -> None:
        self._remembered = slack + 1
        self._greatest: list[Number] = []

    @property
    def passed(self) -> Number | None:
        """The least value that is not late; None before slack + 1 tuples have arrived."""
        return min(self._greatest) if len(self._greatest) == self._remembered else None

    def is_late(self, value: Number) -> bool:
        """Whether more than `slack` tuples before it were strictly greater."""
        return self.passed is not None and value < self.passed

    def add(self, value: Number) -> None:
        """Note a tuple with this value."""
        self._greatest = sorted([*self._greatest, value])[-self._remembered :]


class Boundless:
    """The disorder of one group that only marks bound."""

    passed: Number | None = None

    def is_late(self, value: Number) -> bool:
        """Never: that depends on no other tuple of the group."""
        return False

    def add(self, value: Number) -> None:
        """Nothing is noted."""


Disorder = Slack | Length | Boundless
"""What tells late tuples of a group, and what it has passed."""


def disorder_of(order: Order, length: Number | None) -> Disorder:
    """The disorder of a new group; `length` is the slack of an order by length."""
    if order.by_progress:
        return Boundless()
    return Slack(order.count) if length is None else Length(length)


class Arrivals:
    """When the last tuple of each group arrived; after `forget_us` without one, a group begins anew.

    >>> arrivals = Arrivals(10)
    >>> [arrivals.is_new(("a",), now) for now in (0, 10, 21)]
    [True, False, True]
    """

    def __init__(self, forget_us: int | None) -> None:
        self._forget_us = forget_us
        self._last: dict[Key, int] = {}

    def is_new(self, group: Key, now: int) -> bool:
        """Note the arrival of a tuple; whether nothing is remembered of its group."""
        last, self._last[group] = self._last.get(group), now
        return last is None or (self._forget_us is not None and now > last + self._forget_us)
