"""The window functions, vectorised: from pairs (slot, row) and the state's columns to results and columns.

`opened` continues a function on the windows of a state; `apply` runs it over whole windows at once.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from australis.algebra.expr import Attribute, WindowCall, WindowFunctions, result_name
from australis.algebra.user_functions import plain
from australis.kernels.arrays import Indexes
from australis.kernels.expressions import evaluate, truths
from australis.kernels.functions.accumulator import Accumulator, Filtered, Ranges
from australis.kernels.functions.choices import (
    First,
    FirstByKeys,
    Greatest,
    GreatestBy,
    Last,
    LastByKeys,
    Least,
    LeastBy,
)
from australis.kernels.functions.collected import CountDistinct, Median, Percentile
from australis.kernels.functions.keys import by_keys, combined_keys
from australis.kernels.functions.lists import CollectList, CollectSet
from australis.kernels.functions.sketches import ApproximateDistinct, PercentileSketch
from australis.kernels.functions.sliding import least_places
from australis.kernels.functions.sums import (
    Average,
    Correlation,
    Count,
    DecimalAverage,
    DecimalSum,
    Deviation,
    DoubleSum,
    LongSum,
    PopulationDeviation,
    PopulationVariance,
    Variance,
)
from australis.kernels.functions.top import TOP, TopRows
from australis.kernels.functions.user import user_accumulator

ACCUMULATORS: dict[str, type[Accumulator]] = {
    "count": Count,
    "count_distinct": CountDistinct,
    "approx_count_distinct": ApproximateDistinct,
    "sum": LongSum,
    "avg": Average,
    "min": Least,
    "max": Greatest,
    "min_by": LeastBy,
    "max_by": GreatestBy,
    "first": First,
    "last": Last,
    "first_ordered": FirstByKeys,
    "last_ordered": LastByKeys,
    "collect_list": CollectList,
    "collect_set": CollectSet,
    "stddev": Deviation,
    "stddev_pop": PopulationDeviation,
    "variance": Variance,
    "var_samp": Variance,
    "var_pop": PopulationVariance,
    "corr": Correlation,
    "median": Median,
    "percentile": Percentile,
    "percentile_sketch": PercentileSketch,
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
        return user_accumulator(call)
    if call.function == TOP:
        return TopRows
    return _BY_TYPE.get((call.function, call.type.name)) or ACCUMULATORS[call.function]


def stored_types(call: WindowCall) -> tuple[pa.DataType, ...]:
    """The types of the columns that store a call's accumulations in a state."""
    return accumulator_of(call).stored_types(call)


def opened(call: WindowCall, stored: Sequence[pa.Array], args: Sequence[pa.Array]) -> Accumulator:
    """An accumulation that continues with the windows of a state.

    `args` are the columns of the call's inputs; they hold the rows that will be added.
    """
    accumulator = accumulator_of(call)(call, args[: len(call.args)])
    accumulator.load(stored)
    return accumulator if call.where is None else Filtered(accumulator, truths(args[-1]))


def apply(call: WindowCall, args: Sequence[pa.Array], slots: Indexes, rows: Indexes, count: int) -> pa.Array:
    """The results of a function over `count` whole windows, whose rows are given as pairs in order.

    `args` are the columns of the call's inputs, `slots` and `rows` (int64) the pairs.
    """
    nothing = [pa.array([], kind) for kind in stored_types(call)]
    accumulator = opened(call, nothing, args)
    accumulator.add(slots, rows, count)
    return accumulator.finish(np.arange(count))


def computed(functions: WindowFunctions, results: Sequence[pa.Array], timezone: str) -> list[pa.Array]:
    """The attributes that a box computes from the results of its calls."""
    table = pa.table(list(results), [result_name(index) for index in range(len(results))])
    return [
        results[table.column_names.index(value.name)]
        if isinstance(value, Attribute)
        else evaluate(value, table, timezone)
        for value in functions.values.values()
    ]


__all__ = [
    "ACCUMULATORS",
    "TOP",
    "Accumulator",
    "Ranges",
    "accumulator_of",
    "apply",
    "by_keys",
    "combined_keys",
    "computed",
    "least_places",
    "opened",
    "plain",
    "stored_types",
]
