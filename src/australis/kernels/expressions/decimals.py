"""Decimal arithmetic: exact on whole numbers, rounded half up, NULL where the digits of the type overflow."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from australis.kernels.expressions.arrays import CallSite, Datum, Mask, Numbers, either, nulls
from australis.kernels.expressions.fixed_point import (
    decimals,
    halved_up,
    longs,
    magnitude,
    raised,
    rescaled,
    roomy,
    unscaled,
)


def add(site: CallSite, left: Datum, right: Datum) -> pa.Array:
    scale, first, second = _aligned(left, right)
    room = magnitude(first) + magnitude(second)
    total = roomy(first, room) + roomy(second, room)
    return _result(site, total, scale, nulls(left, right))


def subtract(site: CallSite, left: Datum, right: Datum) -> pa.Array:
    scale, first, second = _aligned(left, right)
    room = magnitude(first) + magnitude(second)
    difference = roomy(first, room) - roomy(second, room)
    return _result(site, difference, scale, nulls(left, right))


def multiply(site: CallSite, left: Datum, right: Datum) -> pa.Array:
    first, second = unscaled(left), unscaled(right)
    room = magnitude(first) * magnitude(second)
    scale = left.type.scale + right.type.scale
    return _result(site, roomy(first, room) * roomy(second, room), scale, nulls(left, right))


def divide(site: CallSite, left: Datum, right: Datum) -> pa.Array:
    first, second = np.broadcast_arrays(unscaled(left), unscaled(right))
    null, second = _without_zeros(second, nulls(left, right))
    digits = site.type.scale + right.type.scale - left.type.scale
    if digits < 0:
        second, digits = raised(second, -digits), 0
    short = _has_short_quotient(first, second, digits)
    if not short.any():
        return decimals(halved_up(*_alike(raised(first, digits), second)), site.type.arrow, null)
    result = decimals(_short_quotient(np.where(short, first, 0), second, digits), site.type.arrow, null)
    if short.all():
        return result
    long = halved_up(*_alike(raised(first[~short], digits), second[~short]))
    rest = decimals(long, site.type.arrow, None if null is None else null[~short])
    return pc.replace_with_mask(result, pa.array(~short), rest)


def remainder(site: CallSite, left: Datum, right: Datum) -> pa.Array:
    scale, first, second = _aligned(left, right)
    null, second = _without_zeros(second, nulls(left, right))
    return _result(site, _remainder(*_alike(first, second)), scale, null)


def positive_remainder(site: CallSite, left: Datum, right: Datum) -> pa.Array:
    scale, first, second = _aligned(left, right)
    null, second = _without_zeros(second, nulls(left, right))
    room = 2 * magnitude(second)
    first, second = _alike(roomy(first, room), roomy(second, room))
    rest = _remainder(first, second)
    return _result(site, np.where(rest < 0, _remainder(rest + second, second), rest), scale, null)


def whole_quotient(_: CallSite, left: Datum, right: Datum) -> pa.Array:
    """The low 64 bits of the quotient without its fraction."""
    first, second = _aligned(left, right)[1:]
    null, second = _without_zeros(second, nulls(left, right))
    first, second = _alike(first, second)
    size = np.abs(first) // np.abs(second)
    quotient = np.where((first < 0) != (second < 0), -size, size)
    return longs(quotient, null)


def negate(site: CallSite, value: Datum) -> pa.Array:
    return decimals(-unscaled(value), site.type.arrow, nulls(value))


def absolute(site: CallSite, value: Datum) -> pa.Array:
    return decimals(np.abs(unscaled(value)), site.type.arrow, nulls(value))


def ceiling(site: CallSite, value: Datum) -> pa.Array:
    return decimals(-_floored(-unscaled(value), value.type.scale), site.type.arrow, nulls(value))


def floor(site: CallSite, value: Datum) -> pa.Array:
    return decimals(_floored(unscaled(value), value.type.scale), site.type.arrow, nulls(value))


def round_half_up(site: CallSite, value: Datum, digits: int) -> pa.Array:
    """The value rounded to some digits after the point, or before it if they are negative."""
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
    """Both as int64, or both as Python integers."""
    if first.dtype == second.dtype:
        return first, second
    return first.astype(object), second.astype(object)


def _result(site: CallSite, values: Numbers, scale: int, null: Mask | None) -> pa.Array:
    return decimals(rescaled(values, scale, site.type.scale), site.type.arrow, null)


def _without_zeros(divisor: Numbers, null: Mask | None) -> tuple[Mask | None, Numbers]:
    """The mask including every zero divisor, and a divisor that is nowhere zero."""
    zero = np.asarray(divisor == 0, dtype=bool)
    if not zero.any():
        return null, divisor
    return either(null, zero), np.where(zero, np.ones(1, divisor.dtype), divisor)


def _has_short_quotient(first: Numbers, second: Numbers, digits: int) -> Mask:
    """Where first times a power of ten, divided by second, fits an int64 and long division can compute it."""
    if object in (first.dtype, second.dtype) or _step(second) <= 0:
        return np.zeros(len(first), bool)
    return np.abs(first / second) * 10.0**digits < 2.0**62


def _short_quotient(first: Numbers, second: Numbers, digits: int) -> Numbers:
    """First times a power of ten, divided by second, rounded half up, by long division."""
    size, by, step = np.abs(first), np.abs(second), _step(second)
    quotient, rest = np.divmod(size, by)
    while digits > 0:
        taken = min(step, digits)
        more, rest = np.divmod(rest * 10**taken, by)
        quotient, digits = quotient * 10**taken + more, digits - taken
    quotient += rest >= by - rest
    return np.where((first < 0) != (second < 0), -quotient, quotient)


def _step(divisor: Numbers) -> int:
    """How many digits can be appended to a remainder below the divisor."""
    return 18 - len(str(magnitude(divisor)))


def _remainder(first: Numbers, second: Numbers) -> Numbers:
    """The remainder of a division that rounds towards zero, with the sign of the first operand."""
    rest = np.abs(first) % np.abs(second)
    return np.where(first < 0, -rest, rest)


def _floored(values: Numbers, digits: int) -> Numbers:
    if digits > 18:
        values = values.astype(object)
    return values // 10**digits
