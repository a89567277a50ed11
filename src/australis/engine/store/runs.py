"""Runs: immutable Parquet files of a connection point's history, each with its own range of numbers.

A run is written beside the segments, committed, and only then moved to the folder of its point: readers of
that folder see complete files of committed tuples, and none of them twice.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from australis.algebra.schema import TS, Schema
from australis.engine.store.root import HISTORY, SEGMENTS, Root, short_name
from australis.engine.store.segments import SEQ, TIE, Segment, checksum, group_rows, staged

GROUP_ROWS = 1 << 13
"""The tuples of a row group, which is the least that a lookup reads."""


def encode_run(table: pa.Table, key: str | None, *, ties: bool) -> pa.Buffer:
    """Tuples by number as the bytes of a run: sorted by `key`, or as they are.

    With `ties`, a column keeps the order of tuples with the same number.
    """
    if key is not None:
        table = _with_ties(table) if ties else table
        table = table.take(pc.sort_indices(table[key].combine_chunks()))
    sink = pa.BufferOutputStream()
    told = [name for name in (key, TS, SEQ) if name is not None]
    hidden = [name for name in (TS, SEQ, TIE) if name in table.column_names]
    pq.write_table(
        table,
        sink,
        row_group_size=group_rows(table, GROUP_ROWS),
        compression="snappy",
        use_dictionary=[field.name for field in table.schema if pa.types.is_string(field.type)],
        column_encoding=dict.fromkeys(hidden, "DELTA_BINARY_PACKED"),
        write_page_checksum=True,
        write_statistics=told,
    )
    return sink.getvalue()


def _with_ties(table: pa.Table) -> pa.Table:
    numbers = table[SEQ].to_numpy()
    place = np.arange(len(numbers)) - np.searchsorted(numbers, numbers)
    return table.append_column(pa.field(TIE, pa.int32(), False), pa.array(place, pa.int32()))


def run_schema(schema: Schema) -> pa.Schema:
    """The columns of a run: the attributes, then the arrival time and number of each tuple."""
    return schema.arrow_with_ts.append(pa.field(SEQ, pa.int64(), False))


def described(
    arc: str, name: str, base: int, end: int, table: pa.Table, data: pa.Buffer, writer: str, key: str | None
) -> Segment:
    """A run as described in the catalogue."""
    newest = pc.max(table[TS].cast(pa.int64())).as_py()
    size, footer, rows = data.size, checksum(data), table.num_rows
    return Segment(arc, name, base, end, rows, size, footer, writer=writer, newest=newest, key=key or "")


def run_name(root: Root, point: str, base: int, end: int) -> str:
    """The future name of a new run of a connection point; names sort by their numbers."""
    return f"{HISTORY}/{short_name(point)}/{base:015d}-{end:015d}-{root.disk.token()}.parquet"


def publish(root: Root, runs: Iterable[str]) -> None:
    """Move committed runs to where others find them."""
    for run in runs:
        root.move(staged(run), run)


def publish_rest(root: Root, known: Iterable[str]) -> int:
    """Publish runs that a node had committed when it ended; returns how many."""
    waiting = set(root.names(SEGMENTS))
    runs = sorted(run for run in known if run.startswith(f"{HISTORY}/") and staged(run) in waiting)
    publish(root, runs)
    return len(runs)


def stamped(table: pa.Table, schema: pa.Schema) -> pa.Table:
    """Tuples in the columns and types of a schema, without those with NULL where none is allowed."""
    for field in schema:
        if not field.nullable and table[field.name].null_count:
            table = table.filter(pc.is_valid(table[field.name]))
    return table.select(schema.names).cast(schema)
