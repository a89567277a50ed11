"""`collect_list` and `collect_set`: the first values of a window, as an array.

Only the latest window that begins at or before a row can need it most: every other window that contains the
row has at least as many values before it. So a row is kept while it is among the first of that window.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from australis.algebra.expr import WindowCall
from australis.kernels.arrays import Indexes, Mask, dense
from australis.kernels.compiled import njit
from australis.kernels.functions.sequences import Sequenced


class CollectList(Sequenced):
    """`collect_list`: the first n values in order; NULLs are left out."""

    def __init__(self, call: WindowCall, args: Sequence[pa.Array]) -> None:
        super().__init__(call, args)
        self.most = int(call.parameters[0])

    def results(self, rows: Indexes, lows: Indexes, highs: Indexes) -> pa.Array:
        lengths = np.minimum(highs - lows, self.most)
        starts = np.concatenate([[0], np.cumsum(lengths)])
        places = np.arange(starts[-1]) + np.repeat(lows - starts[:-1], lengths)
        return self.listed(rows[places], starts)

    def listed(self, rows: Indexes, starts: Indexes) -> pa.Array:
        """Arrays of the values of some rows; each ends where the next one starts."""
        return pa.ListArray.from_arrays(pa.array(starts, pa.int32()), self.pool.take(pa.array(rows)))

    def compact(self) -> None:
        rows, lows, _ = self.ranges(np.flatnonzero(self.spans.sequence >= 0))
        begins = np.zeros(len(rows), np.bool_)
        begins[lows] = True
        self._drop(self.is_useless(rows, begins))

    def is_useless(self, rows: Indexes, begins: Mask) -> Mask:
        """Which of the rows of all sequences no window needs; windows begin at some of them."""
        places = np.arange(len(rows))
        useless: Mask = places - np.maximum.accumulate(np.where(begins, places, 0)) >= self.most
        return useless


class CollectSet(CollectList):
    """`collect_set`: the first n distinct values, in the order in which they first occur."""

    def load(self, stored: Sequence[pa.Array]) -> None:
        super().load(stored)
        self.codes = dense(self.pool)

    def results(self, rows: Indexes, lows: Indexes, highs: Indexes) -> pa.Array:
        room = np.concatenate([[0], np.cumsum(np.minimum(highs - lows, self.most))])
        places = np.full(room[-1], -1)
        order = np.argsort(-lows, kind="stable")
        lengths = first_distinct(self.codes[rows], len(self.codes), lows, highs, order, room, places)
        return self.listed(rows[places[places >= 0]], np.concatenate([[0], np.cumsum(lengths)]))

    def is_useless(self, rows: Indexes, begins: Mask) -> Mask:
        useless: Mask = repeated_or_beyond(self.codes[rows], len(self.codes), begins, self.most)
        return useless


@njit(nogil=True)
def first_distinct(
    codes: Indexes,
    count: int,
    lows: Indexes,
    highs: Indexes,
    order: Indexes,
    room: Indexes,
    places: Indexes,
) -> Indexes:
    """Fill in where each range has a code, below `count`, for the first time; returns how many there are.

    Each range fills `places` from its `room` on, up to that of the next. `order` are the ranges by where they
    begin, the last first. A list links the first place of each code from the current beginning on: one step
    back puts a place before them all, and removes the next place with its code.
    """
    lengths, first_of = np.zeros(lows.shape[0], np.int64), np.full(count, -1, np.int64)
    following, previous = np.empty(codes.shape[0], np.int64), np.empty(codes.shape[0], np.int64)
    head, begin = -1, highs.max() if highs.shape[0] else 0
    for each in order:
        while begin > lows[each] and highs[each] > lows[each]:
            begin -= 1
            head = _moved_back(begin, head, codes[begin], first_of, following, previous)
        at, place = room[each], head
        while at < room[each + 1] and place >= 0 and place < highs[each]:
            places[at] = place
            at += 1
            place = following[place]
        lengths[each] = at - room[each]
    return lengths


@njit(nogil=True)
def _moved_back(
    place: int, head: int, code: int, first_of: Indexes, following: Indexes, previous: Indexes
) -> int:
    """Put a place before the list of the first places of codes, and remove the one with its code."""
    old = first_of[code]
    first_of[code] = place
    if old == head:
        head = following[old] if old >= 0 else -1
    elif old >= 0:
        following[previous[old]] = following[old]
        if following[old] >= 0:
            previous[following[old]] = previous[old]
    following[place], previous[place] = head, -1
    if head >= 0:
        previous[head] = place
    return place


@njit(nogil=True)
def repeated_or_beyond(codes: Indexes, count: int, begins: Mask, most: int) -> Mask:
    """Which rows repeat a code, below `count`, since the last beginning, or follow `most` others."""
    found, seen_since = np.zeros(codes.shape[0], np.bool_), np.full(count, -1, np.int64)
    begin, held = 0, 0
    for place in range(codes.shape[0]):
        if begins[place]:
            begin, held = place, 0
        if seen_since[codes[place]] == begin or held == most:
            found[place] = True
        else:
            seen_since[codes[place]] = begin
            held += 1
    return found
