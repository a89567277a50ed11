"""Columns of Arrow tables as one array each, joined, and as the 64-bit numbers that compiled loops read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from australis.kernels.expressions import arrow, nulls, raw, truths, words

Numbers = npt.NDArray[Any]
"""int64 or float64."""
Indexes = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]


def column(table: pa.Table, name: str) -> pa.Array:
    """One column as one array, without a copy if it has only one chunk."""
    chunks = table.column(name)
    return chunks.chunk(0) if chunks.num_chunks == 1 else chunks.combine_chunks()


def joined(*parts: pa.Array) -> pa.Array:
    """Arrays of one type, concatenated; no copy if only one has values."""
    filled = [part for part in parts if len(part)] or [parts[0]]
    return filled[0] if len(filled) == 1 else pa.concat_arrays(filled)


def frozen(values: Numbers) -> Numbers:
    """A read-only view, so that compiled loops need only one signature for what they read."""
    view = values.view()
    view.flags.writeable = False
    return view


def numbers(array: pa.Array) -> Numbers:
    """An array as int64 (whole numbers, timestamps, booleans, decimals of up to 18 digits) or float64.

    The number in place of a NULL is arbitrary. The result is read-only.

    >>> numbers(pa.array([True, False]))
    array([1, 0])
    """
    if pa.types.is_boolean(array.type):
        return frozen(truths(array).astype(np.int64))
    if pa.types.is_decimal(array.type):
        return frozen(np.ascontiguousarray(words(array)[0]).view(np.int64))
    kind = np.float64 if pa.types.is_floating(array.type) else np.int64
    return frozen(raw(array).astype(kind, copy=False))


def array_of(values: Numbers, type_: pa.DataType, null: Mask | None = None) -> pa.Array:
    """The Arrow array of some 64-bit numbers: the inverse of `numbers`.

    >>> array_of(np.array([125, -5]), pa.decimal128(4, 2)).to_pylist()
    [Decimal('1.25'), Decimal('-0.05')]
    """
    if not pa.types.is_decimal(type_):
        return arrow(values != 0 if pa.types.is_boolean(type_) else values, type_, null)
    both = np.stack([values, values >> 63], axis=1)
    validity = arrow(values, pa.int64(), null).buffers()[0]
    return pa.Array.from_buffers(type_, len(values), [validity, pa.py_buffer(both)])


def present(array: pa.Array) -> Mask | None:
    """Where an array is not NULL; None if it has no NULL."""
    missing = nulls(array)
    return None if missing is None else ~missing


def rows_of(table: pa.Table, rows: Indexes) -> pa.Table:
    """Some rows of a table, in the order of `rows`, each column in one chunk."""
    indexes = pa.array(rows)
    columns = [column(table, name).take(indexes) for name in table.column_names]
    return pa.table(columns, schema=table.schema)


def with_numbers(table: pa.Table, name: str, values: Indexes) -> pa.Table:
    """A table with other whole numbers in a column."""
    at = table.schema.get_field_index(name)
    return table.set_column(at, table.schema.field(at), pa.array(values, pa.int64()))


def grown(values: Numbers, count: int, fill: Any = 0) -> Numbers:
    """The values, extended with `fill` to `count` of them."""
    if len(values) >= count:
        return values
    more = np.full(count - len(values), fill, values.dtype)
    return np.concatenate([values, more])


def stacked(tables: Sequence[pa.Table]) -> pa.Table:
    """Tables of one schema as one table, each column in one chunk."""
    filled = [table for table in tables if table.num_rows] or list(tables[:1])
    return filled[0] if len(filled) == 1 else pa.concat_tables(filled).combine_chunks()
