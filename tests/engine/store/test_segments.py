"""Segments: what was written is read, in whole or in part, and a file that is something else is refused."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from australis.algebra.schema import TS
from australis.algebra.types import TIMESTAMP
from australis.engine.store.root import Root
from australis.engine.store.segments import (
    SEQ,
    Segment,
    adopt,
    merged,
    read_segment,
    write_arrivals,
    write_segment,
)
from australis.errors import EngineError, Problem

COLUMNS = ["k", "g", "x", "b"]
ALL = 1 << 62


@pytest.fixture
def root(tmp_path: Path) -> Root:
    root = Root.of(tmp_path)
    root.prepare()
    return root


def tuples(count: int) -> pa.Table:
    return pa.table(
        {
            "k": pa.array(range(count), pa.int32()),
            "g": [("a", "b", None, "dd")[i % 4] for i in range(count)],
            "x": [None if i % 3 else i / 2 for i in range(count)],
            "b": [(True, None, False)[i % 3] for i in range(count)],
        }
    )


def times(values: list[int]) -> pa.Array:
    return pa.array(values, TIMESTAMP.arrow)


def derived(numbers: list[int], ts: list[int] | None = None) -> pa.Table:
    stamps = times(list(range(len(numbers))) if ts is None else ts)
    return tuples(len(numbers)).append_column(TS, stamps).append_column(SEQ, pa.array(numbers, pa.int64()))


def numbers_of(table: pa.Table) -> list[int]:
    found: list[int] = table[SEQ].to_pylist()
    return found


def test_arrivals_have_numbers_without_gaps_and_one_time(root: Root) -> None:
    segment = write_arrivals(root, "s", tuples(5), 7, 99)
    found = read_segment(root, segment, COLUMNS, 0, ALL)
    assert (segment.base, segment.end, segment.rows, segment.newest) == (7, 12, 5, 99)
    assert found.select(COLUMNS).equals(tuples(5))
    assert numbers_of(found) == [7, 8, 9, 10, 11]
    assert found[TS].cast(pa.int64()).to_pylist() == [99] * 5


def test_arrivals_with_times_of_their_own(root: Root) -> None:
    table = tuples(3).append_column(TS, times([5, 9, 7]))
    segment = write_arrivals(root, "s", table, 0, None)
    assert segment.newest == 9
    assert read_segment(root, segment, COLUMNS, 1, 3)[TS].cast(pa.int64()).to_pylist() == [9, 7]


def test_derived_tuples_share_numbers(root: Root) -> None:
    segment = write_segment(root, "box", derived([3, 3, 8, 8, 20]), writer="w", part=1)
    assert (segment.base, segment.end, segment.newest) == (3, 21, 4)
    assert numbers_of(read_segment(root, segment, COLUMNS, 3, 9)) == [3, 3, 8, 8]
    assert numbers_of(read_segment(root, segment, COLUMNS, 4, 8)) == []


@pytest.mark.parametrize("ts", [[1, 2], [4, 4]], ids=["several", "one"])
def test_hidden_columns_are_last_and_alike(root: Root, ts: list[int]) -> None:
    one = read_segment(root, write_segment(root, "box", derived([0, 1], ts)), COLUMNS, 0, ALL)
    other = read_segment(root, write_arrivals(root, "box", tuples(2), 2, 3), COLUMNS, 0, ALL)
    assert one.column_names == [*COLUMNS, TS, SEQ]
    assert one.schema == other.schema


@given(st.lists(st.integers(0, 30), min_size=1, max_size=20), st.integers(-1, 35), st.integers(-1, 35))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_part_of_derived_tuples(root: Root, numbers: list[int], lo: int, hi: int) -> None:
    numbers = sorted(numbers)
    segment = write_segment(root, "box", derived(numbers))
    found = read_segment(root, segment, COLUMNS, lo, max(lo, hi))
    assert numbers_of(found) == [number for number in numbers if lo <= number < hi]


@given(st.integers(0, 30), st.integers(1, 7), st.integers(0, 40), st.integers(0, 40))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_part_over_row_groups(root: Root, rows: int, group: int, lo: int, hi: int) -> None:
    path = Path(root.path("any.parquet"))
    pq.write_table(tuples(rows), path, row_group_size=group)
    segment, _ = adopt(root, "s", path.as_uri(), 5, 42)
    lo, hi = min(lo, hi), max(lo, hi)
    found = read_segment(root, segment, COLUMNS, lo, hi)
    assert numbers_of(found) == [number for number in range(5, 5 + rows) if lo <= number < hi]
    assert found["k"].to_pylist() == [number - 5 for number in numbers_of(found)]


def test_an_adopted_file_stays_where_it_is(root: Root, tmp_path: Path) -> None:
    path = tmp_path / "with a space & ä#%20.parquet"
    pq.write_table(tuples(4), path)
    before = path.read_bytes()
    segment, schema = adopt(root, "s", path.as_uri(), 10, 1)
    assert segment.adopted
    assert schema.names == COLUMNS
    assert read_segment(root, segment, COLUMNS, 12, ALL)["k"].to_pylist() == [2, 3]
    assert path.read_bytes() == before
    assert list(root.names("segments")) == []


@pytest.mark.parametrize("content", [b"", b"PAR1", b"no parquet at all", b"PAR1" * 4])
def test_what_is_no_parquet_file_is_not_adopted(root: Root, tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "bad.parquet"
    path.write_bytes(content)
    with pytest.raises(EngineError, match=r"bad\.parquet.*is no Parquet file"):
        adopt(root, "s", path.as_uri(), 0, 0)


def test_a_file_that_is_not_there_is_not_adopted(root: Root, tmp_path: Path) -> None:
    with pytest.raises(EngineError, match=r"gone\.parquet.*cannot be read"):
        adopt(root, "s", (tmp_path / "gone.parquet").as_uri(), 0, 0)


# --- damage


def read_all(root: Root, segment: Segment) -> pa.Table:
    return read_segment(root, segment, COLUMNS, 0, ALL)


@pytest.fixture
def segment(root: Root) -> Segment:
    return write_segment(root, "box", derived([i // 2 for i in range(20)]))


def problem_of(root: Root, segment: Segment) -> Problem | None:
    try:
        read_all(root, segment)
    except EngineError as error:
        return error.problem
    return None


def test_a_flipped_byte_is_found_or_matters_nothing(root: Root, segment: Segment) -> None:
    path, random = Path(root.path(segment.name)), Random(7)
    data, right = path.read_bytes(), read_all(root, segment)
    found = 0
    for place in range(len(data)):
        bad = bytearray(data)
        bad[place] ^= 1 << random.randrange(8)
        path.write_bytes(bad)
        problem = problem_of(root, segment)
        if problem is None:
            assert read_all(root, segment).equals(right)
        else:
            assert problem.path == segment.name
            assert "is damaged" in problem.what
            found += 1
    # The rest are parts of Parquet's page headers that nobody reads.
    assert found > 0.9 * len(data)


def test_every_truncation_is_found(root: Root, segment: Segment) -> None:
    path = Path(root.path(segment.name))
    data = path.read_bytes()
    for size in [0, 1, 7, 8, len(data) // 2, len(data) - 1]:
        path.write_bytes(data[:size])
        with pytest.raises(EngineError, match=f"{segment.name}.*(is damaged|cannot be read)"):
            read_all(root, segment)


def test_a_missing_file_is_named(root: Root, segment: Segment) -> None:
    Path(root.path(segment.name)).unlink()
    with pytest.raises(EngineError, match=f"{segment.name}.*cannot be read.*as it was committed"):
        read_all(root, segment)


def test_an_adopted_file_that_was_written_again_is_found(root: Root, tmp_path: Path) -> None:
    path = tmp_path / "adopted.parquet"
    pq.write_table(tuples(9), path)
    segment, _ = adopt(root, "s", path.as_uri(), 0, 0)
    pq.write_table(tuples(8), path)
    with pytest.raises(EngineError, match=r"adopted\.parquet.*is damaged"):
        read_all(root, segment)


# --- several


@given(st.lists(st.lists(st.integers(0, 9), max_size=6), min_size=1, max_size=4))
def test_merged_tables_are_by_number_then_by_table(parts: list[list[int]]) -> None:
    made = [
        pa.table({"part": [index] * len(part), SEQ: pa.array(sorted(part), pa.int64())}).cast(
            pa.schema([("part", pa.int64()), (SEQ, pa.int64())])
        )
        for index, part in enumerate(parts)
    ]
    found = merged(made)
    expected = sorted((number, index) for index, part in enumerate(parts) for number in part)
    assert list(zip(numbers_of(found), found["part"].to_pylist(), strict=True)) == expected
