"""Unnest: makes a tuple of each element of an array."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from australis.algebra.boxes.box import Box, Names, Passings, at, passed_on, unchanged
from australis.algebra.expr import Expr, WindowCall, parse
from australis.algebra.guards import guard
from australis.algebra.schema import Field, Schema
from australis.algebra.types import INT, STRING
from australis.errors import AlgebraError, Problem


@dataclass(frozen=True)
class Unnest(Box):
    """`Unnest(E -> A, Position P, KeepEmpty)`: a tuple for each element of the array E, with it as A.

    >>> from australis.algebra.schema import parse_schema
    >>> print(Unnest("split(tags, ',')", "tag").output_schemas(parse_schema("id int, tags string"))[0])
    id int, tags string, tag string not null
    """

    array: str
    attribute: str
    position: str | None = None
    keep_empty: bool = False
    kind: ClassVar[str] = "unnest"
    ordered: ClassVar[bool] = False
    keeps_tuples: ClassVar[bool] = False
    copies_tuples: ClassVar[bool] = True
    pairs_inputs: ClassVar[bool] = False
    timeout_us: ClassVar[None] = None

    def __post_init__(self) -> None:
        with at("array"):
            parse(self.array)
        guard(self.attribute, str, "attribute", "the name of the attribute that has the elements")
        guard(
            self.position, (str, type(None)), "position", "the name of the attribute that has the positions"
        )
        guard(self.keep_empty, bool, "keep_empty", "true or false")
        with at("attribute"):
            Field(self.attribute, STRING)
        if self.position is not None:
            with at("position"):
                Field(self.position, INT)
        if self.position == self.attribute:
            what = f"{self.position!r} is also the attribute of the elements"
            raise AlgebraError(Problem("position", what, "another name"))

    @property
    def _added(self) -> dict[str, Field]:
        """The attributes that it adds, by the parameter that names them."""
        added = {"attribute": Field(self.attribute, STRING, self.keep_empty)}
        if self.position is not None:
            added["position"] = Field(self.position, INT, self.keep_empty)
        return added

    def bind(self, schema: Schema) -> Expr:
        """The typed array."""
        with at("array"):
            return parse(self.array).bind_array(schema)

    def output_schemas(self, *inputs: Schema) -> tuple[Schema, ...]:
        self.bind(inputs[0])
        for path, field in self._added.items():
            if field.name in inputs[0]:
                raise AlgebraError(Problem(path, f"{field.name!r} exists already", "another name"))
        return (Schema((*inputs[0].fields, *self._added.values())),)

    def passings(self, *schemas: Schema) -> tuple[Passings, ...]:
        return (passed_on(schemas[0]),)

    def partition_keys(self, port: int) -> Sequence[str]:
        return ()

    def expressions(self, *schemas: Schema) -> tuple[Expr, ...]:
        return (self.bind(schemas[0]),)

    def window_functions(self, *schemas: Schema) -> tuple[WindowCall, ...]:
        return ()

    def rejects(self, *schemas: Schema) -> bool:
        return False

    def reads(self, *schemas: Schema, wanted: Sequence[Names]) -> tuple[Names, ...]:
        added = {field.name for field in self._added.values()}
        return (wanted[0] - added | self._used(*schemas),)

    def origins(self, *schemas: Schema) -> tuple[Mapping[str, str], ...]:
        return unchanged(*schemas)
