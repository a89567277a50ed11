"""Aurora 5.2.2.1, Figure 8: BSort with a slack of 2."""

from __future__ import annotations

from tests.golden.engines import Engine

from australis.algebra.builder import NetworkBuilder
from australis.algebra.network import Network
from australis.algebra.order import Order

ARRIVING = [1, 3, 1, 2, 4, 4, 8, 3, 4, 4]


def bsort(slack: int) -> Network:
    net = NetworkBuilder("figure8")
    net.input("s", "A int").bsort(Order("A", slack=slack)).output("out")
    return net.build()


def test_each_arrival_evicts_the_least(engine: Engine) -> None:
    trace = engine(bsort(2))

    evicted = [[row["A"] for row in trace.push("s", A=value)] for value in ARRIVING]

    assert evicted == [[], [], [1], [1], [2], [3], [4], [3], [4], [4]]
    assert [row["A"] for row in trace.flush()] == [4, 8]  # the remaining two were still in the buffer


def test_the_output_is_that_of_two_passes_of_a_bubble_sort(engine: Engine) -> None:
    emitted = engine(bsort(2)).push_all("s", [{"A": value} for value in ARRIVING])

    assert [row["A"] for row in emitted] == bubbled(ARRIVING, passes=2)[:8]


def bubbled(values: list[int], passes: int) -> list[int]:
    """Some passes of a bubble sort."""
    values = list(values)
    for _ in range(passes):
        for i in range(len(values) - 1):
            if values[i] > values[i + 1]:
                values[i], values[i + 1] = values[i + 1], values[i]
    return values
