"""Runs: what everyone has passed, sorted and told apart, and always whole where others look for it."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.engine.history.bench import SCHEMA, SECOND, Bench, network, opened, tuples

from australis.algebra.builder import NetworkBuilder
from australis.algebra.types import TIMESTAMP
from australis.engine.history import organisation as keeping
from australis.engine.history import runs_of
from australis.engine.history.gathering import cuts, full_batch
from australis.engine.history.organisation import Keeping
from australis.engine.history.pieces import pieces
from australis.engine.ingest.log import Arrival
from australis.engine.ledger.log import Head
from australis.engine.maintain.compaction import Compaction
from australis.engine.store import runs
from australis.engine.store.segments import SEQ, Segment, read_segment


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs and row groups of a few tuples."""
    monkeypatch.setattr(keeping, "RUN_ROWS_MOST", 20)
    monkeypatch.setattr(runs, "GROUP_ROWS", 8)


def filled(bench: Bench, pushes: int = 12, rows: int = 5) -> None:
    for number in range(pushes):
        bench.push(tuples(number * rows, rows))
    bench.passed()


def numbers(bench: Bench) -> list[int]:
    return [number for run in bench.runs() for number in _read(bench, run)[SEQ].to_pylist()]


def _read(bench: Bench, segment: Segment) -> pa.Table:
    return read_segment(bench.ledger.root, segment, ["k", "v", "note"], segment.base, segment.end)


# --- what a run is


def test_tuples_become_runs_sorted_by_key_then_number(tmp_path: Path) -> None:
    with opened(tmp_path) as bench:
        filled(bench)
        before = bench.history()
        assert bench.gather() == 60
        assert [run.rows for run in bench.runs()] == [20, 20, 20]
        for file in bench.files():
            table = pq.read_table(file)
            assert table.column_names == ["k", "v", "note", "#ts", "#seq"]
            order = list(zip(table["k"].to_pylist(), table[SEQ].to_pylist(), strict=True))
            assert order == sorted(order)
        assert bench.history() == before, "whoever reads by number sees no difference"


def test_without_a_key_runs_are_in_the_order_of_numbers(tmp_path: Path) -> None:
    with opened(tmp_path, network(key=None)) as bench:
        filled(bench)
        bench.gather()
        assert all(run.key == "" for run in bench.runs())
        for file in bench.files():
            found = pq.read_table(file)[SEQ].to_pylist()
            assert found == sorted(found)


def test_row_groups_tell_what_they_have_of_key_time_and_number(tmp_path: Path) -> None:
    with opened(tmp_path) as bench:
        filled(bench)
        bench.gather()
        metadata = pq.read_metadata(bench.files()[0])
        assert metadata.num_row_groups == 3
        told = {metadata.schema.column(i).name: metadata.row_group(0).column(i).statistics for i in range(5)}
        assert [name for name, each in told.items() if each is not None] == ["k", "#ts", "#seq"]
        assert (told["k"].min, told["k"].max) == (0, 3)


def test_runs_have_ranges_of_numbers_that_meet_and_do_not_overlap(tmp_path: Path) -> None:
    with opened(tmp_path) as bench:
        filled(bench)
        bench.gather()
        ranges = [tuple(map(int, file.name.split("-")[:2])) for file in bench.files()]
        assert ranges == [(run.base, run.end) for run in bench.runs()]
        assert all(before[1] <= after[0] for before, after in pairwise(ranges))
        assert len(set(numbers(bench))) == 60


def test_what_someone_has_not_passed_stays_in_segments(tmp_path: Path) -> None:
    with opened(tmp_path) as bench:
        filled(bench)
        for number in range(12, 20):
            bench.push(tuples(number * 5, 5))
        assert bench.gather() == 60
        assert bench.history().num_rows == 100


def test_a_view_that_nobody_computes_does_not_keep_history_from_becoming_runs(tmp_path: Path) -> None:
    net = NetworkBuilder("n")
    stream = net.input("s", SCHEMA).point("past", history="forever", key="k")
    stream.filter("k > 2", as_="some").output("out")
    stream.map({"k": "k + 1"}, as_="more").view("later", importance=0)
    with opened(tmp_path, net.build()) as bench:
        filled(bench)
        bench.stand({"more": Head()})
        assert bench.gather() == 60


