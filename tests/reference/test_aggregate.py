"""Aggregate, and what is composed of it: which windows there are, when they close, what they hold."""

from __future__ import annotations

from typing import Any

from tests.reference.running import Row, Run

from australis.algebra.boxes import Aggregate, Slide, XSection
from australis.algebra.order import Order
from australis.algebra.schema import TUP

COUNT = {"n": "count(*)"}


def windows(rows: list[Row]) -> list[tuple[Any, ...]]:
    return [tuple(row.values()) for row in rows]


def counting(order: Order | None = None, schema: str = "a int", **options: Any) -> Run:
    return Run(Aggregate(COUNT, order or Order("a"), **options), schema)


def emitted(run: Run, *values: int) -> list[tuple[Any, ...]]:
    """All windows, by the pushes of some values of `a` and the end."""
    rows = [row for value in values for row in run.push(a=value)]
    return windows(rows + run.flush())


def test_windows_start_at_the_first_value_and_every_advance() -> None:
    assert emitted(counting(size=4, advance=2), 3, 4, 5, 8) == [(3, 3), (5, 2), (7, 1)]


def test_windows_are_half_open() -> None:
    assert emitted(counting(size=10), 0, 9, 10) == [(0, 2), (10, 1)]


def test_without_an_advance_windows_follow_each_other() -> None:
    assert emitted(counting(size=3), 1, 3, 4, 7) == [(1, 2), (4, 1), (7, 1)]


def test_tuples_in_gaps_between_windows_are_in_none() -> None:
    run = counting(size=2, advance=5)
    assert emitted(run, 0, 1, 2, 4, 5, 9) == [(0, 2), (5, 1)]
    assert run.counts == (0, 0, 0)  # in no window by design, not because of a timeout


def test_windows_without_tuples_do_not_exist() -> None:
    assert emitted(counting(size=10), 0, 1000) == [(0, 1), (1000, 1)]


def test_aligned_windows_start_at_multiples_also_before_the_first_tuple() -> None:
    assert emitted(counting(size=10, align=True), 13, 19, 20) == [(10, 2), (20, 1)]
    assert emitted(counting(size=4, advance=2, align=True), 5) == [(2, 1), (4, 1)]
    assert emitted(counting(size=4, advance=2, align=True), -1, 0) == [(-4, 1), (-2, 2), (0, 1)]


def test_an_aligned_start_below_the_least_int_does_not_exist() -> None:
    assert emitted(counting(size=100, align=True), -(2**31), -(2**31) + 99) == [(-(2**31) + 48, 1)]


def test_a_released_tuple_closes_windows_by_their_starts() -> None:
    run = counting(size=4, advance=1)
    run.push(a=0)
    run.push(a=2)
    assert windows(run.push(a=100)) == [(0, 2), (1, 1), (2, 1)]


def test_closing_comes_before_adding() -> None:
    run = Run(Aggregate({"last": "last(a)"}, Order("a"), size=5), "a int")
    run.push(a=0)
    assert windows(run.push(a=5)) == [(0, 0)]


def test_tuples_are_taken_in_the_order_of_release() -> None:
    functions = {"first": "first(name)", "last": "last(name)"}
    run = Run(Aggregate(functions, Order("a", slack=2), size=10), "a int, name string")
    for a, name in ((3, "d"), (1, "a"), (2, "b"), (2, "c")):
        run.push(a=a, name=name)
    assert run.flush() == [{"a": 1, "first": "a", "last": "d"}]


def test_a_result_has_the_least_ts_of_its_window() -> None:
    run = counting(Order("a", slack=1), size=10)
    for a in (12, 3, 14, 25, 26):
        run.push(a=a)
    run.flush()
    assert run.ts == [1, 3, 4]  # windows from 3, 13 and 23


