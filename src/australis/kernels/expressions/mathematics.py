"""Rounding, and the mathematical functions of doubles."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from australis.kernels.expressions import decimals, doubles
from australis.kernels.expressions.arrays import (
    CallSite,
    Datum,
    Implementation,
    Mask,
    Numbers,
    arrow,
    either,
    nulls,
    raw,
)
from australis.kernels.expressions.fixed_point import longs, lowered, raised

_DOUBLE = pa.float64()


def ceiling(site: CallSite, value: Datum) -> pa.Array:
    if site.type.is_decimal:
        return decimals.ceiling(site, value)
    return (
        doubles.to_integers(pc.ceil(value), pa.int64()) if value.type == _DOUBLE else value.cast(pa.int64())
    )


def floor(site: CallSite, value: Datum) -> pa.Array:
    if site.type.is_decimal:
        return decimals.floor(site, value)
    return (
        doubles.to_integers(pc.floor(value), pa.int64()) if value.type == _DOUBLE else value.cast(pa.int64())
    )


def round_half_up(site: CallSite, value: Datum, digits: Datum | None = None) -> pa.Array:
    places = 0 if digits is None else int((digits if isinstance(digits, pa.Scalar) else digits[0]).as_py())
    if site.type.is_decimal:
        return decimals.round_half_up(site, value, places)
    if value.type == _DOUBLE:
        return arrow(doubles.rounded(raw(value), places), _DOUBLE, nulls(value))
    return value if places >= 0 else _round_integers(value, -places)


def power(_: CallSite, base: Datum, exponent: Datum) -> pa.Array:
    # Arrow uses the C library's power; numpy's is a square root for 0.5, which differs below zero.
    values = raw(pc.power(base, exponent))
    left, right = raw(base), raw(exponent)
    # In C, 1 to any power is 1; in Java it is NaN if the exponent is NaN, or infinite and the base 1 or -1.
    strange = np.isnan(right) | (np.isinf(right) & (np.abs(left) == 1))
    return arrow(np.where(strange, np.nan, values), _DOUBLE, nulls(base, exponent))


def arc_tangent(_: CallSite, y: Datum, x: Datum) -> pa.Array:
    # Adding zero turns -0.0 into 0.0, as Spark does.
    return arrow(np.arctan2(raw(y) + 0.0, raw(x) + 0.0), _DOUBLE, nulls(y, x))


def _of_double(function: Callable[[Numbers], Numbers]) -> Implementation:
    """A function from double to double."""

    def implementation(_: CallSite, value: Datum) -> pa.Array:
        return arrow(function(raw(value)), _DOUBLE, nulls(value))

    return implementation


def _logarithm(function: Callable[[Numbers], Numbers]) -> Implementation:
    """A logarithm, which is NULL for zero and below."""

    def implementation(_: CallSite, value: Datum) -> pa.Array:
        values = raw(value)
        none: Mask = values <= 0
        return arrow(function(values), _DOUBLE, either(nulls(value), none))

    return implementation


def _round_integers(value: pa.Array, places: int) -> pa.Array:
    """Whole numbers to tens, hundreds and so on; a result that needs more bits wraps."""
    rounded = raised(lowered(raw(value).astype(np.int64), places), places)
    wrapped = longs(rounded, nulls(value))
    return wrapped if value.type == pa.int64() else wrapped.cast(value.type, safe=False)


FUNCTIONS: dict[str, Implementation] = {
    "ceil": ceiling,
    "floor": floor,
    "round": round_half_up,
    "pow": power,
    "atan2": arc_tangent,
    "sign": _of_double(np.sign),
    "sqrt": _of_double(np.sqrt),
    "exp": _of_double(np.exp),
    "sin": _of_double(np.sin),
    "cos": _of_double(np.cos),
    "tan": _of_double(np.tan),
    "asin": _of_double(np.arcsin),
    "acos": _of_double(np.arccos),
    "atan": _of_double(np.arctan),
    "degrees": _of_double(np.degrees),
    "radians": _of_double(np.radians),
    "ln": _logarithm(np.log),
    "log10": _logarithm(np.log10),
    "log2": _logarithm(np.log2),
}
