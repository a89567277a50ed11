"""Results of a join from the rows of both sides: pairs, and tuples of one side with NULLs for the other."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from australis.algebra.schema import TS, Schema
from australis.algebra.types import TIMESTAMP
from australis.kernels.arrays import Indexes, column, numbers
from australis.kernels.expressions import arrow
from australis.kernels.kernel import output_schema

NOBODY = -1
"""In place of a row: the result has none of this side."""


@dataclass(frozen=True)
class Rows:
    """For each result its row of the left and of the right side, and when it is emitted."""

    left: Indexes
    right: Indexes
    keys: Indexes
    """Results are emitted by ascending key."""

    def take(self, places: Indexes) -> Rows:
        """Some of the results, in this order."""
        return Rows(self.left[places], self.right[places], self.keys[places])


def alone(port: int, rows: Indexes, keys: Indexes) -> Rows:
    """Results of tuples of one side that have no partner."""
    nobody = np.full(len(rows), NOBODY)
    return Rows(rows, nobody, keys) if port == 0 else Rows(nobody, rows, keys)


def merged(*parts: Rows) -> Rows:
    """Results that are in sequence in each part, in one sequence."""
    filled = [part for part in parts if len(part.keys)] or list(parts[:1])
    if len(filled) == 1:
        return filled[0]
    keys = np.concatenate([part.keys for part in filled])
    left = np.concatenate([part.left for part in filled])
    right = np.concatenate([part.right for part in filled])
    # A stable sort only merges what is sorted in parts.
    return Rows(left, right, keys).take(np.argsort(keys, kind="stable"))


def gathered(output: Schema, sides: tuple[pa.Table, pa.Table], rows: Rows, causes: Indexes) -> pa.Table:
    """The table of results; an output with as many attributes as the left side has those of it alone."""
    columns = _columns(sides[0], rows.left)
    if len(output) > len(columns):
        columns += _columns(sides[1], rows.right)
    ts = np.minimum(_ts(sides[0], rows.left), _ts(sides[1], rows.right))
    schema = output_schema(output)
    return pa.Table.from_arrays([*columns, arrow(ts, TIMESTAMP.arrow), pa.array(causes)], schema=schema)


def _columns(table: pa.Table, rows: Indexes) -> list[pa.Array]:
    """The attributes of some rows, NULL where there is none, without the hidden columns."""
    missing = rows == NOBODY
    indexes = arrow(rows, pa.int64(), missing if missing.any() else None)
    return [column(table, name).take(indexes) for name in table.column_names if not name.startswith("#")]


def _ts(table: pa.Table, rows: Indexes) -> Indexes:
    """The ts of some rows; of none, and of the rows of a stored table, later than every other."""
    latest = np.iinfo(np.int64).max
    if TS not in table.column_names:
        return np.full(len(rows), latest)
    return np.append(numbers(column(table, TS)), latest)[rows]
