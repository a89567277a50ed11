"""Laws of the boxes on random streams: definitions counted out, the papers' identities."""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import pairwise
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from tests.reference.running import Run

from australis.algebra.boxes import Aggregate, BSort, Join, Resample
from australis.algebra.builder import NetworkBuilder
from australis.algebra.network import Network
from australis.algebra.order import Order
from australis.reference.network import ReferenceRun

SLACKS = st.integers(0, 3)
SMALL = st.integers(0, 12)
STREAMS = st.lists(st.tuples(st.integers(0, 2), SMALL), max_size=25)
"""Tuples with a group and an order value."""


def in_order(values: list[int], slack: int) -> list[bool]:
    """For each value, whether at most `slack` values before it are greater."""
    return [sum(before > value for before in values[:i]) <= slack for i, value in enumerate(values)]


@given(st.lists(SMALL, max_size=20), SLACKS)
def test_bsort_is_slack_passes_of_a_bubble_sort(values: list[int], slack: int) -> None:
    run = Run(BSort(Order("a", slack=slack)), "a int, i int")
    rows = [row for i, a in enumerate(values) for row in run.push(a=a, i=i)] + run.flush()

    expected = [(a, i) for i, a in enumerate(values)]
    for _ in range(slack):
        for i in range(len(expected) - 1):
            if expected[i][0] > expected[i + 1][0]:
                expected[i], expected[i + 1] = expected[i + 1], expected[i]
    assert [(row["a"], row["i"]) for row in rows] == expected


def grouped(slack: int) -> Order:
    return Order("a", slack=slack, group_by=("g",))


@given(STREAMS, SLACKS, st.integers(1, 6), st.integers(1, 6), st.booleans())
def test_aggregate_is_aggregate_without_slack_after_bsort(
    stream: list[tuple[int, int]], slack: int, size: int, advance: int, align: bool
) -> None:
    functions = {"n": "count(*)", "first": "first(i)", "last": "last(i)", "sum": "sum(a)"}
    direct = Run(Aggregate(functions, grouped(slack), size, advance, align=align), "g int, a int, i int")
    sort = Run(BSort(grouped(slack)), "g int, a int, i int")
    after_sort = Run(Aggregate(functions, grouped(0), size, advance, align=align), "g int, a int, i int")

    for i, (g, a) in enumerate(stream):
        composed = [row for each in sort.push(g=g, a=a, i=i) for row in after_sort.push(**each)]
        assert direct.push(g=g, a=a, i=i) == composed
    rest = [row for each in sort.flush() for row in after_sort.push(**each)] + after_sort.flush()
    assert Counter(map(str, direct.flush())) == Counter(map(str, rest))
    assert direct.counts[0] == sort.counts[0] == after_sort.counts[0]


@given(STREAMS, SLACKS, st.integers(1, 6), st.integers(1, 6))
def test_the_windows_of_aggregate_counted_out(
    stream: list[tuple[int, int]], slack: int, size: int, advance: int
) -> None:
    run = Run(Aggregate({"n": "count(*)"}, grouped(slack), size, advance), "g int, a int")
    rows = [row for g, a in stream for row in run.push(g=g, a=a)] + run.flush()

    expected: Counter[Any] = Counter()
    for group in {g for g, _ in stream}:
        values = [a for g, a in stream if g == group]
        taken = [a for a, kept in zip(values, in_order(values, slack), strict=True) if kept]
        for start in range(min(taken), max(taken) + 1, advance):
            inside = sum(start <= a < start + size for a in taken)
            if inside:
                expected[(start, group, inside)] += 1
    assert Counter((row["a"], row["g"], row["n"]) for row in rows) == expected


def events(left: list[Any], right: list[Any], order: list[bool]) -> list[tuple[int, Any]]:
    """The tuples of two streams, interleaved: True takes from the left as long as there is any."""
    merged: list[tuple[int, Any]] = []
    lefts, rights = list(left), list(right)
    for take_left in [*order, *([True] * len(left)), *([False] * len(right))]:
        source, port = (lefts, 0) if take_left else (rights, 1)
        if source:
            merged.append((port, source.pop(0)))
    return merged


