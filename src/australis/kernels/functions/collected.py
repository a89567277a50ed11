"""`median`, `percentile` and `count(DISTINCT x)`, which need the values of a window until it closes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from australis.kernels.arrays import Indexes, dense, normalised, numbers
from australis.kernels.expressions import arrow
from australis.kernels.functions.ranges import distinct_counts, percentiles, repeated_later
from australis.kernels.functions.sequences import Sequenced


class Percentile(Sequenced):
    """`percentile`: between the two values nearest to a position, in proportion; NULL without values."""

    @property
    def share(self) -> float:
        """The position: 0 is the least value, 1 the greatest."""
        return float(self.call.parameters[0])

    def results(self, rows: Indexes, lows: Indexes, highs: Indexes) -> pa.Array:
        order = np.lexsort((highs, lows))
        found = np.zeros(len(lows))
        found[order] = percentiles(numbers(self.pool)[rows] + 0.0, lows[order], highs[order], self.share)
        return arrow(found, pa.float64(), lows == highs)


class Median(Percentile):
    """`median`: the percentile in the middle."""

    share = 0.5


class CountDistinct(Sequenced):
    """`count(DISTINCT x)`, where values are equal as in GROUP BY; only the last of equal values is kept."""

    def load(self, stored: Sequence[pa.Array]) -> None:
        super().load(stored)
        self.pool = normalised(self.pool)
        self.codes = dense(self.pool)

    def results(self, rows: Indexes, lows: Indexes, highs: Indexes) -> pa.Array:
        order = np.lexsort((highs, lows))
        found = np.zeros(len(lows), np.int64)
        codes = self.codes[rows]
        found[order] = distinct_counts(codes, len(self.codes), lows[order], highs[order])
        return arrow(found, pa.int64())

    def compact(self) -> None:
        rows, starts = self.entries.laid_out()
        self._drop(repeated_later(self.codes[rows], len(self.codes), starts))
