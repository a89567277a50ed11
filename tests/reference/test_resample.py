"""Resample: when windows are complete, what they hold, what is dropped; and interpolation."""

from __future__ import annotations

from typing import Any

import pytest
from tests.reference.running import Run

from australis.algebra.boxes import Resample
from australis.algebra.order import Order
from australis.algebra.schema import parse_schema
from australis.errors import AlgebraError

LEFT, RIGHT = 0, 1


def counting(left_slack: int = 0, right_slack: int = 0, function: str = "count(*)", size: int = 10) -> Run:
    left, right = Order("t", left_slack), Order("u", right_slack, group_by=("g",))
    return Run(Resample({"f": function}, size, left, right), "t int", "g string, u int, v double")


def left(run: Run, t: int) -> list[tuple[Any, ...]]:
    return [tuple(row.values()) for row in run.push(LEFT, t=t)]


def right(run: Run, g: str | None, u: int, v: float | None = 0.0) -> list[tuple[Any, ...]]:
    return [tuple(row.values()) for row in run.push(RIGHT, g=g, u=u, v=v)]


def flush(run: Run) -> list[tuple[Any, ...]]:
    return [tuple(row.values()) for row in run.flush()]


def test_the_window_reaches_size_to_both_sides() -> None:
    run = counting(right_slack=9)
    left(run, 100)
    for u in (89, 90, 100, 110, 111):
        right(run, "x", u)
    assert flush(run) == [("x", 100, 3)]


def test_with_size_zero_the_window_is_one_place() -> None:
    run = counting(size=0)
    left(run, 100)
    assert [right(run, "x", u) for u in (99, 100, 100)] == [[], [], []]
    assert right(run, "x", 101) == [("x", 100, 2)]


def test_a_window_is_complete_when_its_group_has_passed_it_strictly() -> None:
    run = counting()
    left(run, 100)
    assert right(run, "x", 110) == []
    assert right(run, "x", 111) == [("x", 100, 1)]


def test_slack_delays_the_result_and_takes_the_late_tuple() -> None:
    run = counting(right_slack=1)
    left(run, 100)
    right(run, "x", 100)
    assert right(run, "x", 111) == []
    assert right(run, "x", 110) == []
    assert right(run, "x", 112) == [("x", 100, 2)]


def test_completed_windows_go_by_the_left_order_ties_by_arrival() -> None:
    run = counting(left_slack=3)
    for t in (20, 15, 15, 10):
        left(run, t)
    right(run, "x", 15)
    assert right(run, "x", 99) == [("x", 10, 1), ("x", 15, 1), ("x", 15, 1), ("x", 20, 1)]
    assert run.ts == [4, 2, 3, 1]


def test_a_left_tuple_is_answered_at_once_by_groups_that_have_passed_it() -> None:
    run = counting()
    for g in ("y", "x"):
        right(run, g, 100)
        right(run, g, 200)
    right(run, "z", 100)
    assert left(run, 100) == [("y", 100, 1), ("x", 100, 1)]
    assert flush(run) == [("z", 100, 1)]


def test_empty_windows_emit_nothing() -> None:
    run = counting()
    left(run, 100)
    assert right(run, "x", 200) == []
    assert flush(run) == []


def test_late_tuples_of_either_side_are_counted() -> None:
    run = counting()
    left(run, 10)
    left(run, 9)
    right(run, "x", 10)
    right(run, "x", 9)
    assert run.counts == (2, 0, 0)
    assert flush(run) == [("x", 10, 1)]


def test_null_is_a_group() -> None:
    run = counting()
    left(run, 10)
    right(run, None, 10)
    right(run, None, 10)
    assert flush(run) == [(None, 10, 2)]


def test_within_a_window_tuples_go_by_order_value_ties_by_arrival() -> None:
    run = counting(right_slack=9, function="first(v)")
    left(run, 10)
    for u, v in ((12, 3.0), (10, 1.0), (10, 2.0)):
        right(run, "x", u, v)
    assert flush(run) == [("x", 10, 1.0)]


