"""Aggregate and its relatives: window functions over windows of a stream (Aurora 5.2.2.2, Aurora* 2.2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

from australis.algebra.boxes.box import (
    Box,
    Composed,
    NamedTexts,
    Names,
    at,
    call_fields,
    check_syntax,
    named_texts,
    predicate,
    window_calls,
)
from australis.algebra.expr import Expr, WindowCall, parse, parse_window
from australis.algebra.guards import Gathering, guard
from australis.algebra.order import Order, distinct_names, lookup
from australis.algebra.schema import TUP, Field, Schema
from australis.algebra.spans import Span, microseconds, units
from australis.algebra.types import DataType
from australis.errors import AlgebraError, Problem

WINDOWS_MAX = 100_000
"""The most windows of a group that one tuple may be in."""


@dataclass(frozen=True)
class BoundAggregate:
    """An Aggregate with its types: sizes are in the units of the order's type, times in microseconds."""

    order_type: DataType
    calls: dict[str, WindowCall]
    size: int | float
    advance: int | float | None
    advance_when: Expr | None
    timeout: int | None


@dataclass(frozen=True)
class Aggregate(Box):
    """`Aggregate(F.., Assuming O, Size s, Advance i, Timeout t)`: functions over windows of each group.

    Windows are half open, [a, a + s). Those of a group start at its first in-order tuple's value and every
    `advance` from there; with `align` at multiples of `advance`. With `advance_when` they start at the first
    in-order tuple and at each one on which the predicate holds. If neither is given, `advance` is `size`. A
    window is emitted by the first in-order tuple past its end, or when `timeout` has passed since its first
    tuple. Empty windows are never emitted.

    >>> Aggregate({"average": "avg(price)"}, Order("time", group_by=("sid",)), size="1 hour").advance is None
    True
    """

    functions: NamedTexts
    order: Order
    size: Span
    advance: Span | None = None
    advance_when: str | None = None
    timeout: str | None = None
    align: bool = False
    kind: ClassVar[str] = "aggregate"
    ordered: ClassVar[bool] = True
    keeps_tuples: ClassVar[bool] = False
    copies_tuples: ClassVar[bool] = False
    pairs_inputs: ClassVar[bool] = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "functions", named_texts(self.functions, "functions"))
        guard(self.order, Order, "order", "an Order")
        guard(self.align, bool, "align", "True or False")
        with Gathering() as found:
            with found.at():
                check_syntax(self.functions, "functions", parse_window)
            with found.at():
                _check_timeout(self.timeout)
            if self.advance_when is not None:
                self._check_advance_when(self.advance_when)

    def _check_advance_when(self, text: str) -> None:
        if self.advance is not None or self.align:
            other = "advance" if self.advance is not None else "align"
            raise AlgebraError(
                Problem("advance_when", f"is given together with {other}", "only one of the two")
            )
        with at("advance_when"):
            parse(text)

    def bind(self, schema: Schema) -> BoundAggregate:
        """The box with types, for inputs of a schema."""
        with Gathering() as found:
            with found.at():
                order_type, size, advance = self._extent(schema)
            with found.at():
                calls = window_calls(self.functions, schema)
            when = None if self.advance_when is None else predicate(self.advance_when, schema, "advance_when")
        timeout = None if self.timeout is None else microseconds(self.timeout)
        return BoundAggregate(order_type, calls, size, None if when else advance, when, timeout)

    def _extent(self, schema: Schema) -> tuple[DataType, int | float, int | float]:
        """The type of the order, and size and advance in its units."""
        with at("order"):
            order_type = self.order.type(schema)
        with Gathering() as found:
            with found.at("size"):
                size = units(self.size, order_type)
            if self.advance is not None:
                with found.at("advance"):
                    advance = units(self.advance, order_type)
        advance = size if self.advance is None else advance
        self._check_overlap(size, advance)
        return order_type, size, advance

    def _check_overlap(self, size: float, advance: float) -> None:
        if size > WINDOWS_MAX * advance:
            what = f"with size {self.size!r} and advance {self.advance!r} a tuple is in too many windows"
            raise AlgebraError(Problem("advance", what, f"a size of at most {WINDOWS_MAX} advances"))

    def output_schemas(self, *inputs: Schema) -> tuple[Schema, ...]:
        schema, bound = inputs[0], self.bind(inputs[0])
        start = () if self.order.on == TUP else (Field(self.order.on, bound.order_type, False),)
        groups = tuple(schema[name] for name in self.order.group_by)
        with at("functions"):
            return (Schema((*start, *groups, *call_fields(bound.calls))),)

    @property
    def timeout_us(self) -> int | None:
        return None if self.timeout is None else microseconds(self.timeout)

    def partition_keys(self, port: int) -> Sequence[str]:
        return self.order.group_by

    def expressions(self, *schemas: Schema) -> tuple[Expr, ...]:
        when = self.bind(schemas[0]).advance_when
        return () if when is None else (when,)

    def window_functions(self, *schemas: Schema) -> tuple[WindowCall, ...]:
        return tuple(self.bind(schemas[0]).calls.values())

    def rejects(self, *schemas: Schema) -> bool:
        return self.order.rejects(schemas[0])

    def reads(self, *schemas: Schema, wanted: Sequence[Names]) -> tuple[Names, ...]:
        return (self._used(*schemas) | self.order.reads,)

    def origins(self, *schemas: Schema) -> tuple[Mapping[str, str], ...]:
        return ({name: name for name in self.order.group_by},)


