"""The windows of a Resample: for each left tuple and right group, the right tuples near it (Aurora 5.2.2.4).

Left values are sorted; right values are sorted within each group. What a group has passed is then the number
of left tuples that it is done with, so that no list of open windows is needed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from australis.kernels.arrays import Indexes, Numbers, frozen, seek_beyond, seek_near
from australis.kernels.compiled import njit
from australis.kernels.ordering import Arrived, Passed

STEPS_MOST = 8
"""Empty windows in a row after which the next left tuple is searched for."""


@dataclass(frozen=True)
class Windows:
    """Windows that are not empty, each of a left tuple and a group, with the places of its right tuples."""

    lefts: Indexes
    groups: Indexes
    lows: Indexes
    highs: Indexes

    def take(self, rows: Indexes | slice) -> Windows:
        """Some of the windows, in this order."""
        return Windows(self.lefts[rows], self.groups[rows], self.lows[rows], self.highs[rows])


class Searched(NamedTuple):
    """How far each group has come: its next left tuple, and the places of its last window."""

    lefts: Indexes
    lows: Indexes
    highs: Indexes


class Found(NamedTuple):
    """Room for windows, and for the tuples that completed them."""

    lefts: Indexes
    groups: Indexes
    lows: Indexes
    highs: Indexes
    movers: Indexes


def lefts_done(lefts: Numbers, passed: Passed, size: int | float) -> Indexes:
    """How many of the ascending left values each group is done with: those with passed - value > size."""
    return np.where(passed.open, 0, _done(lefts, passed.values, size))


def windows_around(
    lefts: Numbers, begins: Indexes, ends: Indexes, starts: Indexes, laid_out: Numbers, size: int | float
) -> Windows:
    """For each group its windows around the left values from `begins[group]` to `ends[group]`, in order."""
    return Windows(*_windows(lefts, begins, ends, starts, laid_out, size))


def windows_passed(
    lefts: Numbers, begins: Indexes, arrived: Arrived, starts: Indexes, laid_out: Numbers, size: int | float
) -> tuple[Windows, Indexes]:
    """The windows that arrived tuples complete, from the left value `begins[group]` on, and these tuples.

    They come by the tuple that completes them, then by left value.
    """
    searched = Searched(begins.copy(), starts[:-1].copy(), starts[:-1].copy())
    movers = (frozen(arrived.codes), frozen(arrived.movers), frozen(arrived.moved))
    parts, done = [], 0
    while done < len(arrived.movers):
        room = Found(*(np.empty(len(laid_out) + 1, np.int64) for _ in Found._fields))
        done, count = _pass(lefts, *movers, starts, laid_out, size, searched, room, done)
        parts.append([column[:count] for column in room])
    found = [np.concatenate(each) if len(each) > 1 else each[0] for each in zip(*parts, strict=True)]
    *windows, causes = found or [np.empty(0, np.int64) for _ in Found._fields]
    return Windows(*windows), causes


@njit(nogil=True)
def _done(lefts: Any, passed: Any, size: Any) -> Any:
    counts = np.empty(len(passed), np.int64)
    guess = 0
    for group in range(len(passed)):
        guess = counts[group] = seek_near(lefts, 0, len(lefts), guess, passed[group], size)
    return counts


@njit(nogil=True)
def _windows(lefts: Any, begins: Any, ends: Any, starts: Any, laid_out: Any, size: Any) -> Any:
    """The left tuple, group, low and high of windows. Empty ones are skipped, at almost no cost."""
    room, count = len(laid_out) + 1024, 0
    at, of = np.empty(room, np.int64), np.empty(room, np.int64)
    lows, highs = np.empty(room, np.int64), np.empty(room, np.int64)
    for group in range(len(begins)):
        left, end = begins[group], ends[group]
        first, last = starts[group], starts[group + 1]
        low = high = first
        while left < end:
            value = lefts[left]
            low = seek_near(laid_out, first, last, low, value, size)
            if low == last:
                break
            if laid_out[low] - value > size:
                left = seek_near(lefts, begins[group], end, left, laid_out[low], size)
                continue
            high = seek_beyond(laid_out, low, last, max(low, high), value, size)
            if count == len(at):
                at, of = np.concatenate((at, at)), np.concatenate((of, of))
                lows, highs = np.concatenate((lows, lows)), np.concatenate((highs, highs))
            at[count], of[count], lows[count], highs[count] = left, group, low, high
            count += 1
            left += 1
    return at[:count], of[:count], lows[:count], highs[:count]


@njit(nogil=True)
def _pass(
    lefts: Any,
    codes: Any,
    movers: Any,
    moved: Any,
    starts: Any,
    laid_out: Any,
    size: Any,
    searched: Searched,
    found: Found,
    begin: int,
) -> tuple[int, int]:
    """Fill in the windows that movers complete, from the mover `begin` on.

    Returns how many movers are done and how many windows were found; if there is no room for more, it is to
    be continued. The places of a group only move ahead, so that all steps along it are as many as its tuples.
    """
    count, room, past = 0, len(found.lefts), len(lefts)
    for at in range(begin, len(movers)):
        mover = movers[at]
        group = np.uint64(codes[np.uint64(mover)])
        left = searched.lefts[group]
        if left == past or moved[at] - lefts[np.uint64(left)] <= size:
            continue
        low, high, last = searched.lows[group], searched.highs[group], starts[group + np.uint64(1)]
        empty = 0
        while count < room and left < past and moved[at] - lefts[np.uint64(left)] > size:
            value = lefts[np.uint64(left)]
            while low < last and value - laid_out[np.uint64(low)] > size:
                low += 1
            high = max(low, high)
            while high < last and laid_out[np.uint64(high)] - value <= size:
                high += 1
            # An empty window is overwritten by the next one: no branch is as fast.
            place = np.uint64(count)
            found.lefts[place], found.groups[place] = left, group
            found.lows[place], found.highs[place], found.movers[place] = low, high, mover
            count += high > low
            empty += high == low
            left += 1
            if empty > STEPS_MOST and left < past:
                empty, skipped = 0, left
                left = seek_near(lefts, skipped, past, skipped, moved[at], size)
                if low < last:
                    left = min(left, seek_near(lefts, skipped, past, skipped, laid_out[low], size))
        searched.lefts[group], searched.lows[group], searched.highs[group] = left, low, high
        if count == room:
            return at, count
    return len(movers), count


@njit(nogil=True)
def still_useful(values: Any, groups: Any, lefts: Any, done: Any, passed: Any, size: Any) -> Any:
    """Which right tuples are near a left tuple that may come, or one for which their group still waits.

    `done` are the left tuples that each group is done with, `passed` is what the left side has passed.
    """
    useful = np.empty(len(values), np.bool_)
    for row in range(len(values)):
        first = done[groups[row]]
        waits = first < len(lefts) and lefts[first] - values[row] <= size
        useful[row] = waits or passed - values[row] <= size
    return useful


@njit(nogil=True)
def passed_by_all(
    codes: Any, movers: Any, moved: Any, passed: Any, is_open: Any, known: int
) -> tuple[Any, Any]:
    """The greatest value that all groups known at a time have passed: before each new group, and at the end.

    `codes` are the groups of arriving tuples, of which `movers` advance what their group has passed, to
    `moved`. `passed` and `is_open` say what each group had passed before; the first `known` of them were
    known then. The first result has a value for each new group and one for the end; the second marks where
    there is none.
    """
    passed, is_open = passed.copy(), is_open.copy()
    most = np.zeros(len(passed) - known + 1, passed.dtype)
    none = np.ones(len(passed) - known + 1, np.bool_)
    count, still_open, least, mover = known, is_open[:known].sum(), 0, 0
    for row in range(len(codes) + 1):
        if row == len(codes) or codes[row] == count:
            at = count - known
            if at:
                most[at], none[at] = most[at - 1], none[at - 1]
            # Until the group that has passed least moves on, the others need not be checked.
            if count and not still_open and (none[at] or passed[least] > most[at]):
                least = int(np.argmin(passed[:count]))
                if none[at] or passed[least] > most[at]:
                    most[at], none[at] = passed[least], False
            if row == len(codes):
                break
            count += 1
            still_open += 1
        if mover < len(movers) and movers[mover] == row:
            still_open -= is_open[codes[row]]
            is_open[codes[row]] = False
            passed[codes[row]] = moved[mover]
            mover += 1
    return most, none
