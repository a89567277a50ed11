"""Order specifications: `Order(On A, Slack n, GroupBy B1, ..., Bm)` of Aurora 5.2.2."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from australis.algebra.guards import Gathering, guard, is_a, shown
from australis.algebra.schema import TUP, Schema
from australis.algebra.types import LONG, DataType
from australis.errors import AlgebraError, Problem

WIDEST_ORDER_DECIMAL = 18
"""Digits of a decimal that still fit a 64-bit integer, in which order values are kept."""
SLACK_MAX = 1_000_000
"""The greatest slack: a group keeps that many tuples."""


@dataclass(frozen=True)
class Order:
    """The arrival order that a box expects of an input: ascending on `on`, in each group, up to `slack`.

    A tuple is late, and discarded, if more than `slack` tuples before it in its group have a strictly greater
    value of `on`. `on` may be the virtual attribute `Tup#`, the number of the tuple in its group.

    >>> Order("time", slack=4, group_by=("sid",))
    Order(on='time', slack=4, group_by=('sid',))
    """

    on: str
    slack: int = 0
    group_by: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        guard(self.on, str, "on", "the name of an attribute, or Tup#")
        object.__setattr__(self, "group_by", distinct_names(self.group_by, "group_by"))
        if not is_a(self.slack, int) or not 0 <= self.slack <= SLACK_MAX:
            expected = f"a whole number of tuples from 0 to {SLACK_MAX}"
            raise AlgebraError(Problem("slack", f"{shown(self.slack)} is not a valid slack", expected))
        if self.on == TUP and self.slack:
            raise AlgebraError(Problem("slack", f"{TUP} is always in order", f"slack 0 with {TUP}"))
        if self.on in self.group_by:
            raise AlgebraError(
                Problem("group_by", f"{self.on!r} is both ordered and grouped by", "one of the two")
            )

    def type(self, schema: Schema) -> DataType:
        """The type of the ordered attribute, after a check that the whole order fits the schema."""
        with Gathering() as gathering:
            for index, name in enumerate(self.group_by):
                with gathering.at():
                    lookup(schema, name, f"group_by[{index}]")
            found = LONG if self.on == TUP else lookup(schema, self.on, "on")
        if not is_orderable(found):
            expected = f"int, long, double, timestamp, or a decimal of at most {WIDEST_ORDER_DECIMAL} digits"
            raise AlgebraError(Problem("on", f"{self.on!r} is a {found} and cannot be an order", expected))
        return found

    @property
    def reads(self) -> frozenset[str]:
        """The attributes that the order is about."""
        return frozenset({self.on, *self.group_by}) - {TUP}

    def rejects(self, schema: Schema) -> bool:
        """Whether a tuple may have no place in the order; no clock shows times beyond 2^62."""
        if self.on == TUP:
            return False
        found = schema[self.on]
        has_place = found.type.name in ("int", "timestamp") or found.type.is_decimal
        return found.nullable or not has_place


def is_orderable(data_type: DataType) -> bool:
    """Whether windows can be laid along values of a type."""
    if data_type.is_decimal:
        return data_type.precision <= WIDEST_ORDER_DECIMAL
    return data_type.is_numeric or data_type.name == "timestamp"


def common_order_type(left: DataType, right: DataType) -> DataType:
    """The type in which the orders of two inputs are compared."""
    if left == right:
        return left
    if left.is_integral and right.is_integral:
        return LONG
    raise AlgebraError(
        Problem(
            "right.on",
            f"the left order is a {left}, the right one a {right}",
            "orders of one type; use a Map to cast",
        )
    )


def lookup(schema: Schema, name: str, path: str) -> DataType:
    """The type of an attribute, or an error at `path`."""
    try:
        return schema[name].type
    except AlgebraError as error:
        raise error.under(path) from None


def names(value: object, path: str) -> tuple[str, ...]:
    """A sequence of names as a tuple; a lone text is refused, since it would be split into letters."""
    if isinstance(value, str):
        raise AlgebraError(Problem(path, f"{value!r} is not a list of names", f"a list such as [{value!r}]"))
    guard(value, Iterable, path, "a list of texts")
    found: tuple[str, ...] = tuple(value)  # type: ignore[arg-type]
    for index, name in enumerate(found):
        guard(name, str, f"{path}[{index}]", "a text")
    return found


def distinct_names(value: object, path: str) -> tuple[str, ...]:
    """A sequence of distinct names as a tuple."""
    found = names(value, path)
    for index, name in enumerate(found):
        if name in found[:index]:
            raise AlgebraError(Problem(f"{path}[{index}]", f"{name!r} occurs twice", "each name only once"))
    return found