@dataclass(frozen=True)
class Tumble(Box):
    """`Tumble(F.., GroupBy A..)`: functions over runs of consecutive tuples with equal `group_by` attributes.

    A run is emitted when a tuple with other values arrives (Aurora* 2.2), or `timeout` after its first tuple.
    """

    functions: NamedTexts
    group_by: tuple[str, ...]
    timeout: str | None = None
    kind: ClassVar[str] = "tumble"
    ordered: ClassVar[bool] = True
    keeps_tuples: ClassVar[bool] = False
    copies_tuples: ClassVar[bool] = False
    pairs_inputs: ClassVar[bool] = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "functions", named_texts(self.functions, "functions"))
        object.__setattr__(self, "group_by", distinct_names(self.group_by, "group_by"))
        check_syntax(self.functions, "functions", parse_window)
        _check_timeout(self.timeout)
        if not self.group_by:
            raise AlgebraError(Problem("group_by", "is empty", "at least one attribute"))

    def bind(self, schema: Schema) -> dict[str, WindowCall]:
        """The typed window functions."""
        with Gathering() as found:
            for index, name in enumerate(self.group_by):
                with found.at():
                    lookup(schema, name, f"group_by[{index}]")
            return window_calls(self.functions, schema)

    def output_schemas(self, *inputs: Schema) -> tuple[Schema, ...]:
        calls = self.bind(inputs[0])
        groups = tuple(inputs[0][name] for name in self.group_by)
        with at("functions"):
            return (Schema((*groups, *call_fields(calls))),)

    @property
    def timeout_us(self) -> int | None:
        return None if self.timeout is None else microseconds(self.timeout)

    def partition_keys(self, port: int) -> Sequence[str]:
        # None: without the tuples of one run, its two neighbours could merge into one.
        return ()

    def expressions(self, *schemas: Schema) -> tuple[Expr, ...]:
        return ()

    def window_functions(self, *schemas: Schema) -> tuple[WindowCall, ...]:
        return tuple(self.bind(schemas[0]).values())

    def rejects(self, *schemas: Schema) -> bool:
        return False

    def reads(self, *schemas: Schema, wanted: Sequence[Names]) -> tuple[Names, ...]:
        return (self._used(*schemas) | Names(self.group_by),)

    def origins(self, *schemas: Schema) -> tuple[Mapping[str, str], ...]:
        return ({name: name for name in self.group_by},)


@dataclass(frozen=True)
class Slide(Composed):
    """`Slide(F.., Size s, Advance i)`: overlapping windows; of tuples, unless `order` says otherwise.

    Composed: an Aggregate whose advance is smaller than its size.
    """

    functions: NamedTexts
    size: Span
    advance: Span = 1
    order: Order = Order(TUP)
    timeout: str | None = None
    kind: ClassVar[str] = "slide"

    def __post_init__(self) -> None:
        object.__setattr__(self, "functions", named_texts(self.functions, "functions"))
        _ = self.core

    @cached_property
    def core(self) -> Aggregate:
        return Aggregate(self.functions, self.order, self.size, advance=self.advance, timeout=self.timeout)

    def output_schemas(self, *inputs: Schema) -> tuple[Schema, ...]:
        bound = self.core.bind(inputs[0])
        if bound.advance is None or bound.advance >= bound.size:
            raise AlgebraError(
                Problem("advance", f"{self.advance!r} is not smaller than size {self.size!r}", "overlap")
            )
        return self.core.output_schemas(*inputs)


@dataclass(frozen=True)
class XSection(Composed):
    """`XSection(F.., On A)`: a cross-section through all groups at once, one window for each step of `on`.

    Composed: an aligned Aggregate without GroupBy whose advance is its size.
    """

    functions: NamedTexts
    on: str
    size: Span = 1
    slack: int = 0
    timeout: str | None = None
    kind: ClassVar[str] = "xsection"

    def __post_init__(self) -> None:
        object.__setattr__(self, "functions", named_texts(self.functions, "functions"))
        _ = self.core

    @cached_property
    def core(self) -> Aggregate:
        return Aggregate(
            self.functions, Order(self.on, self.slack), self.size, timeout=self.timeout, align=True
        )


def _check_timeout(timeout: str | None) -> None:
    if timeout is not None:
        with at("timeout"):
            microseconds(timeout)
