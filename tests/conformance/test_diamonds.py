"""Branches of one input that meet again: a batch does what its tuples do one by one, on both engines."""

from __future__ import annotations

from collections.abc import Callable

from hypothesis import given
from hypothesis import strategies as st
from tests.conformance.random_networks import Event
from tests.conformance.test_networks import agree, one_by_one

from australis.algebra.builder import NetworkBuilder, Stream
from australis.algebra.order import Order

ROWS = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 8)), min_size=2, max_size=14)
Meet = Callable[[Stream, Stream], Stream]


def joined(left: Stream, right: Stream) -> Stream:
    order = Order("t", slack=2)
    return left.join(right, "left.k = right.k", size=3, left=order, right=order)


def outer(how: str) -> Meet:
    def met(left: Stream, right: Stream) -> Stream:
        return left.join(
            right, "left.k = right.k", size=1, left=Order("t", slack=2), right=Order("t"), how=how
        )

    return met


def latest(left: Stream, right: Stream) -> Stream:
    return left.asof(right, "left.k = right.k", left=Order("t", slack=2), right=Order("t"), within=2)


def resampled(left: Stream, right: Stream) -> Stream:
    functions = {"n": "count(*)", "last": "last(k)"}
    return left.resample(right, functions, 1, left=Order("t", slack=1), right=Order("t", group_by=("k",)))


def resampled_by_key(left: Stream, right: Stream) -> Stream:
    order = Order("t", group_by=("k",))
    return left.resample(right, {"n": "count(*)"}, 1, left=order, right=order, predicate="left.k = right.k")


def united(left: Stream, right: Stream) -> Stream:
    return left.union(right)


def check(meet: Meet, rows: list[tuple[int, int]], *, empty: bool = False) -> None:
    """Two branches: one passes only some tuples, and the other delays some."""
    net = NetworkBuilder("diamond")
    stream = net.input("s", "k int, t int")
    some, sorted_ = stream.filter("k <> 1"), stream.bsort(Order("t", slack=1))
    meet(some, sorted_).output("one")
    meet(sorted_, some).output("other")
    meet(stream, stream).output("same")
    network = net.build()
    tuples = tuple(({"k": k, "t": t}, number) for number, (k, t) in enumerate(rows))
    half = len(tuples) // 2
    events = [Event(1, "s", tuples[:half]), Event(2, "s", tuples[half:]), Event(3, ending=True)]
    whole = agree(network, [], events)
    assert whole == agree(network, [], one_by_one(events))
    assert len(whole["same"]) > 0 or empty


@given(ROWS)
def test_join(rows: list[tuple[int, int]]) -> None:
    check(joined, rows)


@given(ROWS, st.sampled_from(["left", "right", "full", "semi"]))
def test_outer_join(rows: list[tuple[int, int]], how: str) -> None:
    check(outer(how), rows)


@given(ROWS)
def test_antijoin(rows: list[tuple[int, int]]) -> None:
    check(outer("anti"), rows, empty=True)


@given(ROWS)
def test_asof_join(rows: list[tuple[int, int]]) -> None:
    check(latest, rows)


@given(ROWS)
def test_resample(rows: list[tuple[int, int]]) -> None:
    check(resampled, rows, empty=True)


@given(ROWS)
def test_resample_by_key(rows: list[tuple[int, int]]) -> None:
    check(resampled_by_key, rows)


@given(ROWS)
def test_union(rows: list[tuple[int, int]]) -> None:
    check(united, rows)
