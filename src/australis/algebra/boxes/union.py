"""Union: merges streams of one schema, in the order in which their tuples arrive (Aurora 5.2.1.3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from australis.algebra.boxes.box import Box
from australis.algebra.schema import Field, Schema
from australis.errors import AlgebraError, Problem


@dataclass(frozen=True)
class Union(Box):
    """`Union(S1, ..., Sn)`: all tuples of all inputs."""

    kind: ClassVar[str] = "union"
    keeps_schema: ClassVar[bool] = True
    arity: ClassVar[tuple[int, int | None]] = (2, None)

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


def _shape(schema: Schema) -> list[tuple[str, str]]:
    return [(f.name, str(f.type)) for f in schema]
