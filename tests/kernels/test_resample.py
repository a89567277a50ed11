"""Resample over batches, against results worked out by hand."""

from __future__ import annotations

from typing import Any

import pytest
from tests.kernels.running import Run

from australis.algebra.boxes import Resample
from australis.algebra.order import Order
from australis.kernels.pairing import resample_results as results

HEARTBEATS, REPORTS = "t long", "t long, sid int, pos double"


def resample(
    functions: dict[str, str] | None = None, slack: int = 0, left_slack: int = 0, **more: Any
) -> Resample:
    calls = functions or {"n": "count(*)", "mean": "avg(pos)"}
    right = Order("t", slack, more.get("group_by", ("sid",)))
    return Resample(calls, more.get("size", 2), Order("t", left_slack), right)


def test_a_window_leaves_when_its_group_has_passed_it() -> None:
    run = Run(resample(), HEARTBEATS, REPORTS)
    assert run.push(0, (10,)) == []
    assert run.push(1, (8, 1, 1.0), (12, 1, 3.0), (9, 2, 5.0), (12, 2, 6.0)) == []
    assert run.push(1, (13, 2, 7.0), (13, 1, 8.0)) == [(2, 10, 2, 5.5), (1, 10, 2, 2.0)]
    assert run.causes == [0, 1]
    assert run.ts == [1, 1]


def test_with_size_zero_the_window_is_one_place() -> None:
    run = Run(resample(size=0), HEARTBEATS, REPORTS)
    run.push(0, (10,))
    assert run.push(1, (9, 1, 1.0), (10, 1, 3.0), (10, 1, 5.0), (11, 1, 7.0)) == [(1, 10, 2, 4.0)]


def test_one_right_tuple_completes_windows_by_the_left_order() -> None:
    run = Run(resample(left_slack=2), HEARTBEATS, REPORTS)
    run.push(0, (11,), (10,), (11,), (30,))
    assert run.push(1, (10, 1, 1.0), (12, 1, 3.0), (20, 1, 9.0)) == [
        (1, 10, 2, 2.0),
        (1, 11, 2, 2.0),
        (1, 11, 2, 2.0),
    ]
    assert run.causes == [2, 2, 2]
    assert run.ts == [2, 1, 3]


def test_a_left_tuple_that_comes_late_enough_finds_its_windows_complete() -> None:
    run = Run(resample(), HEARTBEATS, REPORTS)
    run.push(1, (10, 7, 1.0), (10, 3, 2.0), (10, 5, 3.0), (20, 3, 0.0), (20, 7, 0.0))
    assert run.push(0, (9,), (10,)) == [(7, 9, 1, 1.0), (3, 9, 1, 2.0), (7, 10, 1, 1.0), (3, 10, 1, 2.0)]
    assert run.causes == [0, 0, 1, 1]
    assert run.push(1, (30, 5, 0.0)) == [(5, 9, 1, 3.0), (5, 10, 1, 3.0)]


def test_empty_windows_emit_nothing() -> None:
    run = Run(resample(), HEARTBEATS, REPORTS)
    run.push(0, (10,), (20,), (30,))
    assert run.push(1, (1, 1, 0.0), (20, 1, 4.0), (99, 1, 0.0)) == [(1, 20, 1, 4.0)]


def test_a_long_way_of_empty_windows_is_skipped() -> None:
    run = Run(resample(), HEARTBEATS, REPORTS)
    run.push(0, *((10 * number,) for number in range(200)))
    found = run.push(1, (0, 1, 1.0), (500, 2, 5.0), (1001, 1, 2.0), (1985, 1, 3.0), (1980, 2, 4.0))
    assert found == [(1, 0, 1, 1.0), (1, 1000, 1, 2.0), (2, 500, 1, 5.0)]
    assert run.causes == [2, 3, 4]
    assert run.push(1, (5000, 2, 0.0), (5000, 1, 0.0)) == [(2, 1980, 1, 4.0)]


def test_a_right_tuple_completes_more_windows_than_there_are_right_tuples() -> None:
    run = Run(resample(size=40), HEARTBEATS, REPORTS)
    run.push(0, *((number,) for number in range(100)))
    found = run.push(1, (50, 1, 1.0), (50, 2, 2.0), (500, 2, 0.0), (500, 1, 0.0))
    assert found == [(2, n, 1, 2.0) for n in range(10, 91)] + [(1, n, 1, 1.0) for n in range(10, 91)]


def test_slack_delays_what_is_passed() -> None:
    run = Run(resample(slack=1), HEARTBEATS, REPORTS)
    run.push(0, (10,))
    assert run.push(1, (10, 1, 1.0), (13, 1, 0.0)) == []
    assert run.push(1, (11, 1, 2.0)) == [], "11 comes in time, for only one tuple before it is greater"
    assert run.push(1, (14, 1, 0.0)) == [(1, 10, 2, 1.5)]
    assert run.push(1, (12, 1, 9.0)) == []
    assert run.late == 1


