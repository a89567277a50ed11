"""The window functions, vectorised: from pairs (slot, row) and the state's columns to results and columns.

`opened` continues a function on the windows of a state; `apply` runs it over whole windows at once.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from australis.algebra.expr import WindowCall
from australis.kernels.arrays import Indexes
from australis.kernels.functions.accumulator import Accumulator
from australis.kernels.functions.choices import First, Greatest, Last, Least
from australis.kernels.functions.collected import CountDistinct, Median
from australis.kernels.functions.sums import (
    Average,
    Count,
    DecimalAverage,
    DecimalSum,
    Deviation,
    DoubleSum,
    LongSum,
)
from australis.kernels.functions.user import UserAccumulator, plain

ACCUMULATORS: dict[str, type[Accumulator]] = {
    "count": Count,
    "count_distinct": CountDistinct,
    "sum": LongSum,
    "avg": Average,
    "min": Least,
    "max": Greatest,
    "first": First,
    "last": Last,
    "stddev": Deviation,
    "median": Median,
}
"""Every window function by its name; sums and averages of some types have their own classes."""

_BY_TYPE: dict[tuple[str, str], type[Accumulator]] = {
    ("sum", "double"): DoubleSum,
    ("sum", "decimal"): DecimalSum,
    ("avg", "decimal"): DecimalAverage,
}


def accumulator_of(call: WindowCall) -> type[Accumulator]:
    """The class that accumulates a call."""
    if call.is_user:
        return UserAccumulator
    return _BY_TYPE.get((call.function, call.type.name)) or ACCUMULATORS[call.function]


def stored_types(call: WindowCall) -> tuple[pa.DataType, ...]:
    """The types of the columns that store a call's accumulations in a state."""
    return accumulator_of(call).stored_types(call)


def opened(call: WindowCall, stored: Sequence[pa.Array], args: Sequence[pa.Array]) -> Accumulator:
    """An accumulation that continues with the windows of a state; `args` hold the rows that will be added."""
    accumulator = accumulator_of(call)(call, args)
    accumulator.load(stored)
    return accumulator


def apply(call: WindowCall, args: Sequence[pa.Array], slots: Indexes, rows: Indexes, count: int) -> pa.Array:
    """The results of a function over `count` whole windows, whose rows are given as pairs in order.

    `args` are the columns of the call's arguments, `slots` and `rows` (int64) the pairs.
    """
    nothing = [pa.array([], kind) for kind in stored_types(call)]
    accumulator = opened(call, nothing, args)
    accumulator.add(slots, rows, count)
    return accumulator.finish(np.arange(count))


__all__ = ["ACCUMULATORS", "Accumulator", "accumulator_of", "apply", "opened", "plain", "stored_types"]
