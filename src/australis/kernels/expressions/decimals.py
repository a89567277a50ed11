"""Decimal arithmetic: exact on unscaled whole numbers, rounded half up, NULL where the result's digits overflow.

Unscaled numbers are an int64 array as long as the largest of them leaves room for the next step, and an array of
Python's whole numbers, which have no largest, from then on. So common amounts run at the speed of numpy, and
38 digits are exact.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from australis.kernels.expressions.arrays import (
    Datum,
    Mask,
    Numbers,
    Site,
    either,
    is_scalar,
    nulls,
    validity,
    words,
)

DIGITS_MAX = 38
_LONG = 1 << 63
_WORD = (1 << 64) - 1
_DIVISION_SCALE = DIGITS_MAX + 1
"""A quotient is first rounded to this many digits behind the point, then to the scale of its type."""


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
    # The least int64 has no opposite in an int64.
    if np.array_equal(short >> 63, high) and not np.any(short == -_LONG):
        return short
    whole: Numbers = high.astype(object) * (1 << 64) + low.astype(object)
    return whole


def decimals(values: Numbers, type: pa.DataType, null: Mask | None = None) -> pa.Array:
    """The decimal array of some unscaled numbers; one with more digits than the type has becomes NULL."""
    over = magnitude(values) >= 10**type.precision
    if over:
        null = either(null, np.abs(values) >= 10**type.precision)
        values = np.where(null, 0, values)
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
    if object in (values.dtype, divisor.dtype) or magnitude(values) >= _LONG or magnitude(divisor) >= _LONG // 2:
        values, divisor = values.astype(object), divisor.astype(object)
    size, by = np.abs(values), np.abs(divisor)
    rest = size % by
    quotient = size // by + (rest * 2 >= by)
    return np.where((values < 0) != (divisor < 0), -quotient, quotient)


def add(site: Site, left: Datum, right: Datum) -> pa.Array:
    scale, first, second = _aligned(left, right)
    room = magnitude(first) + magnitude(second)
    total = roomy(first, room) + roomy(second, room)
    return _result(site, total, scale, nulls(left, right))


def subtract(site: Site, left: Datum, right: Datum) -> pa.Array:
    scale, first, second = _aligned(left, right)
    room = magnitude(first) + magnitude(second)
    difference = roomy(first, room) - roomy(second, room)
    return _result(site, difference, scale, nulls(left, right))


def multiply(site: Site, left: Datum, right: Datum) -> pa.Array:
    first, second = unscaled(left), unscaled(right)
    room = magnitude(first) * magnitude(second)
    scale = left.type.scale + right.type.scale
    product = roomy(first, room) * roomy(second, room)
    if room >= 10**DIGITS_MAX:
        product = _WITHIN_DIGITS(product)
    return _result(site, product, scale, nulls(left, right))


def divide(site: Site, left: Datum, right: Datum) -> pa.Array:
    first, second = unscaled(left), unscaled(right)
    null, second = _without_zeros(second, nulls(left, right))
    shift = right.type.scale - left.type.scale
    scale = _quotient_scale(site.type.scale, magnitude(second))
    digits = scale + shift
    if digits < 0:
        second, digits = raised(second, -digits), 0
    quotient = halved_up(*_alike(raised(first, digits), second))
    return _result(site, quotient, scale, null)


def remainder(site: Site, left: Datum, right: Datum) -> pa.Array:
    scale, first, second = _aligned(left, right)
    null, second = _without_zeros(second, nulls(left, right))
    return _result(site, _remainder(*_alike(first, second)), scale, null)


def positive_remainder(site: Site, left: Datum, right: Datum) -> pa.Array:
    scale, first, second = _aligned(left, right)
    null, second = _without_zeros(second, nulls(left, right))
    room = 2 * magnitude(second)
    first, second = _alike(roomy(first, room), roomy(second, room))
    rest = _remainder(first, second)
    return _result(site, np.where(rest < 0, _remainder(rest + second, second), rest), scale, null)


def whole_quotient(_: Site, left: Datum, right: Datum) -> pa.Array:
    """The quotient without its fraction, as the low 64 bits of a whole number of at most 38 digits."""
    _, first, second = _aligned(left, right)
    null, second = _without_zeros(second, nulls(left, right))
    first, second = _alike(first, second)
    size = np.abs(first) // np.abs(second)
    quotient = np.where((first < 0) != (second < 0), -size, size)
    return longs(quotient, either(null, size >= 10**DIGITS_MAX if size.dtype == object else None))


def longs(values: Numbers, null: Mask | None) -> pa.Array:
    """The low 64 bits of some whole numbers."""
    low = (values & _WORD).astype(np.uint64).view(np.int64) if values.dtype == object else values
    return pa.Array.from_buffers(
        pa.int64(), len(low), [validity(null, len(low)), pa.py_buffer(np.ascontiguousarray(low, dtype=np.int64))]
    )


def negate(site: Site, value: Datum) -> pa.Array:
    return decimals(-unscaled(value), site.type.arrow, nulls(value))


def absolute(site: Site, value: Datum) -> pa.Array:
    return decimals(np.abs(unscaled(value)), site.type.arrow, nulls(value))


def ceiling(site: Site, value: Datum) -> pa.Array:
    return decimals(-_floored(-unscaled(value), value.type.scale), site.type.arrow, nulls(value))


def floor(site: Site, value: Datum) -> pa.Array:
    return decimals(_floored(unscaled(value), value.type.scale), site.type.arrow, nulls(value))


def round_half_up(site: Site, value: Datum, digits: int) -> pa.Array:
    """The value to that many digits behind the point, or with zeros before it if they are negative."""
    kept = min(digits, value.type.scale)
    rounded = rescaled(unscaled(value), value.type.scale, kept)
    return _result(site, rounded, kept, nulls(value))


def _aligned(left: Datum, right: Datum) -> tuple[int, Numbers, Numbers]:
    scale = max(left.type.scale, right.type.scale)
    return (
        scale,
        rescaled(unscaled(left), left.type.scale, scale),
        rescaled(unscaled(right), right.type.scale, scale),
    )


def _alike(first: Numbers, second: Numbers) -> tuple[Numbers, Numbers]:
    """Both as int64, or both as Python's whole numbers."""
    if first.dtype == second.dtype:
        return first, second
    return first.astype(object), second.astype(object)


