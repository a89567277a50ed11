"""Splits: files whose rows are grouped by partition of their readers' key, so that a task reads only its own.

The rows of a split file are sorted by partition, and within a partition they keep their order. A column has
the place of each row in the order of all, and the footer has the number of rows of each partition. Row groups
begin and end with partitions.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

ROW = "#row"
"""The column with the place of each row in the order of all rows of a split file."""
_COUNTS = "australis.partitions"
"""The entry of the footer with the number of rows of each partition."""
_GROUP_ROWS_LEAST = 1_000
"""Partitions with fewer rows share a row group: each costs a little to read, whatever it has."""

Places = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Split:
    """How a file is split, as its description has it: it has rows of the partitions from `lo` up to `hi`.

    >>> split = Split(("sid",), 16, 3, 5)
    >>> str(split), Split.parse(str(split)) == split
    ('[["sid"], 16, 3, 5]', True)
    """

    keys: tuple[str, ...]
    partitions: int
    lo: int
    hi: int

    @classmethod
    def parse(cls, text: str) -> Split:
        keys, *numbers = json.loads(text)
        return cls(tuple(keys), *numbers)

    def __str__(self) -> str:
        return json.dumps([self.keys, self.partitions, self.lo, self.hi])

    def is_by(self, keys: Sequence[str], partitions: int) -> bool:
        """Whether the partitions are those of a reader."""
        return self.keys == tuple(keys) and self.partitions == partitions

    def has_any(self, partitions: Sequence[int]) -> bool:
        """Whether there may be rows of some partitions."""
        return any(self.lo <= each < self.hi for each in partitions)


@dataclass(frozen=True)
class Division:
    """To which partition of a key each row of a table belongs."""

    keys: tuple[str, ...]
    partitions: int
    owners: Places
    group_rows_least: int = _GROUP_ROWS_LEAST
    """Partitions with fewer rows share a row group."""

    def counts(self) -> Places:
        """How many rows each partition has."""
        return np.bincount(self.owners, minlength=self.partitions)

    def split(self) -> Split:
        """The description of a file that is split like this."""
        present = np.flatnonzero(self.counts()).tolist()
        return Split(self.keys, self.partitions, present[0], present[-1] + 1)


def by_partition(owners: Places, partitions: int) -> Places:
    """The places of rows, sorted by partition; within a partition they keep their order."""
    # Small whole numbers are sorted by radix.
    return np.argsort(owners.astype(np.uint16) if partitions <= 1 << 16 else owners, kind="stable")


def write_split(
    table: pa.Table, division: Division, group_rows_most: int, sink: pa.NativeFile, **options: Any
) -> None:
    """Write a table split, as a Parquet file with some options."""
    order, counts = by_partition(division.owners, division.partitions), division.counts()
    rows = pa.array(order.astype(np.int32))
    grouped = table if np.count_nonzero(counts) == 1 else table.take(rows)
    grouped = grouped.append_column(pa.field(ROW, pa.int32(), False), rows)
    with pq.ParquetWriter(sink, grouped.schema, **options) as writer:
        for begin, end in pairwise(_bounds(counts, division.group_rows_least, group_rows_most)):
            writer.write_table(grouped.slice(begin, end - begin), row_group_size=end - begin)
        writer.add_key_value_metadata({_COUNTS: json.dumps(counts.tolist())})


def _bounds(counts: Places, least: int, most: int) -> Iterator[int]:
    """Where row groups begin, and where the last one ends: between partitions, unless these are large."""
    last, end = 0, 0
    yield 0
    for partition, count in enumerate(counts.tolist(), 1):
        end += count
        if end > last and (end - last >= least or partition == len(counts)):
            yield from range(last + most, end, most)
            last = end
            yield end


def partition_ends(metadata: pq.FileMetaData, split: Split) -> Places:
    """Where the rows of each partition end in a split file."""
    counts = json.loads((metadata.metadata or {}).get(_COUNTS.encode(), b"[]"))
    ends = np.cumsum(np.array(counts, np.int64))
    if len(ends) != split.partitions or ends[-1] != metadata.num_rows:
        raise ValueError(f"its footer has {len(ends)} partitions, not {split.partitions} with all rows")
    return ends


def read_rows(
    file: pq.ParquetFile, columns: Sequence[str], begin: int, end: int, *, threads: bool
) -> pa.Table:
    """Some rows of a file, as they are in it, from the row groups that have them."""
    groups = range(file.metadata.num_row_groups)
    return read_parts(file, columns, [(begin, end)], groups, threads=threads)[0]


def read_parts(
    file: pq.ParquetFile,
    columns: Sequence[str],
    parts: Sequence[tuple[int, int]],
    groups: Sequence[int],
    *,
    threads: bool = False,
) -> list[pa.Table]:
    """Some ranges of a file's rows, as far as they are in some of its row groups; others are not read."""
    metadata, first, last = file.metadata, min(begin for begin, _ in parts), max(end for _, end in parts)
    sizes = np.array([metadata.row_group(i).num_rows for i in range(metadata.num_row_groups)], np.int64)
    begins = np.cumsum(sizes) - sizes
    own = [i for i in groups if begins[i] + sizes[i] > first and begins[i] < last]
    table = file.read_row_groups(own, columns=list(columns), use_threads=threads)

    def place(row: int) -> int:
        return int(np.clip(row - begins[own], 0, sizes[own]).sum())

    return [table.slice(place(begin), place(end) - place(begin)) for begin, end in parts]


def in_order(table: pa.Table, begin: int, end: int) -> pa.Table:
    """Some of all rows of a split file, from one place up to another in their order, without that column."""
    rows = table[ROW].to_numpy()
    wanted = np.flatnonzero((rows >= begin) & (rows < end))
    places = np.full(max(0, end - begin), -1)
    places[rows[wanted] - begin] = wanted
    if len(wanted) != len(places) or np.any(places < 0):
        raise ValueError("its rows have no order")
    return table.drop_columns([ROW]).take(pa.array(places))
