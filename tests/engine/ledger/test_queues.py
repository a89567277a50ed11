"""Queues: how far everyone has come, where trains are cut, and what is still needed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from australis.algebra.builder import NetworkBuilder
from australis.engine.ledger.catalog import Catalog
from australis.engine.ledger.log import Head
from australis.engine.ledger.queues import ALL, Queues, load_queues
from australis.engine.ledger.retention import _last_tuples, needed_from
from australis.engine.store.segments import Segment
from australis.plan.superboxes import Discipline, plan


def arrivals(arc: str, first: int, rows: int, newest: int = 0) -> Segment:
    return Segment(arc, f"{arc}{first}", first, first + rows, rows, 1, 1, first, 0, newest=newest)


def derived(arc: str, base: int, end: int, rows: int, newest: int = 0) -> Segment:
    return Segment(arc, f"{arc}{base}-{end}", base, end, rows, 1, 1, newest=newest)


@pytest.fixture(scope="module")
def catalog(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Catalog]:
    """A catalogue that nothing was ever committed to."""
    catalog = Catalog(tmp_path_factory.mktemp("empty"))
    yield catalog
    catalog.close()


@pytest.fixture
def queues(catalog: Catalog) -> Queues:
    """Two boxes, one behind the other, and a union that reads the input, too."""
    net = NetworkBuilder("n")
    stream = net.input("s", "x long")
    some = stream.filter("x > 0", as_="some")
    some.union(stream, as_="both").output("out")
    return load_queues(plan(net.build(), Discipline.TRAIN), catalog, {})


def logged(queues: Queues, *segments: Segment) -> Queues:
    """With segments that came in, up to the end of the log."""
    return replace(with_segments(queues, *segments), log_end=max(each.end for each in segments))


def with_segments(queues: Queues, *segments: Segment) -> Queues:
    arcs = dict(queues.segments)
    for segment in segments:
        arcs[segment.arc] = (*arcs[segment.arc], segment)
    return replace(queues, segments=arcs)


def at(queues: Queues, **heads: int) -> Queues:
    """With superboxes that have come to some numbers."""
    return replace(queues, heads={**queues.heads, **{name: Head(seq, 1) for name, seq in heads.items()}})


def waiting(queues: Queues, name: str) -> int:
    superbox = queues.plan.superboxes[name]
    return queues.waiting(superbox, queues.end(superbox))


def cut(queues: Queues, name: str, most: int) -> int:
    superbox = queues.plan.superboxes[name]
    return queues.cut(superbox, queues.end(superbox), most)


# --- how far everyone has come


def test_a_superbox_reads_as_far_as_all_that_it_reads(queues: Queues) -> None:
    some, both = queues.plan.superboxes["some"], queues.plan.superboxes["both"]
    begun = logged(queues, arrivals("s", 1, 10))
    assert (begun.end(some), begun.end(both)) == (11, 0)
    assert (waiting(begun, "some"), waiting(begun, "both")) == (10, 0)
    later = at(begun, some=6)
    assert (later.end(both), waiting(later, "both")) == (6, 5)


def test_a_superbox_is_where_something_concerns_it(queues: Queues) -> None:
    """What comes on other arcs leaves it where nothing waits for it: at the end, though its head is not."""
    begun = replace(logged(queues, arrivals("s", 1, 10)), log_end=20)
    assert begun.positions == {"some": 0, "both": 0}
    later = at(begun, some=11)
    assert later.heads["some"].seq == 11
    assert later.positions == {"some": 20, "both": 0}
    assert at(later, both=11).positions == {"some": 20, "both": 20}
    assert at(later, both=11).is_caught_up("both")


def test_a_train_is_cut_where_its_tuples_are(queues: Queues) -> None:
    begun = logged(queues, arrivals("s", 1, 10), arrivals("s", 12, 10))
    assert [cut(begun, "some", most) for most in (1, 9, 10, 11, 19, 20, 99)] == [2, 10, 11, 13, 21, 22, 22]
    later = at(begun, some=5)
    assert [cut(later, "some", most) for most in (1, 6, 7)] == [6, 11, 13]


def test_a_segment_of_derived_tuples_is_not_cut(queues: Queues) -> None:
    begun = with_segments(logged(queues, arrivals("s", 1, 9)), derived("some", 2, 8, 3))
    later = at(begun, some=10)
    assert cut(later, "both", 2) == 3
    assert cut(later, "both", 10) == 8


@given(st.lists(st.integers(1, 9), min_size=1, max_size=6), st.integers(1, 12))
def test_cuts_lead_to_the_end(catalog: Catalog, sizes: list[int], most: int) -> None:
    net = NetworkBuilder("n")
    net.input("s", "x long").filter("x > 0", as_="some").output("out")
    queues = load_queues(plan(net.build(), Discipline.TRAIN), catalog, {})
    first = 1
    for size in sizes:
        queues = logged(queues, arrivals("s", first, size))
        first += size + 1
    taken = []
    while (head := queues.heads["some"].seq) < queues.log_end:
        end = cut(queues, "some", most)
        taken.append(sum(head <= n < end for s in queues.segments["s"] for n in range(s.base, s.end)))
        queues = at(queues, some=end)
    assert sum(taken) == sum(sizes)
    assert max(taken) <= most


# --- what is needed


def test_what_a_reader_has_not_read_is_needed(queues: Queues) -> None:
    begun = logged(queues, arrivals("s", 1, 10))
    arc = queues.plan.arcs["s"]
    assert needed_from(begun, arc, 0) == 0
    assert needed_from(at(begun, some=11), arc, 0) == 0
    assert needed_from(at(begun, some=11, both=7), arc, 0) == 7


def test_an_output_is_needed_by_its_consumers(queues: Queues) -> None:
    done = at(logged(queues, arrivals("s", 1, 10)), some=11, both=11)
    arc = queues.plan.arcs["both"]
    assert needed_from(done, arc, 0) == 0, "nobody has read it so far"

    def needed(one: int, other: int) -> int:
        return needed_from(replace(done, consumers={("one", "out"): one, ("other", "out"): other}), arc, 0)

    assert needed(9, 4) == 4
    assert needed(ALL, ALL) == 11, "no consumer is further than what was written"


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
