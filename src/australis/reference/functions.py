"""The window functions: like Spark's aggregates of the same names, over the tuples of a window in order."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from decimal import ROUND_HALF_UP, Decimal, localcontext
from typing import Any

import pyarrow as pa

from australis.algebra.expr import Value, WindowCall, WindowFunctions, result_name
from australis.algebra.order import SortKey
from australis.algebra.types import DataType
from australis.algebra.user_functions import ArrowAggregate, user_aggregate
from australis.reference.expressions import evaluate, plain
from australis.reference.order import ascending, comparable, sort_value
from australis.reference.row import Row
from australis.reference.sketches import approximate_count, percentile_sketch

_EXACT_DIGITS = 100
"""More digits than any sum, or a quotient to 38 digits, needs: only the result is rounded."""


def window_values(functions: WindowFunctions, rows: Sequence[Row], timezone: str) -> dict[str, Value]:
    """What a box computes of the tuples of a window, in order."""
    results = [window_value(call, rows, timezone) for call in functions.calls]
    return computed(functions, results, timezone)


def computed(functions: WindowFunctions, results: Sequence[Value], timezone: str) -> dict[str, Value]:
    """The attributes that a box computes from the results of its calls."""
    row = {result_name(index): result for index, result in enumerate(results)}
    return {name: evaluate(value, row, timezone) for name, value in functions.values.items()}


def window_value(call: WindowCall, rows: Sequence[Row], timezone: str) -> Value:
    """The result of a window function over the tuples of a window, in order."""
    if call.where is not None:
        rows = [row for row in rows if evaluate(call.where, row, timezone) is True]
    arguments = [[evaluate(arg, row, timezone) for arg in call.args] for row in rows]
    if call.is_user:
        return _user(call, arguments)
    if not call.args:
        return len(rows)
    if call.function == "approx_count_distinct":
        return approximate_count(_present([values[0] for values in arguments]), call.args[0].type)
    columns = [[values[index] for values in arguments] for index in range(len(call.args))]
    return FUNCTIONS[call.function](*columns, *call.parameters, result_type=call.type)


def _user(call: WindowCall, arguments: list[list[Value]]) -> Value:
    """`Agg(init, incr, final)` of Aurora, footnote 6; NULLs are passed in like other values."""
    aggregate = user_aggregate(call.function)
    if isinstance(aggregate, ArrowAggregate):
        return _over_arrow(aggregate, arguments)
    state = aggregate.begin()
    for values in arguments:
        state = aggregate.add(state, values)
    return plain(aggregate.results([state]))


def _over_arrow(aggregate: ArrowAggregate, arguments: list[list[Value]]) -> Value:
    """One update for each tuple, of the state of one window; kernels may update with many at once."""
    states = aggregate.begin(1)
    for values in arguments:
        arrays = [
            pa.array([value], type_.arrow) for value, type_ in zip(values, aggregate.takes, strict=True)
        ]
        states = aggregate.add(states, pa.array([0]), arrays)
    return plain(aggregate.results(states))


def _present(values: Sequence[Value]) -> list[Any]:
    return [value for value in values if value is not None]


def count(values: Sequence[Value], result_type: DataType) -> Value:
    """How many values are not NULL."""
    return len(_present(values))


def count_distinct(values: Sequence[Value], result_type: DataType) -> Value:
    """How many distinct values are not NULL, compared as GROUP BY does."""
    return len({comparable(value) for value in _present(values)})


def total(values: Sequence[Value], result_type: DataType) -> Value:
    """The sum: of whole numbers it wraps at 64 bits; of decimals it is NULL if too large for its type."""
    present = _present(values)
    if not present:
        return None
    if result_type.is_decimal:
        return _decimal_total(present, result_type)
    if result_type.is_integral:
        return int((sum(present) + 2**63) % 2**64 - 2**63)
    return _double_total(present)


def _double_total(values: Sequence[float]) -> float:
    """Added one by one: Python's `sum` would compensate for the rounding, which Spark does not."""
    result = 0.0
    for value in values:
        result += value
    return result