def _result(site: Site, values: Numbers, scale: int, null: Mask | None) -> pa.Array:
    return decimals(rescaled(values, scale, site.type.scale), site.type.arrow, null)


def _without_zeros(divisor: Numbers, null: Mask | None) -> tuple[Mask | None, Numbers]:
    """The mask with every zero divisor in it, and a divisor that can be divided by everywhere."""
    zero = np.asarray(divisor == 0, dtype=bool)
    if not zero.any():
        return null, divisor
    ones = (
        np.where(zero, 1, divisor)
        if divisor.dtype != object
        else np.where(zero, np.array(1, object), divisor)
    )
    return either(null, zero), ones


def _quotient_scale(scale: int, divisor: int) -> int:
    """The scale of the first rounding of a quotient.

    Rounding first to 39 digits and then to the scale of the type differs from rounding once only if a quotient can
    come so near a half without being one, for which its divisor must have many digits.
    """
    return scale if divisor <= 10 ** (_DIVISION_SCALE - scale) else _DIVISION_SCALE


def _remainder(first: Numbers, second: Numbers) -> Numbers:
    """What a division that rounds towards zero leaves: it has the sign of the first."""
    rest = np.abs(first) % np.abs(second)
    return np.where(first < 0, -rest, rest)


def _floored(values: Numbers, digits: int) -> Numbers:
    if digits > 18:
        values = values.astype(object)
    return values // 10**digits


def _within_digits(value: int) -> int:
    """A product of more than 38 digits, rounded half up to 38 and filled up with zeros."""
    surplus = len(str(abs(value))) - DIGITS_MAX
    if surplus <= 0:
        return value
    rounded = (abs(value) // 10 ** (surplus - 1) + 5) // 10 * 10**surplus
    return -rounded if value < 0 else rounded


# Only products of more than 38 digits come here, and a power of ten for each has no place in a numpy number.
_WITHIN_DIGITS = np.frompyfunc(_within_digits, 1, 1)
