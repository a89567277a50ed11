"""The value of Changes: what would be `src/australis/algebra/boxes/changes.py`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from australis.algebra.boxes.box import Box, Names, unchanged
from australis.algebra.expr import Expr, WindowCall
from australis.algebra.guards import guard
from australis.algebra.order import distinct_names, lookup
from australis.algebra.schema import Schema
from australis.errors import AlgebraError, Problem


@dataclass(frozen=True)
class Changes(Box):
    """`Changes(On A, GroupBy B..)`: the tuples whose A differs from that of the tuple before in their group.

    The first tuple of a group is one of them. Values are equal where SQL's GROUP BY says so.

    >>> Changes("price", ("stock",)).reads(wanted=[frozenset({"time"})]) == ({"price", "stock", "time"},)
    True
    """

    on: str
    group_by: tuple[str, ...]
    kind: ClassVar[str] = "changes"
    keeps_schema: ClassVar[bool] = True
    ordered: ClassVar[bool] = True
    keeps_tuples: ClassVar[bool] = False
    copies_tuples: ClassVar[bool] = True
    pairs_inputs: ClassVar[bool] = False
    timeout_us: ClassVar[None] = None

    def __post_init__(self) -> None:
        guard(self.on, str, "on", "the name of an attribute")
        object.__setattr__(self, "group_by", distinct_names(self.group_by, "group_by"))
        if not self.group_by:
            raise AlgebraError(Problem("group_by", "is empty", "at least one attribute"))
        if self.on in self.group_by:
            raise AlgebraError(Problem("on", f"{self.on!r} never changes in a group", "another attribute"))

    def output_schemas(self, *inputs: Schema) -> tuple[Schema, ...]:
        lookup(inputs[0], self.on, "on")
        for index, name in enumerate(self.group_by):
            lookup(inputs[0], name, f"group_by[{index}]")
        return (inputs[0],)

    def partition_keys(self, port: int) -> Sequence[str]:
        return self.group_by

    def expressions(self, *schemas: Schema) -> tuple[Expr, ...]:
        return ()

    def window_functions(self, *schemas: Schema) -> tuple[WindowCall, ...]:
        return ()

    def rejects(self, *schemas: Schema) -> bool:
        return False

    def reads(self, *schemas: Schema, wanted: Sequence[Names]) -> tuple[Names, ...]:
        return (wanted[0] | {self.on, *self.group_by},)

    def origins(self, *schemas: Schema) -> tuple[Mapping[str, str], ...]:
        return unchanged(*schemas)
