"""Timeouts of Aggregate and Tumble: early results, and what is ignored afterwards."""

from __future__ import annotations

from typing import Any

from tests.reference.running import Row, Run

from australis.algebra.boxes import Aggregate, Tumble
from australis.algebra.order import Order

SECOND = 1_000_000


def windows(rows: list[Row]) -> list[tuple[Any, ...]]:
    return [tuple(row.values()) for row in rows]


def counting(slack: int = 0, schema: str = "a int", group_by: tuple[str, ...] = (), **options: Any) -> Run:
    box = Aggregate({"n": "count(*)"}, Order("a", slack, group_by), timeout="5 s", **options)
    return Run(box, schema)


def test_a_window_times_out_when_local_time_exceeds_its_begin_and_t() -> None:
    run = counting(size=10)
    run.push(now=1 * SECOND, a=0)
    run.push(now=4 * SECOND, a=1)
    assert run.tick(6 * SECOND) == []
    assert windows(run.tick(6 * SECOND + 1)) == [(0, 2)]
    assert run.tick(60 * SECOND) == []


def test_tuples_that_arrive_afterwards_are_ignored_and_the_window_is_not_emitted_again() -> None:
    run = counting(size=10)
    run.push(now=0, a=0)
    assert windows(run.push(now=6 * SECOND, a=5)) == [(0, 1)]  # the timeout is due before the tuple is taken
    assert run.counts == (0, 1, 0)
    assert run.push(a=10) == []
    assert windows(run.flush()) == [(10, 1)]


def test_a_tuple_that_another_window_still_takes_is_not_ignored() -> None:
    run = counting(size=10, advance=5)
    run.push(now=0, a=0)
    run.push(now=3 * SECOND, a=6)
    assert windows(run.tick(6 * SECOND)) == [(0, 2)]
    run.push(a=7)
    assert run.counts == (0, 0, 0)
    assert windows(run.flush()) == [(5, 2)]


def test_a_window_begins_when_its_first_tuple_arrives_although_it_waits_for_its_slack() -> None:
    run = counting(slack=2, size=10)
    run.push(now=0, a=1)
    run.push(now=1 * SECOND, a=3)
    assert run.tick(5 * SECOND) == []
    assert windows(run.tick(5 * SECOND + 1)) == [(1, 2)]


def test_released_tuples_come_before_waiting_ones() -> None:
    box = Aggregate(
        {"names": "first(b)", "last": "last(b)", "n": "count(*)"},
        Order("a", slack=2),
        size=10,
        timeout="5 s",
    )
    run = Run(box, "a int, b string")
    for a, b in ((5, "c"), (1, "a"), (3, "b")):
        run.push(now=0, a=a, b=b)
    assert windows(run.tick(6 * SECOND)) == [(1, "a", "c", 3)]


def test_waiting_tuples_in_an_early_result_are_not_ignored_when_they_are_released() -> None:
    run = counting(slack=1, size=10)
    run.push(now=0, a=1)
    run.tick(6 * SECOND)
    run.push(a=20)  # releases the 1
    assert run.counts == (0, 0, 0)
    run.push(a=2)
    run.push(a=21)
    assert run.counts == (0, 1, 0)  # the 2 arrived after the timeout
    assert windows(run.flush()) == [(11, 1), (21, 1)]


def test_the_least_waiting_value_becomes_the_first_start_for_good() -> None:
    run = counting(slack=2, size=10)
    run.push(now=0, a=5)
    assert windows(run.tick(6 * SECOND)) == [(5, 1)]
    run.push(a=3)  # in order, but before the first start: in no window
    run.push(a=15)
    assert windows(run.flush()) == [(15, 1)]
    assert run.counts == (0, 1, 0)


def test_without_a_timeout_fired_the_first_start_is_still_open() -> None:
    run = counting(slack=2, size=10)
    run.push(now=0, a=5)
    run.tick(1 * SECOND)
    run.push(a=3)
    assert windows(run.flush()) == [(3, 2)]


def test_a_window_does_not_begin_before_the_tuple_that_its_first_start_is_taken_from() -> None:
    run = counting(slack=3, size=10)
    run.push(now=0, a=15)
    run.push(now=4 * SECOND, a=3)  # now the windows are [3, 13) and [13, 23)
    assert run.tick(9 * SECOND) == []
    assert windows(run.tick(9 * SECOND + 1)) == [(3, 1), (13, 1)]


def test_aligned_windows_begin_with_their_first_tuple() -> None:
    run = counting(slack=3, size=10, align=True)
    run.push(now=0, a=15)
    run.push(now=4 * SECOND, a=3)
    assert windows(run.tick(6 * SECOND)) == [(10, 1)]