def _decimal_total(values: Sequence[Decimal], result_type: DataType) -> Decimal | None:
    result = Decimal(0)
    with localcontext(prec=_EXACT_DIGITS):
        for value in values:
            result += value
            if not _fits(result, result_type):
                return None
    return _rounded(result, result_type)


def average(values: Sequence[Value], result_type: DataType) -> Value:
    """The sum divided by the count; a decimal is rounded half up to the digits of its type."""
    present = _present(values)
    if not present:
        return None
    if not result_type.is_decimal:
        return _double_total(present) / len(present)
    with localcontext(prec=_EXACT_DIGITS):
        quotient = _rounded(sum(present, Decimal(0)) / len(present), result_type)
        return quotient if _fits(quotient, result_type) else None


def _fits(value: Decimal, data_type: DataType) -> bool:
    """Whether a decimal has no more digits before its point than its type allows."""
    return abs(value) < Decimal(10) ** (data_type.precision - data_type.scale)


def _rounded(value: Decimal, data_type: DataType) -> Decimal:
    with localcontext(prec=_EXACT_DIGITS):
        return value.quantize(Decimal(1).scaleb(-data_type.scale), rounding=ROUND_HALF_UP)


def minimum(values: Sequence[Value], result_type: DataType) -> Value:
    """The least value that is not NULL; of equal ones the first."""
    return min(_present(values), key=ascending, default=None)


def maximum(values: Sequence[Value], result_type: DataType) -> Value:
    """The greatest value that is not NULL; of equal ones the first."""
    return max(_present(values), key=ascending, default=None)


def first(values: Sequence[Value], result_type: DataType) -> Value:
    """The first value, even if NULL."""
    return values[0] if values else None


def last(values: Sequence[Value], result_type: DataType) -> Value:
    """The last value, even if NULL."""
    return values[-1] if values else None


def _squares(values: Sequence[Value]) -> tuple[float, float]:
    """How many values there are, and their squared differences from the mean, by Welford's method."""
    number, mean, squares = 0.0, 0.0, 0.0
    for value in _present(values):
        number += 1.0
        difference = value - mean
        step = difference / number
        mean += step
        squares += difference * (difference - step)
    return number, squares


def variance(values: Sequence[Value], result_type: DataType) -> float | None:
    """The sample variance, updated with each value; NULL for a single value."""
    number, squares = _squares(values)
    return squares / (number - 1.0) if number > 1.0 else None


def deviation(values: Sequence[Value], result_type: DataType) -> Value:
    """The root of the sample variance."""
    found = variance(values, result_type)
    return None if found is None else math.sqrt(found)


def population_variance(values: Sequence[Value], result_type: DataType) -> float | None:
    """The variance of the values themselves."""
    number, squares = _squares(values)
    return squares / number if number > 0.0 else None


def population_deviation(values: Sequence[Value], result_type: DataType) -> Value:
    """The root of the variance of the values themselves."""
    found = population_variance(values, result_type)
    return None if found is None else math.sqrt(found)


def correlation(xs: Sequence[Value], ys: Sequence[Value], result_type: DataType) -> Value:
    """Pearson's coefficient of the pairs without a NULL; NULL for one pair, or if a side has no variance."""
    number = x_mean = y_mean = products = x_squares = y_squares = 0.0
    pairs: list[Any] = [pair for pair in zip(xs, ys, strict=True) if None not in pair]
    for x, y in pairs:
        number += 1.0
        dx, dy = x - x_mean, y - y_mean
        x_mean += dx / number
        y_mean += dy / number
        products += dx * (y - y_mean)
        x_squares += dx * (x - x_mean)
        y_squares += dy * (y - y_mean)
    divisor = math.sqrt(x_squares * y_squares)
    return None if number < 2.0 or divisor == 0.0 else products / divisor