def test_the_result_has_the_least_ts_of_its_left_tuple_and_its_window() -> None:
    run = counting()
    right(run, "x", 50)
    right(run, "x", 100)
    left(run, 100)
    right(run, "x", 111)
    assert run.ts == [2]


def test_at_the_end_windows_go_by_the_left_order_its_arrival_and_the_groups() -> None:
    run = counting(left_slack=1)
    right(run, "y", 12)
    right(run, "x", 12)
    for t in (15, 10):
        left(run, t)
    assert flush(run) == [("y", 10, 1), ("x", 10, 1), ("y", 15, 1), ("x", 15, 1)]
    assert flush(run) == []


# --- what is forgotten


def test_a_left_tuple_is_forgotten_when_all_known_groups_have_passed_it() -> None:
    run = counting()
    left(run, 10)
    right(run, "x", 50)
    assert run.machine.kept[LEFT] == 0
    assert right(run, "y", 10) == []
    assert right(run, "y", 50) == []  # y came too late for the left tuple at 10


def test_a_group_takes_part_for_all_left_tuples_that_some_group_still_waits_for() -> None:
    run = counting()
    left(run, 10)
    right(run, "x", 10)
    right(run, "y", 10)
    assert right(run, "x", 50) == [("x", 10, 1)]
    right(run, "z", 15)
    assert right(run, "y", 50) == [("y", 10, 1)]
    assert right(run, "z", 50) == [("z", 10, 1)]
    assert run.machine.kept[LEFT] == 0


def test_left_tuples_wait_for_the_first_group() -> None:
    run = counting()
    left(run, 10)
    left(run, 500)
    assert run.machine.kept == (2, 0)
    right(run, "x", 10)
    assert right(run, "x", 21) == [("x", 10, 1)]


def test_a_right_tuple_is_forgotten_when_no_window_can_need_it() -> None:
    run = counting()
    right(run, "x", 10)
    left(run, 20)
    assert run.machine.kept == (1, 1)  # a left tuple at 20 may come again
    left(run, 21)
    assert run.machine.kept == (2, 1)  # and the one at 20 still waits for x
    right(run, "x", 31)
    assert run.machine.kept == (1, 1)


def test_a_right_tuple_is_not_kept_for_left_tuples_that_wait_for_other_groups() -> None:
    run = counting()
    left(run, 10)
    right(run, "y", 10)
    right(run, "x", 10)
    right(run, "x", 21)
    assert run.machine.kept == (1, 3)  # a left tuple at 10 may come again
    left(run, 40)
    assert run.machine.kept == (2, 1)  # the left tuple at 10 waits for y only


def test_memory_does_not_grow_on_ordered_streams() -> None:
    run = counting()
    for time in range(1000):
        left(run, time)
        right(run, "x", time)
    assert sum(run.machine.kept) <= 4 * 12


# --- interpolation


@pytest.mark.parametrize(
    ("function", "points", "expected"),
    [
        ("linear(v)", [(96, 1.0), (104, 3.0)], 2.0),
        ("linear(v)", [(99, 1.0), (103, 3.0)], 1.5),
        ("linear(v)", [(96, 1.0), (100, 7.0), (104, 3.0)], 7.0),
        ("linear(v)", [(100, 7.0), (104, float("inf"))], 7.0),
        ("linear(v)", [(96, 1.0)], 1.0),
        ("linear(v)", [(104, 3.0), (105, 4.0)], 3.0),
        ("linear(v)", [(96, 1.0), (98, None), (104, 3.0)], 2.0),
        ("linear(v)", [(96, None)], None),
        ("linear(v)", [(96, 0.0), (96, 1.0), (104, 3.0), (104, 9.0)], 2.0),
        ("nearest(v)", [(96, 1.0), (104, 3.0)], 1.0),
        ("nearest(v)", [(96, 1.0), (103, 3.0)], 3.0),
        ("nearest(v)", [(96, 1.0), (100, 2.0), (100, 7.0), (101, 3.0)], 7.0),
        ("nearest(v)", [(104, 3.0), (104, 5.0)], 3.0),
        ("last_value(v)", [(91, 1.0), (104, 3.0)], 1.0),
        ("last_value(v)", [(91, 1.0), (100, 2.0), (104, 3.0)], 2.0),
        ("last_value(v)", [(91, 1.0), (95, None), (104, 3.0)], 1.0),
        ("last_value(v)", [(104, 3.0)], None),
    ],
)
def test_interpolation_at_100(function: str, points: list[tuple[int, float]], expected: float) -> None:
    run = counting(function=function, right_slack=9)
    left(run, 100)
    for u, v in points:
        right(run, "x", u, v)
    assert flush(run) == [("x", 100, expected)]


