"""`check` warns of an order by count whose tuples come out of order by chance, and of no other."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from australis.algebra.builder import NetworkBuilder, Stream
from australis.algebra.network.marks import guessed_slacks
from australis.algebra.order import Order
from australis.algebra.progress import Progress

ALL, BY_KEY = Order("at", 5), Order("at", group_by=("k",))
COUNT = {"n": "count(*)"}


def counted(stream: Stream) -> Stream:
    """Each key by itself."""
    return stream.aggregate(COUNT, BY_KEY, 10, align=True, as_="counted")


def asked(stream: Stream, table: Stream) -> Stream:
    return stream.join(table, "left.k = right.id", table="right", as_="asked").map({"at": "at", "k": "k"})


WARNED: dict[str, tuple[Callable[[Stream, Stream, Stream], Stream], list[str]]] = {
    "of an input": (lambda s, _, t: s.aggregate(COUNT, ALL, 10, as_="all"), []),
    "of the same groups": (lambda s, _, t: counted(s).aggregate(COUNT, BY_KEY, 10, as_="all"), []),
    "after groups": (lambda s, _, t: counted(s).aggregate(COUNT, ALL, 10, as_="all"), ["all.order.slack"]),
    "sorted after groups": (
        lambda s, _, t: counted(s).bsort(ALL, as_="sorted").aggregate(COUNT, Order("at"), 10),
        ["sorted.order.slack"],
    ),
    "through a filter and a table": (
        lambda s, _, t: asked(counted(s).filter("n > 1"), t).aggregate(COUNT, ALL, 10, as_="all"),
        ["all.order.slack"],
    ),
    "after a union": (lambda s, o, t: s.union(o).bsort(ALL, as_="sorted"), ["sorted.order.slack"]),
    "by progress": (
        lambda s, o, t: s.union(o).aggregate(COUNT, Order("at", by="progress"), 10, as_="all"),
        [],
    ),
}


@pytest.mark.parametrize("case", WARNED)
def test_what_is_warned_of(case: str) -> None:
    make, places = WARNED[case]
    net = NetworkBuilder("n")
    one, other = (net.input(name, "k long, at long", progress=Progress("at", 5)) for name in ("s", "o"))
    make(one, other, net.table("t", "id long")).output("out")
    assert [problem.path for problem in guessed_slacks(net.build())] == places
