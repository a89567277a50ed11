"""Whole numbers in as few bytes as their range needs: there is less to write, to check and to read.

The field of a narrow column has the least of its numbers in its metadata, and the column how much more each
is. Layers of older versions have none.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from australis.kernels.arrays import Indexes, Numbers, column, frozen, numbers, with_numbers
from australis.kernels.expressions import nulls, raw, validity

_LEAST = b"least"
_WIDTHS: Mapping[pa.DataType, Any] = {pa.uint8(): np.uint8, pa.uint16(): np.uint16, pa.uint32(): np.uint32}


def narrowed(table: pa.Table) -> pa.Table:
    """A table whose columns of whole numbers take as few bytes as they can."""
    for at, field in enumerate(table.schema):
        if field.type == pa.int64() and table.num_rows:
            found = _narrow(field, column(table, field.name))
            table = table if found is None else table.set_column(at, *found)
    return table


def _narrow(field: pa.Field, array: pa.Array) -> tuple[pa.Field, pa.Array] | None:
    values, null = raw(array), nulls(array)
    # The number in place of a NULL is arbitrary.
    known = values if null is None else values[~null]
    least, most = (int(known.min()), int(known.max())) if len(known) else (0, 0)
    for kind, width in _WIDTHS.items():
        if most - least <= np.iinfo(width).max:
            less = np.empty(len(values), width)
            np.subtract(values, least, out=less, casting="unsafe")
            named = field.with_type(kind).with_metadata({_LEAST: str(least)})
            buffers = [validity(null, len(less)), pa.py_buffer(less)]
            return named, pa.Array.from_buffers(kind, len(less), buffers)
    return None


def wide(field: pa.Field) -> pa.Field:
    """The field that a column had before it was narrowed."""
    return field.with_type(pa.int64()).remove_metadata() if _is_narrow(field) else field


def least_of(field: pa.Field) -> int:
    """What has to be added to the numbers of a column."""
    return int(field.metadata[_LEAST]) if _is_narrow(field) else 0


def bits(array: pa.Array) -> npt.NDArray[Any]:
    """The numbers of a narrow column, or the 64 bits of each value of another, without a copy."""
    values: npt.NDArray[Any] = np.frombuffer(array.buffers()[1] or b"", _WIDTHS.get(array.type, np.int64))
    return frozen(values[array.offset : array.offset + len(array)])


def numbers_at(table: pa.Table, name: str, rows: Indexes) -> Numbers:
    """The whole numbers in some rows of a column."""
    found: Numbers = bits(column(table, name))[rows].astype(np.int64)
    return found + least_of(table.schema.field(name))


def lowered(table: pa.Table, name: str, by: int) -> pa.Table:
    """A table in which the whole numbers of a column are less by a number."""
    at = table.schema.get_field_index(name)
    field = table.schema.field(at)
    if not _is_narrow(field):
        return with_numbers(table, name, numbers(column(table, name)) - by)
    return table.set_column(at, field.with_metadata({_LEAST: str(least_of(field) - by)}), table.column(at))


def _is_narrow(field: pa.Field) -> bool:
    return field.metadata is not None and _LEAST in field.metadata
