"""Schemas: the named, typed attributes that every tuple of a stream has.

Beside its attributes a tuple has a hidden `ts`, the time it entered the network (Aurora 5.1); in Arrow it
travels as the column `TS`, whose name no attribute can have.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

import pyarrow as pa

from australis.algebra.guards import Gathering, guard
from australis.algebra.types import TIMESTAMP, DataType, parse_type
from australis.errors import AlgebraError, Problem

TS = "#ts"
"""The hidden column with a tuple's arrival time."""
TUP = "Tup#"
"""The virtual attribute that numbers the tuples of a stream, or of each of its groups, from 0."""
ATTRIBUTES_MAX = 10_000
"""Attributes that a schema may have: a chain of self-joins of a stream doubles them at each step."""

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
"""The allowed names of attributes, networks, inputs, outputs and the parts of a box's id."""
NAME_EXPECTED = "letters (a to z, A to Z), digits and _, not a digit first"


@dataclass(frozen=True)
class Field:
    """One attribute: a name, a type, and whether it may be NULL."""

    name: str
    type: DataType
    nullable: bool = True
    optional: bool = False
    """Whether a source may leave it out, as the weight of an input; every tuple of a stream has it."""

    def __post_init__(self) -> None:
        guard(self.name, str, "", "the name of an attribute")
        if not NAME.fullmatch(self.name):
            raise AlgebraError(Problem("", f"{self.name!r} is not a valid attribute name", NAME_EXPECTED))

    def __str__(self) -> str:
        return f"{self.name} {self.type_text}"

    @property
    def type_text(self) -> str:
        """The type as a schema writes it, such as `long not null`."""
        return str(self.type) if self.nullable else f"{self.type} not null"


@dataclass(frozen=True)
class Schema:
    """The attributes of a stream, in their order.

    >>> schema = parse_schema("sid int not null, time timestamp, pos decimal(10,2)")
    >>> schema.names
    ('sid', 'time', 'pos')
    >>> schema["time"].type
    DataType(name='timestamp', precision=0, scale=0)
    """

    fields: tuple[Field, ...]
    _by_name: dict[str, Field] = field(init=False, repr=False, compare=False, hash=False)

    def __post_init__(self) -> None:
        if not 0 < len(self.fields) <= ATTRIBUTES_MAX:
            what = f"has {len(self.fields)} attributes" if self.fields else "is empty"
            raise AlgebraError(Problem("", what, f"1 to {ATTRIBUTES_MAX} attributes"))
        by_name = {f.name: f for f in self.fields}
        if len(by_name) != len(self.fields):
            twice = next(
                f.name for i, f in enumerate(self.fields) if f.name in {g.name for g in self.fields[:i]}
            )
            raise AlgebraError(Problem("", f"attribute {twice!r} occurs twice", "each name only once"))
        object.__setattr__(self, "_by_name", by_name)

    def __iter__(self) -> Iterator[Field]:
        return iter(self.fields)

    def __len__(self) -> int:
        return len(self.fields)

    def __contains__(self, name: object) -> bool:
        return name in self._by_name

    def __getitem__(self, name: str) -> Field:
        if name not in self._by_name:
            raise AlgebraError(Problem("", f"unknown attribute {name!r}", f"one of {', '.join(self.names)}"))
        return self._by_name[name]

    def __str__(self) -> str:
        return ", ".join(map(str, self.fields))

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._by_name)

    @property
    def arrow(self) -> pa.Schema:
        """The Arrow schema of the attributes, without the hidden columns."""
        return pa.schema([pa.field(f.name, f.type.arrow, f.nullable) for f in self.fields])

    @property
    def arrow_with_ts(self) -> pa.Schema:
        """The Arrow schema of a stream's batches: the attributes and the hidden arrival time."""
        return self.arrow.append(pa.field(TS, TIMESTAMP.arrow, False))

    def but_optional(self, *kept: str) -> Schema:
        """Without the attributes that a source may leave out, except some; as it is if none would be left."""
        found = tuple(f for f in self if not f.optional or f.name in kept)
        return Schema(found) if 0 < len(found) < len(self) else self

    def takes(self, other: Schema) -> bool:
        """Whether every tuple of another schema fits this one; the other may be stricter about NULLs.

        >>> parse_schema("a int").takes(parse_schema("a int not null"))
        True
        """
        alike = [(f.name, f.type) for f in self] == [(f.name, f.type) for f in other]
        return alike and all(f.nullable or not other[f.name].nullable for f in self)

    def as_dict(self) -> dict[str, str]:
        """The JSON form: the type's text for each name."""
        return {f.name: f.type_text for f in self.fields}


def schema_of(types: Mapping[str, str]) -> Schema:
    """The schema that a mapping from names to type texts describes."""
    fields = []
    with Gathering() as found:
        for name, text in types.items():
            with found.at():
                fields.append(_field(name, text))
    return Schema(tuple(fields))


def parse_schema(text: str) -> Schema:
    """The schema that a text such as `sid int not null, time timestamp` describes."""
    return Schema(tuple(_field(*_halves(part)) for part in _split_commas(text)))


def _field(name: str, type_text: str) -> Field:
    guard(type_text, str, str(name), "a type as a text, such as 'int'")
    bare = re.sub(r"\s+not\s+null\s*$", "", type_text, flags=re.IGNORECASE)
    try:
        return Field(name, parse_type(bare), nullable=bare == type_text)
    except AlgebraError as error:
        raise error.under(str(name)) from None


def _halves(part: str) -> tuple[str, str]:
    name, _, type_text = part.strip().partition(" ")
    if not type_text:
        raise AlgebraError(
            Problem("", f"attribute {part.strip()!r} has no type", "'name type', such as 'sid int'")
        )
    return name, type_text.strip()


def _split_commas(text: str) -> Iterable[str]:
    """The parts between commas that are not inside parentheses, as in decimal(10,2)."""
    return re.split(r",(?![^(]*\))", text)
