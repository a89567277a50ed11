"""`percentile_sketch` and `approx_count_distinct`: a bounded state, whatever the number of tuples.

Both keep whole numbers that stand for values: the bucket of a value, or a register of its hash. What a window
keeps is a sum of counts or a maximum, so parts of a window combine to the same in any order.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from australis.algebra.expr import WindowCall
from australis.kernels.arrays import Indexes, Numbers, joined, numbers, spark_hash
from australis.kernels.expressions import arrow
from australis.kernels.functions.ranges import (
    REGISTER_BITS,
    hidden_later,
    register_counts,
    weighted_places,
)
from australis.kernels.functions.sequences import Entries, Sequenced

_MANTISSA = 52
_INFINITE = 0x7FF << _MANTISSA
_NORMAL = 1 << _MANTISSA


class ApproximateDistinct(Sequenced):
    """`approx_count_distinct`: HyperLogLog with 4,096 registers; a standard error of 1.6 %.

    The value of a row is register * 64 + rank. A row is kept while no later one of its register has its rank.
    """

    @classmethod
    def value_type(cls, call: WindowCall) -> pa.DataType:
        return pa.int32()

    def values(self) -> pa.Array:
        return pa.array(registers(self.args[0]), pa.int32(), mask=np.asarray(self.args[0].is_null()))

    def results(self, rows: Indexes, lows: Indexes, highs: Indexes) -> pa.Array:
        order = np.lexsort((highs, lows))
        found = np.zeros(len(lows), np.int64)
        found[order] = register_counts(numbers(self.pool)[rows], lows[order], highs[order])
        return arrow(found, pa.int64())

    def compact(self) -> None:
        rows, starts = self.entries.laid_out()
        self._drop(hidden_later(numbers(self.pool)[rows], starts))


def registers(values: pa.Array) -> Indexes:
    """For each value the register of its hash, times 64, and the place of the first 1 in the rest of it."""
    high, low = (spark_hash([values], seed).view(np.uint32).astype(np.uint64) for seed in (42, 43))
    mixed = _mixed(high << np.uint64(32) | low)
    rest = mixed << np.uint64(REGISTER_BITS) | np.uint64(1 << (REGISTER_BITS - 1))
    # A double has the exponent of its first 1; a number that rounds up to the next power of 2 must not.
    ranks = 64 - np.frexp((rest & ~(rest >> np.uint64(1))).astype(np.float64))[1] + 1
    return (mixed >> np.uint64(64 - REGISTER_BITS)).astype(np.int64) * 64 + ranks


def _mixed(hashes: Numbers) -> Numbers:
    """The finish of SplitMix64, which spreads every bit over all 64."""
    hashes = (hashes ^ (hashes >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    hashes = (hashes ^ (hashes >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return hashes ^ (hashes >> np.uint64(31))


class PercentileSketch(Sequenced):
    """`percentile_sketch`: counts of values by bucket, each a fraction of a power of 2.

    The rows of a window that the next one lacks are kept as one row for each bucket, with its count.
    """

    def __init__(self, call: WindowCall, args: Sequence[pa.Array]) -> None:
        super().__init__(call, args)
        self.share, accuracy = call.parameters
        self.bits = bucket_bits(accuracy)

    @classmethod
    def value_type(cls, call: WindowCall) -> pa.DataType:
        return pa.int32()

    @classmethod
    def stored_types(cls, call: WindowCall) -> tuple[pa.DataType, ...]:
        return (*super().stored_types(call), pa.list_(pa.int64()))

    def values(self) -> pa.Array:
        found = buckets(numbers(self.args[0]), bucket_bits(self.call.parameters[1]))
        return pa.array(found, pa.int32(), mask=np.asarray(self.args[0].is_null()))

    def load(self, stored: Sequence[pa.Array]) -> None:
        super().load(stored)
        ones = np.ones(len(self.pool) - self.loaded, np.int64)
        self.weights = np.concatenate([numbers(stored[2].flatten()), ones])

    def results(self, rows: Indexes, lows: Indexes, highs: Indexes) -> pa.Array:
        order = np.lexsort((highs, lows))
        keys, places = numbers(self.pool)[rows], np.zeros(len(lows), np.int64)
        places[order] = weighted_places(keys, self.weights[rows], lows[order], highs[order], self.share)
        empty = lows == highs
        chosen = keys[np.where(empty, 0, places)] if len(keys) else np.zeros(len(lows), np.int64)
        return arrow(bucket_values(chosen, self.bits), pa.float64(), empty)

    def compact(self) -> None:
        """Merge the rows of a bucket between two beginnings of windows into one new row of the pool."""
        rows, lows, _ = self.ranges(np.arange(len(self.spans.sequence)))
        if not len(rows):
            return
        begins = np.zeros(len(rows), np.bool_)
        begins[lows[self.spans.sequence >= 0]] = True
        _, starts = self.entries.laid_out()
        begins[starts[:-1][self.entries.lengths > 0]] = True
        parts, keys = np.cumsum(begins), numbers(self.pool)[rows]
        order = np.lexsort((keys, parts))
        is_first = np.diff(keys[order], prepend=0) != 0
        is_first |= np.diff(parts[order], prepend=0) != 0
        firsts = np.flatnonzero(is_first)
        weights = np.add.reduceat(self.weights[rows[order]], firsts)
        # Where a row is not the first of its bucket, nothing is left of it.
        before = len(self.pool)
        self.pool = joined(self.pool, pa.array(keys[order][firsts], pa.int32()))
        self.weights = np.concatenate([self.weights, weights])
        merged = rows.copy()
        merged[firsts] = before + np.arange(len(firsts))
        owners = np.repeat(np.arange(len(self.entries.lengths)), self.entries.lengths)
        self.entries = Entries(owners, merged, self.entries.lengths)
        self._drop(~is_first)

    def stored(self) -> list[pa.Array]:
        lists, shared = super().stored()
        rows, _, _ = self.own_rows()
        weights = pa.ListArray.from_arrays(lists.offsets, pa.array(self.weights[rows]))
        return [lists, shared, weights]


def bucket_bits(accuracy: float) -> int:
    """Into how many buckets each power of 2 is divided, as a power of 2, for a relative error.

    >>> bucket_bits(0.01), bucket_bits(0.25)
    (6, 1)
    """
    bits = 0
    while 0.5 ** (bits + 1) > accuracy:
        bits += 1
    return bits


def buckets(values: Numbers, bits: int) -> Indexes:
    """The bucket of each number: 0 for zero and what is less than any normal double, NaN the greatest."""
    canonical = np.where(np.isnan(values), np.nan, values)
    magnitudes = np.abs(canonical).view(np.int64)
    found = np.where(magnitudes < _NORMAL, 0, magnitudes >> (_MANTISSA - bits))
    return np.where(canonical < 0, -found, found)


def bucket_values(found: Indexes, bits: int) -> Numbers:
    """The number in the middle of each bucket."""
    width = 1 << (_MANTISSA - bits)
    lowest = np.abs(found) * width
    middle = np.where(lowest >= _INFINITE, lowest, lowest + width // 2)
    magnitudes = np.where(found == 0, 0, middle).view(np.float64)
    return np.where(found < 0, -magnitudes, magnitudes)
