"""`count`, `sum`, `avg`, variances and `corr`: a few numbers for each window."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import ROUND_HALF_UP, Decimal, localcontext
from typing import ClassVar

import numpy as np
import pyarrow as pa

from australis.algebra.expr import WindowCall
from australis.kernels.arrays import Indexes, Mask, Numbers, grown, numbers, present
from australis.kernels.expressions import arrow, validity, words
from australis.kernels.functions.accumulator import Accumulator, Ranges, Totals
from australis.kernels.functions.loops import (
    add_decimal_ranges,
    add_decimals,
    add_deviations,
    add_numbers,
    add_products,
    greatest_magnitude,
)
from australis.kernels.functions.sliding import correlate_ranges, deviate_ranges, sum_ranges

_EXACT_DIGITS = 100
"""More digits than any sum or quotient of a window needs, so that only the result is rounded."""


class Count(Totals):
    """`count(*)`, or `count(x)` without NULLs."""

    starts = (0,)

    def add(self, slots: Indexes, rows: Indexes, count: int) -> None:
        self.grow(count)
        slots, _ = self.without_nulls(slots, rows)
        self.tallies[0] += np.bincount(slots, minlength=count)

    def add_ranges(self, ranges: Ranges, count: int) -> None:
        self.grow(count)
        self.tallies[0][ranges.slots] += self.counts_in(ranges)

    def finish(self, slots: Indexes) -> pa.Array:
        return arrow(self.tallies[0][slots], pa.int64())


class LongSum(Totals):
    """`sum` of whole numbers, which wraps at 64 bits; NULL without values."""

    starts: ClassVar[tuple[int | float, ...]] = (0, 0)

    def add(self, slots: Indexes, rows: Indexes, count: int) -> None:
        self.grow(count)
        slots, rows = self.without_nulls(slots, rows)
        add_numbers(*self.tallies, slots, rows, numbers(self.args[0]))

    def add_ranges(self, ranges: Ranges, count: int) -> None:
        self.grow(count)
        self.tallies[1][ranges.slots] += self.counts_in(ranges)
        # A sum is never -0.0, so that a 0 in place of a NULL changes nothing.
        values = np.where(self.counted_in(ranges), numbers(self.args[0])[ranges.rows], 0)
        self.add_values(ranges, values)

    def add_values(self, ranges: Ranges, values: Numbers) -> None:
        """Add the values of ranges to the sums: the difference of two sums that wrap is exact."""
        before = np.concatenate([[0], np.cumsum(values)])
        self.tallies[0][ranges.slots] += before[ranges.highs] - before[ranges.lows]

    def finish(self, slots: Indexes) -> pa.Array:
        sums, counts = (tally[slots] for tally in self.tallies)
        return arrow(sums, self.call.type.arrow, counts == 0)


class DoubleSum(LongSum):
    """`sum` of doubles, added one by one."""

    starts = (0.0, 0)

    def add_values(self, ranges: Ranges, values: Numbers) -> None:
        doubles = values.astype(np.float64, copy=False)
        sum_ranges(self.tallies[0], ranges.slots, ranges.lows, ranges.highs, doubles)


class Average(DoubleSum):
    """`avg`: the sum in doubles divided by the count."""

    def finish(self, slots: Indexes) -> pa.Array:
        sums, counts = (tally[slots] for tally in self.tallies)
        return arrow(sums / np.maximum(counts, 1), pa.float64(), counts == 0)


class Variance(Totals):
    """`variance`: the running sample variance; NULL for fewer than two values."""

    starts = (0.0, 0.0, 0.0)
    lost: ClassVar[float] = 1.0
    """How many values more than there must be are needed, and do not count in the divisor."""

    def add(self, slots: Indexes, rows: Indexes, count: int) -> None:
        self.grow(count)
        slots, rows = self.without_nulls(slots, rows)
        add_deviations(*self.tallies, slots, rows, numbers(self.args[0]))

    def add_ranges(self, ranges: Ranges, count: int) -> None:
        self.grow(count)
        ranges, (values,) = self.counted_doubles(ranges)
        deviate_ranges(*self.tallies, ranges.slots, ranges.lows, ranges.highs, values)

    def finish(self, slots: Indexes) -> pa.Array:
        counts, _, squares = (tally[slots] for tally in self.tallies)
        found = self.shown(squares / np.maximum(counts - self.lost, 1.0))
        return arrow(found, pa.float64(), counts < 1.0 + self.lost)

    def shown(self, variances: Numbers) -> Numbers:
        """What is made of the variances."""
        return variances


class Deviation(Variance):
    """`stddev`: the root of the sample variance."""

    def shown(self, variances: Numbers) -> Numbers:
        roots: Numbers = np.sqrt(variances)
        return roots


class PopulationVariance(Variance):
    """`var_pop`: the variance of the values themselves; NULL without values."""

    lost = 0.0


class PopulationDeviation(Deviation):
    """`stddev_pop`: the root of the variance of the values themselves."""

    lost = 0.0


class Correlation(Totals):
    """`corr`: Pearson's coefficient; NULL for fewer than two pairs, or if either side has no variance."""

    starts = (0.0,) * 6

    def counted_rows(self) -> Mask | None:
        masks = [mask for mask in map(present, self.args) if mask is not None]
        return np.logical_and.reduce(masks) if masks else None

    def add(self, slots: Indexes, rows: Indexes, count: int) -> None:
        self.grow(count)
        slots, rows = self.without_nulls(slots, rows)
        add_products(*self.tallies, slots, rows, *map(numbers, self.args))

    def add_ranges(self, ranges: Ranges, count: int) -> None:
        self.grow(count)
        ranges, values = self.counted_doubles(ranges)
        correlate_ranges(*self.tallies, ranges.slots, ranges.lows, ranges.highs, *values)

    def finish(self, slots: Indexes) -> pa.Array:
        counts, _, _, products, x_squares, y_squares = (tally[slots] for tally in self.tallies)
        divisors = np.sqrt(x_squares * y_squares)
        null = (counts < 2.0) | (divisors == 0.0)
        return arrow(products / np.where(null, 1.0, divisors), pa.float64(), null)


