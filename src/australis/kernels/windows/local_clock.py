"""The clocks of a time zone, along which aligned windows of timestamps lie, for many instants at once."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from australis.kernels.arrays import Indexes
from australis.kernels.expressions import zone

_SECOND_US = 1_000_000
_ALWAYS = -(2**63)
"""Before all instants and readings."""


class LocalClock(NamedTuple):
    """The greatest time that the clocks of a zone have shown, in microseconds.

    It jumps where clocks skip an hour, and stands still while they repeat one.
    """

    begins: Indexes
    """The instant from which each offset holds."""
    offsets: Indexes
    reached: Indexes
    """The greatest time that clocks have shown before that; ascending."""

    def readings(self, instants: Indexes) -> Indexes:
        """The greatest time that the clocks have shown up to each instant."""
        era = np.searchsorted(self.begins, instants, side="right") - 1
        return np.maximum(instants + self.offsets[era], self.reached[era])

    def instants(self, readings: Indexes) -> Indexes:
        """The first instant at which the clocks have shown each time, or a later one."""
        era = np.searchsorted(self.reached, readings, side="left") - 1
        return np.maximum(readings - self.offsets[era], self.begins[era])


@lru_cache(maxsize=64)
def local_clock(timezone: str, advance: int) -> LocalClock | None:
    """The clock for windows of an advance; None if they lie as they would in UTC.

    A change of the offset by whole advances is left out, so that windows repeat with the clocks.

    >>> hour = 3_600_000_000
    >>> local_clock("Europe/Berlin", hour) is None, local_clock("UTC", 24 * hour) is None
    (False, True)
    >>> day, back = local_clock("Europe/Berlin", 24 * hour), 1_729_990_800_000_000
    >>> (day.readings(back + hour * np.arange(-1, 3)) - day.readings(np.array([back - 1]))).tolist()
    [-3599999999, 0, 1, 3600000001]
    """
    known = zone(timezone)
    steps = np.diff(known.offsets) * _SECOND_US
    kept = np.flatnonzero(steps % advance)
    first = int(known.offsets[0]) * _SECOND_US
    if not len(kept) and first % advance == 0:
        return None
    begins = np.concatenate([[_ALWAYS], known.changes[kept] * _SECOND_US])
    offsets = np.cumsum(np.concatenate([[first], steps[kept]]))
    reached = np.concatenate([[_ALWAYS], begins[1:] + offsets[:-1] - 1])
    return LocalClock(begins, offsets, np.maximum.accumulate(reached))
