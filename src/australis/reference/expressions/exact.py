"""Whole numbers that wrap and decimals that round, in Python's unbounded numbers."""

from __future__ import annotations

import math
from decimal import ROUND_HALF_UP, Context, Decimal
from fractions import Fraction

from australis.algebra.types import DataType
from australis.reference.expressions.site import Number

BITS = {"int": 32, "long": 64}
_EXACT = Context(prec=1000, rounding=ROUND_HALF_UP, Emin=-9999, Emax=9999)


def wrapped(value: int, type_: DataType) -> int:
    """The low 32 or 64 bits of a whole number, with their sign.

    >>> from australis.algebra.types import INT
    >>> wrapped(2**31, INT)
    -2147483648
    """
    half = 1 << (BITS[type_.name] - 1)
    return (value + half) % (2 * half) - half


def saturated(value: float, type_: DataType) -> int:
    """A double without its fraction, clamped to the range of whole numbers; NaN is 0."""
    if math.isnan(value):
        return 0
    limit = 1 << (BITS[type_.name] - 1)
    if math.isinf(value):
        return limit - 1 if value > 0 else -limit
    return max(-limit, min(limit - 1, math.trunc(value)))


def fitted(value: Decimal, type_: DataType) -> Decimal | None:
    """A decimal rounded half up to the scale of a type, or None if it has too many digits.

    >>> from australis.algebra.types import decimal
    >>> fitted(Decimal("2.345"), decimal(3, 2)), fitted(Decimal("99.5"), decimal(2, 0))
    (Decimal('2.35'), None)
    """
    rounded = places(value, type_.scale)
    return rounded if rounded.copy_abs() < Decimal(10) ** (type_.precision - type_.scale) else None


def places(value: Decimal, digits: int) -> Decimal:
    """A decimal rounded half up to some digits after the point, or before it if they are negative."""
    rounded = value.quantize(Decimal(1).scaleb(-digits, _EXACT), context=_EXACT)
    return rounded or rounded.copy_abs()  # Decimals have no negative zero.


def of_double(value: float) -> Decimal:
    """The shortest decimal that reads back as a finite double, or from 2^53 on its exact value.

    From there on, Spark's digits depend on the version of Java.
    """
    return Decimal(int(value)) if abs(value) >= 2**53 else Decimal(repr(value))


def opposite(value: Number) -> Number:
    """A number with its sign changed; Python's minus would round a decimal."""
    return value.copy_negate() if isinstance(value, Decimal) else -value


def moved(value: Decimal, exponent: int) -> Decimal:
    """A decimal times a power of ten."""
    return value.scaleb(exponent, _EXACT)


def total(first: Decimal, second: Decimal) -> Decimal:
    return _EXACT.add(first, second)


def product(first: Decimal, second: Decimal) -> Decimal:
    return _EXACT.multiply(first, second)


def quotient(first: Decimal, second: Decimal, digits: int) -> Decimal:
    """A quotient rounded half up to some digits after the point."""
    value = Fraction(first) / Fraction(second)
    whole = math.floor(abs(value) * 10**digits + Fraction(1, 2))
    return moved(Decimal(whole if value >= 0 else -whole), -digits)


def remainder(first: Decimal, second: Decimal) -> Decimal:
    """The remainder of a division that rounds towards zero."""
    return _EXACT.remainder(first, second)


def whole_quotient(first: Decimal, second: Decimal) -> int:
    """A quotient without its fraction."""
    return math.trunc(Fraction(first) / Fraction(second))
