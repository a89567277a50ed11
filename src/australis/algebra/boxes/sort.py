"""BSort and WSort: two approximate sorts of an infinite stream, one bounded by slack, the other by time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from australis.algebra.boxes.box import Box, Names, Passings, at, unchanged
from australis.algebra.expr import Expr, WindowCall
from australis.algebra.guards import guard
from australis.algebra.order import Order, SortKey, checked_keys, keys_of, sort_key
from australis.algebra.progress import Passing
from australis.algebra.schema import TUP, Schema
from australis.algebra.spans import microseconds
from australis.errors import AlgebraError, Problem


@dataclass(frozen=True)
class BSort(Box):
    """`BSort(Assuming O)`: a buffer of slack + 1 tuples per group, which emits its least when full.

    The result is that of `slack` passes of a bubble sort (Aurora 5.2.2.1). Nothing is discarded: a tuple that
    comes too late for its place is emitted at once. Tuples with equal order values are sorted by the keys of
    `then`, such as `price DESC`, in which NULLs come last; ties keep their order of arrival.
    """

    order: Order
    then: tuple[str, ...] = ()
    kind: ClassVar[str] = "bsort"
    keeps_schema: ClassVar[bool] = True
    ordered: ClassVar[bool] = True
    keeps_tuples: ClassVar[bool] = True
    copies_tuples: ClassVar[bool] = True
    pairs_inputs: ClassVar[bool] = False
    timeout_us: ClassVar[None] = None

    def __post_init__(self) -> None:
        guard(self.order, Order, "order", "an Order")
        if self.order.on == TUP:
            raise AlgebraError(Problem("order.on", f"{TUP} is already the order of arrival", "an attribute"))
        if self.then != ():
            object.__setattr__(self, "then", checked_keys(self.then, "then"))

    def output_schemas(self, *inputs: Schema) -> tuple[Schema, ...]:
        with at("order"):
            self.order.type(inputs[0])
            self.order.length(inputs[0])
        keys_of(self.then, inputs[0], "then")
        return (inputs[0],) * self.outputs

    @property
    def outputs(self) -> int:
        return 1 + len(self.late_ports)

    @property
    def emits_late(self) -> bool:
        return not self.order.late

    @property
    def keys(self) -> tuple[SortKey, ...]:
        """What it sorts tuples with equal order values by."""
        return tuple(map(sort_key, self.then))

    @property
    def orders(self) -> Mapping[int, Order]:
        return {0: self.order}

    def passings(self, *schemas: Schema) -> tuple[Passings, ...]:
        on = self.order.on
        return ({on: (Passing(0, on),)} if self.order.by_progress else {}, {})[: self.outputs]

    def holds_us(self, *schemas: Schema) -> int:
        return self.order.holds_us(schemas[0])

    def partition_keys(self, port: int) -> Sequence[str]:
        return self.order.group_by

    def expressions(self, *schemas: Schema) -> tuple[Expr, ...]:
        return ()

    def window_functions(self, *schemas: Schema) -> tuple[WindowCall, ...]:
        return ()

    def rejects(self, *schemas: Schema) -> bool:
        return self.order.rejects(schemas[0])

    def reads(self, *schemas: Schema, wanted: Sequence[Names]) -> tuple[Names, ...]:
        keys = Names(key.name for key in self.keys)
        return (self.order.reads.union(keys, *wanted),)

    def origins(self, *schemas: Schema) -> tuple[Mapping[str, str], ...]:
        return unchanged(*schemas)


@dataclass(frozen=True)
class WSort(Box):
    """`WSort(A1, ..., An, Timeout t)`: holds tuples for at most `timeout` and emits them in order.

    The order is ascending; after an attribute, DESC makes it descending: `("time", "price DESC")`.
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
        object.__setattr__(self, "by", checked_keys(self.by, "by"))
        with at("timeout"):
            microseconds(self.timeout)

    def output_schemas(self, *inputs: Schema) -> tuple[Schema, ...]:
        keys_of(self.by, inputs[0], "by")
        return (inputs[0],)

    @property
    def keys(self) -> tuple[SortKey, ...]:
        """What it sorts by."""
        return tuple(map(sort_key, self.by))

    @property
    def timeout_us(self) -> int:
        return microseconds(self.timeout)

    def holds_us(self, *schemas: Schema) -> int:
        return self.timeout_us

    def partition_keys(self, port: int) -> Sequence[str]:
        return ()

    def expressions(self, *schemas: Schema) -> tuple[Expr, ...]:
        return ()

    def window_functions(self, *schemas: Schema) -> tuple[WindowCall, ...]:
        return ()

    def rejects(self, *schemas: Schema) -> bool:
        return any(schemas[0][key.name].nullable for key in self.keys)

    def reads(self, *schemas: Schema, wanted: Sequence[Names]) -> tuple[Names, ...]:
        return (wanted[0] | Names(key.name for key in self.keys),)

    def origins(self, *schemas: Schema) -> tuple[Mapping[str, str], ...]:
        return unchanged(*schemas)