# --- what is kept of the left tuple, keys, extrapolation


def keyed(function: str = "count(*)", size: int = 10, **more: Any) -> Run:
    left, right = Order("t"), Order("u", group_by=("g",))
    box = Resample({"f": function}, size, left, right, "left.k = right.g", **more)
    return Run(box, "t int, k string, x string", "g string, u int, v double")


def asking(run: Run, t: int, k: str | None, x: str = "") -> list[tuple[Any, ...]]:
    return [tuple(row.values()) for row in run.push(LEFT, t=t, k=k, x=x)]


def test_attributes_of_the_left_tuple_are_kept_after_its_order_value() -> None:
    run = keyed(keep=("x",))
    asking(run, 100, "a", "mine")
    right(run, "a", 100)
    assert flush(run) == [("a", 100, "mine", 1)]


def test_with_a_predicate_only_the_group_with_the_key_is_asked() -> None:
    run = keyed()
    asking(run, 100, "a")
    right(run, "b", 100)
    assert right(run, "b", 111) == []
    assert right(run, "a", 100) == []
    assert right(run, "a", 111) == [("a", 100, 1)]
    assert run.machine.kept[0] == 0


def test_a_left_tuple_waits_for_its_group() -> None:
    run = keyed()
    asking(run, 100, "a")
    right(run, "b", 100)
    right(run, "b", 200)
    right(run, "a", 105)
    assert flush(run) == [("a", 100, 1)]


def test_a_null_key_asks_no_group() -> None:
    run = keyed()
    asking(run, 100, None)
    right(run, None, 100)
    assert run.machine.kept == (0, 0)
    assert flush(run) == []


@pytest.mark.parametrize(
    ("function", "found"), [("linear(v)", None), ("nearest(v)", None), ("last_value(v)", 5.0)]
)
def test_a_value_on_one_side_alone_is_not_extrapolated(function: str, found: float | None) -> None:
    run = keyed(function, extrapolate=False)
    asking(run, 100, "a")
    right(run, "a", 95, 5.0)
    assert flush(run) == [("a", 100, found)]


@pytest.mark.parametrize("function", ["linear(v)", "nearest(v)"])
def test_a_value_at_the_place_itself_is_no_extrapolation(function: str) -> None:
    run = keyed(function, extrapolate=False)
    asking(run, 100, "a")
    right(run, "a", 100, 5.0)
    assert flush(run) == [("a", 100, 5.0)]


def test_linear_multiplies_before_it_divides() -> None:
    """So that it is exact wherever whole numbers divide evenly: 49 * (1 / 49) is not 1."""
    run = counting(function="linear(v)", size=100)
    left(run, 1)
    right(run, "x", 0, 0.0)
    right(run, "x", 49, 49.0)
    assert 49.0 * (1.0 / 49.0) != 1.0
    assert flush(run) == [("x", 1, 1.0)]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"predicate": "left.k <> right.g"}, "predicate: .*does not equate"),
        ({"predicate": "left.k = right.h"}, "predicate: equates h, but the right groups by g"),
        ({"keep": ("nobody",)}, r"keep\[0\]"),
        ({"predicate": "left.k = right.g", "left": Order("t", group_by=("x",))}, r"left\.group_by: 'x'"),
    ],
)
def test_what_a_resample_refuses(arguments: dict[str, Any], message: str) -> None:
    given = {"left": Order("t"), "right": Order("u", group_by=("g",)), **arguments}
    schemas = [parse_schema("t int, k string, x string"), parse_schema("g string, u int, v double, h string")]
    with pytest.raises(AlgebraError, match=message):
        Resample({"f": "count(*)"}, 1, **given).output_schemas(*schemas)
