"""Compaction: many small segments of one task become one in their place, or nothing happens."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest
from tests.engine.history.bench import Bench, network, opened
from tests.engine.ledger.held import check_mirror, files

from australis.algebra.schema import TS
from australis.algebra.types import TIMESTAMP
from australis.engine.ledger import Ledger
from australis.engine.maintain import compaction
from australis.engine.maintain.compaction import Compaction, small_run
from australis.engine.store import SEQ, Segment, read_segment

RUN = 4


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compaction, "RUN_LEAST", RUN)
    monkeypatch.setattr(compaction, "RUN_ROWS_MOST", 100)


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    with opened(tmp_path, network(history=None)) as bench:
        yield bench


def rows(first: int, count: int = 3) -> pa.Table:
    numbers = list(range(first, first + count))
    keys, values = pa.array(numbers, pa.int32()), pa.array(map(float, numbers), pa.float64())
    times = pa.array(numbers, TIMESTAMP.arrow)
    return pa.table({"k": keys, "v": values, "note": list(map(str, numbers)), TS: times, SEQ: numbers})


def emit(bench: Bench, count: int = RUN, part: int = 0) -> list[Segment]:
    """Small segments, written one after the other."""
    return [bench.emit("some", rows(1 + 3 * number), part) for number in range(count)]


def kept(ledger: Ledger) -> list[int]:
    """The numbers of all tuples that the arc has."""
    found = [
        read_segment(ledger.root, each, ["k", "v", "note"], 0, 1 << 62)["k"].to_pylist()
        for each in ledger.queues.segments["some"]
    ]
    return sorted(number for each in found for number in each)


def made(base: int, count: int = 1, part: int = 0, name: str = "segments/x") -> Segment:
    return Segment("some", name, base, base + count, count, 1, 1, writer="some", part=part)


def test_small_segments_become_one_with_the_same_tuples(bench: Bench) -> None:
    before, ledger = emit(bench), bench.ledger
    numbers = kept(ledger)
    assert Compaction(ledger).compact(["some", "s"]) == RUN
    (after,) = ledger.queues.segments["some"]
    assert (after.base, after.end, after.rows) == (1, before[-1].end, 3 * RUN)
    assert (after.writer, after.part) == ("some", 0)
    assert kept(ledger) == numbers
    assert files(ledger) == {after.name}
    check_mirror(ledger)


def test_too_few_segments_of_each_task_stay_as_they_are(bench: Bench) -> None:
    before = [*emit(bench, RUN - 1), *emit(bench, RUN - 1, part=1)]
    assert Compaction(bench.ledger).compact(["some"]) == 0
    assert list(bench.ledger.queues.segments["some"]) == before


def test_segments_that_are_gone_meanwhile_do_not_come_back(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, ledger = emit(bench), bench.ledger

    def drop_one(point: str) -> None:
        if point == "compaction.swapping":
            with ledger.change() as change:
                change.drop_segments(before[:1])

    monkeypatch.setattr(compaction, "crash_point", drop_one)
    assert Compaction(ledger).compact(["some"]) == 0
    assert list(ledger.queues.segments["some"]) == before[1:]
    assert files(ledger) == {each.name for each in before[1:]}, "what was made is deleted"


def test_those_who_read_keep_their_files(bench: Bench) -> None:
    before, ledger = emit(bench), bench.ledger
    with ledger.reading():
        Compaction(ledger).compact(["some"])
        assert files(ledger) > {each.name for each in before}
    assert len(files(ledger)) == 1


# --- what is worth it


def test_a_run_is_of_one_task_and_by_number() -> None:
    mixed = [made(base, part=base % 2) for base in range(2 * RUN)]
    assert [each.base for each in small_run(reversed(mixed))] in ([0, 2, 4, 6], [1, 3, 5, 7])


def test_large_adopted_and_sorted_segments_are_left_alone() -> None:
    small = [made(base) for base in range(RUN)]
    others = [
        made(10, compaction.SMALL_ROWS),
        made(11, name="file:///elsewhere/x"),
        made(12, name="history/past/x"),
    ]
    assert small_run([*others, *small]) == small
    assert small_run([*others, *small[1:]]) == []


def test_a_run_has_no_more_tuples_than_are_decoded_at_a_time() -> None:
    assert [each.base for each in small_run(made(base, 30) for base in (0, 30, 60, 90))] == [0, 30, 60]