def test_a_left_tuple_waits_for_the_first_group_and_then_for_all_that_are_known() -> None:
    run = Run(resample(), HEARTBEATS, REPORTS)
    run.push(0, (10,))
    assert run.kept("left") == 1
    run.push(1, (9, 1, 1.0), (9, 2, 1.0), (13, 1, 0.0))
    assert run.kept("left") == 1
    run.push(1, (13, 2, 0.0))
    assert run.kept("left") == 0
    assert run.push(1, (10, 3, 1.0), (13, 3, 1.0)) == [], "group 3 came when 10 was forgotten"


def test_a_group_takes_part_from_its_first_tuple_on_also_within_a_batch() -> None:
    run = Run(resample(), HEARTBEATS, REPORTS)
    run.push(0, (10,))
    batch = [(9, 1, 1.0), (10, 2, 2.0), (13, 1, 0.0), (13, 2, 0.0), (10, 3, 3.0), (13, 3, 0.0)]
    assert run.push(1, *batch) == [(1, 10, 1, 1.0), (2, 10, 1, 2.0)]
    assert run.causes == [2, 3]


def test_right_tuples_are_forgotten_when_no_left_tuple_can_need_them() -> None:
    run = Run(resample(), HEARTBEATS, REPORTS)
    run.push(1, (1, 1, 0.0), (8, 1, 0.0), (9, 2, 0.0))
    assert run.kept("right") == 3
    run.push(0, (11,))
    assert run.kept("right") == 1, "11 - 8 > 2, but 9 is near 11"
    run.push(0, (20,))
    assert run.kept("right") == 1, "11 still waits for both groups"
    run.push(1, (30, 2, 0.0), (30, 1, 0.0))
    assert run.kept("right") == 2


def test_the_end_emits_what_waits_by_left_tuple_then_by_group() -> None:
    run = Run(resample(left_slack=1), HEARTBEATS, REPORTS)
    run.push(1, (10, 9, 1.0), (11, 4, 2.0))
    run.push(0, (12,), (10,))
    assert run.flush() == [(9, 10, 1, 1.0), (4, 10, 1, 2.0), (9, 12, 1, 1.0), (4, 12, 1, 2.0)]
    assert run.causes == [-1] * 4
    assert run.ts == [1, 2, 1, 2]
    assert run.flush() == []


def test_without_groups_all_right_tuples_are_in_one() -> None:
    run = Run(resample({"mean": "avg(pos)"}, group_by=()), HEARTBEATS, REPORTS)
    run.push(0, (10,))
    assert run.push(1, (9, 1, 1.0), (10, 2, 2.0), (13, 1, 0.0)) == [(10, 1.5)]


def test_windows_in_parts_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(results, "MEMBERS_MOST", 1)
    run = Run(resample({"n": "count(*)", "last": "last(pos)"}), HEARTBEATS, REPORTS)
    run.push(0, (10,), (11,), (12,))
    found = run.push(1, (10, 1, 1.0), (11, 1, 2.0), (14, 1, 3.0), (90, 1, 0.0))
    assert found == [(1, 10, 2, 2.0), (1, 11, 2, 2.0), (1, 12, 3, 3.0)]
    assert run.causes == [2, 2, 3]


CALLS = {"line": "linear(pos)", "near": "nearest(pos)", "last": "last_value(pos)"}


class TestInterpolation:
    """`linear`, `nearest` and `last_value` at a left tuple."""

    def at(self, *reports: tuple[int, float | None], time: int = 10) -> tuple[Any, ...]:
        run = Run(resample(CALLS, size=8), HEARTBEATS, REPORTS)
        run.push(0, (time,))
        run.push(1, *((at, 1, pos) for at, pos in reports))
        return run.flush()[0][2:]

    def test_between_two_tuples(self) -> None:
        assert self.at((8, 1.0), (12, 3.0)) == (2.0, 1.0, 1.0)
        assert self.at((4, 0.0), (12, 8.0)) == (6.0, 8.0, 0.0)

    def test_exactly_at_a_tuple_its_value_counts_the_last_of_several(self) -> None:
        assert self.at((10, 5.0), (10, 7.0), (11, 9.0)) == (7.0, 7.0, 7.0)

    def test_on_one_side_only(self) -> None:
        assert self.at((8, 1.0), (9, 2.0)) == (2.0, 2.0, 2.0)
        assert self.at((11, 4.0), (12, 5.0)) == (4.0, 4.0, None)

    def test_nulls_are_passed_over(self) -> None:
        assert self.at((6, 1.0), (9, None), (11, None), (14, 3.0)) == (2.0, 1.0, 1.0)
        assert self.at((9, None), (11, None)) == (None, None, None)

    def test_tuples_of_other_windows_do_not_count(self) -> None:
        run = Run(resample(CALLS, size=1), HEARTBEATS, REPORTS)
        run.push(0, (10,), (20,))
        found = run.push(1, (9, 1, 1.0), (9, 2, None), (13, 1, 5.0), (19, 2, 7.0))
        assert found == [(1, 10, 1.0, 1.0, 1.0), (2, 10, None, None, None)]
        assert run.flush() == [(2, 20, 7.0, 7.0, 7.0)]
