"""The functions that only Resample has: the value at a place between a window's tuples (Aurora 5.2.2.4)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from australis.algebra.expr import WindowCall
from australis.kernels.arrays import Indexes, Numbers, numbers, present
from australis.kernels.compiled import njit
from australis.kernels.expressions import arrow

INTERPOLATIONS = ("linear", "nearest", "last_value")


@dataclass(frozen=True)
class Points:
    """Windows in the form that interpolation needs, over tuples laid out by group and order value."""

    rows: Indexes
    """The row of the tuple at each place."""
    laid_out: Numbers
    """The order value at each place."""
    lows: Indexes
    highs: Indexes
    splits: Indexes
    """For each window, the first place after its position."""
    positions: Numbers
    """For each window, the order value at which to interpolate."""


def interpolate(call: WindowCall, argument: pa.Array, points: Points, *, extrapolate: bool) -> pa.Array:
    """The values of a call at the position of each window; NULLs of the argument are skipped.

    Without `extrapolate`, a value that is not at the position or between two others is NULL.
    """
    before, after = _neighbours(argument, points)
    if call.function == "last_value":
        return _at(argument, points.rows, before)
    if not extrapolate:
        before, after = _between(points, before, after)
    if call.function == "nearest":
        return _at(argument, points.rows, _nearest(points, before, after))
    values = numbers(argument)
    line = _linear(values, points.rows, points.laid_out, points.positions, before, after)
    return arrow(line, argument.type, (before < 0) & (after < 0))


def _neighbours(argument: pa.Array, points: Points) -> tuple[Indexes, Indexes]:
    """The last place with a value at or before each position, and the first one after it; -1 for none."""
    filled = present(argument)
    if filled is None:
        before, after = _next_to(points.lows, points.highs, points.splits)
        return before, after
    places, count = np.arange(len(points.rows)), len(points.rows)
    here = filled[points.rows]
    last = np.maximum.accumulate(np.where(here, places, -1))
    following = np.minimum.accumulate(np.where(here, places, count)[::-1])[::-1]
    before = np.append(last, -1)[points.splits - 1]
    after = np.append(following, count)[points.splits]
    return np.where(before >= points.lows, before, -1), np.where(after < points.highs, after, -1)


@njit(nogil=True)
def _next_to(lows: Any, highs: Any, splits: Any) -> tuple[Any, Any]:
    """The places before and after the split of each window; -1 for none."""
    before, after = np.empty(len(splits), np.int64), np.empty(len(splits), np.int64)
    for window in range(len(splits)):
        split = splits[window]
        before[window] = split - 1 if split > lows[window] else -1
        after[window] = split if split < highs[window] else -1
    return before, after


def _between(points: Points, before: Indexes, after: Indexes) -> tuple[Indexes, Indexes]:
    """The neighbours of positions that have a value at them or on either side; -1 for the others."""
    is_there = (before >= 0) & (points.laid_out[before] == points.positions)
    kept = is_there | ((before >= 0) & (after >= 0))
    return np.where(kept, before, -1), np.where(kept, after, -1)


def _nearest(points: Points, before: Indexes, after: Indexes) -> Indexes:
    """The closer of the two places, the first if they are equally close."""
    back = points.positions - points.laid_out[before]
    ahead = points.laid_out[after] - points.positions
    return np.where((before >= 0) & ((after < 0) | (back <= ahead)), before, after)


@njit(nogil=True)
def _linear(values: Any, rows: Any, laid_out: Any, positions: Any, before: Any, after: Any) -> Any:
    """The values on straight lines between two places; the value of the only place if there is just one."""
    line = np.zeros(len(positions), np.float64)
    for window in range(len(positions)):
        low, high, position = before[window], after[window], positions[window]
        if low < 0 and high < 0:
            continue
        if low < 0:
            line[window] = values[rows[high]]
        elif high < 0 or laid_out[low] == position:
            line[window] = values[rows[low]]
        else:
            first, second = values[rows[low]], values[rows[high]]
            rise = (second - first) * np.float64(position - laid_out[low])
            line[window] = first + rise / np.float64(laid_out[high] - laid_out[low])
    return line


def _at(argument: pa.Array, rows: Indexes, places: Indexes) -> pa.Array:
    """The argument at some places, NULL where there is none."""
    return argument.take(arrow(np.where(places < 0, 0, rows[places]), pa.int64(), places < 0))
