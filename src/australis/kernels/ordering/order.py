"""Order and slack (Aurora 5.2.2): which tuples have a place, which are late, and when the rest are released.

In: a batch and the tuples still waiting. Out: the rows in the order of their release, each with the arrival
that released it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from australis.algebra.quarantine_text import GREATEST_ADVANCES, ORDER_LIMIT, order_reason
from australis.algebra.types import DataType
from australis.kernels.arrays import Indexes, Mask, Numbers, array_of, column, frozen, numbers, rows_of
from australis.kernels.compiled import njit
from australis.kernels.expressions import arrow, nulls
from australis.kernels.kernel import CAUSE, causes_of, refused
from australis.kernels.marks import Marks

NO_ROWS: Indexes = np.empty(0, np.int64)
NOTHING = -(2**63)
"""The sort key for a group that has passed nothing yet: less than every key."""
SHIFTED_MOST = 64
"""Buffers up to this size are sorted arrays, into which a row nearly in order is shifted; others, heaps."""


@dataclass(frozen=True)
class Placed:
    """The tuples of a batch that have a place in an order, with their values; the others are rejected."""

    batch: pa.Table
    values: Numbers
    """In the units of the type: int64, or float64 for doubles."""
    rows: Indexes
    """The row of each tuple in the original batch."""
    rejected: pa.Table | None


def place(batch: pa.Table, on: str, advance: int | float | None = None) -> Placed:
    """Read the order values of a batch and reject tuples without a place; `advance` is an Aggregate's.

    >>> placed = place(pa.table({"at": [2.5, None, float("nan"), -1.0]}), "at")
    >>> placed.values.tolist(), placed.rows.tolist(), placed.rejected["#reason"][1].as_py()
    ([2.5, -1.0], [0, 3], "'at' is NaN, which has no place in an order")
    """
    array = column(batch, on)
    values, missing = numbers(array), nulls(array)
    if missing is None and _all_within(values, advance):
        return Placed(batch, values, np.arange(len(values)), None)
    within = _within(values, advance)
    if missing is not None:
        within &= ~missing
    if within.all():
        return Placed(batch, values, np.arange(len(values)), None)
    rows, outside = np.flatnonzero(within), np.flatnonzero(~within)
    reasons = [
        order_reason(on, None if missing is not None and missing[row] else values[row].item(), advance)
        for row in outside
    ]
    return Placed(rows_of(batch, rows), values[rows], rows, refused(batch, outside, reasons))


def in_time(placed: Placed, marks: Marks) -> tuple[Placed, Indexes]:
    """The tuples that are not below the marks of their arc, and which of them are; the batch has causes."""
    late = marks.late(placed.values, causes_of(placed.batch))
    if not late.any():
        return placed, NO_ROWS
    kept = np.flatnonzero(~late)
    found = Placed(rows_of(placed.batch, kept), placed.values[kept], placed.rows[kept], placed.rejected)
    return found, np.flatnonzero(late)


def late_tuples(placed: Placed, rows: Indexes, causes: Indexes) -> pa.Table:
    """Some tuples of a batch, as they came, each with its cause."""
    found = rows_of(placed.batch, rows)
    if CAUSE in found.column_names:
        found = found.drop_columns([CAUSE])
    return found.append_column(pa.field(CAUSE, pa.int64(), False), pa.array(causes[rows], pa.int64()))


def _all_within(values: Numbers, advance: int | float | None) -> bool:
    """Whether all values have a place: the least and the greatest must have one. A NaN would be both."""
    return not len(values) or bool(_within(np.array([values.min(), values.max()]), advance).all())


def _within(values: Numbers, advance: int | float | None) -> Mask:
    within: Mask = (values > -ORDER_LIMIT) & (values < ORDER_LIMIT)
    if advance is not None and values.dtype == np.float64:
        within &= np.abs(values) / advance <= GREATEST_ADVANCES
    return within


def sort_keys(values: Numbers) -> Indexes:
    """Whole numbers that compare like the values, so that one compiled loop serves all orders.

    >>> sort_keys(np.array([1.0, -0.0, 0.0, -1.0])).argsort(kind="stable").tolist()
    [3, 1, 2, 0]
    """
    if values.dtype == np.int64:
        return values
    bits = (values + 0.0).view(np.int64)
    return bits ^ ((bits >> 63) & 0x7FFF_FFFF_FFFF_FFFF)


def from_sort_keys(keys: Indexes, dtype: np.dtype[Any]) -> Numbers:
    """The values of some sort keys."""
    if dtype == np.int64:
        return keys
    return (keys ^ ((keys >> 63) & 0x7FFF_FFFF_FFFF_FFFF)).view(np.float64)


def passed_keys(stored: pa.Array) -> Indexes:
    """The sort keys of what groups have passed, from a column of the state where NULL means nothing yet."""
    keys = sort_keys(numbers(stored)).copy()
    missing = nulls(stored)
    if missing is not None:
        keys[missing] = NOTHING
    return keys


def passed_array(keys: Indexes, order_type: DataType) -> pa.Array:
    """What groups have passed as a column of the state: the inverse of `passed_keys`."""
    stored = pa.float64() if order_type.name == "double" else pa.int64()
    values = from_sort_keys(keys, np.dtype(np.float64 if stored == pa.float64() else np.int64))
    return arrow(values, stored, keys == NOTHING)


def order_array(values: Numbers, order_type: DataType) -> pa.Array:
    """Order values in units as an array of the attribute's type; 0.0 stands for both zeros."""
    return array_of(values + values.dtype.type(0), order_type.arrow)


