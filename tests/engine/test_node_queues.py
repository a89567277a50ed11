"""Queues: where trains are cut, what is still needed, and how the log becomes moments."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from australis.algebra.builder import NetworkBuilder
from australis.engine.ledger.catalog import Catalog, Event, Head
from australis.engine.ledger.delays import bucket, histogram, middle_us, quantile_us
from australis.engine.ledger.queues import ALL, Queues, _last_tuples
from australis.engine.store.segments import Segment
from australis.engine.train.moments import moments
from australis.plan.superboxes import Discipline, plan


def arrivals(arc: str, first: int, rows: int, newest: int = 0) -> Segment:
    return Segment(arc, f"{arc}{first}", first, first + rows, rows, 1, 1, first, 0, newest=newest)


def derived(arc: str, base: int, end: int, rows: int, newest: int = 0) -> Segment:
    return Segment(arc, f"{arc}{base}-{end}", base, end, rows, 1, 1, newest=newest)


@pytest.fixture
def queues(tmp_path: Path) -> Iterator[Queues]:
    """Two boxes, one behind the other, and a union that reads the input, too."""
    net = NetworkBuilder("n")
    stream = net.input("s", "x long")
    some = stream.filter("x > 0", as_="some")
    some.union(stream, as_="both").output("out")
    catalog = Catalog(tmp_path / "catalog.db")
    yield Queues(plan(net.build(), Discipline.TRAIN), catalog)
    catalog.close()


def logged(queues: Queues, *segments: Segment) -> None:
    queues.add(segments)
    queues.log_end = max(segment.end for segment in segments)


# --- how far everyone has come


def test_a_superbox_reads_as_far_as_all_that_it_reads(queues: Queues) -> None:
    some, both = queues.plan.superboxes["some"], queues.plan.superboxes["both"]
    logged(queues, arrivals("s", 1, 10))
    assert (queues.end(some), queues.end(both)) == (11, 0)
    assert (queues.waiting(some), queues.waiting(both)) == (10, 0)
    queues.advance("some", Head(6, 1))
    assert (queues.end(both), queues.waiting(both)) == (6, 5)


def test_a_train_is_cut_where_its_tuples_are(queues: Queues) -> None:
    some = queues.plan.superboxes["some"]
    logged(queues, arrivals("s", 1, 10), arrivals("s", 12, 10))
    assert [queues.cut(some, most) for most in (1, 9, 10, 11, 19, 20, 99)] == [2, 10, 11, 13, 21, 22, 22]
    queues.advance("some", Head(5, 1))
    assert [queues.cut(some, most) for most in (1, 6, 7)] == [6, 11, 13]


def test_a_segment_of_derived_tuples_is_not_cut(queues: Queues) -> None:
    both = queues.plan.superboxes["both"]
    logged(queues, arrivals("s", 1, 9))
    queues.add([derived("some", 2, 8, 3)])
    queues.advance("some", Head(10, 1))
    assert queues.cut(both, 2) == 3
    assert queues.cut(both, 10) == 8


@given(st.lists(st.integers(1, 9), min_size=1, max_size=6), st.integers(1, 12))
def test_cuts_lead_to_the_end(sizes: list[int], most: int) -> None:
    queues = _queues()
    first = 1
    for size in sizes:
        logged(queues, arrivals("s", first, size))
        first += size + 1
    some, taken = queues.plan.superboxes["some"], []
    while (head := queues.heads["some"].seq) < queues.log_end:
        cut = queues.cut(some, most)
        taken.append(sum(head <= n < cut for s in queues.segments["s"] for n in range(s.base, s.end)))
        queues.advance("some", Head(cut, 1))
    assert sum(taken) == sum(sizes)
    assert max(taken) <= most


def _queues() -> Queues:
    """Queues without a catalogue on a disk."""
    net = NetworkBuilder("n")
    net.input("s", "x long").filter("x > 0", as_="some").output("out")
    catalog = Catalog(Path(":memory:"))
    try:
        return Queues(plan(net.build(), Discipline.TRAIN), catalog)
    finally:
        catalog.close()


# --- what is needed


def test_what_a_reader_has_not_read_is_needed(queues: Queues) -> None:
    logged(queues, arrivals("s", 1, 10))
    arc = queues.plan.arcs["s"]
    assert queues.needed(arc, 0) == 0
    queues.advance("some", Head(11, 1))
    assert queues.needed(arc, 0) == 0
    queues.advance("both", Head(7, 1))
    assert queues.needed(arc, 0) == 7


def test_an_output_is_needed_by_its_consumers(queues: Queues) -> None:
    logged(queues, arrivals("s", 1, 10))
    for name in ("some", "both"):
        queues.advance(name, Head(11, 1))
    arc = queues.plan.arcs["both"]
    assert queues.needed(arc, 0) == 0, "nobody has read it so far"
    queues.consumers["one", "out"], queues.consumers["other", "out"] = 9, 4
    assert queues.needed(arc, 0) == 4
    queues.consumers["one", "out"] = queues.consumers["other", "out"] = ALL
    assert queues.needed(arc, 0) == 11, "no consumer is further than what was written"


SEGMENTS = st.lists(st.tuples(st.integers(0, 20), st.integers(1, 9), st.integers(1, 5)), max_size=6)


@given(SEGMENTS, st.integers(0, 12))
def test_the_last_tuples_are_kept_though_segments_overlap(
    parts: list[tuple[int, int, int]], count: int
) -> None:
    segments = sorted((derived("a", base, base + size, rows) for base, size, rows in parts), key=_base)
    before = _last_tuples(segments, count)
    kept = sum(segment.rows for segment in segments if segment.end > before)
    assert kept >= min(count, sum(segment.rows for segment in segments))


def _base(segment: Segment) -> int:
    return segment.base


# --- moments

KINDS = st.sampled_from(["push", "push", "tick", "flush"])


@st.composite
def logs(draw: st.DrawFn) -> list[Event]:
    events: list[Event] = []
    base = now = 0
    for kind in draw(st.lists(KINDS, min_size=1, max_size=8)):
        rows = draw(st.integers(0, 4)) if kind == "push" else 0
        end = base + (2 if kind == "flush" else 1 + rows)
        now += draw(st.integers(0, 3))
        events.append(Event(base, end, kind, "s", rows, now))
        base = end
    return events


@given(logs(), st.booleans(), st.data())
def test_moments_cover_the_numbers_once(events: list[Event], timed: bool, data: st.DataObject) -> None:
    end = events[-1].end
    lo = data.draw(st.integers(0, end - 1))
    hi = data.draw(st.integers(lo + 1, end))
    within = [event for event in events if event.base < hi and event.end > lo]
    found = moments(within, lo, hi, timed=timed)
    assert [number for each in found for number in range(each.lo, each.hi)] == list(range(lo, hi))
    ends = [each.hi for each in found if each.ending]
    assert ends == [event.end for event in within if event.kind == "flush" and event.end <= hi]
    if timed:
        assert [each.now for each in found] == [event.now for event in within]


def test_the_end_belongs_to_the_train_that_has_its_last_number() -> None:
    flush = [Event(4, 6, "flush", "", 0, 9)]
    assert [each.ending for each in moments(flush, 4, 5, timed=True)] == [False]
    (last,) = moments(flush, 5, 6, timed=True)
    assert (last.ending, last.before) == (True, 4)


def test_without_events_there_is_a_moment() -> None:
    (only,) = moments([], 3, 8, timed=False)
    assert (only.lo, only.hi, only.ending) == (3, 8, False)


# --- delays


@given(st.integers(0, 10**12))
def test_a_bucket_is_narrow(delay: int) -> None:
    assert abs(middle_us(bucket(delay)) - max(delay, 1)) <= 0.1 * max(delay, 1)


@given(st.lists(st.integers(0, 10**9), min_size=1), st.sampled_from([0.5, 0.95, 0.99]))
def test_a_quantile_is_near_the_exact_one(delays: list[int], fraction: float) -> None:
    now = 2 * 10**9
    buckets = histogram([(now - delay, 1) for delay in delays], now)
    exact = sorted(delays)[max(0, -int(-fraction * len(delays) // 1) - 1)]
    found = quantile_us(buckets, fraction)
    assert found is not None
    assert abs(found - max(exact, 1)) <= 0.1 * max(exact, 1)


def test_without_tuples_there_is_no_quantile() -> None:
    assert quantile_us({}, 0.5) is None
