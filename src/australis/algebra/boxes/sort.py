"""BSort and WSort: two approximate sorts of an infinite stream, one bounded by slack, the other by time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from australis.algebra.boxes.box import Box, Names, at, unchanged
from australis.algebra.expr import Expr, WindowCall
from australis.algebra.guards import guard
from australis.algebra.order import Order, lookup, names
from australis.algebra.schema import TUP, Schema
from australis.algebra.spans import microseconds
from australis.errors import AlgebraError, Problem


@dataclass(frozen=True)
class BSort(Box):
    """`BSort(Assuming O)`: a buffer of slack + 1 tuples per group, which emits its least when full.

    The result is that of `slack` passes of a bubble sort (Aurora 5.2.2.1). Nothing is discarded: a tuple that
    comes too late for its place is emitted at once. Ties keep their order of arrival.
    """

    order: Order
    kind: ClassVar[str] = "bsort"
    keeps_schema: ClassVar[bool] = True
    emits_late: ClassVar[bool] = True
    ordered: ClassVar[bool] = True
    keeps_tuples: ClassVar[bool] = True
    copies_tuples: ClassVar[bool] = True
    pairs_inputs: ClassVar[bool] = False
    timeout_us: ClassVar[None] = None

    def __post_init__(self) -> None:
        guard(self.order, Order, "order", "an Order")
        if self.order.on == TUP:
            raise AlgebraError(Problem("order.on", f"{TUP} is already the order of arrival", "an attribute"))

    def output_schemas(self, *inputs: Schema) -> tuple[Schema, ...]:
        with at("order"):
            self.order.type(inputs[0])
        return (inputs[0],)

    def partition_keys(self, port: int) -> Sequence[str]:
        return self.order.group_by

    def expressions(self, *schemas: Schema) -> tuple[Expr, ...]:
        return ()

    def window_functions(self, *schemas: Schema) -> tuple[WindowCall, ...]:
        return ()

    def rejects(self, *schemas: Schema) -> bool:
        return self.order.rejects(schemas[0])

    def reads(self, *schemas: Schema, wanted: Sequence[Names]) -> tuple[Names, ...]:
        return (wanted[0] | self.order.reads,)

    def origins(self, *schemas: Schema) -> tuple[Mapping[str, str], ...]:
        return unchanged(*schemas)


@dataclass(frozen=True)
class WSort(Box):
    """`WSort(A1, ..., An, Timeout t)`: holds tuples for at most `timeout` and emits them in ascending order.

    When a tuple has waited longer than `timeout`, it and all that sort before it are emitted. A tuple that
    arrives after one that sorts after it was emitted is discarded (Aurora*, section 2.2, footnote *).
    """

    by: tuple[str, ...]
    timeout: str
    kind: ClassVar[str] = "wsort"
    keeps_schema: ClassVar[bool] = True
    ordered: ClassVar[bool] = True
    keeps_tuples: ClassVar[bool] = True
    copies_tuples: ClassVar[bool] = True
    pairs_inputs: ClassVar[bool] = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "by", names(self.by, "by"))
        if not self.by:
            raise AlgebraError(Problem("by", "is empty", "at least one attribute"))
        with at("timeout"):
            microseconds(self.timeout)

    def output_schemas(self, *inputs: Schema) -> tuple[Schema, ...]:
        for index, name in enumerate(self.by):
            lookup(inputs[0], name, f"by[{index}]")
        return (inputs[0],)

    @property
    def timeout_us(self) -> int:
        return microseconds(self.timeout)

    def partition_keys(self, port: int) -> Sequence[str]:
        return ()

    def expressions(self, *schemas: Schema) -> tuple[Expr, ...]:
        return ()

    def window_functions(self, *schemas: Schema) -> tuple[WindowCall, ...]:
        return ()

    def rejects(self, *schemas: Schema) -> bool:
        return any(schemas[0][name].nullable for name in self.by)

    def reads(self, *schemas: Schema, wanted: Sequence[Names]) -> tuple[Names, ...]:
        return (wanted[0] | Names(self.by),)

    def origins(self, *schemas: Schema) -> tuple[Mapping[str, str], ...]:
        return unchanged(*schemas)