@dataclass(frozen=True)
class Released:
    """What the arrival of a batch releases, in order; every arrival releases at most one tuple.

    `rows` are those that were waiting (in order of arrival) and then those of the batch, numbered from 0.
    """

    rows: Indexes
    groups: Indexes
    keys: Indexes
    """The group and the sort key of each released row."""
    causes: Indexes
    """For each released row, the row of the batch whose arrival released it."""
    late: int
    """How many rows of the batch are late."""
    waiting: Indexes
    """The rows that still wait, in order of arrival."""
    passed: Indexes
    """The sort key of what each group has passed: that of its last released tuple that was not late."""

    def late_rows(self, waiting: int, count: int) -> Indexes:
        """The late ones among the new rows, if they were dropped; `waiting` and `count` are old and all rows.

        They are numbered from 0 without the rows that were waiting.
        """
        if not self.late:
            return NO_ROWS
        dropped = np.ones(count, np.bool_)
        dropped[self.rows] = False
        dropped[self.waiting] = False
        return np.flatnonzero(dropped[waiting:])


def release(
    codes: Indexes, keys: Indexes, waiting: int, passed: Indexes, slack: int, *, drop_late: bool
) -> Released:
    """Run waiting and new rows through each group's buffer, which holds the `slack` greatest tuples seen.

    The first `waiting` rows were already waiting. `codes` are groups below `len(passed)`, `keys` sort keys.
    When a tuple finds its group's buffer full, the least of them all is released, of equal ones the first to
    arrive. A late tuple is itself the least, and does not change what its group has passed.

    >>> values = np.array([1, 3, 1, 2, 4, 4, 8, 3, 4, 4])  # the example of Aurora 5.2.2.1, slack 2
    >>> found = release(np.zeros(10, np.int64), values, 0, np.array([NOTHING]), 2, drop_late=False)
    >>> values[found.rows].tolist(), values[found.waiting].tolist(), found.late
    ([1, 1, 2, 3, 4, 3, 4, 4], [8, 4], 1)
    """
    fresh, passed = len(codes) - waiting, passed.copy()
    codes, keys = frozen(codes), frozen(keys)
    used = np.minimum(np.bincount(codes, minlength=len(passed)), slack)
    begins = np.concatenate([[0], np.cumsum(used)])
    held = Held(begins, np.full(begins[-1], NOTHING), np.full(begins[-1], -1))
    left = Left(*(np.empty(fresh, np.int64) for _ in Left._fields))
    count, late = _release(codes, keys, waiting, passed, drop_late, held, left)
    rows, groups, left_keys, causes = (values[:count] for values in left)
    return Released(rows, groups, left_keys, causes, late, np.sort(held.rows[held.rows >= 0]), passed)


