"""Map: computes the attributes of each output tuple from those of its input tuple (Aurora 5.2.1.2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from australis.algebra.boxes.box import Box, NamedTexts, at, named_texts, syntax_checked
from australis.algebra.expr import Expr, parse
from australis.algebra.schema import Field, Schema


@dataclass(frozen=True)
class Map(Box):
    """`Map(B1 = F1, ..., Bm = Fm)`: a generalised projection; what is not named is left behind.

    >>> Map({"sid": "sid", "km": "pos / 1000"}).attributes
    (('sid', 'sid'), ('km', 'pos / 1000'))
    """

    attributes: NamedTexts
    kind: ClassVar[str] = "map"

    def __post_init__(self) -> None:
        object.__setattr__(self, "attributes", named_texts(self.attributes, "attributes"))
        syntax_checked(self.attributes, "attributes", parse)

    def bind(self, schema: Schema) -> dict[str, Expr]:
        """The typed expressions, by the attribute that each computes."""
        bound = {}
        for name, text in self.attributes:
            with at(f"attributes.{name}"):
                bound[name] = parse(text).bind(schema)
        return bound

    def output_schemas(self, *inputs: Schema) -> tuple[Schema, ...]:
        bound = self.bind(inputs[0])
        with at("attributes"):
            return (Schema(tuple(Field(name, e.type, e.nullable) for name, e in bound.items())),)
