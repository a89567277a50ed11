"""`min`, `max`, `min_by`, `max_by`, `first` and `last`: one of the window's own values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np
import pyarrow as pa

from australis.algebra.expr import WindowCall
from australis.kernels.arrays import Indexes, Mask, Texts, grown, joined, present, texts_of
from australis.kernels.expressions import arrow, truths
from australis.kernels.functions.accumulator import Accumulator, Chosen, Ranges
from australis.kernels.functions.keys import ascending_keys, directed_keys
from australis.kernels.functions.loops import (
    choose_by_keys,
    choose_first,
    choose_last,
    choose_least,
    choose_text,
)
from australis.kernels.functions.sliding import least_places, text_places


class Least(Chosen):
    """`min`; NaN is greater than all other numbers, texts compare by their bytes; the first of equals."""

    greatest: ClassVar[bool] = False
    keys: Indexes | Texts

    def load(self, stored: Sequence[pa.Array]) -> None:
        super().load(stored)
        self.keys = self.compared(self.pool)
        if stored[0].null_count:
            self.rows[stored[0].is_null().to_numpy(zero_copy_only=False)] = -1

    def compared(self, values: pa.Array) -> Indexes | Texts:
        """What decides: numbers of which the least is chosen, or texts, which need not all be ranked."""
        if pa.types.is_string(values.type):
            return texts_of(values)
        keys = ascending_keys(values)
        return ~keys if self.greatest else keys

    def add(self, slots: Indexes, rows: Indexes, count: int) -> None:
        self.rows = grown(self.rows, count, -1)
        slots, rows = self.without_nulls(slots, rows)
        if isinstance(self.keys, Texts):
            choose_text(self.rows, slots, rows + self.loaded, self.keys, self.greatest)
        else:
            choose_least(self.rows, slots, rows + self.loaded, self.keys)

    def add_ranges(self, ranges: Ranges, count: int) -> None:
        ends, counted, rows = (ranges.lows, ranges.highs), self.counted_in(ranges), ranges.rows + self.loaded
        if isinstance(self.keys, Texts):
            places = text_places(*ends, rows, self.keys, self.greatest, counted)
        else:
            places = least_places(*ends, self.keys[rows], counted)
        found = places >= 0
        # One row for each window, which a row that was chosen before precedes.
        self.rows = grown(self.rows, count, -1)
        slots, best = ranges.slots[found], rows[places[found]]
        if isinstance(self.keys, Texts):
            choose_text(self.rows, slots, best, self.keys, self.greatest)
        else:
            choose_least(self.rows, slots, best, self.keys)


class Greatest(Least):
    """`max`, like `min`."""

    greatest = True


class LeastBy(Least):
    """`min_by`: the value, even if NULL, of the row whose key is the least; of equal keys the first."""

    @staticmethod
    def stored_types(call: WindowCall) -> tuple[pa.DataType, ...]:
        return tuple(arg.type.arrow for arg in call.args)

    def counted_rows(self) -> Mask | None:
        return present(self.args[1])

    def load(self, stored: Sequence[pa.Array]) -> None:
        Chosen.load(self, stored)
        self.by = joined(stored[1], self.args[1])
        self.keys = self.compared(self.by)
        self.rows[np.asarray(stored[1].is_null())] = -1

    def stored(self) -> list[pa.Array]:
        return [*super().stored(), self.by.take(arrow(self.rows, pa.int64(), self.rows < 0))]


class GreatestBy(LeastBy):
    """`max_by`, like `min_by`."""

    greatest = True


class First(Chosen):
    """`first`, even if NULL; with a filter the state says which windows have none yet."""

    @staticmethod
    def stored_types(call: WindowCall) -> tuple[pa.DataType, ...]:
        return (*Chosen.stored_types(call), *[pa.bool_()] * (call.where is not None))

    def load(self, stored: Sequence[pa.Array]) -> None:
        super().load(stored)
        for has_none in stored[1:]:
            self.rows[truths(has_none)] = -1

    def stored(self) -> list[pa.Array]:
        has_none = [arrow(self.rows < 0, pa.bool_())] * (self.call.where is not None)
        return [*super().stored(), *has_none]

    def add(self, slots: Indexes, rows: Indexes, count: int) -> None:
        self.rows = grown(self.rows, count, -1)
        choose_first(self.rows, slots, rows + self.loaded)

    def add_ranges(self, ranges: Ranges, count: int) -> None:
        self.add(ranges.slots, ranges.rows[ranges.lows], count)


class Last(Chosen):
    """`last`, even if NULL."""

    def add(self, slots: Indexes, rows: Indexes, count: int) -> None:
        self.rows = grown(self.rows, count, -1)
        choose_last(self.rows, slots, rows + self.loaded)

    def add_ranges(self, ranges: Ranges, count: int) -> None:
        self.add(ranges.slots, ranges.rows[ranges.highs - 1], count)


class FirstByKeys(First):
    """`first` with an ORDER BY: of the tuple that a sort puts first, NULLs last; of equal ones the first."""

    takes_last = False

    @staticmethod
    def stored_types(call: WindowCall) -> tuple[pa.DataType, ...]:
        keys = [arg.type.arrow for arg in call.args[1:]]
        return (*Chosen.stored_types(call), *keys, *[pa.bool_()] * (call.where is not None))

    def load(self, stored: Sequence[pa.Array]) -> None:
        count = len(self.args)
        super().load([stored[0], *stored[count:]])
        self.by = [joined(old, new) for old, new in zip(stored[1:count], self.args[1:], strict=True)]
        ways = zip(self.by, self.call.parameters, strict=True)
        self.keys = np.stack([directed_keys(key, descending=bool(way)) for key, way in ways], axis=1)

    def add(self, slots: Indexes, rows: Indexes, count: int) -> None:
        self.rows = grown(self.rows, count, -1)
        choose_by_keys(self.rows, slots, rows + self.loaded, self.keys, self.takes_last)

    def add_ranges(self, ranges: Ranges, count: int) -> None:
        Accumulator.add_ranges(self, ranges, count)

    def stored(self) -> list[pa.Array]:
        value, *has_none = super().stored()
        rows = arrow(self.rows, pa.int64(), self.rows < 0)
        return [value, *(key.take(rows) for key in self.by), *has_none]


class LastByKeys(FirstByKeys):
    """`last` with an ORDER BY: of the tuple that a sort puts last; of equal ones the last."""

    takes_last = True
