"""Top: the first tuples of each window by some keys, whole and with their ranks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

from australis.algebra.boxes.aggregate import Aggregate, BoundAggregate
from australis.algebra.boxes.box import Box, Names, Passings
from australis.algebra.expr import Expr, WindowCall
from australis.algebra.guards import guard
from australis.algebra.order import Order, SortKey, checked_keys, keys_of
from australis.algebra.schema import TUP, Field, Schema
from australis.algebra.spans import Span
from australis.algebra.types import INT
from australis.errors import AlgebraError, Problem

WINDOW, RANK = "window", "rank"
TOP_MOST = 10_000
"""The most tuples of a window that Top emits."""


@dataclass(frozen=True)
class BoundTop:
    """A Top with its types: its windows are those of an Aggregate."""

    windows: BoundAggregate
    keys: tuple[SortKey, ...]


@dataclass(frozen=True)
class Top(Box):
    """`Top(n, By A.., Assuming O, Size s, Advance i, Timeout t)`: the first n tuples of each window.

    First is what sorts first by the keys of `by`, such as `price DESC`. The windows are those of an Aggregate
    with the same parameters. A result is a whole tuple of the window,
    with the start of the window and its rank, from 1. Tuples with equal keys are ranked in the window's
    order. A NULL sorts after all values, ascending or descending.

    >>> Top(3, ["price DESC"], Order("time"), size="1 hour").by
    ('price DESC',)
    """

    n: int
    by: tuple[str, ...]
    order: Order
    size: Span | None = None
    advance: Span | None = None
    advance_when: str | None = None
    timeout: str | None = None
    align: bool = False
    offset: Span | None = None
    session: Span | None = None
    forget: Span | None = None
    kind: ClassVar[str] = "top"
    ordered: ClassVar[bool] = True
    keeps_tuples: ClassVar[bool] = True
    copies_tuples: ClassVar[bool] = True
    pairs_inputs: ClassVar[bool] = False

    def __post_init__(self) -> None:
        guard(self.n, int, "n", "a whole number")
        if not 1 <= self.n <= TOP_MOST:
            raise AlgebraError(Problem("n", f"is {self.n}", f"from 1 to {TOP_MOST}"))
        object.__setattr__(self, "by", checked_keys(self.by, "by"))
        _ = self.windows

    @cached_property
    def windows(self) -> Aggregate:
        """An Aggregate that has the same windows."""
        functions = ((RANK, "count(*)"),)
        shape = (self.size, self.advance, self.advance_when, self.timeout)
        return Aggregate(
            functions, self.order, *shape, self.align, self.offset, self.session, forget=self.forget
        )

    def bind(self, schema: Schema) -> BoundTop:
        """The box with types, for inputs of a schema."""
        return BoundTop(self.windows.bind(schema), keys_of(self.by, schema, "by"))

    def output_schemas(self, *inputs: Schema) -> tuple[Schema, ...]:
        schema, bound = inputs[0], self.bind(inputs[0])
        start = () if self.order.on == TUP else (Field(WINDOW, bound.windows.order_type, False),)
        for name in (RANK, *(f.name for f in start)):
            if name in schema:
                what = f"{name!r} is an attribute of the input, and of the results of Top"
                raise AlgebraError(Problem("", what, f"a Map before the box that renames {name!r}"))
        return (Schema((*start, *schema, Field(RANK, INT, False))), schema)[: self.outputs]

    @property
    def outputs(self) -> int:
        return self.windows.outputs

    @property
    def timeout_us(self) -> int | None:
        return self.windows.timeout_us

    @property
    def forget_us(self) -> int | None:
        return self.windows.forget_us

    @property
    def remembers_groups(self) -> bool:
        return self.windows.remembers_groups

    @property
    def orders(self) -> Mapping[int, Order]:
        return {0: self.order}

    def passings(self, *schemas: Schema) -> tuple[Passings, ...]:
        starts = self.windows.passings(*schemas)[0].get(self.order.on)
        # A tuple's own value is not before the start of its window, so what holds of that holds of it.
        return ({} if starts is None else {WINDOW: starts, self.order.on: starts}, {})[: self.outputs]

    def holds_us(self, *schemas: Schema) -> int:
        return self.windows.holds_us(*schemas)

    def partition_keys(self, port: int) -> Sequence[str]:
        return self.order.group_by

    def expressions(self, *schemas: Schema) -> tuple[Expr, ...]:
        return self.windows.expressions(*schemas)

    def window_functions(self, *schemas: Schema) -> tuple[WindowCall, ...]:
        return ()

    def rejects(self, *schemas: Schema) -> bool:
        return self.order.rejects(schemas[0])

    def reads(self, *schemas: Schema, wanted: Sequence[Names]) -> tuple[Names, ...]:
        keys = Names(key.name for key in self.bind(schemas[0]).keys)
        shown = Names().union(*wanted) & Names(schemas[0].names)
        return (shown | keys | self._used(*schemas) | self.order.reads,)

    def origins(self, *schemas: Schema) -> tuple[Mapping[str, str], ...]:
        return ({name: name for name in self.order.group_by},)
