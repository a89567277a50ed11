"""Union: merges streams of one schema, in the order in which their tuples arrive (Aurora 5.2.1.3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from australis.algebra.boxes.box import Box, Names, Passings, passed_on, unchanged
from australis.algebra.expr import Expr, WindowCall
from australis.algebra.schema import Field, Schema
from australis.errors import AlgebraError, Problem


@dataclass(frozen=True)
class Union(Box):
    """`Union(S1, ..., Sn)`: all tuples of all inputs."""

    kind: ClassVar[str] = "union"
    arity: ClassVar[tuple[int, int | None]] = (2, None)
    keeps_schema: ClassVar[bool] = True
    ordered: ClassVar[bool] = False
    keeps_tuples: ClassVar[bool] = False
    copies_tuples: ClassVar[bool] = True
    pairs_inputs: ClassVar[bool] = False
    timeout_us: ClassVar[None] = None

    def output_schemas(self, *inputs: Schema) -> tuple[Schema, ...]:
        first = inputs[0]
        for index, other in enumerate(inputs[1:], 1):
            if _shape(other) != _shape(first):
                raise AlgebraError(
                    Problem(
                        f"from[{index}]",
                        f"has the attributes ({other})",
                        f"those of from[0], ({first}); use a Map",
                    )
                )
        columns = zip(*inputs, strict=True)
        return (Schema(tuple(Field(c[0].name, c[0].type, any(f.nullable for f in c)) for c in columns)),)

    def passings(self, *schemas: Schema) -> tuple[Passings, ...]:
        return (passed_on(schemas[0], len(schemas)),)

    def partition_keys(self, port: int) -> Sequence[str]:
        return ()

    def expressions(self, *schemas: Schema) -> tuple[Expr, ...]:
        return ()

    def window_functions(self, *schemas: Schema) -> tuple[WindowCall, ...]:
        return ()

    def rejects(self, *schemas: Schema) -> bool:
        return False

    def reads(self, *schemas: Schema, wanted: Sequence[Names]) -> tuple[Names, ...]:
        # All of them, since its inputs must keep one schema.
        return tuple(Names(schema.names) for schema in schemas)

    def origins(self, *schemas: Schema) -> tuple[Mapping[str, str], ...]:
        return unchanged(*schemas)


def _shape(schema: Schema) -> list[tuple[str, str]]:
    return [(f.name, str(f.type)) for f in schema]
