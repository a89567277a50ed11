"""Join: pairs, what is dropped, and stored tables."""

from __future__ import annotations

from typing import Any

from tests.reference.running import Run

from australis.algebra.boxes import Join
from australis.algebra.order import Order

LEFT, RIGHT = 0, 1


def band(size: int, left: Order, right: Order, predicate: str = "TRUE") -> Run:
    return Run(Join(predicate, size, left, right), "a int, g int, x string", "b int, h int, y string")


def left(run: Run, a: int, g: int | None = 0, x: str = "") -> list[tuple[Any, Any]]:
    return [(row["x"], row["y"]) for row in run.push(LEFT, a=a, g=g, x=x)]


def right(run: Run, b: int, h: int | None = 0, y: str = "") -> list[tuple[Any, Any]]:
    return [(row["x"], row["y"]) for row in run.push(RIGHT, b=b, h=h, y=y)]


def test_partners_are_at_most_size_away_on_both_sides() -> None:
    run = band(10, Order("a"), Order("b", slack=9))
    for b in (19, 20, 30, 40, 41):
        right(run, b, y=str(b))
    assert left(run, 30, x="t") == [("t", "20"), ("t", "30"), ("t", "40")]


def test_with_size_zero_partners_are_at_the_same_place() -> None:
    run = band(0, Order("a"), Order("b"))
    for b in (29, 30, 30, 31):
        right(run, b, y=str(b))
    assert left(run, 30, x="t") == [("t", "30"), ("t", "30")]
    assert left(run, 31, x="u") == [("u", "31")]
    assert right(run, 31, y="v") == [("u", "v")]


def test_partners_come_out_by_order_value_ties_by_arrival() -> None:
    run = band(10, Order("a"), Order("b", slack=9))
    for b, y in ((5, "c"), (3, "a"), (5, "d"), (4, "b")):
        right(run, b, y=y)
    assert left(run, 4, x="t") == [("t", "a"), ("t", "b"), ("t", "c"), ("t", "d")]


def test_a_predicate_that_is_null_is_not_satisfied() -> None:
    run = band(10, Order("a"), Order("b"), "left.g = right.h")
    right(run, 1, h=None)
    right(run, 1, h=1, y="u")
    assert left(run, 1, g=None) == []
    assert left(run, 1, g=1, x="t") == [("t", "u")]


def test_a_late_tuple_joins_nothing_and_is_counted() -> None:
    run = band(10, Order("a"), Order("b"))
    right(run, 5)
    left(run, 7)
    assert left(run, 6) == []
    assert run.counts == (1, 0, 0)


def test_a_pair_has_the_lesser_ts() -> None:
    run = band(10, Order("a"), Order("b"))
    left(run, 1)
    right(run, 1)
    left(run, 2)
    assert run.ts == [1, 2]


def test_names_that_both_sides_have_are_told_apart() -> None:
    run = Run(Join("left.a = right.a", 1, Order("a"), Order("a")), "a int, x int", "a int, y int")
    run.push(LEFT, a=1, x=2)
    assert run.push(RIGHT, a=1, y=3) == [{"left_a": 1, "x": 2, "right_a": 1, "y": 3}]


# --- what is forgotten


def test_tuples_that_the_other_side_has_passed_are_forgotten() -> None:
    run = band(10, Order("a"), Order("b"))
    left(run, 1)
    right(run, 11)
    assert run.machine.kept == (1, 1)  # another tuple of the right side may still be at 11
    right(run, 12)
    assert run.machine.kept == (0, 2)


def test_memory_does_not_grow_on_ordered_streams() -> None:
    run = band(10, Order("a"), Order("b"))
    for time in range(1000):
        left(run, time)
        right(run, time)
    assert sum(run.machine.kept) <= 2 * 12


def test_slack_delays_forgetting() -> None:
    run = band(10, Order("a"), Order("b", slack=1))
    left(run, 1)
    right(run, 50)
    assert run.machine.kept == (1, 1)  # one more tuple before 50 would be in order
    assert right(run, 2, y="u") == [("", "u")]
    right(run, 51)
    assert run.machine.kept[LEFT] == 0


def test_the_group_with_equal_attributes_decides() -> None:
    run = band(10, Order("a"), Order("b", group_by=("h",)), "left.g = right.h")
    left(run, 1, g=1)
    right(run, 50, h=2)
    assert run.machine.kept == (1, 1)  # group 1 may still be at 1
    right(run, 50, h=1)
    assert run.machine.kept[LEFT] == 0


def test_a_group_that_is_not_equated_forbids_forgetting() -> None:
    run = band(10, Order("a"), Order("b", group_by=("h",)), "left.g < right.h")
    left(run, 1, g=0)
    for h in range(5):
        right(run, 50, h=h)
    assert run.machine.kept[LEFT] == 1
    assert right(run, 1, h=9, y="u") == [("", "u")]  # a group that starts again


def test_a_null_in_an_equated_attribute_is_not_kept() -> None:
    run = band(10, Order("a"), Order("b"), "left.g = right.h")
    left(run, 1, g=None)
    assert run.machine.kept == (0, 0)


# --- doubles


def test_distances_of_doubles_are_differences() -> None:
    """Here 0.1 + 0.2 > 0.3, but 0.3 - 0.1 < 0.2: dropping uses the same rounded number as matching."""
    run = Run(Join("TRUE", 0.2, Order("a"), Order("b")), "a double", "b double")
    run.push(LEFT, a=0.1)
    assert len(run.push(RIGHT, b=0.3)) == 1
    assert run.machine.kept == (1, 1)


# --- stored tables


def table_join(table_on_the_left: bool = False) -> Run:
    order = Order("a", slack=0)
    if table_on_the_left:
        run = Run(Join("left.k = right.k", right=order), "k int, name string", "a int, k int")
    else:
        run = Run(Join("left.k = right.k", left=order), "a int, k int", "k int, name string")
    for k, name in ((1, "one"), (2, "two"), (1, "uno")):
        run.machine.load({"k": k, "name": name})
    return run


def test_partners_come_in_the_order_of_the_table() -> None:
    run = table_join()
    assert run.push(LEFT, a=5, k=1) == [
        {"a": 5, "left_k": 1, "right_k": 1, "name": "one"},
        {"a": 5, "left_k": 1, "right_k": 1, "name": "uno"},
    ]
    assert run.push(LEFT, a=6, k=3) == []
    assert run.machine.kept == (0, 0)


def test_a_pair_with_a_table_has_the_ts_of_the_stream() -> None:
    run = table_join(table_on_the_left=True)
    run.push(RIGHT, a=1, k=9)
    assert run.push(RIGHT, a=1, k=2) == [{"left_k": 2, "name": "two", "a": 1, "right_k": 2}]
    assert run.ts == [2]


def test_late_tuples_do_not_join_a_table() -> None:
    run = table_join()
    run.push(LEFT, a=5, k=1)
    assert run.push(LEFT, a=4, k=1) == []
    assert run.counts == (1, 0, 0)
