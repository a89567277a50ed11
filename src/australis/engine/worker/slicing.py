"""What of tuples and marks belongs to a time slice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa

from australis.engine.worker.waybill import TimeSlice, Waybill
from australis.kernels.kernel import CAUSE
from australis.kernels.marks import Marks


def tuples_between(table: pa.Table, time_slice: TimeSlice) -> pa.Table:
    """The tuples of a time slice, of a stream in the order of its causes."""
    if table.num_rows == 0:
        return table
    start, stop = np.searchsorted(table[CAUSE].to_numpy(), [time_slice.lo, time_slice.hi])
    return table.slice(start, stop - start)


Runs = Mapping[str, Mapping[str, Sequence[tuple[int, int, Marks]]]]
"""The marks of each input by attribute, from one number up to another."""


def mark_runs(waybill: Waybill) -> Runs:
    """The marks of a waybill, with the numbers from which on and up to which they stand."""
    return {
        name: {on: [(run.lo, run.hi, run.marks()) for run in runs] for on, runs in marks.items()}
        for name, marks in waybill.marks.items()
    }


def marks_between(
    found: Mapping[str, Sequence[tuple[int, int, Marks]]], time_slice: TimeSlice
) -> dict[str, Marks]:
    """The marks of a time slice, which never reaches beyond an end of the streams."""
    return {
        on: marks.between(time_slice.lo, time_slice.hi)
        for on, runs in found.items()
        for lo, hi, marks in runs
        if lo <= time_slice.lo < hi
    }
