"""Groups out of several blocks, as one table for each table of the state: each column is copied once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from australis.kernels.arrays import Indexes, Mask, Numbers, column, frozen
from australis.kernels.compiled import njit
from australis.kernels.expressions import validity
from australis.kernels.layers.layer import Block, Shape, find_sorted, no_rows, ranges
from australis.kernels.layers.narrow import bits, least_of, numbers_at, wide


class Selection(NamedTuple):
    """Some hashes of a block, and where they come among all hashes that are gathered."""

    block: Block
    places: Indexes
    """Ascending."""
    ranks: Indexes


class Gathered(NamedTuple):
    """The tables of some groups by the rank of their hashes, and where the rows of each hash end."""

    tables: Mapping[str, pa.Table]
    ends: Mapping[str, Indexes | None]


class _Rows(NamedTuple):
    """The rows that come from one block, and where they go, both read-only."""

    table: pa.Table
    rows: Indexes
    targets: Indexes


def gathered(shape: Shape, selections: Sequence[Selection], count: int) -> Gathered:
    """The groups of up to `count` hashes, of which each is in one selection at most."""
    tables, ends = {}, {}
    parts: dict[str, list[_Rows]] = {}
    for name in shape.kept:
        parts[name], ends[name] = _laid(name, selections, count)
        total = sum(len(part.rows) for part in parts[name])
        renewed: dict[str, Numbers] = {}
        if name in shape.follows:
            table, number = shape.follows[name]
            renewed[number] = _references(parts[name], parts[table], number, total)
        tables[name] = _table(parts[name], total, renewed)
    return Gathered(tables, ends)


def _laid(name: str, selections: Sequence[Selection], count: int) -> tuple[list[_Rows], Indexes | None]:
    """Which rows of a table are gathered, where each goes, and where those of each hash end."""
    tables = [each.block.tables[name] for each in selections]
    if not any(table.num_rows for table in tables):
        nowhere = frozen(np.empty(0, np.int64))
        return [_Rows(table, nowhere, nowhere) for table in tables], no_rows(count)
    if all(each.block.ends[name] is None for each in selections) and count == sum(
        len(each.places) for each in selections
    ):
        pairs = zip(tables, selections, strict=True)
        return [_Rows(table, frozen(each.places), frozen(each.ranks)) for table, each in pairs], None
    counts = np.zeros(count, np.int64)
    for each in selections:
        counts[each.ranks] = each.block.counts(name, each.places)
    ends = np.cumsum(counts)
    begins = ends - counts
    laid = []
    for table, each in zip(tables, selections, strict=True):
        targets = ranges(begins[each.ranks], ends[each.ranks])
        laid.append(_Rows(table, frozen(each.block.rows(name, each.places)), frozen(targets)))
    return laid, None if (counts == 1).all() else ends


def _references(own: Sequence[_Rows], groups: Sequence[_Rows], number: str, total: int) -> Indexes:
    """To which of the gathered groups the rows of a table that follows refer."""
    found = np.empty(total, np.int64)
    for part, referred in zip(own, groups, strict=True):
        # Both ascend, so each search is near the last one.
        places = find_sorted(referred.rows, frozen(numbers_at(part.table, number, part.rows)))
        found[part.targets] = referred.targets[places]
    return found


def _table(parts: Sequence[_Rows], total: int, renewed: Mapping[str, Numbers]) -> pa.Table:
    schema = pa.schema([wide(field) for field in parts[0].table.schema])
    columns = [
        pa.array(renewed[name]) if name in renewed else _column(parts, name, schema.field(name).type, total)
        for name in schema.names
    ]
    return pa.Table.from_arrays(columns, schema=schema)


def _column(parts: Sequence[_Rows], name: str, kind: pa.DataType, total: int) -> pa.Array:
    filled = [part for part in parts if len(part.rows)]
    arrays = [column(part.table, name) for part in filled]
    if not pa.types.is_primitive(kind) or kind.bit_width != 64:
        return _taken(filled, arrays, kind)
    values = np.empty(total, np.int64)
    for part, array in zip(filled, arrays, strict=True):
        least = least_of(part.table.schema.field(name))
        _put(values, part.targets, bits(array), part.rows, least)
    null = _nulls(filled, arrays, total)
    return pa.Array.from_buffers(kind, total, [validity(null, total), pa.py_buffer(values)])


def _nulls(parts: Sequence[_Rows], arrays: Sequence[pa.Array], total: int) -> Mask | None:
    """Where a column is NULL; None for nowhere."""
    if not any(array.null_count for array in arrays):
        return None
    found: Mask = np.zeros(total, np.bool_)
    for part, array in zip(parts, arrays, strict=True):
        if array.null_count:
            present = np.frombuffer(array.buffers()[0], np.uint8)
            at = part.rows + array.offset
            found[part.targets] = (present[at >> 3] >> (at & 7)) & 1 == 0
    return found


def _taken(parts: Sequence[_Rows], arrays: Sequence[pa.Array], kind: pa.DataType) -> pa.Array:
    """A column of any type: what is wanted of each block, one after the other, and then where it goes."""
    if not parts:
        return pa.array([], kind)
    pairs = zip(arrays, parts, strict=True)
    stack = pa.concat_arrays(array.take(pa.array(part.rows)) for array, part in pairs)
    order = np.empty(len(stack), np.int64)
    order[np.concatenate([part.targets for part in parts])] = np.arange(len(stack))
    return stack.take(pa.array(order))


@njit(nogil=True)
def _put(values: Indexes, targets: Indexes, source: npt.NDArray[np.int64], rows: Indexes, least: int) -> None:
    """Put some rows of a column where they go."""
    for at in range(rows.shape[0]):
        values[np.uint64(targets[at])] = np.int64(source[np.uint64(rows[at])]) + least
