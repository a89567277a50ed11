"""Number: gives the tuples of each group serial numbers in the order of their arrival."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from australis.algebra.boxes.box import Box, Names, Passings, at, forgets_after, passed_on, unchanged
from australis.algebra.expr import Expr, WindowCall
from australis.algebra.guards import guard
from australis.algebra.order import distinct_names, lookup
from australis.algebra.schema import Field, Schema
from australis.algebra.types import LONG
from australis.errors import AlgebraError, Problem

START_MAX = 2**62
"""How far from 0 numbers may start; no stream is long enough to leave 64 bits from there."""


@dataclass(frozen=True)
class Number(Box):
    """`Number(A, GroupBy B.., Start n)`: every tuple, with its number in its group as the attribute A.

    A group without tuples for longer than `forget`, of local time, begins anew.

    >>> from australis.algebra.schema import parse_schema
    >>> print(Number("visit", ("user",)).output_schemas(parse_schema("user string"))[0])
    user string, visit long not null
    """

    attribute: str
    group_by: tuple[str, ...] = ()
    start: int = 0
    forget: str | None = None
    kind: ClassVar[str] = "number"
    ordered: ClassVar[bool] = True
    keeps_tuples: ClassVar[bool] = False
    copies_tuples: ClassVar[bool] = True
    pairs_inputs: ClassVar[bool] = False
    timeout_us: ClassVar[None] = None

    def __post_init__(self) -> None:
        guard(self.attribute, str, "attribute", "the name of the attribute to add")
        with at("attribute"):
            Field(self.attribute, LONG)
        object.__setattr__(self, "group_by", distinct_names(self.group_by, "group_by"))
        guard(self.start, int, "start", "a whole number")
        if abs(self.start) > START_MAX:
            raise AlgebraError(Problem("start", f"is {self.start}", f"from {-START_MAX} to {START_MAX}"))

        _ = self.forget_us

    @property
    def forget_us(self) -> int | None:
        return forgets_after(self.forget, self.group_by)

    @property
    def remembers_groups(self) -> bool:
        return self.forget is None and bool(self.group_by)

    def output_schemas(self, *inputs: Schema) -> tuple[Schema, ...]:
        if self.attribute in inputs[0]:
            raise AlgebraError(Problem("attribute", f"{self.attribute!r} exists already", "another name"))
        for index, name in enumerate(self.group_by):
            lookup(inputs[0], name, f"group_by[{index}]")
        return (Schema((*inputs[0].fields, Field(self.attribute, LONG, nullable=False))),)

    def passings(self, *schemas: Schema) -> tuple[Passings, ...]:
        return (passed_on(schemas[0]),)

    def partition_keys(self, port: int) -> Sequence[str]:
        return self.group_by

    def expressions(self, *schemas: Schema) -> tuple[Expr, ...]:
        return ()

    def window_functions(self, *schemas: Schema) -> tuple[WindowCall, ...]:
        return ()

    def rejects(self, *schemas: Schema) -> bool:
        return False

    def reads(self, *schemas: Schema, wanted: Sequence[Names]) -> tuple[Names, ...]:
        return (wanted[0] - {self.attribute} | set(self.group_by),)

    def origins(self, *schemas: Schema) -> tuple[Mapping[str, str], ...]:
        return unchanged(*schemas)
