"""Whether the files of segments and states are what was committed, down to the last page."""

from __future__ import annotations

import struct

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from australis.engine.store.root import Root
from australis.engine.store.segments import SEQ, Segment, damaged, open_parquet, open_segment
from australis.engine.store.splits import ROW, Split, in_order, partition_ends
from australis.engine.store.states import check_state_file
from australis.errors import EngineError, Problem
from australis.kernels.arrays import partitions


def check_tuples(root: Root, segment: Segment) -> None:
    """Refuse a segment whose pages cannot be decoded, or whose tuples have the wrong numbers.

    Page checksums are verified; adopted files may have none.
    """
    if segment.first is not None and segment.first + segment.rows != segment.end:
        raise damaged(segment, f"{segment.rows} rows from {segment.first} on do not end at {segment.end}")
    with open_segment(root, segment) as source:
        try:
            file = open_parquet(source, segment)
            if segment.split:
                _check_split(file, segment)
            else:
                _check_groups(file, segment)
        except (pa.ArrowException, OSError, struct.error, ValueError) as error:
            raise damaged(segment, str(error)) from error


def _check_groups(file: pq.ParquetFile, segment: Segment) -> None:
    last = segment.base
    for group in range(file.metadata.num_row_groups):
        table = file.read_row_group(group)
        if SEQ in table.column_names:
            last = _check_numbers(table[SEQ], segment, last)


def _check_split(file: pq.ParquetFile, segment: Segment) -> None:
    """Refuse rows that are in another partition than their keys say, or whose order cannot be restored."""
    split, table = Split.parse(segment.split), file.read()
    ends = partition_ends(file.metadata, split)
    owners = np.searchsorted(ends, np.arange(segment.rows), side="right")
    if np.any(partitions(table, split.keys, split.partitions) != owners):
        raise ValueError("it has tuples in the wrong partition")
    begins = np.diff(table[ROW].to_numpy()) < 0
    if np.any(begins & (owners[1:] == owners[:-1])):
        raise ValueError("its rows do not ascend within a partition")
    whole = in_order(table, 0, segment.rows)
    if SEQ in whole.column_names:
        _check_numbers(whole[SEQ], segment, segment.base)


def _check_numbers(column: pa.ChunkedArray, segment: Segment, last: int) -> int:
    """Refuse numbers out of range or order; returns the last one."""
    numbers = column.to_numpy()
    if not len(numbers):
        return last
    if numbers.min() < segment.base or numbers.max() >= segment.end:
        found = f"{numbers.min()} to {numbers.max()}"
        raise ValueError(f"its numbers are {found}, not from {segment.base} up to {segment.end}")
    if not segment.key and (numbers[0] < last or np.any(numbers[1:] < numbers[:-1])):
        raise ValueError("its numbers do not ascend")
    return int(numbers[-1])


def check_state(root: Root, name: str, size: int, *, whole: bool) -> None:
    """Refuse a state file with another size or, if read `whole`, another checksum."""
    found = root.size(name)
    if not found and not root.exists(name):
        raise EngineError(Problem(name, "is gone", "the file as it was committed; restore it"))
    if found != size:
        what = f"is damaged: {found} bytes instead of {size}"
        raise EngineError(Problem(name, what, "the file as it was committed; restore it"))
    if whole:
        check_state_file(root, name)
