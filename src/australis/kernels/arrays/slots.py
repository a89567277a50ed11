"""Pairs of a slot and a row, which assign tuples to groups, windows or partitions."""

from __future__ import annotations

import numpy as np

from australis.kernels.arrays.columns import Indexes
from australis.kernels.compiled import njit

LONG_AGO = -(2**62)
"""A local time before all others."""


@njit(nogil=True)
def by_slot(slots: Indexes, count: int) -> tuple[Indexes, Indexes]:
    """The pairs sorted by slot, stably, and where each slot's pairs begin and the last one's end."""
    starts = np.zeros(count + 1, np.int64)
    for pair in range(slots.shape[0]):
        starts[slots[pair] + 1] += 1
    for slot in range(count):
        starts[slot + 1] += starts[slot]
    free = starts[:-1].copy()
    pairs = np.empty(slots.shape[0], np.int64)
    for pair in range(slots.shape[0]):
        pairs[free[slots[pair]]] = pair
        free[slots[pair]] += 1
    return pairs, starts


@njit(nogil=True)
def lower_to_least(best: Indexes, slots: Indexes, rows: Indexes, values: Indexes) -> None:
    """Lower each slot's number to the least of its rows' values."""
    for pair in range(slots.shape[0]):
        slot, row = np.uint64(slots[pair]), np.uint64(rows[pair])
        if values[row] < best[slot]:  # noqa: PLR1730 - to store only what is less is faster than min().
            best[slot] = values[row]


def first_times(codes: Indexes, times: Indexes, count: int) -> Indexes:
    """The ascending time of the first row of each group below `count`; for one without rows, long ago.

    >>> first_times(np.array([1, 3, 1]), np.array([5, 6, 7]), 2).tolist() == [LONG_AGO, 5]
    True
    """
    found = np.full(count, LONG_AGO)
    known = np.flatnonzero(codes < count)[::-1]
    found[codes[known]] = times[known]
    return found