@given(
    STREAMS, STREAMS, SLACKS, SLACKS, st.integers(1, 4), st.lists(st.booleans(), max_size=50), st.booleans()
)
def test_the_pairs_of_join_counted_out_whatever_the_interleaving(
    left: list[tuple[int, int]],
    right: list[tuple[int, int]],
    left_slack: int,
    right_slack: int,
    size: int,
    order: list[bool],
    by_group: bool,
) -> None:
    """With `by_group` both orders are grouped and P equates the groups: each group drops on its own."""
    orders = [Order("a", slack, ("g",) if by_group else ()) for slack in (left_slack, right_slack)]
    predicate = "left.g = right.g" if by_group else "left.g <= right.g"
    run = Run(Join(predicate, size, *orders), "g int, a int, i int", "g int, a int, i int")
    numbered = [[(i, *row) for i, row in enumerate(stream)] for stream in (left, right)]
    rows = []
    for port, (i, g, a) in events(*numbered, order):
        rows += run.push(port, g=g, a=a, i=i)

    kept = [
        _in_order_rows(stream, slack, by_group)
        for stream, slack in zip(numbered, (left_slack, right_slack), strict=True)
    ]
    expected = {
        (t[0], u[0])
        for t in kept[0]
        for u in kept[1]
        if abs(t[2] - u[2]) <= size and (t[1] == u[1] if by_group else t[1] <= u[1])
    }
    found = [(row["left_i"], row["right_i"]) for row in rows]
    assert sorted(found) == sorted(expected)


def _in_order_rows(stream: list[Any], slack: int, by_group: bool) -> list[Any]:
    groups: dict[Any, list[Any]] = defaultdict(list)
    for row in stream:
        groups[row[1] if by_group else 0].append(row)
    return [
        row
        for rows in groups.values()
        for row, kept in zip(rows, in_order([a for _, _, a in rows], slack), strict=True)
        if kept
    ]


@given(
    st.lists(SMALL, max_size=15),
    STREAMS,
    SLACKS,
    SLACKS,
    st.integers(1, 4),
    st.lists(st.booleans(), max_size=50),
)
def test_the_windows_of_resample_counted_out(
    left: list[int],
    right: list[tuple[int, int]],
    left_slack: int,
    right_slack: int,
    size: int,
    order: list[bool],
) -> None:
    """Every group has a first tuple at -100 before all else, so no left tuple is dropped for lack of it."""
    box = Resample({"n": "count(*)", "first": "first(i)"}, size, Order("t", left_slack), grouped(right_slack))
    run = Run(box, "t int", "g int, a int, i int")
    for g in range(3):
        run.push(1, g=g, a=-100, i=-1)
    numbered = [(i, *row) for i, row in enumerate(right)]
    rows = []
    for port, row in events(left, numbered, order):
        rows += run.push(0, t=row) if port == 0 else run.push(1, g=row[1], a=row[2], i=row[0])
    rows += run.flush()

    taken = [t for t, kept in zip(left, in_order(left, left_slack), strict=True) if kept]
    near: Counter[Any] = Counter()
    for t in taken:
        for g in range(3):
            group = [row for row in _in_order_rows(numbered, right_slack, True) if row[1] == g]
            window = sorted((a, i) for i, _, a in group if abs(t - a) <= size)
            if window:
                near[(g, t, len(window), window[0][1])] += 1
    assert Counter((row["g"], row["t"], row["n"], row["first"]) for row in rows) == near


@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(-3, 8), st.booleans()), max_size=25),
    SLACKS,
    st.integers(1, 5),
    st.sampled_from([{"advance": 2}, {"advance": 3, "align": True}, {"advance_when": "b"}]),
)
def test_no_tuple_makes_a_window_due_at_the_moment_of_its_arrival(
    stream: list[tuple[int, int, bool]], slack: int, size: int, windows: dict[str, Any]
) -> None:
    """So that it does not matter how the tuples of one time are cut into batches."""
    box = Aggregate({"n": "count(*)"}, Order("a", slack), size, timeout="2 us", **windows)
    run, now = Run(box, "a int, b boolean"), 0
    for i, (wait, a, b) in enumerate(stream):
        now += wait
        run.push(now=now, a=i // 2 + a, b=b)
        assert run.tick(now) == []


def chain() -> Network:
    net = NetworkBuilder("chain")
    stream = net.input("s", "g int, a int").filter("a <> 5").bsort(grouped(1))
    stream.aggregate({"n": "count(*)"}, grouped(1), 4, advance=2).output("windows")
    stream.tumble({"n": "count(*)"}, ["g"]).output("runs")
    return net.build()


CHAIN = chain()


@given(STREAMS, st.lists(st.integers(0, 25), max_size=5))
def test_cutting_batches_elsewhere_changes_nothing(stream: list[tuple[int, int]], cuts: list[int]) -> None:
    rows = [({"g": g, "a": a}, ts) for ts, (g, a) in enumerate(stream)]

    def emitted(places: list[int]) -> dict[str, list[Any]]:
        run = ReferenceRun(CHAIN)
        emissions = []
        for start, end in pairwise([0, *sorted(places), len(rows)]):
            emissions += run.push_batch("s", rows[start:end], 0)
        emissions += run.flush(0)
        return {name: [e for e in emissions if e.output == name] for name in CHAIN.outputs}

    assert emitted(cuts) == emitted(list(range(len(rows))))
