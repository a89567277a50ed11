"""FILTER (WHERE ...): an accumulation that takes only some of the rows."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from australis.algebra.expr import WindowCall
from australis.kernels.arrays import Indexes, Mask
from australis.kernels.functions.accumulator import Accumulator, Ranges


class Filtered(Accumulator):
    """Another accumulation, without the rows that do not pass the filter."""

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
