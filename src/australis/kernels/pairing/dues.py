"""When the keys of a join by progress have to be seen though no tuple of theirs comes."""

from __future__ import annotations

import numpy as np

from australis.kernels.arrays import Indexes, Mask, Numbers
from australis.kernels.kernel import NEVER_DUE, Due


class KeyDues:
    """For each key the mark at which it emits tuples that wait, or at which its tuples can be forgotten."""

    def __init__(self, count: int) -> None:
        self._emits = np.full(count, np.inf)
        self._forgets = np.full(count, -np.inf)

    def emit(self, codes: Indexes, values: Numbers, size: int | float = 0) -> None:
        """Note tuples that wait until a mark is more than `size` past their order values."""
        np.minimum.at(self._emits, codes, _sums(values, size))

    def forget(self, codes: Indexes, values: Numbers, size: int | float = 0) -> None:
        """Note tuples that are of no use from then on: a key is looked at when all of its tuples are."""
        np.maximum.at(self._forgets, codes, _sums(values, size))

    @property
    def found(self) -> Due:
        """When each key is due; it is quiet if it only forgets."""
        forgets = np.where(np.isinf(self._forgets), np.inf, self._forgets)
        is_quiet: Mask = np.isinf(self._emits)
        return Due(np.minimum(self._emits, forgets), np.full(len(forgets), NEVER_DUE), is_quiet)


def _sums(values: Numbers, size: int | float) -> Numbers:
    """At most the exact sums, however they are rounded."""
    sums = values.astype(np.float64) + np.float64(size)
    return np.nextafter(np.nextafter(sums, -np.inf), -np.inf)
