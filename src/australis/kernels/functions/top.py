"""The first rows of each window by some keys, as Top emits them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from australis.algebra.expr import WindowCall
from australis.algebra.order import SortKey
from australis.kernels.arrays import Indexes, Mask
from australis.kernels.compiled import njit
from australis.kernels.functions.keys import combined_keys
from australis.kernels.functions.ranges import block, ranked, recount, slid_tree
from australis.kernels.functions.sequences import Sequenced

TOP = "#top"
"""The function that only Top calls: its parameters are n, and for each key its column and 1 if descending."""


class TopRows(Sequenced):
    """Whole tuples; one is kept while fewer than n later ones of its sequence come before it."""

    def __init__(self, call: WindowCall, args: Sequence[pa.Array]) -> None:
        super().__init__(call, args)
        self.most, self.sort_keys = int(call.parameters[0]), keys_of(call)

    @classmethod
    def value_type(cls, call: WindowCall) -> pa.DataType:
        return pa.struct([(f"{index}", arg.type.arrow) for index, arg in enumerate(call.args)])

    def counted_rows(self) -> Mask | None:
        return None

    def values(self) -> pa.Array:
        fields = list(self.value_type(self.call))
        return pa.StructArray.from_arrays(list(self.args), fields=fields)

    def load(self, stored: Sequence[pa.Array]) -> None:
        super().load(stored)
        columns = [self.pool.field(int(key.name)) for key in self.sort_keys]
        self.keys = combined_keys(columns, self.sort_keys)

    def results(self, rows: Indexes, lows: Indexes, highs: Indexes) -> pa.Array:
        order = np.lexsort((highs, lows))
        lengths = np.minimum(highs - lows, self.most)
        starts = np.concatenate([[0], np.cumsum(lengths)])
        places = np.empty(starts[-1], np.int64)
        top_places(self.keys[rows], lows, highs, order, self.most, starts, places)
        found = self.pool.take(pa.array(rows[places]))
        return pa.ListArray.from_arrays(pa.array(starts, pa.int32()), found)

    def compact(self) -> None:
        rows, starts = self.entries.laid_out()
        self._drop(outdone(self.keys[rows], starts, self.most))


def keys_of(call: WindowCall) -> tuple[SortKey, ...]:
    """The keys of a call of `TOP`, each named by the number of its column."""
    numbers = [int(number) for number in call.parameters[1:]]
    return tuple(
        SortKey(f"{column}", bool(way)) for column, way in zip(numbers[::2], numbers[1::2], strict=True)
    )


@njit(nogil=True)
def top_places(
    keys: Indexes,
    lows: Indexes,
    highs: Indexes,
    order: Indexes,
    most: int,
    starts: Indexes,
    places: Indexes,
) -> None:
    """Fill in the places of the first rows by key of each range; of equal keys the first place is first.

    `order` are the ranges by where they begin, then by where they end.
    """
    lows_in_order, highs_in_order = lows[order], highs[order]
    first = 0
    while first < order.shape[0]:
        past, high, total = block(lows_in_order, highs_in_order, first)
        if total > 4 * (high - lows_in_order[first]) and most * 16 < total // (past - first):
            _slide(keys, lows_in_order, highs_in_order, order, first, past, high, starts, places)
        else:
            for at in range(first, past):
                each = order[at]
                _select(keys, lows[each], highs[each], places[starts[each] : starts[each + 1]])
        first = past


@njit(nogil=True)
def _select(keys: Indexes, low: int, high: int, found: Indexes) -> None:
    """The first places of a range by key: a list in order, into which each better row is inserted."""
    held = 0
    for place in range(low, high):
        key = keys[place]
        if held == found.shape[0]:
            if held == 0 or keys[found[held - 1]] <= key:
                continue
            held -= 1
        at = held
        while at > 0 and keys[found[at - 1]] > key:
            found[at] = found[at - 1]
            at -= 1
        found[at] = place
        held += 1


@njit(nogil=True)
def _slide(
    keys: Indexes,
    lows: Indexes,
    highs: Indexes,
    order: Indexes,
    first: int,
    past: int,
    high: int,
    starts: Indexes,
    places: Indexes,
) -> None:
    """The first places of a block of ranges: a tree counts the rows of the current one by their rank."""
    origin = lows[first]
    sorted_rows, ranks, tree, top = slid_tree(keys[origin:high])
    begin = end = 0
    for at in range(first, past):
        begin, end = recount(tree, ranks, begin, end, lows[at] - origin, highs[at] - origin)
        start = starts[order[at]]
        for number in range(starts[order[at] + 1] - start):
            places[start + number] = origin + sorted_rows[ranked(tree, top, number)]


@njit(nogil=True)
def outdone(keys: Indexes, starts: Indexes, most: int) -> Mask:
    """Which rows have at least `most` rows with a lesser key after them in their sequence."""
    found = np.zeros(keys.shape[0], np.bool_)
    best = np.empty(most, np.int64)
    for sequence in range(starts.shape[0] - 1):
        held = 0
        for place in range(starts[sequence + 1] - 1, starts[sequence] - 1, -1):
            key = keys[place]
            if held == most and best[held - 1] < key:
                found[place] = True
                continue
            if held == most:
                held -= 1
            at = held
            while at > 0 and best[at - 1] > key:
                best[at] = best[at - 1]
                at -= 1
            best[at] = key
            held += 1
    return found
