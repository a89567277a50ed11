"""Distinct: one of the tuples that are equal and near each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from australis.algebra.boxes.box import Box, Names, Passings, at, passed_on
from australis.algebra.expr import Expr, WindowCall
from australis.algebra.guards import Gathering, guard
from australis.algebra.order import Order, distinct_names, lookup
from australis.algebra.schema import TUP, Schema
from australis.algebra.spans import Span, units
from australis.algebra.types import DataType
from australis.errors import AlgebraError, Problem


@dataclass(frozen=True)
class Distinct(Box):
    """`Distinct(Of A.., Assuming O, Within s)`: the tuples without an equal one emitted at most s from them.

    Tuples are equal if their A are, as SQL's GROUP BY compares them; they are s apart by the order. Late
    tuples are discarded. What is emitted is remembered until the order has passed it by more than s.

    >>> Distinct(("id",), Order("at"), "1 hour").partition_keys(0)
    ()
    """

    of: tuple[str, ...]
    order: Order
    within: Span
    kind: ClassVar[str] = "distinct"
    keeps_schema: ClassVar[bool] = True
    ordered: ClassVar[bool] = True
    keeps_tuples: ClassVar[bool] = False
    copies_tuples: ClassVar[bool] = True
    pairs_inputs: ClassVar[bool] = False
    timeout_us: ClassVar[None] = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "of", distinct_names(self.of, "of"))
        guard(self.order, Order, "order", "an Order")
        if not self.of:
            raise AlgebraError(Problem("of", "is empty", "at least one attribute"))
        if self.order.on == TUP:
            raise AlgebraError(Problem("order.on", f"{TUP} has no lengths", "an attribute"))
        for index, name in enumerate(self.order.group_by):
            if name not in self.of:
                what = f"equal tuples may differ in {name!r}, and so be in different groups"
                raise AlgebraError(Problem(f"order.group_by[{index}]", what, "attributes that `of` names"))

    def bind(self, schema: Schema) -> tuple[DataType, int | float]:
        """The type of the order, and `within` in its units."""
        with Gathering() as found:
            for index, name in enumerate(self.of):
                with found.at():
                    lookup(schema, name, f"of[{index}]")
            with at("order"):
                order_type = self.order.type(schema)
                self.order.length(schema)
        with at("within"):
            return order_type, units(self.within, order_type, zero=True)

    def output_schemas(self, *inputs: Schema) -> tuple[Schema, ...]:
        self.bind(inputs[0])
        return (inputs[0],) * self.outputs

    @property
    def outputs(self) -> int:
        return 1 + len(self.late_ports)

    @property
    def orders(self) -> Mapping[int, Order]:
        return {0: self.order}

    def passings(self, *schemas: Schema) -> tuple[Passings, ...]:
        return (passed_on(schemas[0]), {})[: self.outputs]

    def partition_keys(self, port: int) -> Sequence[str]:
        # By progress nothing depends on other groups; otherwise those of the order decide what is late.
        return self.of if self.order.by_progress else self.order.group_by

    def expressions(self, *schemas: Schema) -> tuple[Expr, ...]:
        return ()

    def window_functions(self, *schemas: Schema) -> tuple[WindowCall, ...]:
        return ()

    def rejects(self, *schemas: Schema) -> bool:
        return self.order.rejects(schemas[0])

    def reads(self, *schemas: Schema, wanted: Sequence[Names]) -> tuple[Names, ...]:
        return (self.order.reads.union(self.of, *wanted),)

    def origins(self, *schemas: Schema) -> tuple[Mapping[str, str], ...]:
        return ({name: name for name in self.of},)
