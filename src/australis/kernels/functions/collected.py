"""`median` and `count(DISTINCT x)`: functions that must keep the values of a window until it closes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from australis.algebra.expr import WindowCall
from australis.kernels.arrays import Indexes, by_slot, dense, first_rows, joined, normalised, numbers
from australis.kernels.expressions import arrow
from australis.kernels.functions.accumulator import Accumulator
from australis.kernels.functions.loops import medians


class Collected(Accumulator):
    """An accumulation of values of the window: pairs of a slot and a row of a pool, in order.

    The pool has the values of the state's lists and then those of the argument.
    """

    pool: pa.Array
    slots: Indexes
    rows: Indexes
    count: int
    loaded: int

    @staticmethod
    def stored_types(call: WindowCall) -> tuple[pa.DataType, ...]:
        return (pa.list_(call.args[0].type.arrow),)

    def load(self, stored: Sequence[pa.Array]) -> None:
        lists = stored[0]
        values = lists.flatten()
        self.pool = joined(values, self.args[0])
        self.count, self.loaded = len(lists), len(values)
        lengths = np.diff(lists.offsets.to_numpy())
        self.slots = np.repeat(np.arange(self.count), lengths)
        self.rows = np.arange(self.loaded)

    def add(self, slots: Indexes, rows: Indexes, count: int) -> None:
        slots, rows = self.without_nulls(slots, rows)
        self.slots = np.concatenate([self.slots, slots])
        self.rows = np.concatenate([self.rows, rows + self.loaded])
        self.count = count

    def keep(self, slots: Indexes) -> None:
        to = np.full(self.count, -1, np.int64)
        to[slots] = np.arange(len(slots))
        moved = to[self.slots]
        self.slots, self.rows, self.count = moved[moved >= 0], self.rows[moved >= 0], len(slots)

    def stored(self) -> list[pa.Array]:
        pairs, starts = by_slot(self.slots, self.count)
        values = self.pool.take(pa.array(self.rows[pairs]))
        return [pa.ListArray.from_arrays(pa.array(starts, pa.int32()), values)]


class Median(Collected):
    """`median`: the middle value, or half-way between the two in the middle."""

    def finish(self, slots: Indexes) -> pa.Array:
        pairs, starts = by_slot(self.slots, self.count)
        values = numbers(self.pool)[self.rows[pairs]]
        empty = starts[slots] == starts[slots + 1]
        return arrow(medians(values, starts, slots), pa.float64(), empty)


class CountDistinct(Collected):
    """`count(DISTINCT x)`, where values are equal as in GROUP BY; only the first of equal values is kept."""

    def load(self, stored: Sequence[pa.Array]) -> None:
        super().load(stored)
        self.pool = normalised(self.pool)
        self.codes = dense(self.pool)

    def add(self, slots: Indexes, rows: Indexes, count: int) -> None:
        super().add(slots, rows, count)
        codes = dense(pa.array(self.slots * len(self.codes) + self.codes[self.rows]))
        firsts = first_rows(codes, 0, int(codes.max(initial=-1)) + 1)
        self.slots, self.rows = self.slots[firsts], self.rows[firsts]

    def finish(self, slots: Indexes) -> pa.Array:
        return arrow(np.bincount(self.slots, minlength=self.count)[slots], pa.int64())
