"""`min`, `max`, `first` and `last`: one of the window's own values."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from australis.kernels.arrays import Indexes, grown, numbers
from australis.kernels.functions.accumulator import Chosen
from australis.kernels.functions.loops import choose_first, choose_last, choose_least
from australis.kernels.ordering import sort_keys

_WORD_DIGITS = 18
"""Digits of a decimal that fit 64 bits."""


class Least(Chosen):
    """`min`; NaN is greater than all other numbers, texts compare by their bytes; the first of equals."""

    def load(self, stored: Sequence[pa.Array]) -> None:
        super().load(stored)
        self.keys = self.order(ascending_keys(self.pool))
        if stored[0].null_count:
            self.rows[stored[0].is_null().to_numpy(zero_copy_only=False)] = -1

    def order(self, keys: Indexes) -> Indexes:
        """Keys of which the least is chosen."""
        return keys

    def add(self, slots: Indexes, rows: Indexes, count: int) -> None:
        self.rows = grown(self.rows, count, -1)
        slots, rows = self.without_nulls(slots, rows)
        choose_least(self.rows, slots, rows + self.loaded, self.keys)


class Greatest(Least):
    """`max`, like `min`."""

    def order(self, keys: Indexes) -> Indexes:
        return ~keys


class First(Chosen):
    """`first`, even if NULL."""

    def add(self, slots: Indexes, rows: Indexes, count: int) -> None:
        self.rows = grown(self.rows, count, -1)
        choose_first(self.rows, slots, rows + self.loaded)


class Last(Chosen):
    """`last`, even if NULL."""

    def add(self, slots: Indexes, rows: Indexes, count: int) -> None:
        self.rows = grown(self.rows, count, -1)
        choose_last(self.rows, slots, rows + self.loaded)


def ascending_keys(values: pa.Array) -> Indexes:
    """Whole numbers that compare like the values of an array; the number for a NULL is arbitrary.

    >>> ascending_keys(pa.array(["b", "a", None, "é", "b"]))[[0, 1, 3, 4]].tolist()
    [1, 0, 2, 1]
    """
    kind = values.type
    if pa.types.is_string(kind) or (pa.types.is_decimal(kind) and kind.precision > _WORD_DIGITS):
        return _ranks(values)
    found = numbers(values)
    if found.dtype == np.float64:
        found = np.where(np.isnan(found), np.nan, found)
    return sort_keys(found)


def _ranks(values: pa.Array) -> Indexes:
    """The rank of each value among the distinct ones."""
    encoded = values.dictionary_encode()
    order = pc.sort_indices(encoded.dictionary).to_numpy()
    ranks = np.empty(len(order) + 1, np.int64)
    ranks[order] = np.arange(len(order))
    found: Indexes = ranks[encoded.indices.fill_null(len(order)).to_numpy()]
    return found
