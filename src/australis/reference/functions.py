"""The window functions: like Spark's aggregates of the same names, over the tuples of a window in order."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from decimal import ROUND_HALF_UP, Decimal, localcontext
from typing import Any

from australis.algebra.expr import Value, WindowCall
from australis.algebra.types import DataType
from australis.algebra.user_functions import user_aggregate
from australis.reference.expressions import evaluate, plain
from australis.reference.order import ascending, comparable
from australis.reference.row import Row

_EXACT_DIGITS = 100
"""More digits than any sum, or a quotient to 38 digits, needs: only the result is rounded."""


def window_value(call: WindowCall, rows: Sequence[Row], timezone: str) -> Value:
    """The result of a window function over the tuples of a window, in order."""
    arguments = [[evaluate(arg, row, timezone) for arg in call.args] for row in rows]
    if call.is_user:
        return _user(call, arguments)
    if not call.args:
        return len(rows)
    return FUNCTIONS[call.function]([values[0] for values in arguments], call.type)


def _user(call: WindowCall, arguments: list[list[Value]]) -> Value:
    """`Agg(init, incr, final)` of Aurora, footnote 6; NULLs are passed in like other values."""
    aggregate = user_aggregate(call.function)
    state = aggregate.begin()
    for values in arguments:
        state = aggregate.add(state, values)
    return plain(aggregate.results([state]))


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
    return values[0]


def last(values: Sequence[Value], result_type: DataType) -> Value:
    """The last value, even if NULL."""
    return values[-1]


def deviation(values: Sequence[Value], result_type: DataType) -> Value:
    """The sample standard deviation, updated with each value by Welford's method; NULL for a single value."""
    number, mean, squares = 0.0, 0.0, 0.0
    for value in _present(values):
        number += 1.0
        difference = value - mean
        step = difference / number
        mean += step
        squares += difference * (difference - step)
    return math.sqrt(squares / (number - 1.0)) if number > 1.0 else None


def median(values: Sequence[Value], result_type: DataType) -> Value:
    """The middle value, or the point half-way between the two in the middle."""
    present = sorted(_present(values), key=ascending)
    if not present:
        return None
    low, high = present[(len(present) - 1) // 2], present[len(present) // 2]
    return float(low) if low == high else 0.5 * low + 0.5 * high


FUNCTIONS: dict[str, Callable[[Sequence[Value], DataType], Value]] = {
    "count": count,
    "count_distinct": count_distinct,
    "sum": total,
    "avg": average,
    "min": minimum,
    "max": maximum,
    "first": first,
    "last": last,
    "stddev": deviation,
    "median": median,
}
"""Every window function by its name, over the values of its argument."""
