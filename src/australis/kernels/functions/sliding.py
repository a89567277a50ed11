"""The compiled loops of window functions over windows that are ranges of rows, by where they begin.

Both ends of the ranges ascend. So the least value of each is found in one pass over all rows. Doubles are
added to a window one by one, from its first row to its last, since another order would round differently; but
windows do so side by side: the rows that some windows share are added to all of them by one instruction, each
window in a lane of its own.

The loops over lanes have one frame, which each of them repeats: numba does not cache a loop that is handed
another one, and one that chooses among three by a number takes up to six times as long for short windows.
"""

from __future__ import annotations

import numpy as np

from australis.kernels.arrays import Indexes, Mask, Numbers, Texts, is_text_before
from australis.kernels.compiled import njit

LANES_MOST = 32
_X, _Y, _XY, _XX, _YY = (LANES_MOST * part for part in range(1, 6))
"""Where the means, the products and the squares of all lanes begin in one array; the counts are first.

In one array the loop can see that they do not overlap: six arrays are more than a compiler compares.
"""


@njit(nogil=True)
def lanes_from(lows: Indexes, highs: Indexes, first: int, most: int) -> int:
    """How many windows from the first on are taken side by side: more, if they share many rows."""
    lanes = most
    while lanes > 1:
        past = first + lanes
        if past <= lows.shape[0] and highs[first] - lows[past - 1] >= lanes:
            return lanes
        lanes //= 2
    return 1


@njit(nogil=True)
def sum_ranges(sums: Numbers, slots: Indexes, lows: Indexes, highs: Indexes, values: Numbers) -> None:
    """Add the values of each range to its slot's sum, one by one."""
    lane_sums = np.empty(LANES_MOST)
    first = 0
    while first < slots.shape[0]:
        lanes = lanes_from(lows, highs, first, LANES_MOST)
        past = first + lanes
        low, high = lows[past - 1], highs[first]
        for lane in range(lanes):
            window = first + lane
            lane_sums[lane] = _summed(sums[slots[window]], values, lows[window], low)
        _sum_lanes(lane_sums[:lanes], values, np.uint64(low), np.uint64(high))
        for lane in range(lanes):
            window = first + lane
            sums[slots[window]] = _summed(lane_sums[lane], values, high, highs[window])
        first = past


@njit(nogil=True, inline=True)
def _summed(total: float, values: Numbers, low: int, high: int) -> float:
    for place in range(low, high):
        total += values[np.uint64(place)]
    return total


@njit(nogil=True)
def _sum_lanes(sums: Numbers, values: Numbers, low: np.uint64, high: np.uint64) -> None:
    """Add some rows to every lane; several at a time, so that a sum stays in its register meanwhile."""
    place, one, two, three, four = low, np.uint64(1), np.uint64(2), np.uint64(3), np.uint64(4)
    while place + np.uint64(8) <= high:
        a, b, c, d = values[place], values[place + one], values[place + two], values[place + three]
        place += four
        e, f, g, h = values[place], values[place + one], values[place + two], values[place + three]
        place += four
        for lane in range(sums.shape[0]):
            sums[lane] = sums[lane] + a + b + c + d + e + f + g + h
    while place < high:
        value = values[place]
        for lane in range(sums.shape[0]):
            sums[lane] += value
        place += one


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
    lane_counts, lane_means, lane_squares = np.empty(LANES_MOST), np.empty(LANES_MOST), np.empty(LANES_MOST)
    first = 0
    while first < slots.shape[0]:
        lanes = lanes_from(lows, highs, first, LANES_MOST)
        past = first + lanes
        low, high = lows[past - 1], highs[first]
        for lane in range(lanes):
            slot = slots[first + lane]
            lane_counts[lane], lane_means[lane], lane_squares[lane] = _deviated(
                counts[slot], means[slot], squares[slot], values, lows[first + lane], low
            )
        _deviate_lanes(lane_counts[:lanes], lane_means[:lanes], lane_squares[:lanes], values, low, high)
        for lane in range(lanes):
            slot = slots[first + lane]
            counts[slot], means[slot], squares[slot] = _deviated(
                lane_counts[lane], lane_means[lane], lane_squares[lane], values, high, highs[first + lane]
            )
        first = past


@njit(nogil=True, inline=True)
def _deviated(
    count: float, mean: float, square: float, values: Numbers, low: int, high: int
) -> tuple[float, float, float]:
    for place in range(low, high):
        count += 1.0
        difference = values[np.uint64(place)] - mean
        step = difference / count
        mean += step
        square += difference * (difference - step)
    return count, mean, square


@njit(nogil=True)
def _deviate_lanes(
    counts: Numbers, means: Numbers, squares: Numbers, values: Numbers, low: int, high: int
) -> None:
    """Update every lane with some rows. `np.divide` does not ask whether a count is 0, as `/` would."""
    for place in range(low, high):
        value = values[np.uint64(place)]
        for lane in range(counts.shape[0]):
            counts[lane] += 1.0
            difference = value - means[lane]
            step = np.divide(difference, counts[lane])
            means[lane] += step
            squares[lane] += difference * (difference - step)


@njit(nogil=True)
def correlate_ranges(
    counts: Numbers,
    x_means: Numbers,
    y_means: Numbers,
    products: Numbers,
    x_squares: Numbers,
    y_squares: Numbers,
    slots: Indexes,
    lows: Indexes,
    highs: Indexes,
    x_values: Numbers,
    y_values: Numbers,
) -> None:
    """Update means, squared differences and products with each range, as `add_products` does."""
    parts = np.empty(6 * LANES_MOST)
    first = 0
    while first < slots.shape[0]:
        lanes = lanes_from(lows, highs, first, LANES_MOST)
        past = first + lanes
        low, high = lows[past - 1], highs[first]
        for lane in range(lanes):
            slot = slots[first + lane]
            parts[lane], parts[_X + lane], parts[_Y + lane] = counts[slot], x_means[slot], y_means[slot]
            parts[_XY + lane], parts[_XX + lane] = products[slot], x_squares[slot]
            parts[_YY + lane] = y_squares[slot]
            _correlate_lanes(parts[lane:], 1, x_values, y_values, lows[first + lane], low)
        _correlate_lanes(parts, lanes, x_values, y_values, low, high)
        for lane in range(lanes):
            slot = slots[first + lane]
            _correlate_lanes(parts[lane:], 1, x_values, y_values, high, highs[first + lane])
            counts[slot], x_means[slot], y_means[slot] = parts[lane], parts[_X + lane], parts[_Y + lane]
            products[slot], x_squares[slot] = parts[_XY + lane], parts[_XX + lane]
            y_squares[slot] = parts[_YY + lane]
        first = past


@njit(nogil=True)
def _correlate_lanes(
    parts: Numbers, lanes: int, x_values: Numbers, y_values: Numbers, low: int, high: int
) -> None:
    """Update the first lanes with some rows; each part of them all begins where `_X` and the others say."""
    for place in range(low, high):
        x, y = x_values[np.uint64(place)], y_values[np.uint64(place)]
        for lane in range(lanes):
            parts[lane] += 1.0
            dx, dy = x - parts[_X + lane], y - parts[_Y + lane]
            parts[_X + lane] += np.divide(dx, parts[lane])
            parts[_Y + lane] += np.divide(dy, parts[lane])
            parts[_XY + lane] += dx * (y - parts[_Y + lane])
            parts[_XX + lane] += dx * (x - parts[_X + lane])
            parts[_YY + lane] += dy * (y - parts[_Y + lane])


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
