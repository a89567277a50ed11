"""Consumers of output arcs: each has a name and a head of its own, and sees every tuple once, in order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pyarrow as pa

from australis.algebra.schema import Schema
from australis.engine.queues import Queues
from australis.engine.storage.root import Root
from australis.engine.storage.segments import SEQ, Segment, merged, read_segment

ROWS_MOST = 100_000
"""About how many tuples a consumer gets at a time."""


def next_cut(queues: Queues, arc: str, seq: int, most: int = ROWS_MOST) -> int:
    """The number up to which a consumer at `seq` may read about `most` tuples; `seq` if there is nothing."""
    end = queues.arc_end(arc)
    ahead = sorted(
        (each for each in queues.segments[arc] if each.end > seq and each.base < end),
        key=lambda each: each.end,
    )
    rows = 0
    for segment in ahead:
        rows += segment.rows
        if rows >= most:
            return min(segment.end, end)
    return end if ahead else seq


def read(root: Root, schema: Schema, segments: Iterable[Segment], lo: int, hi: int) -> pa.Table:
    """The tuples of some segments from `lo` up to `hi`, with TS and SEQ, by sequence number."""
    found = sorted(
        (each for each in segments if each.end > lo and each.base < hi),
        key=lambda each: (each.writer, each.part, each.base),
    )
    empty = schema.arrow_with_ts.append(pa.field(SEQ, pa.int64())).empty_table()
    columns = list(schema.names)
    return merged([empty, *_cast(root, found, columns, lo, hi, empty.schema)])


def _cast(
    root: Root, segments: list[Segment], columns: list[str], lo: int, hi: int, schema: pa.Schema
) -> Iterator[pa.Table]:
    for segment in segments:
        table = read_segment(root, segment, columns, lo, hi).select(schema.names)
        yield pa.Table.from_arrays(table.columns, schema=schema)
