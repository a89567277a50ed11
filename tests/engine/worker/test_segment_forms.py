"""Segments of one arc look alike when they are read, whatever their files leave out."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa

from australis.algebra.schema import TS
from australis.algebra.types import TIMESTAMP
from australis.engine.store.root import Root
from australis.engine.store.segments import SEQ, merged, read_segment, write_segment


def derived(first: int, times: list[int]) -> pa.Table:
    numbers = range(first, first + len(times))
    fields = [pa.field("x", pa.int32()), pa.field(TS, TIMESTAMP.arrow, False), pa.field(SEQ, pa.int64())]
    return pa.table([list(numbers), times, list(numbers)], schema=pa.schema(fields))


def test_one_arrival_time_and_several_make_one_table(tmp_path: Path) -> None:
    root = Root.of(tmp_path)
    root.prepare()
    same, several = derived(1, [7, 7]), derived(3, [8, 9])
    written = [write_segment(root, "a", same.drop_columns([TS]), ts=7), write_segment(root, "a", several)]
    read = merged([read_segment(root, segment, ["x"], 0, 10) for segment in written])
    assert read.equals(pa.concat_tables([same, several]))
