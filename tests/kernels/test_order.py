"""Which tuples have a place, and in which order they are released."""

from __future__ import annotations

import bisect
import math

import numpy as np
import pyarrow as pa
import pytest

from australis.kernels.kernel import REASON
from australis.kernels.marks import Marks, rising
from australis.kernels.ordering import release_by_length, release_by_marks
from australis.kernels.ordering.order import NOTHING, from_sort_keys, place, release, sort_keys


def test_values_without_a_place_are_rejected() -> None:
    values = [1, None, 2**62, -(2**62), 2**62 - 1, 1 - 2**62]
    placed = place(pa.table({"at": pa.array(values, pa.int64())}), "at")
    assert placed.values.tolist() == [1, 2**62 - 1, 1 - 2**62]
    assert placed.rows.tolist() == [0, 4, 5]
    assert placed.rejected is not None
    reasons = placed.rejected[REASON].to_pylist()
    assert [reason.split(",")[0] for reason in reasons] == [
        "'at' is NULL",
        *["'at' is 2^62 or more in magnitude"] * 2,
    ]


def test_doubles_far_from_0_in_advances_are_rejected() -> None:
    batch = pa.table({"at": [2.0**49, -(2.0**51), math.inf, math.nan, 0.5]})
    assert place(batch, "at", 0.5).values.tolist() == [2.0**49, 0.5]
    assert place(batch, "at").values.tolist() == [2.0**49, -(2.0**51), 0.5]


def test_sort_keys_compare_as_their_values() -> None:
    values = np.array([-math.inf, -1e300, -1.0, -5e-324, 0.0, 5e-324, 1.0, 1e300, math.inf])
    keys = sort_keys(values)
    assert (np.diff(keys) > 0).all()
    assert keys.min() > NOTHING
    assert from_sort_keys(keys, values.dtype).tolist() == values.tolist()


@pytest.mark.parametrize("slack", [0, 1, 2, 7, 64, 65, 200])
def test_releases_are_those_of_a_sorted_buffer(slack: int) -> None:
    random = np.random.default_rng(slack)
    groups = random.integers(0, 3, 2000)
    values = np.arange(2000) // 4 - random.integers(0, 20 + slack, 2000)
    buffers: list[list[tuple[int, int]]] = [[], [], []]
    expected, late, passed = [], 0, [NOTHING] * 3
    for row, (group, value) in enumerate(zip(groups.tolist(), values.tolist(), strict=True)):
        if value < passed[group]:
            late += 1
            continue
        bisect.insort(buffers[group], (value, row))
        if len(buffers[group]) > slack:
            passed[group], left = buffers[group].pop(0)
            expected.append((left, group, passed[group], row))
    found = release(groups, values, 0, np.full(3, NOTHING), slack, drop_late=True)
    columns = (found.rows, found.groups, found.keys, found.causes)
    assert list(zip(*(column.tolist() for column in columns), strict=True)) == expected
    assert found.late == late
    assert found.waiting.tolist() == sorted(row for buffer in buffers for _, row in buffer)
    assert found.passed.tolist() == passed


def test_rows_that_wait_come_first() -> None:
    found = release(np.zeros(4, np.int64), np.array([5, 7, 6, 8]), 2, np.array([3]), 2, drop_late=True)
    assert found.rows.tolist() == [0, 2]
    assert found.causes.tolist() == [0, 1]
    assert found.waiting.tolist() == [1, 3]


@pytest.mark.parametrize("slack", [0, 3, 50])
def test_releases_by_length_are_those_of_what_a_group_has_passed(slack: int) -> None:
    random = np.random.default_rng(slack)
    groups = random.integers(0, 3, 2000)
    values = np.arange(2000) // 4 - random.integers(0, 20 + slack, 2000)
    held: list[list[tuple[int, int]]] = [[], [], []]
    expected, late, passed = [], 0, [NOTHING] * 3
    for row, (group, value) in enumerate(zip(groups.tolist(), values.tolist(), strict=True)):
        if value < passed[group]:
            late += 1
            continue
        bisect.insort(held[group], (value, row))
        passed[group] = max(passed[group], value - slack)
        while held[group] and held[group][0][0] <= passed[group]:
            key, left = held[group].pop(0)
            expected.append((left, group, key, row))
    found = release_by_length(groups, values, 0, np.full(3, NOTHING), slack, drop_late=True)
    columns = (found.rows, found.groups, found.keys, found.causes)
    assert list(zip(*(column.tolist() for column in columns), strict=True)) == expected
    assert (found.late, found.passed.tolist()) == (late, passed)
    assert found.waiting.tolist() == sorted(row for each in held for _, row in each)


@pytest.mark.parametrize("before", [None, 5])
@pytest.mark.parametrize("disorder", [1, 12, 40])
def test_releases_by_marks_are_those_of_one_buffer(before: int | None, disorder: int) -> None:
    random = np.random.default_rng(disorder)
    values = np.arange(1000) // 4 - random.integers(0, disorder, 1000)
    causes = 10 + np.arange(1000) * 2
    marks = rising(before, causes[::3] + random.integers(0, 2, 334), values[::3] - 10)
    waiting = [300, 20, 20]
    held = sorted((value, row) for row, value in enumerate(waiting))
    arrivals = dict(zip(causes.tolist(), enumerate(values.tolist(), len(waiting)), strict=True))
    risen = dict(zip(marks.causes.tolist(), marks.values.tolist(), strict=True))
    expected, mark = [], -math.inf if before is None else before
    for cause in range(int(causes[-1]) + 2):
        if cause in arrivals:
            row, value = arrivals[cause]
            bisect.insort(held, (value, row))
        mark = risen.get(cause, mark)
        while held and held[0][0] <= mark:
            value, row = held.pop(0)
            expected.append((row, value, cause))
    everything = np.append(waiting, values)
    found = release_by_marks(np.zeros(1003, np.int64), everything, len(waiting), causes, marks)
    columns = (found.rows, found.keys, found.causes)
    assert list(zip(*(column.tolist() for column in columns), strict=True)) == expected
    assert found.waiting.tolist() == sorted(row for _, row in held)


@pytest.mark.parametrize("before", [None, 5])
def test_tuples_below_the_mark_before_their_cause_are_late(before: int | None) -> None:
    marks = Marks(before, np.array([3, 7, 20]), np.array([7, 9, 30]))
    causes, values = np.array([1, 1, 3, 4, 7, 8, 8, 19]), np.array([4, 5, 6, 6, 8, 8, 9, 29])
    expected = [before is not None, False, False, True, False, True, False, False]
    assert marks.late(values, causes).tolist() == expected
    assert Marks(before, causes[:0], values[:0]).late(values, causes).any() == (before is not None)
