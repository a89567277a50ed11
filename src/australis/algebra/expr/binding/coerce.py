"""Coercion: which type holds two others, which decimals an operator makes, and which casts are inserted.

The rules are Spark's, with two of its guesses left out: a string is never converted to a number implicitly,
and nothing is converted to a string implicitly.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from decimal import Context, Decimal, Inexact, InvalidOperation

from australis.algebra.expr.literals import INT_MAX, LONG_MAX, decimal_type_of
from australis.algebra.expr.tree import Cast, Expr, Literal, Value
from australis.algebra.types import DOUBLE, INT, LONG, NULL, STRING, DataType, decimal

DECIMAL_MAX = 38
_EXACT = Context(prec=100, traps=[Inexact, InvalidOperation])
_NOT_FINITE = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}


def wider(one: DataType, other: DataType) -> DataType | None:
    """The common type to which values of both types are converted, or None.

    >>> str(wider(INT, decimal(5, 2)))
    'decimal(12,2)'
    """
    if other in (one, NULL):
        return one
    if one == NULL:
        return other
    if not (one.is_numeric and other.is_numeric):
        return None
    if DOUBLE in (one, other):
        return DOUBLE
    if one.is_integral and other.is_integral:
        return LONG
    return wider_decimal(as_decimal(one), as_decimal(other))


def widest(types: Iterable[DataType]) -> DataType | None:
    """The type that holds all of some types, or None."""
    found: DataType | None = NULL
    for type_ in types:
        found = wider(found, type_) if found else None
    return found


def as_decimal(type_: DataType) -> DataType:
    """The decimal type that holds every int or long."""
    return {INT: decimal(10, 0), LONG: decimal(20, 0)}.get(type_, type_)


def wider_decimal(one: DataType, other: DataType) -> DataType:
    """The decimal type that holds two others; with too many digits, those before the point are kept first."""
    scale = max(one.scale, other.scale)
    whole = max(one.precision - one.scale, other.precision - other.scale)
    if whole + scale <= DECIMAL_MAX:
        return decimal(whole + scale, scale)
    return decimal(DECIMAL_MAX, DECIMAL_MAX - whole)


def decimal_result(sign: str, one: DataType, other: DataType) -> DataType:
    """The type of `one sign other` for two decimals.

    >>> str(decimal_result("*", decimal(38, 10), decimal(38, 10)))
    'decimal(38,6)'
    """
    p1, s1, p2, s2 = one.precision, one.scale, other.precision, other.scale
    match sign:
        case "+" | "-":
            scale = max(s1, s2)
            return _adjusted(max(p1 - s1, p2 - s2) + scale + 1, scale)
        case "*":
            return _adjusted(p1 + p2 + 1, s1 + s2)
        case "/":
            scale = max(6, s1 + p2 + 1)
            return _adjusted(p1 - s1 + s2 + scale, scale)
        case _:
            scale = max(s1, s2)
            return _adjusted(min(p1 - s1, p2 - s2) + scale, scale)


def _adjusted(precision: int, scale: int) -> DataType:
    """A decimal type cut to 38 digits: first after the point, where at least 6 stay."""
    if precision <= DECIMAL_MAX:
        return decimal(precision, scale)
    whole = precision - scale
    return decimal(DECIMAL_MAX, max(DECIMAL_MAX - whole, min(scale, 6)))


def bounded(precision: int, scale: int) -> DataType:
    """A decimal type with both numbers cut at 38."""
    return decimal(min(precision, DECIMAL_MAX), min(scale, DECIMAL_MAX))


def convert(expr: Expr, type_: DataType) -> Expr:
    """The expression in another type: a cast, or the literal itself if it fits exactly."""
    if expr.type == type_:
        return expr
    if isinstance(expr, Literal):
        if expr.value is None:
            return Literal(None, type_)
        value = _literal(expr.value, expr.type, type_)
        if value is not None:
            return Literal(value, type_)
    return Cast(expr, type_, expr.nullable or not never_null(expr.type, type_))


def literal_as_decimal(expr: Expr) -> Expr:
    """An operand of decimal arithmetic as a decimal; an integer literal needs no more digits than it has."""
    if isinstance(expr, Literal) and isinstance(expr.value, int) and expr.type.is_integral:
        return convert(expr, decimal_type_of(Decimal(expr.value)) or as_decimal(expr.type))
    return convert(expr, as_decimal(expr.type))


def _literal(value: Value, source: DataType, target: DataType) -> Value:
    """A literal's value in a type that holds it exactly (the nearest double for a double), or None."""
    if target == DOUBLE and source == STRING:
        return _NOT_FINITE.get(str(value))
    if not (source.is_integral or source.is_decimal) or isinstance(value, (str, float)) or value is None:
        return None
    if target == DOUBLE:
        return float(value)
    if target.is_decimal:
        return _fitting(Decimal(value), target)
    if target.is_integral and source.is_integral:
        limit = INT_MAX if target == INT else LONG_MAX
        return value if -limit - 1 <= value <= limit else None
    return None


def _fitting(value: Decimal, target: DataType) -> Decimal | None:
    try:
        exact = value.quantize(Decimal(1).scaleb(-target.scale), context=_EXACT)
    except (Inexact, InvalidOperation):
        # An answer, not an error: the value has more digits than the type.
        return None
    return exact if len(exact.as_tuple().digits) <= target.precision else None


def never_null(source: DataType, target: DataType) -> bool:
    """Whether casting a value that is not NULL always gives one that is not NULL."""
    if target == STRING:
        return True
    if source == STRING or (source == DOUBLE and target.name in ("timestamp", "decimal")):
        return False
    if target.is_decimal:
        digits = {"boolean": 1, "int": 10, "long": 19}.get(source.name, source.precision - source.scale)
        rounds = source.is_decimal and source.scale > target.scale
        return source.name != "timestamp" and digits + rounds <= target.precision - target.scale
    return not (source.is_decimal and target.name == "timestamp")