class DecimalSum(Accumulator):
    """`sum` of decimals: exact, and NULL once it has exceeded the digits of its type."""

    sums: Numbers
    """Three words for each slot, the lowest first."""

    @staticmethod
    def stored_types(call: WindowCall) -> tuple[pa.DataType, ...]:
        return (pa.int64(),) * 5

    def load(self, stored: Sequence[pa.Array]) -> None:
        parts = [numbers(array) for array in stored]
        self.sums = np.stack(parts[:3], axis=1).view(np.uint64)
        self.counts = parts[3].copy()
        self.overflown = parts[4].copy()
        self.bound = np.array(_two_words(10**self.call.type.precision), np.uint64)

    def add(self, slots: Indexes, rows: Indexes, count: int) -> None:
        self._grow(count)
        slots, rows = self.without_nulls(slots, rows)
        low, high = (np.ascontiguousarray(part) for part in words(self.args[0]))
        add_decimals(self.sums, self.counts, self.overflown, slots, rows, low, high, self.bound)

    def add_ranges(self, ranges: Ranges, count: int) -> None:
        counted = ranges if self._present is None else ranges.only(self._present[ranges.rows])
        low, high = (np.ascontiguousarray(part[counted.rows]) for part in words(self.args[0]))
        if not self._is_within_bound(counted, low, high):
            super().add_ranges(ranges, count)
            return
        self._grow(count)
        self.counts[counted.slots] += counted.highs - counted.lows
        add_decimal_ranges(self.sums, counted.slots, counted.lows, counted.highs, low, high)

    def _is_within_bound(self, ranges: Ranges, low: Numbers, high: Numbers) -> bool:
        """Whether no sum can exceed the digits of its type on the way: what is far from it is not looked at.

        Sums beyond two words are beyond all bounds.
        """
        loaded = [np.ascontiguousarray(self.sums[:, word]) for word in (0, 1)]
        if (self.sums[:, 2].view(np.int64) != self.sums[:, 1].view(np.int64) >> 63).any():
            return False
        begun = greatest_magnitude(loaded[0], loaded[1].view(np.int64))
        most = greatest_magnitude(low, high) * int((ranges.highs - ranges.lows).max(initial=0))
        return bool(begun + most < 0.5 * 10.0**self.call.type.precision)

    def _grow(self, count: int) -> None:
        new = np.zeros((count - len(self.counts), 3), np.uint64)
        self.sums = np.concatenate([self.sums, new])
        self.counts, self.overflown = grown(self.counts, count), grown(self.overflown, count)

    def finish(self, slots: Indexes) -> pa.Array:
        null = (self.counts[slots] == 0) | (self.overflown[slots] != 0)
        data = np.ascontiguousarray(self.sums[slots, :2])
        buffers = [validity(null, len(slots)), pa.py_buffer(data)]
        return pa.Array.from_buffers(self.call.type.arrow, len(slots), buffers)

    def keep(self, slots: Indexes) -> None:
        self.sums, self.counts, self.overflown = self.sums[slots], self.counts[slots], self.overflown[slots]

    def stored(self) -> list[pa.Array]:
        signed: Numbers = self.sums.view(np.int64)
        columns = [*(signed[:, word] for word in range(3)), self.counts, self.overflown]
        return [arrow(np.ascontiguousarray(values), pa.int64()) for values in columns]


class DecimalAverage(DecimalSum):
    """`avg` of decimals: the exact sum by the count, rounded half up; NULL if it does not fit its type."""

    def finish(self, slots: Indexes) -> pa.Array:
        sums, counts = self.sums[slots].tolist(), self.counts[slots].tolist()
        return pa.array(map(self._quotient, sums, counts), self.call.type.arrow, size=len(slots))

    def _quotient(self, sum_words: list[int], count: int) -> Decimal | None:
        if not count:
            return None
        argument, result = self.call.args[0].type, self.call.type
        with localcontext(prec=_EXACT_DIGITS):
            total = Decimal(_signed(sum_words)).scaleb(-argument.scale)
            quotient = (total / count).quantize(Decimal(1).scaleb(-result.scale), rounding=ROUND_HALF_UP)
            fits = abs(quotient) < Decimal(10) ** (result.precision - result.scale)
        return quotient if fits else None


def _two_words(number: int) -> tuple[int, int]:
    return number % 2**64, number >> 64


def _signed(three_words: list[int]) -> int:
    number = sum(word << (64 * place) for place, word in enumerate(three_words))
    return number - 2**192 if number >= 2**191 else number
