"""What every window function does: accumulate rows into many windows at once, each identified by its slot.

In: pairs (slot, row) in the order of release, and columns of the state with one row for each open window.
Out: the results of closed windows and the columns of the next state.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pyarrow as pa

from australis.algebra.expr import WindowCall
from australis.kernels.arrays import Indexes, Mask, Numbers, grown, members, numbers, present
from australis.kernels.expressions import arrow

PAIRS_MOST = 1 << 20
"""Pairs of a window and a row that are made of ranges at once, which bounds memory."""


@dataclass(frozen=True)
class Ranges:
    """Windows as ranges of rows, by where they begin; both ends ascend."""

    rows: Indexes
    """The rows, laid out by group, in the order of release."""
    slots: Indexes
    lows: Indexes
    highs: Indexes

    def only(self, counted: Mask) -> Ranges:
        """The same windows with some of the rows, without those windows that have none of them."""
        before = np.concatenate([[0], np.cumsum(counted)])
        lows, highs = before[self.lows], before[self.highs]
        filled = lows < highs
        return Ranges(self.rows[counted], self.slots[filled], lows[filled], highs[filled])


class Accumulator(ABC):
    """A window function over the windows of one box, for one event of the box.

    `args` are the columns whose rows `add` will name. Slots are numbered from 0; those of the windows in
    `stored` come first. Rows are added to a window one by one, so results do not depend on how batches were
    cut, not even in the last bit.
    """

    def __init__(self, call: WindowCall, args: Sequence[pa.Array]) -> None:
        self.call = call
        self.args = args
        self._present = self.counted_rows()

    def counted_rows(self) -> Mask | None:
        """Which rows `without_nulls` keeps; None for all."""
        return present(self.args[0]) if len(self.args) == 1 else None

    @staticmethod
    @abstractmethod
    def stored_types(call: WindowCall) -> tuple[pa.DataType, ...]:
        """The types of the columns that store a window's accumulation in the state."""

    @abstractmethod
    def load(self, stored: Sequence[pa.Array]) -> None:
        """Put the windows of the state into the first slots; called once, before the other methods."""

    @abstractmethod
    def add(self, slots: Indexes, rows: Indexes, count: int) -> None:
        """Add rows to windows, pair by pair; afterwards there are `count` slots."""

    def add_ranges(self, ranges: Ranges, count: int) -> None:
        """Add ranges of rows to windows; afterwards there are `count` slots.

        A function that has no better way takes the pairs of its windows and rows, window by window.
        """
        ends = np.cumsum(ranges.highs - ranges.lows)
        pairs = int(ends[-1]) if len(ends) else 0
        for begin in range(0, max(pairs, 1), PAIRS_MOST):
            owners, places = members(ranges.lows, ends, begin, min(begin + PAIRS_MOST, pairs))
            self.add(ranges.slots[owners], ranges.rows[places], count)

    @abstractmethod
    def finish(self, slots: Indexes) -> pa.Array:
        """The results of some windows."""

    @abstractmethod
    def keep(self, slots: Indexes) -> None:
        """Remove all other windows; afterwards, the window in `slots[i]` is in slot i."""

    @abstractmethod
    def stored(self) -> list[pa.Array]:
        """The columns for the state, one row for each slot."""

    def without_nulls(self, slots: Indexes, rows: Indexes) -> tuple[Indexes, Indexes]:
        """The pairs of rows that count: those whose argument is not NULL."""
        if self._present is None:
            return slots, rows
        kept = self._present[rows]
        return slots[kept], rows[kept]

    def counts_in(self, ranges: Ranges) -> Indexes:
        """How many rows of each range count: those whose argument is not NULL."""
        if self._present is None:
            return ranges.highs - ranges.lows
        before = np.concatenate([[0], np.cumsum(self._present[ranges.rows])])
        return before[ranges.highs] - before[ranges.lows]

    def counted_doubles(self, ranges: Ranges) -> tuple[Ranges, list[Numbers]]:
        """The ranges of the rows that count, and each argument of these as doubles."""
        counted = ranges if self._present is None else ranges.only(self._present[ranges.rows])
        return counted, [numbers(array)[counted.rows].astype(np.float64, copy=False) for array in self.args]

    def counted_in(self, ranges: Ranges) -> Mask:
        """Which of the rows of ranges count."""
        return np.ones(len(ranges.rows), np.bool_) if self._present is None else self._present[ranges.rows]


