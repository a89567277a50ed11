"""What outputs received as short histograms: of times, from which delays follow, and of values."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from australis.engine.worker.waybill import ARRIVAL_STEP_US, Numbers
from australis.qos.histograms import Bins, Counts, count

EXACT_STEPS = 128
"""How many steps before the newest time each step has its own count."""
PER_OCTAVE = 64
"""Into how many parts each doubling of the distance to the newest time is divided beyond."""


def time_counts(times: Numbers) -> list[tuple[int, int]]:
    """How many tuples have each time, or about each time if they are far apart; the oldest first.

    A delay is at least the distance of a time to the newest one. So an error of a hundredth of that distance
    is at most a hundredth of the delay, wherever the tuples are delivered.

    >>> time_counts(np.array([5_200_000, 5_200_900, 5_201_000, 1_000]))
    [(1000, 1), (5200000, 2), (5201000, 1)]
    >>> len(time_counts(np.arange(0, 3_600_000_000, 3_600)))
    951
    """
    if not len(times):
        return []
    newest, oldest = int(times.max()) // ARRIVAL_STEP_US, int(times.min()) // ARRIVAL_STEP_US
    if newest == oldest:
        # What came together: usual, and there may be millions of them.
        return [(newest * ARRIVAL_STEP_US, len(times))]
    ages = newest - times // ARRIVAL_STEP_US
    parts = np.floor(PER_OCTAVE * np.log2(np.maximum(ages, EXACT_STEPS) / EXACT_STEPS)).astype(np.int64)
    places = np.where(ages < EXACT_STEPS, ages, EXACT_STEPS + parts)
    counts = np.bincount(places)
    found = np.flatnonzero(counts)
    means = np.round(np.bincount(places, weights=ages)[found] / counts[found]).astype(np.int64)
    middle = (newest - means[::-1]) * ARRIVAL_STEP_US
    return list(zip(middle.tolist(), counts[found][::-1].tolist(), strict=True))


def binned(bins: Bins, table: pa.Table) -> Counts:
    """Counts the tuples of an output by the bins of its value graph."""
    column = table[bins.graph.attribute]
    if pa.types.is_string(column.type):
        found = pc.value_counts(column)
        return count(bins, found.field("values").to_numpy(False), found.field("counts").to_numpy())
    return count(bins, column.to_numpy())
