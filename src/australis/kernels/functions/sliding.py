"""The compiled loops of window functions over windows that are ranges of rows, by where they begin.

Both ends of the ranges ascend. So the least value of each is found in one pass over all rows, and several
windows can add what they share side by side, each in the order of its rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from australis.kernels.arrays import Indexes, Mask, Numbers, Texts, is_text_before
from australis.kernels.compiled import njit

LANES = 8
"""Windows that add side by side."""


@njit(nogil=True)
def sum_ranges(sums: Numbers, slots: Indexes, lows: Indexes, highs: Indexes, values: Numbers) -> None:
    """Add the values of each range to its slot's sum, one by one."""
    for first in range(0, slots.shape[0], LANES):
        past = min(first + LANES, slots.shape[0])
        low, high = lows[past - 1], highs[first]
        if past - first < LANES or low >= high:
            for window in range(first, past):
                slot = slots[window]
                sums[slot] = _added(sums[slot], values, lows[window], highs[window])
            continue
        for window in range(first, past):
            sums[slots[window]] = _added(sums[slots[window]], values, lows[window], low)
        _add_shared(sums, slots, first, values, low, high)
        for window in range(first, past):
            sums[slots[window]] = _added(sums[slots[window]], values, high, highs[window])


@njit(nogil=True, inline=True)
def _added(total: Any, values: Numbers, low: int, high: int) -> Any:
    for place in range(low, high):
        total += values[np.uint64(place)]
    return total


@njit(nogil=True, inline=True)
def _add_shared(sums: Numbers, slots: Indexes, first: int, values: Numbers, low: int, high: int) -> None:
    """Add the rows that eight windows share; eight sums in registers depend on nothing but the row."""
    a, b, c, d = sums[slots[first]], sums[slots[first + 1]], sums[slots[first + 2]], sums[slots[first + 3]]
    e, f, g, h = (
        sums[slots[first + 4]],
        sums[slots[first + 5]],
        sums[slots[first + 6]],
        sums[slots[first + 7]],
    )
    for place in range(low, high):
        value = values[np.uint64(place)]
        a, b, c, d = a + value, b + value, c + value, d + value
        e, f, g, h = e + value, f + value, g + value, h + value
    sums[slots[first]], sums[slots[first + 1]], sums[slots[first + 2]], sums[slots[first + 3]] = a, b, c, d
    sums[slots[first + 4]], sums[slots[first + 5]] = e, f
    sums[slots[first + 6]], sums[slots[first + 7]] = g, h


@njit(nogil=True)
def deviate_ranges(
    counts: Numbers,
    means: Numbers,
    squares: Numbers,
    slots: Indexes,
    lows: Indexes,
    highs: Indexes,
    values: Numbers,
) -> None:
    """Update mean and squared differences with the values of each range, as `add_deviations` does."""
    for window in range(slots.shape[0]):
        slot = slots[window]
        count, mean, square = counts[slot], means[slot], squares[slot]
        for place in range(lows[window], highs[window]):
            count += 1.0
            difference = values[np.uint64(place)] - mean
            step = difference / count
            mean += step
            square += difference * (difference - step)
        counts[slot], means[slot], squares[slot] = count, mean, square


@njit(nogil=True)
def least_places(lows: Indexes, highs: Indexes, keys: Indexes, counted: Mask) -> Indexes:
    """The place with the least key in each range, of equal ones the first; -1 if none is counted."""
    found, queue = np.full(lows.shape[0], -1), np.empty(keys.shape[0], np.int64)
    front = back = 0
    place = 0
    for window in range(lows.shape[0]):
        place = max(place, lows[window])
        while place < highs[window]:
            if counted[np.uint64(place)]:
                while back > front and keys[np.uint64(queue[np.uint64(back - 1)])] > keys[np.uint64(place)]:
                    back -= 1
                queue[np.uint64(back)] = place
                back += 1
            place += 1
        while back > front and queue[np.uint64(front)] < lows[window]:
            front += 1
        if back > front:
            found[window] = queue[np.uint64(front)]
    return found


@njit(nogil=True)
def text_places(
    lows: Indexes, highs: Indexes, rows: Indexes, texts: Texts, greatest: bool, counted: Mask
) -> Indexes:
    """The place with the least or the greatest text in each range, of equal ones the first; -1 for none."""
    found, queue = np.full(lows.shape[0], -1), np.empty(rows.shape[0], np.int64)
    front = back = 0
    place = 0
    for window in range(lows.shape[0]):
        place = max(place, lows[window])
        while place < highs[window]:
            if counted[place]:
                while back > front and _replaces(texts, rows[place], rows[queue[back - 1]], greatest):
                    back -= 1
                queue[back] = place
                back += 1
            place += 1
        while back > front and queue[front] < lows[window]:
            front += 1
        if back > front:
            found[window] = queue[front]
    return found


@njit(nogil=True)
def _replaces(texts: Texts, row: int, other: int, greatest: bool) -> bool:
    """Whether a text comes strictly before another, in the direction asked for."""
    return bool(is_text_before(texts, other, row) if greatest else is_text_before(texts, row, other))