class Totals(Accumulator):
    """An accumulation of a few numbers for each window, each a column of the state."""

    starts: ClassVar[tuple[int | float, ...]]
    """Each number's value in a window without tuples; its type is also the number's."""

    def __init__(self, call: WindowCall, args: Sequence[pa.Array]) -> None:
        super().__init__(call, args)
        self.tallies: list[Numbers] = []

    @classmethod
    def number_types(cls, call: WindowCall) -> tuple[type[int] | type[float], ...]:
        """Whether each number is an integer or a double."""
        return tuple(type(start) for start in cls.starts)

    @classmethod
    def stored_types(cls, call: WindowCall) -> tuple[pa.DataType, ...]:
        return tuple(pa.float64() if kind is float else pa.int64() for kind in cls.number_types(call))

    def load(self, stored: Sequence[pa.Array]) -> None:
        self.tallies = [numbers(array).copy() for array in stored]

    def grow(self, count: int) -> None:
        """Make room for windows without tuples."""
        pairs = zip(self.tallies, self.starts, strict=True)
        self.tallies = [grown(tally, count, start) for tally, start in pairs]

    def keep(self, slots: Indexes) -> None:
        self.tallies = [tally[slots] for tally in self.tallies]

    def stored(self) -> list[pa.Array]:
        types = self.stored_types(self.call)
        return [arrow(tally, kind) for tally, kind in zip(self.tallies, types, strict=True)]


class Chosen(Accumulator):
    """An accumulation that selects one of the window's own values by its row: `min`, `first` and the like.

    The values of the state and the argument lie in one pool, so that a choice is a row number.
    """

    pool: pa.Array
    rows: Indexes
    """For each slot the chosen row of the pool, -1 for none."""
    loaded: int
    """How many rows of the state precede those of the argument in the pool."""

    @staticmethod
    def stored_types(call: WindowCall) -> tuple[pa.DataType, ...]:
        return (call.args[0].type.arrow,)

    def load(self, stored: Sequence[pa.Array]) -> None:
        self.pool = pa.concat_arrays([stored[0], self.args[0]]) if len(stored[0]) else self.args[0]
        self.loaded = len(stored[0])
        self.rows = np.arange(self.loaded)

    def keep(self, slots: Indexes) -> None:
        self.rows = self.rows[slots]

    def finish(self, slots: Indexes) -> pa.Array:
        rows = self.rows[slots]
        return self.pool.take(arrow(rows, pa.int64(), rows < 0))

    def stored(self) -> list[pa.Array]:
        return [self.finish(np.arange(len(self.rows)))]


class Filtered(Accumulator):
    """`FILTER (WHERE ...)`: another accumulation, without the rows that do not pass the filter."""

    def __init__(self, accumulator: Accumulator, passes: Mask) -> None:
        super().__init__(accumulator.call, accumulator.args)
        self._accumulator, self._passes = accumulator, passes

    @staticmethod
    def stored_types(call: WindowCall) -> tuple[pa.DataType, ...]:
        raise NotImplementedError("the state is that of the other accumulation")

    def load(self, stored: Sequence[pa.Array]) -> None:
        self._accumulator.load(stored)

    def add(self, slots: Indexes, rows: Indexes, count: int) -> None:
        passes = self._passes[rows]
        self._accumulator.add(slots[passes], rows[passes], count)

    def add_ranges(self, ranges: Ranges, count: int) -> None:
        self._accumulator.add_ranges(ranges.only(self._passes[ranges.rows]), count)

    def finish(self, slots: Indexes) -> pa.Array:
        return self._accumulator.finish(slots)

    def keep(self, slots: Indexes) -> None:
        self._accumulator.keep(slots)

    def stored(self) -> list[pa.Array]:
        return self._accumulator.stored()
