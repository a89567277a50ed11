"""The types of attributes, their names in text, and what stands for them in Arrow."""

from __future__ import annotations

import re
from dataclasses import dataclass

import pyarrow as pa

from australis.algebra.guards import guard
from australis.errors import AlgebraError, Problem


@dataclass(frozen=True)
class DataType:
    """A type by its name; `decimal` also has a precision and a scale.

    >>> parse_type("decimal(10,2)")
    DataType(name='decimal', precision=10, scale=2)
    >>> str(parse_type("bigint"))
    'long'
    """

    name: str
    precision: int = 0
    scale: int = 0

    def __str__(self) -> str:
        return f"decimal({self.precision},{self.scale})" if self.is_decimal else self.name

    @property
    def is_decimal(self) -> bool:
        return self.name == "decimal"

    @property
    def is_integral(self) -> bool:
        return self.name in ("int", "long")

    @property
    def is_numeric(self) -> bool:
        return self.is_integral or self.is_decimal or self.name == "double"

    @property
    def arrow(self) -> pa.DataType:
        """The Arrow type whose arrays hold values of this type."""
        return pa.decimal128(self.precision, self.scale) if self.is_decimal else _ARROW[self.name]


INT = DataType("int")
LONG = DataType("long")
DOUBLE = DataType("double")
STRING = DataType("string")
BOOLEAN = DataType("boolean")
TIMESTAMP = DataType("timestamp")
TEXTS = DataType("array<string>")
"""Several strings inside an expression (`split(tags, ',')`); attributes never have it."""
INTERVAL = DataType("interval")
"""A length of time inside an expression (`INTERVAL 10 MINUTES`); attributes never have it."""
NULL = DataType("null")
"""The type of the literal NULL until its context gives it one; attributes never have it."""

_ARROW = {
    "int": pa.int32(),
    "long": pa.int64(),
    "double": pa.float64(),
    "string": pa.string(),
    "boolean": pa.bool_(),
    "timestamp": pa.timestamp("us", tz="UTC"),
    "array<string>": pa.list_(pa.string()),
    "interval": pa.duration("us"),
    "null": pa.null(),
}
_ATTRIBUTE_TYPES = {t.name: t for t in (INT, LONG, DOUBLE, STRING, BOOLEAN, TIMESTAMP)}
_ALIASES = {"integer": "int", "bigint": "long", "bool": "boolean", "varchar": "string", "text": "string"}
_DECIMAL = re.compile(r"decimal\s*\(\s*(\d+)\s*,\s*(\d+)\s*\)")
TYPE_NAMES = (*_ATTRIBUTE_TYPES, "decimal(p,s)")


def decimal(precision: int, scale: int) -> DataType:
    """A decimal type of 1 to 38 digits, `scale` of them after the point."""
    if not (1 <= precision <= 38 and 0 <= scale <= precision):
        raise AlgebraError(
            Problem("", f"no decimal({precision},{scale})", "decimal(p,s) with 1 <= p <= 38 and 0 <= s <= p")
        )
    return DataType("decimal", precision, scale)


def parse_type(text: str) -> DataType:
    """The type that a text such as `long` or `decimal(10,2)` names."""
    guard(text, str, "", f"a type as a text, one of {', '.join(TYPE_NAMES)}")
    name = text.strip().lower()
    if match := _DECIMAL.fullmatch(name):
        return decimal(int(match[1]), int(match[2]))
    name = _ALIASES.get(name, name)
    if name not in _ATTRIBUTE_TYPES:
        raise AlgebraError(Problem("", f"unknown type {text.strip()!r}", f"one of {', '.join(TYPE_NAMES)}"))
    return _ATTRIBUTE_TYPES[name]
