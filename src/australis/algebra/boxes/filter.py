"""Filter: routes each tuple to the first predicate that it satisfies (Aurora 5.2.1.1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from australis.algebra.boxes.box import Box, at, predicate
from australis.algebra.expr import Expr, parse
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

    def __post_init__(self) -> None:
        object.__setattr__(self, "predicates", names(self.predicates, "predicates"))
        if not self.predicates:
            raise AlgebraError(Problem("predicates", "is empty", "at least one predicate"))
        for index, text in enumerate(self.predicates):
            with at(f"predicates[{index}]"):
                parse(text)

    @property
    def outputs(self) -> int:
        return len(self.predicates) + 1

    def bind(self, schema: Schema) -> tuple[Expr, ...]:
        """The typed predicates."""
        return tuple(predicate(text, schema, f"predicates[{i}]") for i, text in enumerate(self.predicates))

    def output_schemas(self, *inputs: Schema) -> tuple[Schema, ...]:
        self.bind(inputs[0])
        return (inputs[0],) * self.outputs