def test_a_query_on_its_way_does_not_keep_history_from_becoming_runs(tmp_path: Path) -> None:
    net = NetworkBuilder("n")
    stream = net.input("s", SCHEMA).point("past", history="forever", key="k")
    stream.filter("k > 2", as_="some").output("out")
    stream.filter("k < 2", as_="late").output("others")
    with opened(tmp_path, net.build()) as bench:
        filled(bench)
        bench.stand({"late": Head()})
        assert bench.gather() == 0, "a box of the network"
        with bench.ledger.change() as change:
            change.run_plan(replace(bench.ledger.plan, queries=("late",)))
        assert bench.gather() == 60, "one of a query"


def test_a_batch_waits_until_it_is_full_or_its_time_is_over(tmp_path: Path) -> None:
    with opened(tmp_path, network(history="16 s")) as bench:
        filled(bench, pushes=2)
        assert bench.gather() == 0
        bench.now = SECOND
        assert bench.gather() == 10


def test_no_history_no_runs(tmp_path: Path) -> None:
    with opened(tmp_path, network(history=None)) as bench:
        filled(bench)
        assert bench.gather() == 0
        assert bench.files() == []


def test_tuples_with_null_where_none_may_be_are_no_history(tmp_path: Path) -> None:
    with opened(tmp_path, network(schema="k int not null, v double, note string")) as bench:
        bad = pa.table({"k": pa.array([None, 3], pa.int32()), "v": [1.0, 2.0], "note": ["a", "b"]})
        for _ in range(15):
            bench.push(bad)
        bench.passed()
        assert bench.history()["k"].to_pylist() == [3] * 15
        assert bench.gather() == 10, "of 20 tuples in the segments"
        assert pq.read_table(bench.files()[0])["k"].null_count == 0
        assert bench.history()["k"].to_pylist() == [3] * 15


# --- arcs of all kinds


def test_an_adopted_file_becomes_runs_in_the_types_of_the_stream(tmp_path: Path) -> None:
    file = tmp_path / "given.parquet"
    narrow = tuples(0, 90).set_column(0, "k", tuples(0, 90)["k"].cast(pa.int16()))
    pq.write_table(narrow, file)
    with opened(tmp_path / "root") as bench:
        bench.ingest.append(Arrival("s", bench.ingest.adopt("s", file.as_uri(), 0), 0))
        bench.passed()
        assert bench.gather() == 90
        assert [run.rows for run in bench.runs()] == [18] * 5
        assert pq.read_schema(bench.files()[0]).field("k").type == pa.int32()
        assert bench.history().drop_columns(["#ts", SEQ]).equals(tuples(0, 90))
        assert file.exists()


def test_tuples_of_one_number_keep_their_order_though_keys_part_them(tmp_path: Path) -> None:
    net = NetworkBuilder("n")
    made = net.input("s", "k int, at long").filter("k >= 0", as_="made")
    made.point("past", history="forever", key="k").output("out")
    with opened(tmp_path, net.build()) as bench:
        bench.push(pa.table({"k": pa.array([0], pa.int32()), "at": [0]}))
        expected = []
        for train in range(8):
            for part in (1, 0):
                keys = [9, 1, 5, part]
                bench.emit("made", _derived(keys, [train, train, train, train]), part)
            expected += [9, 1, 5, 0, 9, 1, 5, 1]
        while bench.ledger.queues.log_end < 8:
            bench.ingest.tick(0)
        bench.passed()
        assert bench.history()["k"].to_pylist() == expected
        bench.gather("made")
        assert [run.rows for run in bench.runs("made")] == [16, 16, 16]
        assert bench.history()["k"].to_pylist() == expected
        assert "#tie" in pq.read_schema(bench.files()[0]).names


def _derived(keys: list[int], causes: list[int]) -> pa.Table:
    columns = {"k": pa.array(keys, pa.int32()), "at": pa.array(causes, pa.int64())}
    times = pa.array(range(len(keys)), pa.int64()).cast(TIMESTAMP.arrow)
    return pa.table({**columns, "#ts": times, SEQ: pa.array(causes, pa.int64())})


def test_points_of_one_arc_share_runs_by_the_first_key(tmp_path: Path) -> None:
    net = NetworkBuilder("n")
    stream = net.input("s", "k int, v double, note string")
    stream.point("plain", history=40).point("keyed", history="forever", key="v")
    stream.filter("k > 2").output("out")
    with opened(tmp_path, net.build()) as bench:
        filled(bench)
        bench.gather()
        bench.expire()
        assert {run.key for run in bench.runs()} == {"v"}
        assert len(bench.files("keyed")) == 3
        assert bench.history("plain") == bench.history("keyed")
        names = [run.name for run in bench.runs()]
        assert runs_of(tmp_path, "plain") == runs_of(tmp_path, "keyed") == names


