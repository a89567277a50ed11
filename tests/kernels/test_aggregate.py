"""Aggregate and Tumble, by hand."""

from __future__ import annotations

from decimal import Decimal

from tests.kernels.streams import Running, batch, rows

from australis.algebra.boxes import Aggregate, Tumble
from australis.algebra.order import Order
from australis.algebra.schema import TS, TUP, parse_schema
from australis.kernels.kernel import CAUSE

SCHEMA = parse_schema("a long, g string, x double, opens boolean")
COUNT = {"n": "count(*)"}


def at(*values: int | None, g: str = "g") -> list[tuple[int | None, str, float, bool]]:
    return [(value, g, float(value or 0), False) for value in values]


def test_a_window_is_emitted_by_the_first_tuple_after_it() -> None:
    running = Running(Aggregate({"total": "sum(x)"}, Order("a"), 10), SCHEMA)
    step = running.step(batch(SCHEMA, *at(3, 5, 12, 13, 40)))
    assert rows(step.outputs[0]) == [(3, 20.0), (13, 13.0)]
    assert rows(step.outputs[0], CAUSE) == [3, 4]
    assert rows(step.outputs[0], TS) == [0, 3]
    assert rows(running.flush().outputs[0]) == [(33, 40.0)]


def test_overlapping_windows_share_tuples() -> None:
    running = Running(Aggregate(COUNT, Order("a"), 4, 2), SCHEMA)
    assert rows(running.step(batch(SCHEMA, *at(0, 1, 2, 3, 4))).outputs[0]) == [(0, 4)]
    assert rows(running.flush().outputs[0]) == [(2, 3), (4, 1)]


def test_windows_with_gaps_leave_tuples_out() -> None:
    running = Running(Aggregate(COUNT, Order("a"), 2, 5), SCHEMA)
    assert rows(running.step(batch(SCHEMA, *at(0, 1, 3, 4, 5, 8))).outputs[0]) == [(0, 2), (5, 1)]
    assert running.flush().outputs[0].num_rows == 0


def test_aligned_windows_start_at_multiples_of_the_advance() -> None:
    running = Running(Aggregate(COUNT, Order("a"), 10, 5, align=True), SCHEMA)
    running.step(batch(SCHEMA, *at(-3, 7)))
    assert rows(running.flush().outputs[0]) == [(0, 1), (5, 1)]


def test_aligned_windows_that_start_before_their_type_do_not_exist() -> None:
    schema = parse_schema("a int")
    running = Running(Aggregate(COUNT, Order("a"), 10, 5, align=True), schema)
    running.step(batch(schema, (-(2**31),), (-(2**31) + 4,)))
    assert rows(running.flush().outputs[0]) == [(-(2**31) + 3, 1)]


def test_slack_waits_and_late_tuples_are_counted() -> None:
    running = Running(Aggregate(COUNT, Order("a", slack=1), 5), SCHEMA)
    step = running.step(batch(SCHEMA, *at(4, 0, 9, 3, 20, 7)))
    assert rows(step.outputs[0]) == [(0, 2)]
    assert rows(step.outputs[0], CAUSE) == [4]
    assert step.late == 2
    assert rows(running.flush().outputs[0]) == [(5, 1), (20, 1)]


def test_results_of_a_flush_are_sorted_over_groups() -> None:
    running = Running(Aggregate(COUNT, Order("a", 3, ("g",)), 5), SCHEMA)
    running.step(batch(SCHEMA, *at(7, g="b"), *at(3, g="a"), *at(7, g="a"), *at(8, g="a")))
    assert rows(running.flush().outputs[0]) == [(3, "a", 2), (7, "b", 1), (8, "a", 1)]


def test_doubles_that_should_meet_leave_no_gap() -> None:
    """-6.4 + 140 * 0.1 + 0.1 is not -6.4 + 141 * 0.1: a tuple between them must have a window."""
    schema = parse_schema("a double")
    running = Running(Aggregate(COUNT, Order("a"), 0.1), schema)
    running.step(batch(schema, (-6.4,), (7.7,)))
    assert sum(n for _, n in rows(running.flush().outputs[0])) == 1


def test_decimals_step_by_their_last_digit() -> None:
    schema = parse_schema("a decimal(6,2)")
    running = Running(Aggregate(COUNT, Order("a"), 0.05), schema)
    step = running.step(batch(schema, (Decimal("-0.02"),), (Decimal("0.02"),), (Decimal("0.03"),)))
    assert rows(step.outputs[0]) == [(Decimal("-0.02"), 2)]


def test_windows_that_a_predicate_opens() -> None:
    running = Running(Aggregate(COUNT, Order("a"), 10, advance_when="opens"), SCHEMA)
    given = [
        (1, "g", 0.0, False),
        (3, "g", 0.0, True),
        (3, "g", 0.0, True),
        (5, "g", 0.0, None),
        (14, "g", 0.0, True),
    ]
    assert rows(running.step(batch(SCHEMA, *given)).outputs[0]) == [(1, 4), (3, 3)]
    assert rows(running.flush().outputs[0]) == [(14, 1)]