def test_the_result_is_start_then_groups_then_functions() -> None:
    box = Aggregate({"n": "count(*)", "m": "max(b)"}, Order("a", group_by=("h", "g")), 10)
    run = Run(box, "g int, h int, a int, b int")
    run.push(g=1, h=2, a=3, b=4)
    assert [list(row.items()) for row in run.flush()] == [[("a", 3), ("h", 2), ("g", 1), ("n", 1), ("m", 4)]]


def test_at_the_end_results_go_by_start_then_by_group() -> None:
    run = counting(Order("a", slack=1, group_by=("g",)), "g string, a int", size=5)
    for g, a in (("y", 10), ("x", 10), ("z", 5), ("y", 17)):
        run.push(g=g, a=a)
    assert windows(run.flush()) == [(5, "z", 1), (10, "x", 1), (10, "y", 1), (15, "y", 1)]
    assert run.flush() == []


# --- advance_when


def test_a_window_opens_at_the_first_tuple_and_where_the_predicate_holds() -> None:
    run = Run(Aggregate(COUNT, Order("a"), size=10, advance_when="b > 0"), "a int, b int")
    for a, b in ((1, 0), (4, None), (5, 1), (9, 0), (12, 1), (14, 0)):
        run.push(a=a, b=b)
    assert windows(run.flush()) == [(5, 4), (12, 2)]


def test_what_lies_between_windows_of_advance_when_is_in_none() -> None:
    run = Run(Aggregate(COUNT, Order("a"), size=2, advance_when="b > 0"), "a int, b int")
    rows = [row for a, b in ((1, 0), (7, 0), (9, 1)) for row in run.push(a=a, b=b)]
    assert windows(rows + run.flush()) == [(1, 1), (9, 1)]


def test_a_value_that_starts_an_open_window_opens_no_second_one() -> None:
    run = Run(Aggregate(COUNT, Order("a"), size=5, advance_when="b > 0"), "a int, b int")
    for a, b in ((1, 1), (1, 1), (3, 1), (3, 1)):
        run.push(a=a, b=b)
    assert windows(run.flush()) == [(1, 4), (3, 2)]


def test_equal_tuples_before_the_one_that_opens_are_not_in_its_window() -> None:
    run = Run(Aggregate(COUNT, Order("a"), size=5, advance_when="b > 0"), "a int, b int")
    for a, b in ((1, 0), (3, 0), (3, 1), (3, 0)):
        run.push(a=a, b=b)
    assert windows(run.flush()) == [(1, 4), (3, 2)]


# --- Tup#


def test_a_window_of_tuples_is_emitted_by_its_last_tuple() -> None:
    run = Run(Aggregate({"sum": "sum(b)"}, Order(TUP), size=3, advance=2), "b int")
    assert [run.push(b=b) for b in (1, 2, 3, 4, 5)] == [[], [], [{"sum": 6}], [], [{"sum": 12}]]
    assert run.flush() == [{"sum": 5}]


def test_tuples_are_numbered_in_each_group() -> None:
    run = Run(Aggregate({"sum": "sum(b)"}, Order(TUP, group_by=("g",)), size=2), "g int, b int")
    assert run.push(g=1, b=1) == []
    assert run.push(g=2, b=10) == []
    assert run.push(g=1, b=2) == [{"g": 1, "sum": 3}]
    assert run.push(g=1, b=4) == []
    assert run.flush() == [{"g": 2, "sum": 10}, {"g": 1, "sum": 4}]


# --- composed boxes


def test_slide_has_overlapping_windows_of_tuples() -> None:
    run = Run(Slide({"sum": "sum(b)"}, size=2), "b int")
    assert [run.push(b=b) for b in (1, 2, 3)] == [[], [{"sum": 3}], [{"sum": 5}]]


def test_xsection_is_one_window_over_all_groups_at_each_step() -> None:
    run = Run(XSection(COUNT, "t", size=10), "g int, t int")
    for g, t in ((1, 12), (2, 15), (1, 19)):
        assert run.push(g=g, t=t) == []
    assert run.push(g=2, t=20) == [{"t": 10, "n": 3}]