# --- beside others


def test_compaction_leaves_runs_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("australis.engine.maintain.compaction.RUN_LEAST", 3)
    with opened(tmp_path) as bench:
        filled(bench, pushes=15)
        bench.gather()
        assert len(bench.segments()) == 6
        before = bench.history()
        assert Compaction(bench.ledger).compact(["s"]) == 3
        assert [segment.is_run for segment in bench.segments()] == [True] * 3 + [False]
        assert bench.history() == before


def test_segments_that_are_gone_meanwhile_are_not_brought_back(tmp_path: Path) -> None:
    with opened(tmp_path) as bench:
        filled(bench)
        gathering, first = bench.gathering, bench.segments()[0]
        write = gathering._swap

        def late(arc: str, batch: list[Segment], made: list[Segment]) -> int:
            with bench.ledger.change() as change:
                change.drop_segments([first])
            return write(arc, batch, made)

        gathering._swap = late  # type: ignore[method-assign]
        assert gathering.gather("s") == 0
        assert (bench.files(), bench.runs()) == ([], [])
        assert bench.history().num_rows == 55


def test_whoever_reads_a_segment_that_becomes_a_run_still_finds_it(tmp_path: Path) -> None:
    with opened(tmp_path) as bench:
        filled(bench)
        old = bench.segments()
        with bench.ledger.reading():
            bench.gather()
            assert sum(_read(bench, segment).num_rows for segment in old) == 60
        assert not any((tmp_path / segment.name).exists() for segment in old)


def test_counts_in_the_folder_only_grow(tmp_path: Path) -> None:
    with opened(tmp_path) as bench:
        counts = []
        for number in range(40):
            bench.push(tuples(number * 5, 5))
            bench.passed()
            bench.gather()
            counts.append(sum(pq.read_metadata(file).num_rows for file in bench.files()))
        assert counts == sorted(counts)
        assert counts[-1] == 200


# --- how batches are chosen


@st.composite
def segments(draw: st.DrawFn) -> list[Segment]:
    """Segments of trains, each train with some parts that overlap."""
    found, base = [], 0
    for _ in range(draw(st.integers(1, 8))):
        size = draw(st.integers(1, 30))
        for part in range(draw(st.integers(1, 3))):
            start = base + draw(st.integers(0, size - 1))
            end = draw(st.integers(start + 1, base + size))
            rows, newest = draw(st.integers(1, 30)), draw(st.integers(0, 50))
            found.append(Segment("a", f"{start}-{part}", start, end, rows, 1, 1, part=part, newest=newest))
        base += size
    return found


@given(segments(), st.integers(0, 250), st.integers(1, 60), st.integers(0, 60))
def test_a_batch_is_a_beginning_that_can_be_cut_off(
    found: list[Segment], passed: int, rows_most: int, now: int
) -> None:
    kept = Keeping("a", "p", None, rows_most, 10)
    batch = full_batch(list(pieces(found)), passed, now, kept)
    rest = [segment for segment in found if segment not in batch]
    if batch:
        end = max(segment.end for segment in batch)
        assert end <= passed
        assert all(segment.base >= end for segment in rest)
        ranges = list(cuts(batch, rows_most))
        assert ranges[0][0] == min(segment.base for segment in batch)
        assert ranges[-1][1] == end
        assert all(lo < hi for lo, hi in ranges)


@given(segments())
def test_pieces_are_all_segments_and_apart(found: list[Segment]) -> None:
    parts = list(pieces(found))
    assert sorted((each for part in parts for each in part.segments), key=repr) == sorted(found, key=repr)
    for before, after in pairwise(parts):
        assert before.end <= min(each.base for each in after.segments)


def test_a_run_sorts_null_and_nan_behind(tmp_path: Path) -> None:
    with opened(tmp_path, network(key="v")) as bench:
        values = [2.0, None, float("nan"), -1.0, None] * 4
        table = pa.table({"k": pa.array([1] * 20, pa.int32()), "v": values, "note": ["x"] * 20})
        bench.push(table)
        bench.passed()
        bench.gather()
        found = pq.read_table(bench.files()[0])["v"]
        assert found.slice(0, 8).to_pylist() == [-1.0] * 4 + [2.0] * 4
        assert pc.all(pc.is_nan(found.slice(8, 4))).as_py()
        assert found.slice(12).null_count == 8
