"""Doubles to whole numbers and decimals, rounded as their shortest decimal text.

A double is rounded like the shortest text that parses to it: 0.285 has the text 0.285, so to two digits it is
0.29, although the double lies a little below. Only doubles so near a half that this could matter are
converted to text.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from australis.kernels.expressions.arrays import Mask, Numbers, arrow, nulls, raw
from australis.kernels.expressions.fixed_point import decimals

_TEXT = r"^(?P<whole>-?\d+)(?:\.(?P<fraction>\d+))?(?:e(?P<exponent>[+-]?\d+))?$"
_DOUBT = 2.0**-50
"""The relative error of a product with a power of ten against the shortest decimal's, with a margin."""
_LARGE = 2.0**49
_WHOLE = 2.0**53
"""From here on doubles are whole and taken at their exact value: Java's digits of them depend on its version.
"""


def to_integers(value: pa.Array, type: pa.DataType) -> pa.Array:
    """Doubles without their fraction; a value that is too large becomes the largest number, and NaN zero."""
    values = raw(value)
    low, high = (-(2**31), 2**31) if type == pa.int32() else (-(2**63), 2**63)
    fits = (values > low - 1.0) & (values < high)
    whole = np.where(fits, values, 0.0).astype(raw(pa.scalar(0, type)).dtype)
    if not fits.all():
        whole = np.where(values >= high, whole.dtype.type(high - 1), whole)
        whole = np.where(values <= low, whole.dtype.type(low), whole)
    return arrow(whole, type, nulls(value))


def rounded(values: Numbers, places: int) -> Numbers:
    """Doubles rounded half up to some digits after the point.

    >>> rounded(np.array([0.285, -2.345]), 2)
    array([ 0.29, -2.35])
    """
    result = np.array(values)
    if not 0 <= places <= 22:
        doubtful = np.isfinite(values)
    else:
        whole, doubtful = _near_whole(values, places)
        sure = np.isfinite(values) & ~doubtful
        result = np.where(sure, whole / 10.0**places, values)
    if doubtful.any():
        result[doubtful] = _rounded_by_text(values[doubtful], places)
    # A rounded negative fraction is 0.0, not -0.0, because it passes through a decimal.
    return result + 0.0


def to_decimals(value: pa.Array, type: pa.DataType) -> pa.Array:
    """Doubles as decimals, rounded half up; NULL if there are too many digits, or it is not a number."""
    values, null = raw(value), nulls(value)
    strange = ~np.isfinite(values)
    whole, doubtful = _near_whole(np.where(strange, 0.0, values), type.scale)
    sure = decimals(np.where(doubtful, 0.0, whole).astype(np.int64), type, _union(null, strange))
    if not doubtful.any():
        return sure
    by_text = _decimals_by_text(values[doubtful], type)
    return pc.replace_with_mask(sure, arrow(doubtful, pa.bool_()), by_text)


def shortest(values: Numbers) -> tuple[Numbers, Numbers]:
    """The shortest decimals that read back as some finite doubles, as digits and an exponent of ten.

    >>> shortest(np.array([0.285, -1e22]))
    (array([285,  -1]), array([-3, 22]))
    """
    parts = pc.extract_regex(pa.array(values).cast(pa.string()), _TEXT)
    whole, fraction, exponent = (_or_empty(parts.field(i)) for i in range(3))
    digits = pc.binary_join_element_wise(whole, fraction, "").cast(pa.int64())
    power = pc.if_else(pc.equal(exponent, ""), "0", pc.utf8_ltrim(exponent, "+")).cast(pa.int64())
    return raw(digits), raw(power) - raw(pc.binary_length(fraction).cast(pa.int64()))


def _near_whole(values: Numbers, places: int) -> tuple[Numbers, Mask]:
    """The nearest whole numbers of the values times a power of ten, and where text must decide."""
    moved = np.abs(values) * 10.0**places
    whole = np.floor(moved + 0.5)
    doubtful = (np.abs(moved - np.floor(moved) - 0.5) <= moved * _DOUBT) | (moved >= _LARGE)
    return np.copysign(whole, values), doubtful & np.isfinite(values) & (values != 0)


def _rounded_by_text(values: Numbers, places: int) -> Numbers:
    digits, exponent = shortest(values)
    kept, power = _half_up(digits, exponent, places)
    text = pc.binary_join_element_wise(
        pa.array(kept).cast(pa.string()), pa.array(power).cast(pa.string()), "e"
    )
    result = np.array(raw(text.cast(pa.float64())))
    large = np.abs(values) >= _WHOLE
    result[large] = [_whole_rounded(value, places) for value in values[large].tolist()]
    return result


def _whole_rounded(value: float, places: int) -> float:
    unit = 10 ** max(0, -places)
    size = (abs(int(value)) + unit // 2) // unit * unit
    return float(size if value > 0 else -size)


def _decimals_by_text(values: Numbers, type: pa.DataType) -> pa.Array:
    digits, exponent = shortest(values)
    kept, power = _half_up(digits, exponent, type.scale)
    shift = power + type.scale
    over = (shift > 38) & (kept != 0)
    whole = kept.astype(object) * _POWERS[np.where(shift > 38, 38, shift)]
    large = np.abs(values) >= _WHOLE
    over[large] = np.abs(values[large]) >= 1e38
    whole[large] = [int(value) * 10**type.scale for value in np.where(over, 0.0, values)[large].tolist()]
    return decimals(whole, type, over)


def _half_up(digits: Numbers, exponent: Numbers, places: int) -> tuple[Numbers, Numbers]:
    """Digits times a power of ten, rounded half up to some places after the point."""
    surplus = np.clip(-exponent - places, 0, 18)
    divisor = 10**surplus
    size = np.abs(digits)
    kept = size // divisor + (size % divisor >= divisor - size % divisor) * (surplus > 0)
    return np.where(digits < 0, -kept, kept), np.maximum(exponent, -places)


def _or_empty(texts: pa.Array) -> pa.Array:
    return texts.fill_null("")


def _union(null: Mask | None, other: Mask) -> Mask:
    return other if null is None else null | other


_POWERS = np.array([10**digits for digits in range(39)], dtype=object)