def release_by_marks(
    codes: Indexes,
    values: Numbers,
    waiting: int,
    causes: Indexes,
    marks: Marks,
    ranks: Indexes | None = None,
) -> Released:
    """Release waiting and new rows up to the marks of their arc.

    `causes` are those of the new rows, whose release names causes of the event rather than rows of the batch.
    What a mark releases is sorted by value, or by `ranks` that also order equal values; ties by row.

    >>> marks = Marks(None, np.array([5, 8]), np.array([3, 7]))
    >>> found = release_by_marks(np.zeros(3, np.int64), np.array([7, 2, 9]), 0, np.array([4, 5, 6]), marks)
    >>> found.rows.tolist(), found.causes.tolist(), found.waiting.tolist()
    ([1, 0], [5, 8], [2])
    """
    keys = sort_keys(values)
    order = np.argsort(keys if ranks is None else ranks, kind="stable")
    reached = marks.reaching_sorted(values[order])
    rows, still = order[: len(reached)], np.sort(order[len(reached) :])
    arrivals = np.append(np.full(waiting, -1), causes)[rows]
    moments, at_once = np.maximum(reached, arrivals), reached < arrivals
    if at_once.any():
        # What a mark had reached before it came leaves as it comes, before what a mark releases then.
        sequence = np.where(at_once, rows - len(values), np.arange(len(rows)))
        by_moment = np.lexsort((sequence, moments))
        rows, moments = rows[by_moment], moments[by_moment]
    return Released(rows, codes[rows], keys[rows], moments, 0, still, np.empty(0, np.int64))


class Held(NamedTuple):
    """The buffers of all groups: group g's is from `begins[g]` to `begins[g + 1]`, the least row first.

    A buffer has at most as many entries as its group has rows. A free entry has the key NOTHING and the row
    -1.
    """

    begins: Indexes
    keys: Indexes
    rows: Indexes


class Left(NamedTuple):
    """What has left the buffers, in the form of `Released`."""

    rows: Indexes
    groups: Indexes
    keys: Indexes
    causes: Indexes


@njit(nogil=True)
def _release(
    codes: Indexes, keys: Indexes, waiting: int, passed: Indexes, drop_late: bool, held: Held, left: Left
) -> tuple[int, int]:
    """Fill `left`; returns how many have left and how many are late.

    Indexes are unsigned, so they need no check for negative values.
    """
    count = late = 0
    for row in range(codes.shape[0]):
        group, key, leaves = np.uint64(codes[row]), keys[row], row
        if key < passed[group]:
            late += 1
            if drop_late:
                continue
        else:
            begin, end = held.begins[group], held.begins[group + np.uint64(1)]
            if begin < end and held.keys[np.uint64(begin)] <= key:
                leaves, least = held.rows[np.uint64(begin)], held.keys[np.uint64(begin)]
                if end - begin <= SHIFTED_MOST:
                    _shift_in(held, begin, end, key, row)
                else:
                    _sift_in(held, begin, end - begin, key, row)
                if leaves < 0:
                    continue
                key = least
            passed[group] = key
        left.rows[count] = leaves
        left.groups[count] = group
        left.keys[count] = key
        left.causes[count] = row - waiting
        count += 1
    return count, late


@njit(nogil=True)
def _shift_in(held: Held, begin: int, end: int, key: int, row: int) -> None:
    """Replace the least row of a sorted buffer by a row that arrived after all of them."""
    place = end - 1
    while held.keys[np.uint64(place)] > key:
        place -= 1
    for lower in range(begin, place):
        held.keys[np.uint64(lower)] = held.keys[np.uint64(lower + 1)]
        held.rows[np.uint64(lower)] = held.rows[np.uint64(lower + 1)]
    held.keys[np.uint64(place)] = key
    held.rows[np.uint64(place)] = row


@njit(nogil=True)
def _sift_in(held: Held, begin: int, size: int, key: int, row: int) -> None:
    """Replace the least row of a heap by (key, row) by a row that arrived after all of them."""
    place = 0
    while True:
        below = 2 * place + 1
        if below >= size:
            break
        if below + 1 < size and _is_before(held, begin + below + 1, begin + below):
            below += 1
        if held.keys[begin + below] > key:
            break
        held.keys[begin + place] = held.keys[begin + below]
        held.rows[begin + place] = held.rows[begin + below]
        place = below
    held.keys[begin + place] = key
    held.rows[begin + place] = row


@njit(nogil=True)
def _is_before(held: Held, one: int, other: int) -> bool:
    """Whether one held row is released before another."""
    if held.keys[one] == held.keys[other]:
        return bool(held.rows[one] < held.rows[other])
    return bool(held.keys[one] < held.keys[other])
