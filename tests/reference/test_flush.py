"""A flush in mid-stream: all that is open ends, and after it every box starts again; counters continue."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.reference.running import Row, Run

from australis.algebra.boxes import (
    Aggregate,
    Box,
    BSort,
    Drop,
    Filter,
    Join,
    Resample,
    Slide,
    Tumble,
    WSort,
    XSection,
)
from australis.algebra.builder import NetworkBuilder
from australis.algebra.counters import Counters
from australis.algebra.order import Order
from australis.algebra.schema import TUP
from australis.reference.network import ReferenceRun

SCHEMA = "g int, a int"
COUNT = {"n": "count(*)", "first": "first(a)"}
GROUPED = Order("a", slack=1, group_by=("g",))
BOXES: dict[str, Box] = {
    "filter": Filter(("a > 3",)),
    "bsort": BSort(GROUPED),
    "wsort": WSort(("a",), "3 us"),
    "aggregate": Aggregate(COUNT, GROUPED, 4, 2, timeout="5 us"),
    "aggregate when": Aggregate(COUNT, GROUPED, 4, advance_when="a % 2 = 0", timeout="5 us"),
    "aggregate of numbers": Aggregate(COUNT, Order(TUP, group_by=("g",)), 3, 2),
    "slide": Slide(COUNT, 3),
    "xsection": XSection(COUNT, "a", 3, 1),
    "tumble": Tumble(COUNT, ("g",), "3 us"),
    "join": Join("left.g = right.g", 2, GROUPED, GROUPED),
    "resample": Resample(COUNT, 2, Order("a", slack=1), GROUPED),
    "drop": Drop(0.5, 7),
}
Step = tuple[int, int, int, int]
"""A tuple: its port, its group, its order value, and how much time passes before it."""
STEPS = st.lists(st.tuples(st.integers(0, 1), st.integers(0, 2), st.integers(0, 9), st.integers(0, 4)))


def emitted(run: Run, box: Box, steps: list[Step], now: int) -> list[list[Row]]:
    """What each tuple makes a box emit, from a time on, and then the end."""
    found = []
    for port, g, a, passing in steps:
        now += passing
        found.append(run.push(port % box.arity[0], now, g=g, a=a))
    return [*found, run.flush(now)]


@pytest.mark.parametrize("box", BOXES.values(), ids=list(BOXES))
@given(before=STEPS, after=STEPS)
def test_after_a_flush_a_box_does_what_a_new_one_does(
    box: Box, before: list[Step], after: list[Step]
) -> None:
    used, new = (Run(box, *[SCHEMA] * box.arity[0]) for _ in range(2))
    emitted(used, box, before, 0)
    counted = used.counts
    assert emitted(used, box, after, 100) == emitted(new, box, after, 100)
    assert used.counts == tuple(one + other for one, other in zip(counted, new.counts, strict=True))


def test_what_was_emitted_before_a_flush_makes_nothing_late_after_it() -> None:
    run = Run(WSort(("a",), "10 s"), "a int")
    run.push(a=9)
    assert run.flush() == [{"a": 9}]
    run.push(a=1)
    assert run.flush() == [{"a": 1}]
    assert run.counts == (0, 0, 0)


def test_windows_begin_at_the_first_tuple_after_a_flush() -> None:
    run = Run(Aggregate({"n": "count(*)"}, Order("a"), 10), "a int")
    run.push(a=3)
    assert run.flush() == [{"a": 3, "n": 1}]
    run.push(a=5)
    assert run.flush() == [{"a": 5, "n": 1}]


def test_tuples_before_a_flush_do_not_pair_with_those_after_it() -> None:
    run = Run(Join("TRUE", 5, Order("a"), Order("b")), "a int", "b int")
    run.push(0, a=1)
    assert run.flush() == []
    assert run.push(1, b=1) == []
    assert run.push(0, a=1) == [{"a": 1, "b": 1}]


def test_a_stored_table_stays() -> None:
    net = NetworkBuilder("names")
    table = net.table("table", "k int, name string")
    net.input("s", "a int").join(table, "left.a = right.k", left=Order("a")).output("named")
    run = ReferenceRun(net.build())
    run.load("table", [{"k": 1, "name": "one"}])
    run.push("s", {"a": 2}, 0, 0)
    run.flush(0)
    assert [emission.values["name"] for emission in run.push("s", {"a": 1}, 0, 0)] == ["one"]


def test_what_the_boxes_before_it_release_at_the_end_still_belongs_to_what_ends() -> None:
    net = NetworkBuilder("chain")
    sorted_ = net.input("s", "a int").bsort(Order("a", slack=2), as_="sort")
    sorted_.aggregate({"n": "count(*)"}, Order("a"), size=10, as_="windows").output("out")
    run = ReferenceRun(net.build())
    found = []
    for a in (2, 1):
        run.push("s", {"a": a}, 0, 0)
        run.push("s", {"a": a + 1}, 0, 0)
        found += [dict(emission.values) for emission in run.flush(0)]
    assert found == [{"a": 2, "n": 2}, {"a": 1, "n": 2}]
    assert run.counters() == {"sort": Counters(4, 4), "windows": Counters(4, 2)}