def test_aligned_windows_have_no_first_start() -> None:
    run = counting(slack=2, size=10, align=True)
    run.push(now=0, a=15)
    assert windows(run.tick(6 * SECOND)) == [(10, 1)]
    run.push(a=3)
    assert windows(run.flush()) == [(0, 1)]
    assert run.counts == (0, 0, 0)


def test_waiting_tuples_close_nothing_while_a_timeout_looks_at_them() -> None:
    run = counting(slack=2, size=10)
    run.push(now=0, a=0)
    run.push(now=3 * SECOND, a=50)
    assert windows(run.tick(6 * SECOND)) == [(0, 1)]
    assert windows(run.tick(9 * SECOND)) == [(50, 1)]
    assert run.flush() == []


def test_windows_that_time_out_at_one_moment_go_by_start_then_by_group() -> None:
    run = counting(schema="g string, a int", group_by=("g",), size=10, advance=5)
    for g, a in (("y", 5), ("y", 10), ("x", 5), ("z", 0)):
        run.push(now=0, g=g, a=a)
    assert windows(run.tick(6 * SECOND)) == [(0, "z", 1), (5, "x", 1), (5, "y", 2), (10, "y", 1)]


def test_due_timeouts_fire_before_the_end() -> None:
    run = counting(schema="g string, a int", group_by=("g",), size=10)
    run.push(now=0, g="x", a=9)
    run.push(now=4 * SECOND, g="y", a=0)
    assert windows(run.flush(now=6 * SECOND)) == [(9, "x", 1), (0, "y", 1)]


# --- with advance_when


def advancing(slack: int, size: int) -> Run:
    order = Order("a", slack)
    box = Aggregate({"n": "count(*)"}, order, size, advance_when="b", timeout="5 s")
    return Run(box, "a int, b boolean")


def test_a_timed_out_window_is_not_opened_again_by_the_tuple_that_starts_it() -> None:
    run = advancing(slack=1, size=10)
    run.push(now=0, a=5, b=True)
    assert windows(run.tick(6 * SECOND)) == [(5, 1)]
    run.push(a=30, b=True)  # releases the 5
    assert windows(run.flush()) == [(30, 1)]
    assert run.counts == (0, 0, 0)


def test_before_a_first_start_of_a_timeout_nothing_opens_a_window() -> None:
    run = advancing(slack=2, size=10)
    run.push(now=0, a=5, b=False)
    assert windows(run.tick(6 * SECOND)) == [(5, 1)]
    run.push(a=3, b=True)
    assert run.flush() == []
    assert run.counts == (0, 1, 0)


def test_the_first_window_opens_although_another_one_has_timed_out_before_it() -> None:
    run = advancing(slack=2, size=1)
    run.push(now=0, a=12, b=True)
    run.push(now=3 * SECOND, a=10, b=False)
    assert windows(run.tick(6 * SECOND)) == [(12, 1)]  # which fixes the first start at 10
    assert windows(run.flush()) == [(10, 1)]


def test_a_window_does_not_begin_before_the_tuple_that_opens_it() -> None:
    run = advancing(slack=2, size=2)
    for a, b in ((0, False), (-2, True), (1, False)):
        run.push(now=0, a=a, b=b)
    assert windows(run.tick(6 * SECOND)) == [(-2, 1)]
    run.push(now=6 * SECOND, a=-1, b=True)  # its window also holds the 0 that has waited since 0 s
    assert run.tick(11 * SECOND) == []
    assert windows(run.tick(11 * SECOND + 1)) == [(-1, 2)]


# --- Tumble


def test_a_run_is_emitted_early_and_its_rest_is_ignored() -> None:
    run = Run(Tumble({"n": "count(*)"}, ("g",), timeout="5 s"), "g int")
    run.push(now=0, g=1)
    run.push(now=1 * SECOND, g=1)
    assert run.tick(5 * SECOND) == []
    assert run.push(now=6 * SECOND, g=1) == [{"g": 1, "n": 2}]
    assert run.counts == (0, 1, 0)
    assert run.push(g=2) == []
    assert run.push(g=1) == [{"g": 2, "n": 1}]  # a new run of 1s
    assert run.flush() == [{"g": 1, "n": 1}]


def test_each_run_begins_with_its_first_tuple() -> None:
    run = Run(Tumble({"n": "count(*)"}, ("g",), timeout="5 s"), "g int")
    run.push(now=0, g=1)
    assert run.push(now=4 * SECOND, g=2) == [{"g": 1, "n": 1}]
    assert run.tick(9 * SECOND) == []
    assert run.tick(9 * SECOND + 1) == [{"g": 2, "n": 1}]


def test_a_timed_out_run_is_not_emitted_at_the_end() -> None:
    run = Run(Tumble({"n": "count(*)"}, ("g",), timeout="5 s"), "g int")
    run.push(now=0, g=1)
    assert run.tick(6 * SECOND) == [{"g": 1, "n": 1}]
    assert run.flush() == []
