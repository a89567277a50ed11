"""Tables as JSON, whole columns at a time."""

from __future__ import annotations

from typing import NamedTuple

import pyarrow as pa

from australis.algebra.types import DataType, decimal, parse_type
from australis.engine.files import json_rows

_TYPES = {parse_type(name).arrow: parse_type(name) for name in ("int", "long", "double", "string", "boolean")}
_TIMESTAMP = parse_type("timestamp")


class Column(NamedTuple):
    """A column, hidden or not, with its type."""

    name: str
    type: DataType


def columns_of(schema: pa.Schema) -> list[Column]:
    """The columns of an Arrow schema, `#ts` and `#seq` included."""
    return [Column(field.name, _type_of(field.type)) for field in schema]


def _type_of(given: pa.DataType) -> DataType:
    if pa.types.is_timestamp(given):
        return _TIMESTAMP
    if pa.types.is_decimal(given):
        return decimal(given.precision, given.scale)
    return _TYPES[given]


def json_array(table: pa.Table) -> bytes:
    """The rows of a table as an array of objects, on one line.

    >>> json_array(pa.table({"a": [1, 2], "b": ["x", None]}))
    b'[{"a":1,"b":"x"},{"a":2,"b":null}]'
    """
    # A line break in a text is escaped, so each one here ends a row.
    lines = json_rows(table, columns_of(table.schema)) if table.num_rows else b""
    return b"[" + lines[:-1].replace(b"\n", b",") + b"]"
