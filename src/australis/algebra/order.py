"""Order specifications: `Order(On A, Slack n, GroupBy B1, ..., Bm)` of Aurora 5.2.2."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from australis.algebra.guards import Gathering, guard, is_a, shown
from australis.algebra.schema import TUP, Schema
from australis.algebra.spans import units
from australis.algebra.types import LONG, TIMESTAMP, DataType
from australis.errors import AlgebraError, Problem

WIDEST_ORDER_DECIMAL = 18
"""Digits of a decimal that still fit a 64-bit integer, in which order values are kept."""
SLACK_MAX = 1_000_000
"""The greatest slack: a group keeps that many tuples."""
_KEY = re.compile(r"(?:`(?P<quoted>[^`]+)`|(?P<plain>.+?))(?:\s+(?P<way>ASC|DESC))?", re.IGNORECASE)
By = Literal["slack", "progress"]
Slack = int | str
"""How late a tuple may be: after how many greater ones, or by what length, such as `10 s`."""


@dataclass(frozen=True)
class Order:
    """The arrival order that a box expects of an input: ascending on `on`, in each group, up to `slack`.

    A tuple is late, and discarded, if more than `slack` tuples before it in its group have a strictly greater
    value of `on`; with a length such as `10 s`, if it is further than that below the greatest value of its
    group so far. By progress, a tuple is late if it is below the mark of its arc. `on` may be the virtual
    attribute `Tup#`, the number of the tuple in its group. With `late`, the box has one more output, for the
    late tuples of this order.

    >>> Order("time", slack=4, group_by=("sid",))
    Order(on='time', slack=4, group_by=('sid',), by='slack', late=False)
    """

    on: str
    slack: Slack = 0
    group_by: tuple[str, ...] = ()
    by: By = "slack"
    late: bool = False

    def __post_init__(self) -> None:
        guard(self.on, str, "on", "the name of an attribute, or Tup#")
        object.__setattr__(self, "group_by", distinct_names(self.group_by, "group_by"))
        self._check_slack()
        guard(self.late, bool, "late", "True or False")
        if self.late and self.on == TUP:
            raise AlgebraError(Problem("late", f"{TUP} is always in order", f"no late output with {TUP}"))
        if self.by not in ("slack", "progress"):
            raise AlgebraError(Problem("by", f"is {shown(self.by)}", "slack or progress"))
        if self.on == TUP and (self.slack or self.by == "progress"):
            expected = f"no slack and no progress with {TUP}"
            raise AlgebraError(Problem("slack", f"{TUP} is always in order", expected))
        if self.by == "progress" and self.slack:
            what = "an order by progress takes what is late from the marks of its arc"
            raise AlgebraError(Problem("slack", what, "slack where the marks are made: at the input"))
        if self.on in self.group_by:
            raise AlgebraError(
                Problem("group_by", f"{self.on!r} is both ordered and grouped by", "one of the two")
            )

    def _check_slack(self) -> None:
        if isinstance(self.slack, str):
            return
        if not is_a(self.slack, int) or not 0 <= self.slack <= SLACK_MAX:
            expected = f"a whole number of tuples from 0 to {SLACK_MAX}, or a length such as '10 s'"
            raise AlgebraError(Problem("slack", f"{shown(self.slack)} is not a valid slack", expected))

    @property
    def by_progress(self) -> bool:
        """Whether marks tell what is late and what is complete."""
        return self.by == "progress"

    @property
    def by_count(self) -> bool:
        """Whether its slack counts tuples, as in the paper."""
        return not self.by_progress and isinstance(self.slack, int)

    @property
    def count(self) -> int:
        """The slack of an order by count; 0 for the others."""
        return self.slack if isinstance(self.slack, int) else 0

    def length(self, schema: Schema) -> int | float | None:
        """The slack of an order by length, in the units of its type; None for the others."""
        if not isinstance(self.slack, str):
            return None
        try:
            return units(_span(self.slack, self.type(schema)), self.type(schema), zero=True)
        except AlgebraError as error:
            raise error.under("slack") from None

    def holds_us(self, schema: Schema) -> int:
        """How long it holds a tuple back, in microseconds: its slack, if that is a length of time."""
        return int(self.length(schema) or 0) if self.type(schema) == TIMESTAMP else 0

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


def _span(slack: str, order_type: DataType) -> int | float | str:
    """A slack by length as a size; for numbers, it is the text of a number."""
    if order_type.name == "timestamp":
        return slack
    try:
        return float(slack) if order_type.name == "double" or "." in slack else int(slack)
    except ValueError:
        # Whoever needs a number refuses the text, and says what would be right.
        return slack


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


@dataclass(frozen=True)
class SortKey:
    """An attribute to sort by."""

    name: str
    descending: bool = False


def sort_key(text: str) -> SortKey:
    """The key that a text stands for; a name that ends with ASC or DESC is written in backticks.

    >>> sort_key("price desc"), sort_key("`at DESC`")
    (SortKey(name='price', descending=True), SortKey(name='at DESC', descending=False))
    """
    found = _KEY.fullmatch(text.strip())
    if found is None:
        raise AlgebraError(Problem("", f"{text!r} is no sort key", "an attribute, perhaps followed by DESC"))
    return SortKey(found["quoted"] or found["plain"], (found["way"] or "").upper() == "DESC")


def checked_keys(value: object, path: str) -> tuple[str, ...]:
    """A list of texts that are all sort keys, at least one."""
    texts = names(value, path)
    if not texts:
        raise AlgebraError(Problem(path, "is empty", "at least one attribute"))
    for index, text in enumerate(texts):
        try:
            sort_key(text)
        except AlgebraError as error:
            raise error.under(f"{path}[{index}]") from None
    return texts


def keys_of(texts: tuple[str, ...], schema: Schema, path: str) -> tuple[SortKey, ...]:
    """The keys of some texts, all of which must be attributes of a schema."""
    keys = tuple(map(sort_key, texts))
    for index, key in enumerate(keys):
        lookup(schema, key.name, f"{path}[{index}]")
    return keys