def minimum_by(values: Sequence[Value], keys: Sequence[Value], result_type: DataType) -> Value:
    """The value with the least key that is not NULL; of equal keys that of the first."""
    pairs = [pair for pair in zip(values, keys, strict=True) if pair[1] is not None]
    return min(pairs, key=lambda pair: ascending(pair[1]), default=(None,))[0]


def maximum_by(values: Sequence[Value], keys: Sequence[Value], result_type: DataType) -> Value:
    """The value with the greatest key that is not NULL; of equal keys that of the first."""
    pairs = [pair for pair in zip(values, keys, strict=True) if pair[1] is not None]
    return max(pairs, key=lambda pair: ascending(pair[1]), default=(None,))[0]


def first_ordered(values: Sequence[Value], *keys_and_ways: Any, result_type: DataType) -> Value:
    """The value, even if NULL, of the tuple that a sort by some keys puts first."""
    order = _sorted_places(*keys_and_ways)
    return values[order[0]] if order else None


def last_ordered(values: Sequence[Value], *keys_and_ways: Any, result_type: DataType) -> Value:
    """The value, even if NULL, of the tuple that a sort by some keys puts last."""
    order = _sorted_places(*keys_and_ways)
    return values[order[-1]] if order else None


def _sorted_places(*keys_and_ways: Any) -> list[int]:
    """The places of the tuples by some keys, ties by place: first the keys' values, then their directions."""
    half = len(keys_and_ways) // 2
    keys, ways = keys_and_ways[:half], keys_and_ways[half:]
    rows = [{f"{index}": value for index, value in enumerate(row)} for row in zip(*keys, strict=True)]
    sort_keys = [SortKey(f"{index}", bool(way)) for index, way in enumerate(ways)]
    return sorted(range(len(rows)), key=lambda place: sort_value(rows[place], sort_keys))


def collect_list(values: Sequence[Value], most: float, result_type: DataType) -> Any:
    """The first values that are not NULL."""
    return _present(values)[: int(most)]


def collect_set(values: Sequence[Value], most: float, result_type: DataType) -> Any:
    """The first distinct values that are not NULL."""
    return list(dict.fromkeys(_present(values)))[: int(most)]


def percentile(values: Sequence[Value], share: float, result_type: DataType) -> Value:
    """The value at a position from 0, the least, to 1, the greatest: in proportion between its neighbours.

    Both zeros are 0.0.
    """
    present = sorted(_present(values), key=ascending)
    if not present:
        return None
    position = (len(present) - 1) * share
    lower, higher = math.floor(position), math.ceil(position)
    low, high = float(present[lower]) + 0.0, float(present[higher]) + 0.0
    if lower == higher or low == high:
        return low
    return (higher - position) * low + (position - lower) * high


def median(values: Sequence[Value], result_type: DataType) -> Value:
    """The middle value, or the point half-way between the two in the middle."""
    return percentile(values, 0.5, result_type)


def sketched(values: Sequence[Value], share: float, accuracy: float, result_type: DataType) -> Value:
    """The percentile, within a relative error."""
    present = _present(values)
    return percentile_sketch(present, share, accuracy) if present else None


FUNCTIONS: dict[str, Callable[..., Value]] = {
    "count": count,
    "count_distinct": count_distinct,
    "sum": total,
    "avg": average,
    "min": minimum,
    "max": maximum,
    "first": first,
    "last": last,
    "min_by": minimum_by,
    "max_by": maximum_by,
    "first_ordered": first_ordered,
    "last_ordered": last_ordered,
    "collect_list": collect_list,
    "collect_set": collect_set,
    "stddev": deviation,
    "stddev_pop": population_deviation,
    "variance": variance,
    "var_samp": variance,
    "var_pop": population_variance,
    "corr": correlation,
    "median": median,
    "percentile": percentile,
    "percentile_sketch": sketched,
}
"""Every window function by its name, over the values of its arguments; parameters follow these."""
