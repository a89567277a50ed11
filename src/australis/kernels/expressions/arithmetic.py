"""Arithmetic on numbers and timestamps: whole numbers wrap, and dividing by zero gives NULL."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from australis.kernels.expressions import decimals, times
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


def add(site: CallSite, left: Datum, right: Datum) -> pa.Array:
    if site.type.is_decimal:
        return decimals.add(site, left, right)
    if site.type.name == "timestamp":
        return times.add(site, left, right)
    return pc.add(left, right)


def subtract(site: CallSite, left: Datum, right: Datum) -> pa.Array:
    if site.type.is_decimal:
        return decimals.subtract(site, left, right)
    if pa.types.is_timestamp(left.type):
        return times.subtract(site, left, right)
    return pc.subtract(left, right)


def multiply(site: CallSite, left: Datum, right: Datum) -> pa.Array:
    return decimals.multiply(site, left, right) if site.type.is_decimal else pc.multiply(left, right)


def divide(site: CallSite, left: Datum, right: Datum) -> pa.Array:
    if site.type.is_decimal:
        return decimals.divide(site, left, right)
    return _by(left, right, np.divide)


def remainder(site: CallSite, left: Datum, right: Datum) -> pa.Array:
    return decimals.remainder(site, left, right) if site.type.is_decimal else _by(left, right, np.fmod)


def positive_remainder(site: CallSite, left: Datum, right: Datum) -> pa.Array:
    if site.type.is_decimal:
        return decimals.positive_remainder(site, left, right)
    return _by(left, right, _positive)


def whole_quotient(site: CallSite, left: Datum, right: Datum) -> pa.Array:
    if pa.types.is_decimal(left.type):
        return decimals.whole_quotient(site, left, right)
    return _by(left, right, _quotient)


def negate(site: CallSite, value: Datum) -> pa.Array:
    return decimals.negate(site, value) if site.type.is_decimal else pc.negate(value)


def absolute(site: CallSite, value: Datum) -> pa.Array:
    return decimals.absolute(site, value) if site.type.is_decimal else pc.abs(value)


def _by(left: Datum, right: Datum, operation: Callable[[Numbers, Numbers], Numbers]) -> pa.Array:
    """An operation that has no result if its right side is zero."""
    first, second = raw(left), raw(right)
    null, divisor = _without_zeros(second, nulls(left, right))
    return arrow(operation(first, divisor), left.type, null)


def _without_zeros(divisor: Numbers, null: Mask | None) -> tuple[Mask | None, Numbers]:
    zero = divisor == 0
    if not zero.any():
        return null, divisor
    return either(null, zero), np.where(zero, divisor.dtype.type(1), divisor)


def _quotient(left: Numbers, right: Numbers) -> Numbers:
    """The quotient rounded towards zero; the one case of overflow, MIN div -1, wraps to MIN."""
    down = np.floor_divide(left, right)
    inexact = np.fmod(left, right) != 0
    return down + (inexact & ((left < 0) != (right < 0)))


def _positive(left: Numbers, right: Numbers) -> Numbers:
    rest = np.fmod(left, right)
    return np.where(rest < 0, np.fmod(rest + right, right), rest)


FUNCTIONS: dict[str, Implementation] = {
    "+": add,
    "-": subtract,
    "*": multiply,
    "/": divide,
    "%": remainder,
    "pmod": positive_remainder,
    "div": whole_quotient,
    "negate": negate,
    "abs": absolute,
}
