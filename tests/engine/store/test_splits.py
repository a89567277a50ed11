"""Split segments: whole they are what was written, and of one partition no other is read."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from unittest.mock import patch

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from australis.algebra.schema import TS
from australis.algebra.types import TIMESTAMP
from australis.engine.store import (
    ROW,
    SEQ,
    Division,
    Root,
    Segment,
    Split,
    Splitting,
    check_tuples,
    divided,
    read_partitions,
    read_segment,
    segments,
    write_arrivals,
    write_segment,
)
from australis.engine.store.segments import checksum
from australis.errors import EngineError

KEYS, COUNT = ("g",), 4
COLUMNS = ["k", "g"]
ALL = 1 << 62
SPLITTING = Splitting(KEYS, COUNT, 1)


@pytest.fixture
def root(tmp_path: Path) -> Root:
    root = Root.of(tmp_path)
    root.prepare()
    return root


def tuples(random: Random, count: int) -> pa.Table:
    keys = [random.choice([*"abcdefghijklmnop", None]) for _ in range(count)]
    return pa.table({"k": pa.array(range(count), pa.int32()), "g": pa.array(keys, pa.string())})


def derived(random: Random, count: int) -> pa.Table:
    """Tuples of which some share a number."""
    numbers = sorted(random.choices(range(100, 100 + 2 * count), k=count))
    times = pa.array([random.choice([1, 2]) for _ in range(count)], TIMESTAMP.arrow)
    return tuples(random, count).append_column(TS, times).append_column(SEQ, pa.array(numbers, pa.int64()))


def written(root: Root, random: Random, count: int) -> tuple[Segment, Segment]:
    """The same tuples in a segment that is split, and in one that is not."""
    splitting = replace(SPLITTING, rows_least=random.choice([1, 5]))
    if random.random() < 0.5:
        table = tuples(random, count)
        division = splitting.division(table) or Splitting(KEYS, COUNT, 1).division(table)
        return write_arrivals(root, "in", table, 70, 9, division), write_arrivals(root, "in", table, 70, 9)
    table = derived(random, count)
    return (
        write_segment(root, "in", table, division=SPLITTING.division(table)),
        write_segment(root, "in", table),
    )


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(random=st.randoms(use_true_random=False), count=st.integers(1, 60))
def test_whole_and_by_partition(root: Root, random: Random, count: int) -> None:
    """Between any numbers it has the same tuples in the same order, also those that share a number."""
    with patch.object(segments, "GROUP_BYTES", random.choice([40, 1 << 24])):
        split, plain = written(root, random, count)
    assert split.split
    assert not plain.split
    lo, hi = sorted(random.choices(range(split.base - 2, split.end + 2), k=2))
    for begin, end in ((0, ALL), (lo, hi)):
        right = read_segment(root, plain, COLUMNS, begin, end)
        assert read_segment(root, split, COLUMNS, begin, end).equals(right)
        wanted = tuple(sorted(random.sample(range(COUNT), random.randint(1, COUNT))))
        found = read_partitions(root, split, COLUMNS, begin, end, wanted)
        assert [each.to_pylist() for each in found] == [
            each.to_pylist() for each in divided(right, KEYS, COUNT, wanted)
        ]
    check_tuples(root, split)


def test_the_description_says_which_partitions_are_there(root: Root) -> None:
    table = pa.table({"k": [1, 2, 3], "g": ["a", "a", "b"]})
    split = Split.parse(write_arrivals(root, "in", table, 0, 9, SPLITTING.division(table)).split)
    owners = [each for each in range(COUNT) if divided(table, KEYS, COUNT, (each,))[0].num_rows]
    assert (split.lo, split.hi) == (owners[0], owners[-1] + 1)
    assert split.has_any(owners)
    assert not split.has_any([each for each in range(COUNT) if not split.lo <= each < split.hi])
    assert split.is_by(["g"], COUNT)
    assert not split.is_by(["g"], COUNT + 1)
    assert not split.is_by(["k"], COUNT)


def test_few_tuples_are_not_split() -> None:
    table = tuples(Random(1), 9)
    assert replace(SPLITTING, rows_least=10).division(table) is None
    assert replace(SPLITTING, rows_least=9).division(table) is not None
    assert replace(SPLITTING, partitions=1).division(table) is None
    assert replace(SPLITTING, keys=()).division(table) is None


def test_partitions_with_few_tuples_share_a_row_group(root: Root) -> None:
    table = tuples(Random(1), 4_000)
    for least, groups in ((1, COUNT), (1_500, 3), (9_999, 1)):
        division = SPLITTING.division(table)
        assert division is not None
        segment = write_arrivals(root, "in", table, 0, 9, replace(division, group_rows_least=least))
        with root.open(segment.name) as source:
            assert pq.ParquetFile(source).num_row_groups == groups
        assert [each.num_rows for each in read_partitions(root, segment, COLUMNS, 0, ALL, range(COUNT))] == [
            each.num_rows for each in divided(table, KEYS, COUNT, (0, 1, 2, 3))
        ]


def flip(root: Root, segment: Segment, group: int) -> None:
    """Damage the first column of a row group."""
    path = Path(root.path(segment.name))
    data = bytearray(path.read_bytes())
    at = pq.read_metadata(path).row_group(group).column(0)
    place = at.data_page_offset + at.total_compressed_size - 3
    data[place] ^= 0xFF
    path.write_bytes(data)


def test_damage_in_another_partition_is_not_read(root: Root) -> None:
    table = tuples(Random(1), 4_000)
    segment = write_arrivals(root, "in", table, 0, 9, SPLITTING.division(table))
    flip(root, segment, 2)
    for partition in (0, 1, 3):
        (found,) = read_partitions(root, segment, COLUMNS, 0, ALL, [partition])
        assert found["k"].to_pylist() == divided(table, KEYS, COUNT, (partition,))[0]["k"].to_pylist()
    for wanted in ([2], [1, 2]):
        with pytest.raises(EngineError, match="is damaged"):
            read_partitions(root, segment, COLUMNS, 0, ALL, wanted)
    with pytest.raises(EngineError, match="is damaged"):
        read_segment(root, segment, COLUMNS, 0, ALL)
    with pytest.raises(EngineError, match="is damaged"):
        check_tuples(root, segment)


def forged(root: Root, segment: Segment, rows: Sequence[int]) -> Segment:
    """The segment with other places in the order of all its rows, and a fitting description."""
    path = Path(root.path(segment.name))
    file = pq.read_table(path)
    place = file.column_names.index(ROW)
    changed = file.set_column(place, file.schema.field(ROW), pa.array(rows, pa.int32()))
    kept = pq.read_metadata(path).metadata[b"australis.partitions"]
    with pq.ParquetWriter(path, changed.schema) as writer:
        writer.write_table(changed)
        writer.add_key_value_metadata({"australis.partitions": kept.decode()})
    data = path.read_bytes()
    return replace(segment, bytes=len(data), footer=checksum(data))


@pytest.mark.parametrize("rows", [[0, 0, 1, 2], [1, 2, 3, 4], [0, 1, 2, -1]])
def test_rows_without_an_order_are_refused(root: Root, rows: list[int]) -> None:
    table = tuples(Random(1), 4)
    segment = forged(root, write_arrivals(root, "in", table, 0, 9, SPLITTING.division(table)), rows)
    for check in (lambda: read_segment(root, segment, COLUMNS, 0, ALL), lambda: check_tuples(root, segment)):
        with pytest.raises(EngineError, match=r"no order|ascend"):
            check()


def test_a_layout_that_is_not_in_the_footer_is_refused(root: Root) -> None:
    table = tuples(Random(1), 40)
    segment = write_arrivals(root, "in", table, 0, 9, SPLITTING.division(table))
    plain = write_arrivals(root, "in", table, 0, 9)
    others = (replace(segment, split=str(Split(KEYS, 5, 0, 5))), replace(plain, split=segment.split))
    for other in others:
        with pytest.raises(EngineError, match="its footer has"):
            read_partitions(root, other, COLUMNS, 0, ALL, [0])
        with pytest.raises(EngineError, match=r"footer has|#row"):
            read_segment(root, other, COLUMNS, 0, ALL)


def test_tuples_in_the_wrong_partition_are_found(root: Root) -> None:
    table = tuples(Random(1), 40)
    division = SPLITTING.division(table)
    assert division is not None
    wrong = Division(KEYS, COUNT, (division.owners + 1) % COUNT)
    segment = write_arrivals(root, "in", table, 0, 9, wrong)
    with pytest.raises(EngineError, match="wrong partition"):
        check_tuples(root, segment)


def test_crc_of_the_footer_covers_the_layout(root: Root) -> None:
    table = tuples(Random(1), 40)
    segment = write_arrivals(root, "in", table, 0, 9, SPLITTING.division(table))
    path = Path(root.path(segment.name))
    data = path.read_bytes()
    assert data.count(b"australis.partitions") == 1
    path.write_bytes(data.replace(b"australis.partitions", b"australis.partitionz"))
    assert zlib.crc32(data) != zlib.crc32(path.read_bytes())
    with pytest.raises(EngineError, match="checksum of its footer"):
        read_partitions(root, segment, COLUMNS, 0, ALL, [0])
