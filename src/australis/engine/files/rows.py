"""What a file contains: tuples that fit the schema, and rows that do not, with the reason."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from australis.algebra.quarantine_text import null_reason
from australis.algebra.schema import Schema

STANDARD_STREAM = "-"
"""The path that stands for standard input or output."""

_SHOWN_CHARACTERS = 60


@dataclass(frozen=True)
class Rejected:
    """A row that is not a tuple of the schema: where it is and why, and what it contains, as JSON."""

    reason: str
    tuple: str


@dataclass(frozen=True)
class Batch:
    """Consecutive rows of a file: those that fit the schema, and those that do not."""

    table: pa.Table
    rejected: tuple[Rejected, ...] = ()


@dataclass(frozen=True)
class Mark:
    """A place in a file from which reading can resume: where a block begins, and how much was read for it.

    The offset counts decompressed bytes in a text file, rows in a Parquet file. With `read` the block is cut
    again where it was cut before, so that a reader that resumes gives exactly the same batches.
    """

    offset: int = 0
    line: int = 1
    read: int = 0
    member: str = ""
    """The file of an archive that the block is in."""

    def is_block_of(self, other: Mark) -> bool:
        """Whether both are the beginning of the same block, however long it is."""
        return (self.member, self.offset) == (other.member, other.offset)


def place_of(path: str, unit: str, number: int) -> str:
    """Where a row is, for the start of a quarantine reason: the file as it was named, and its line or row.

    >>> place_of("in/reports.csv", "line", 4), place_of("-", "line", 4)
    ('in/reports.csv, line 4', 'standard input, line 4')
    """
    return f"{'standard input' if path == STANDARD_STREAM else path}, {unit} {number}"


def as_json(value: object) -> str:
    """A row as JSON; what JSON cannot represent is written as text."""
    return json.dumps(value, ensure_ascii=False, default=str)


def shown(value: object) -> str:
    """A value as a message shows it, shortened if necessary."""
    text = repr(value)
    return text if len(text) <= _SHOWN_CHARACTERS else f"{text[:_SHOWN_CHARACTERS]}..."


def null_faults(schema: Schema, columns: Mapping[str, pa.Array]) -> dict[int, str]:
    """The rows with a NULL where the schema allows none, each with the reason."""
    faults: dict[int, str] = {}
    for field in schema:
        column = columns[field.name]
        if not field.nullable and column.null_count:
            for row in pc.indices_nonzero(column.is_null()).to_pylist():
                faults.setdefault(row, null_reason(field.name))
    return faults


def without(table: pa.Table, rows: Collection[int]) -> pa.Table:
    """The table without some of its rows."""
    if not rows:
        return table
    kept = np.ones(table.num_rows, bool)
    kept[list(rows)] = False
    return table.filter(pa.array(kept))


def one_chunk(column: pa.ChunkedArray) -> pa.Array:
    """A column in one piece."""
    return column.combine_chunks() if column.num_chunks != 1 else column.chunk(0)