def test_windows_of_tuple_numbers_are_emitted_by_their_last_tuple() -> None:
    running = Running(Aggregate({"s": "sum(x)"}, Order(TUP, group_by=("g",)), 2), SCHEMA)
    step = running.step(batch(SCHEMA, *at(1, g="p"), *at(10, g="q"), *at(2, g="p"), *at(4, g="p")))
    assert rows(step.outputs[0]) == [("p", 3.0)]
    assert rows(step.outputs[0], CAUSE) == [2]
    assert rows(running.flush().outputs[0]) == [("q", 10.0), ("p", 4.0)]


def test_a_timeout_emits_early_and_the_rest_is_ignored() -> None:
    running = Running(Aggregate(COUNT, Order("a"), 10, timeout="5 us"), SCHEMA)
    running.step(batch(SCHEMA, *at(0, 1)), now=100)
    assert running.deadline == 106
    assert running.tick(105).outputs[0].num_rows == 0
    assert rows(running.tick(106).outputs[0]) == [(0, 2)]
    step = running.step(batch(SCHEMA, *at(5, 12)), now=107)
    assert step.ignored == 1
    assert rows(running.flush(107).outputs[0]) == [(10, 1)]


def test_a_timeout_counts_tuples_that_wait_for_their_slack() -> None:
    running = Running(Aggregate(COUNT, Order("a", slack=2), 10, timeout="5 us"), SCHEMA)
    running.step(batch(SCHEMA, *at(4, 2)), now=0)
    step = running.step(batch(SCHEMA, *at(3)), now=6)
    assert rows(step.outputs[0]) == [(2, 2)]
    assert rows(step.outputs[0], CAUSE) == [-1]
    assert step.ignored == 0
    before_first_start = running.step(batch(SCHEMA, *at(1)), now=7)
    assert before_first_start.late == 1
    assert running.deadline is None
    assert running.flush(7).ignored == 1


def test_a_window_does_not_begin_before_its_start_is_known() -> None:
    running = Running(Aggregate(COUNT, Order("a", slack=2), 10, timeout="5 us"), SCHEMA)
    running.step(batch(SCHEMA, *at(5)), now=0)
    assert running.deadline == 6
    running.step(batch(SCHEMA, *at(2)), now=3)
    assert running.deadline == 9
    opened = Running(Aggregate(COUNT, Order("a", slack=2), 10, advance_when="opens", timeout="5 us"), SCHEMA)
    opened.step(batch(SCHEMA, *at(5)), now=0)
    opened.step(batch(SCHEMA, (2, "g", 0.0, True)), now=4)
    assert opened.deadline == 10


def test_a_long_window_is_emitted_only_once() -> None:
    running = Running(Aggregate(COUNT, Order("a"), 1000, 1, timeout="1 us"), SCHEMA)
    running.step(batch(SCHEMA, *at(0, 1)), now=0)
    assert rows(running.tick(2).outputs[0]) == [(0, 2), (1, 1)]
    assert running.tick(5).outputs[0].num_rows == 0
    assert running.flush(5).outputs[0].num_rows == 0


def test_rows_without_a_place_are_rejected_and_causes_keep_their_rows() -> None:
    running = Running(Aggregate(COUNT, Order("a"), 5), SCHEMA)
    step = running.step(batch(SCHEMA, *at(None, 0, None, 9)))
    assert rows(step.outputs[0], CAUSE) == [3]
    assert step.rejected is not None
    assert step.rejected.num_rows == 2


def test_tumble_of_the_paper() -> None:
    """Figure 2 of Aurora*: runs of equal A, and the average of B."""
    schema = parse_schema("a int, b int")
    given = batch(schema, (1, 2), (1, 3), (2, 2), (2, 1), (2, 6), (4, 5), (4, 2))
    running = Running(Tumble({"result": "avg(b)"}, ("a",)), schema)
    step = running.step(given)
    assert rows(step.outputs[0]) == [(1, 2.5), (2, 3.0)]
    assert rows(step.outputs[0], CAUSE) == [2, 5]
    assert rows(running.flush().outputs[0]) == [(4, 3.5)]


def test_a_run_that_timed_out_ignores_its_rest() -> None:
    schema = parse_schema("a int, b int")
    running = Running(Tumble({"n": "count(*)"}, ("a",), timeout="5 us"), schema)
    running.step(batch(schema, (1, 0), (1, 0)), now=0)
    assert running.deadline == 6
    step = running.step(batch(schema, (1, 0), (2, 0), (1, 0)), now=6)
    assert rows(step.outputs[0]) == [(1, 2), (2, 1)]
    assert rows(step.outputs[0], CAUSE) == [-1, 2]
    assert step.ignored == 1
    assert rows(running.flush(6).outputs[0]) == [(1, 1)]
