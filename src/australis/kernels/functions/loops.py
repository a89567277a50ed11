"""The compiled loops of the window functions: one pass over pairs (slot, row), in order.

The hottest loops use unsigned indexes, which need no check for negative values.
"""

from __future__ import annotations

import numpy as np

from australis.kernels.arrays import Indexes, Mask, Numbers, Texts, is_text_before
from australis.kernels.compiled import njit


@njit(nogil=True)
def add_numbers(sums: Numbers, counts: Indexes, slots: Indexes, rows: Indexes, values: Numbers) -> None:
    """Add values one by one, and count them; whole numbers wrap at 64 bits."""
    for pair in range(slots.shape[0]):
        slot, row = np.uint64(slots[pair]), np.uint64(rows[pair])
        sums[slot] += values[row]
        counts[slot] += 1


@njit(nogil=True)
def add_deviations(
    counts: Numbers, means: Numbers, squares: Numbers, slots: Indexes, rows: Indexes, values: Numbers
) -> None:
    """Update mean and squared differences with each value, by Welford's method."""
    for pair in range(slots.shape[0]):
        slot = slots[pair]
        counts[slot] += 1.0
        difference = values[rows[pair]] - means[slot]
        step = difference / counts[slot]
        means[slot] += step
        squares[slot] += difference * (difference - step)


@njit(nogil=True)
def add_products(
    counts: Numbers,
    x_means: Numbers,
    y_means: Numbers,
    products: Numbers,
    x_squares: Numbers,
    y_squares: Numbers,
    slots: Indexes,
    rows: Indexes,
    x_values: Numbers,
    y_values: Numbers,
) -> None:
    """Update means, squared differences and their products with each pair of values, by Welford's method."""
    for pair in range(slots.shape[0]):
        slot, x, y = slots[pair], x_values[rows[pair]], y_values[rows[pair]]
        counts[slot] += 1.0
        dx, dy = x - x_means[slot], y - y_means[slot]
        x_means[slot] += dx / counts[slot]
        y_means[slot] += dy / counts[slot]
        products[slot] += dx * (y - y_means[slot])
        x_squares[slot] += dx * (x - x_means[slot])
        y_squares[slot] += dy * (y - y_means[slot])


@njit(nogil=True)
def choose_least(chosen: Indexes, slots: Indexes, rows: Indexes, keys: Indexes) -> None:
    """Choose for each slot the row with the least key, of equal keys the first."""
    for pair in range(slots.shape[0]):
        slot, row = slots[pair], rows[pair]
        if chosen[slot] < 0 or keys[row] < keys[chosen[slot]]:
            chosen[slot] = row


@njit(nogil=True)
def choose_text(chosen: Indexes, slots: Indexes, rows: Indexes, texts: Texts, greatest: bool) -> None:
    """Choose for each slot the row with the least or the greatest text, of equal ones the first."""
    for pair in range(slots.shape[0]):
        slot, row = slots[pair], rows[pair]
        best = chosen[slot]
        if best < 0 or (is_text_before(texts, best, row) if greatest else is_text_before(texts, row, best)):
            chosen[slot] = row


@njit(nogil=True)
def choose_first(chosen: Indexes, slots: Indexes, rows: Indexes) -> None:
    """Choose for each slot the first row."""
    for pair in range(slots.shape[0]):
        if chosen[slots[pair]] < 0:
            chosen[slots[pair]] = rows[pair]


@njit(nogil=True)
def choose_last(chosen: Indexes, slots: Indexes, rows: Indexes) -> None:
    """Choose for each slot the last row."""
    for pair in range(slots.shape[0]):
        chosen[slots[pair]] = rows[pair]


@njit(nogil=True)
def choose_by_keys(chosen: Indexes, slots: Indexes, rows: Indexes, keys: Indexes, takes_last: bool) -> None:
    """Choose for each slot the first row by some keys, a column each, or the last; of equal ones likewise."""
    for pair in range(slots.shape[0]):
        slot, row = slots[pair], rows[pair]
        if chosen[slot] < 0 or _comes_before(keys, row, chosen[slot]) != takes_last:
            chosen[slot] = row


@njit(nogil=True)
def _comes_before(keys: Indexes, one: int, other: int) -> bool:
    """Whether a row precedes another by its keys, of which the first that differs decides."""
    for column in range(keys.shape[1]):
        if keys[one, column] != keys[other, column]:
            return bool(keys[one, column] < keys[other, column])
    return False


@njit(nogil=True)
def add_decimals(
    sums: Numbers,
    counts: Indexes,
    overflown: Mask,
    slots: Indexes,
    rows: Indexes,
    low: Numbers,
    high: Indexes,
    bound: Numbers,
) -> None:
    """Add 128-bit numbers exactly in 192 bits: three words per slot, the lowest first.

    A slot is marked as soon as its sum is not between the negative and the positive `bound`, both exclusive.
    """
    for pair in range(slots.shape[0]):
        slot, row = slots[pair], rows[pair]
        extension = np.uint64(high[row] >> 63)
        _add_words(sums[slot], low[row], np.uint64(high[row]), extension)
        counts[slot] += 1
        if not _is_within(sums[slot], bound):
            overflown[slot] = 1


@njit(nogil=True)
def add_decimal_ranges(
    sums: Numbers, slots: Indexes, lows: Indexes, highs: Indexes, low: Numbers, high: Indexes
) -> None:
    """Add ranges of 128-bit numbers, as differences of running sums; no sum exceeds its bound on the way."""
    running = np.zeros((low.shape[0] + 1, 3), np.uint64)
    for row in range(low.shape[0]):
        running[row + 1] = running[row]
        _add_words(running[row + 1], low[row], np.uint64(high[row]), np.uint64(high[row] >> 63))
    for window in range(slots.shape[0]):
        total, before, after = sums[slots[window]], running[lows[window]], running[highs[window]]
        _add_words(total, after[0], after[1], after[2])
        # Less a number is its complement and one more.
        _add_words(total, ~before[0], ~before[1], ~before[2])
        _add_words(total, np.uint64(1), np.uint64(0), np.uint64(0))


@njit(nogil=True)
def greatest_magnitude(low: Numbers, high: Indexes) -> float:
    """About the greatest magnitude of some numbers of two words."""
    greatest = 0.0
    for row in range(low.shape[0]):
        above, below = (~high[row], ~low[row]) if high[row] < 0 else (high[row], low[row])
        greatest = max(greatest, np.float64(above) * 2.0**64 + np.float64(below) + 1.0)
    return greatest


@njit(nogil=True)
def _add_words(total: Numbers, low: int, middle: int, high: int) -> None:
    """Add a number of three words to another; a word that wrapped is less than what was added."""
    total[0] += low
    carry = np.uint64(1) if total[0] < low else np.uint64(0)
    total[1] += middle
    carry_on = np.uint64(1) if total[1] < middle else np.uint64(0)
    total[1] += carry
    if carry and total[1] == 0:
        carry_on = np.uint64(1)
    total[2] += high + carry_on


@njit(nogil=True)
def _is_within(total: Numbers, bound: Numbers) -> bool:
    """Whether the magnitude of a number of three words is less than a bound of two."""
    low, middle, high = total[0], total[1], total[2]
    if np.int64(high) < 0:
        low, middle, high = ~low, ~middle, ~high
        low += np.uint64(1)
        if low == 0:
            middle += np.uint64(1)
            if middle == 0:
                high += np.uint64(1)
    if high != 0 or middle > bound[1]:
        return False
    return bool(middle < bound[1] or low < bound[0])
