"""Map: computes the attributes of each output tuple from those of its input tuple (Aurora 5.2.1.2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from australis.algebra.boxes.box import Box, NamedTexts, Names, Passings, at, check_syntax, named_texts
from australis.algebra.expr import Attribute, Expr, WindowCall, parse
from australis.algebra.guards import Gathering
from australis.algebra.order import is_orderable
from australis.algebra.progress import Passing, Same, Through, rises_with
from australis.algebra.schema import Field, Schema


@dataclass(frozen=True)
class Map(Box):
    """`Map(B1 = F1, ..., Bm = Fm)`: a generalised projection; attributes that are not named are dropped.

    A number, True or False is a constant.

    >>> Map({"sid": "sid", "km": "pos / 1000", "n": 1}).attributes
    (('sid', 'sid'), ('km', 'pos / 1000'), ('n', '1'))
    """

    attributes: NamedTexts
    kind: ClassVar[str] = "map"
    ordered: ClassVar[bool] = False
    keeps_tuples: ClassVar[bool] = False
    copies_tuples: ClassVar[bool] = False
    pairs_inputs: ClassVar[bool] = False
    timeout_us: ClassVar[None] = None

    def __post_init__(self) -> None:
        named = named_texts(self.attributes, "attributes", constants=True)
        object.__setattr__(self, "attributes", named)
        check_syntax(self.attributes, "attributes", parse)

    def bind(self, schema: Schema) -> dict[str, Expr]:
        """The typed expressions, by the attribute that each computes."""
        bound = {}
        with Gathering() as found:
            for name, text in self.attributes:
                with found.at(f"attributes.{name}"):
                    bound[name] = parse(text).bind(schema)
        return bound

    def output_schemas(self, *inputs: Schema) -> tuple[Schema, ...]:
        bound = self.bind(inputs[0])
        with at("attributes"):
            return (Schema(tuple(Field(name, e.type, e.nullable) for name, e in bound.items())),)

    def passings(self, *schemas: Schema) -> tuple[Passings, ...]:
        bound = self.bind(schemas[0])
        risen = {name: rises_with(expr) for name, expr in bound.items() if is_orderable(expr.type)}
        return (
            {
                name: (Passing(0, source, _through(bound[name], source, schemas[0])),)
                for name, source in risen.items()
                if source is not None and is_orderable(schemas[0][source].type)
            },
        )

    def partition_keys(self, port: int) -> Sequence[str]:
        return ()

    def expressions(self, *schemas: Schema) -> tuple[Expr, ...]:
        return tuple(self.bind(schemas[0]).values())

    def window_functions(self, *schemas: Schema) -> tuple[WindowCall, ...]:
        return ()

    def rejects(self, *schemas: Schema) -> bool:
        return False

    def reads(self, *schemas: Schema, wanted: Sequence[Names]) -> tuple[Names, ...]:
        return (self._used(*schemas),)

    def origins(self, *schemas: Schema) -> tuple[Mapping[str, str], ...]:
        bound = self.bind(schemas[0])
        return ({name: expr.name for name, expr in bound.items() if isinstance(expr, Attribute)},)


def _through(expr: Expr, source: str, schema: Schema) -> Same | Through:
    return Same() if isinstance(expr, Attribute) else Through(expr, source, schema[source].type, expr.type)
