"""Drop: the system box that sheds load (Aurora 4.5, footnote 2: users cannot use it explicitly)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from australis.algebra.boxes.box import Box, Names, Passings, passed_on, unchanged
from australis.algebra.expr import Expr, WindowCall
from australis.algebra.guards import guard
from australis.algebra.schema import Schema
from australis.errors import AlgebraError, Problem


@dataclass(frozen=True)
class Drop(Box):
    """Drops a fraction `rate` of the tuples, chosen by a hash of their number and `seed`."""

    rate: float
    seed: int = 0
    kind: ClassVar[str] = "drop"
    keeps_schema: ClassVar[bool] = True
    system: ClassVar[bool] = True
    ordered: ClassVar[bool] = True
    keeps_tuples: ClassVar[bool] = False
    copies_tuples: ClassVar[bool] = True
    pairs_inputs: ClassVar[bool] = False
    timeout_us: ClassVar[None] = None

    def __post_init__(self) -> None:
        guard(self.rate, (int, float), "rate", "a number from 0 to 1")
        guard(self.seed, int, "seed", "a whole number")
        if not 0.0 <= self.rate <= 1.0:
            raise AlgebraError(Problem("rate", f"{self.rate!r} is not a fraction", "a number from 0 to 1"))

    def output_schemas(self, *inputs: Schema) -> tuple[Schema, ...]:
        return (inputs[0],)

    def passings(self, *schemas: Schema) -> tuple[Passings, ...]:
        return (passed_on(schemas[0]),)

    def partition_keys(self, port: int) -> Sequence[str]:
        return ()

    def expressions(self, *schemas: Schema) -> tuple[Expr, ...]:
        return ()

    def window_functions(self, *schemas: Schema) -> tuple[WindowCall, ...]:
        return ()

    def rejects(self, *schemas: Schema) -> bool:
        return False

    def reads(self, *schemas: Schema, wanted: Sequence[Names]) -> tuple[Names, ...]:
        return (wanted[0],)

    def origins(self, *schemas: Schema) -> tuple[Mapping[str, str], ...]:
        return unchanged(*schemas)
