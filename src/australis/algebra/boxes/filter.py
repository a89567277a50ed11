"""Filter: routes each tuple to the first predicate that it satisfies (Aurora 5.2.1.1)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from australis.algebra.boxes.box import Box, Names, Passings, passed_on, predicate, unchanged
from australis.algebra.expr import Expr, WindowCall, parse
from australis.algebra.guards import Gathering
from australis.algebra.order import names
from australis.algebra.schema import Schema
from australis.errors import AlgebraError, Problem


@dataclass(frozen=True)
class Filter(Box):
    """`Filter(P1, ..., Pm)`: m + 1 outputs; output i has the tuples whose first true predicate is the i-th.

    The last output has the tuples that satisfy none. A predicate that is NULL is not satisfied.

    >>> Filter(("pos >= 30", "pos >= 10")).outputs
    3
    """

    predicates: tuple[str, ...]
    kind: ClassVar[str] = "filter"
    keeps_schema: ClassVar[bool] = True
    ordered: ClassVar[bool] = False
    keeps_tuples: ClassVar[bool] = False
    copies_tuples: ClassVar[bool] = True
    pairs_inputs: ClassVar[bool] = False
    timeout_us: ClassVar[None] = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "predicates", names(self.predicates, "predicates"))
        if not self.predicates:
            raise AlgebraError(Problem("predicates", "is empty", "at least one predicate"))
        with Gathering() as found:
            for index, text in enumerate(self.predicates):
                with found.at(f"predicates[{index}]"):
                    parse(text)

    @property
    def outputs(self) -> int:
        return len(self.predicates) + 1

    def bind(self, schema: Schema) -> tuple[Expr, ...]:
        """The typed predicates."""
        bound = []
        with Gathering() as found:
            for index, text in enumerate(self.predicates):
                with found.at():
                    bound.append(predicate(text, schema, f"predicates[{index}]"))
        return tuple(bound)

    def output_schemas(self, *inputs: Schema) -> tuple[Schema, ...]:
        self.bind(inputs[0])
        return (inputs[0],) * self.outputs

    def passings(self, *schemas: Schema) -> tuple[Passings, ...]:
        return (passed_on(schemas[0]),) * self.outputs

    def partition_keys(self, port: int) -> Sequence[str]:
        return ()

    def expressions(self, *schemas: Schema) -> tuple[Expr, ...]:
        return self.bind(schemas[0])

    def window_functions(self, *schemas: Schema) -> tuple[WindowCall, ...]:
        return ()

    def rejects(self, *schemas: Schema) -> bool:
        return False

    def reads(self, *schemas: Schema, wanted: Sequence[Names]) -> tuple[Names, ...]:
        return (self._used(*schemas).union(*wanted),)

    def origins(self, *schemas: Schema) -> tuple[Mapping[str, str], ...]:
        return unchanged(*schemas)
