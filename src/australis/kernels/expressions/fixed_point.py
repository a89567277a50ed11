"""Decimals as whole numbers without their scale, and the powers of ten between scales.

Whole numbers are an int64 array while the largest of them leaves room for the next step, and after that an
array of Python integers, which are unbounded. So common amounts run at the speed of numpy, and 38 digits are
exact.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from australis.kernels.expressions.arrays import (
    Datum,
    Mask,
    Numbers,
    either,
    is_scalar,
    nulls,
    validity,
    words,
)

_LONG = 1 << 63
_WORD = (1 << 64) - 1


def unscaled(datum: Datum) -> Numbers:
    """The whole numbers of a decimal datum, without its scale.

    >>> from decimal import Decimal
    >>> unscaled(pa.array([Decimal("1.50"), None, Decimal("-0.01")]))
    array([150,   0,  -1])
    """
    if is_scalar(datum):
        return unscaled(pa.repeat(datum, 1))
    low, high = words(datum)
    null = nulls(datum)
    if null is not None:
        low, high = np.where(null, 0, low), np.where(null, 0, high)
    short = low.view(np.int64)
    # The least int64 has no negation in int64.
    if np.array_equal(short >> 63, high) and not np.any(short == -_LONG):
        return short
    whole: Numbers = high.astype(object) * (1 << 64) + low.astype(object)
    return whole


def decimals(values: Numbers, type: pa.DataType, null: Mask | None = None) -> pa.Array:
    """The decimal array of some unscaled numbers; one with more digits than the type has becomes NULL."""
    if magnitude(values) >= 10**type.precision:
        wide = (values >= 10**type.precision) | (values <= -(10**type.precision))
        null, values = either(null, wide), np.where(wide, 0, values)
    both = np.empty((len(values), 2), np.int64)
    if values.dtype == object:
        both[:, 0] = (values & _WORD).astype(np.uint64).view(np.int64)
        both[:, 1] = (values >> 64).astype(np.int64)
    else:
        both[:, 0], both[:, 1] = values, values >> 63
    return pa.Array.from_buffers(type, len(values), [validity(null, len(values)), pa.py_buffer(both)])


def magnitude(values: Numbers) -> int:
    """The largest absolute value among some whole numbers."""
    return max(abs(int(values.min())), abs(int(values.max()))) if values.size else 0


def roomy(values: Numbers, bound: int) -> Numbers:
    """The numbers in a form in which results up to a bound cannot overflow."""
    return values.astype(object) if values.dtype != object and bound >= _LONG else values


def raised(values: Numbers, digits: int) -> Numbers:
    """The numbers times a power of ten."""
    if digits == 0:
        return values
    return roomy(values, max(magnitude(values), 1) * 10**digits) * 10**digits


def lowered(values: Numbers, digits: int) -> Numbers:
    """The numbers divided by a power of ten, rounded half up."""
    return (
        halved_up(values, np.array([10**digits], dtype=object if digits > 18 else np.int64))
        if digits
        else values
    )


def rescaled(values: Numbers, scale: int, new_scale: int) -> Numbers:
    """The numbers of one scale in another, rounded half up."""
    return raised(values, new_scale - scale) if new_scale >= scale else lowered(values, scale - new_scale)


def halved_up(values: Numbers, divisor: Numbers) -> Numbers:
    """The quotients rounded to the nearest whole number, halves away from zero; a divisor is not zero."""
    if (
        object in (values.dtype, divisor.dtype)
        or magnitude(values) >= _LONG
        or magnitude(divisor) >= _LONG // 2
    ):
        values, divisor = values.astype(object), divisor.astype(object)
    size, by = np.abs(values), np.abs(divisor)
    rest = size % by
    quotient = size // by + (rest * 2 >= by)
    return np.where((values < 0) != (divisor < 0), -quotient, quotient)


def longs(values: Numbers, null: Mask | None) -> pa.Array:
    """The low 64 bits of some whole numbers."""
    low = (values & _WORD).astype(np.uint64).view(np.int64) if values.dtype == object else values
    return pa.Array.from_buffers(
        pa.int64(),
        len(low),
        [validity(null, len(low)), pa.py_buffer(np.ascontiguousarray(low, dtype=np.int64))],
    )
