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


def resampled(left: Stream, right: Stream) -> Stream:
    functions = {"n": "count(*)", "last": "last(k)"}
    return left.resample(right, functions, 1, left=Order("t", slack=1), right=Order("t", group_by=("k",)))


def united(left: Stream, right: Stream) -> Stream:
    return left.union(right)


def check(meet: Meet, rows: list[tuple[int, int]]) -> None:
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
    assert len(whole["same"]) > 0 or meet is resampled


@given(ROWS)
def test_join(rows: list[tuple[int, int]]) -> None:
    check(joined, rows)


@given(ROWS)
def test_resample(rows: list[tuple[int, int]]) -> None:
    check(resampled, rows)


@given(ROWS)
def test_union(rows: list[tuple[int, int]]) -> None:
    check(united, rows)
