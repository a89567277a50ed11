"""Whether the values of a column are valid for its type: Arrow does not check that by itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypeAlias

import pyarrow as pa

from australis.algebra.expr import Value
from australis.algebra.quarantine_text import tuple_as_json
from australis.algebra.schema import Schema

_PIECE_ROWS = 4096
"""Unsound values are searched for in pieces of this many rows."""
Column: TypeAlias = pa.Array | pa.ChunkedArray


def unsound_rows(columns: Mapping[str, Column]) -> dict[int, str]:
    """The rows with a value that is invalid for its type, each with the reason.

    Raises `ArrowInvalid` for a column whose bytes cannot be divided into values.

    >>> names = pa.array([b"Ada", b"Zo\\xff"], pa.binary()).view(pa.string())
    >>> unsound_rows({"id": pa.array([1, 2]), "name": names})
    {1: 'attribute name is not UTF-8'}
    """
    faults: dict[int, str] = {}
    for name, column in columns.items():
        what = "is not UTF-8" if pa.types.is_string(column.type) else f"is not a {column.type}"
        for row in _unsound(column):
            faults.setdefault(row, f"attribute {name} {what}")
    return faults


def row_text(columns: Mapping[str, Column], row: int, schema: Schema) -> str:
    """A row as JSON text; bytes that are not text are written as `\xff`."""
    values = {name: _value(columns[name], row) for name in schema.names}
    return tuple_as_json(values, schema)


def _unsound(column: Column) -> Iterator[int]:
    begin = 0
    for chunk in _chunks(column):
        if not _is_sound(chunk):
            if pa.types.is_string(chunk.type):
                chunk.view(pa.binary()).validate(full=True)
            yield from (begin + row for row in _unsound_of(chunk))
        begin += len(chunk)


def _unsound_of(chunk: pa.Array) -> Iterator[int]:
    for begin in range(0, len(chunk), _PIECE_ROWS):
        piece = chunk.slice(begin, _PIECE_ROWS)
        if not _is_sound(piece):
            yield from (begin + row for row in range(len(piece)) if not _is_sound(piece.slice(row, 1)))


def _is_sound(array: pa.Array) -> bool:
    try:
        array.validate(full=True)
    except pa.ArrowInvalid:
        # Arrow reports only the first unsound value; the caller finds the others.
        return False
    return True


def _chunks(column: Column) -> list[pa.Array]:
    return column.chunks if isinstance(column, pa.ChunkedArray) else [column]


def _value(column: Column, row: int) -> Value:
    single = column.slice(row, 1)
    if isinstance(single, pa.ChunkedArray):
        single = single.combine_chunks()
    if pa.types.is_string(single.type):
        data = single.view(pa.binary())[0].as_py()
        return None if data is None else data.decode("utf-8", "backslashreplace")
    if pa.types.is_timestamp(single.type):
        single = single.view(pa.int64())
    value: Value = single[0].as_py()
    return value
