"""Arithmetic and the functions of numbers."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal

from australis.algebra.expr import Value
from australis.reference.expressions import exact, times
from australis.reference.expressions.site import CallSite, Function, Number


def add(site: CallSite, left: Number, right: Number) -> Value:
    if site.type.name == "timestamp":
        return times.shifted(left, right, site.timezone)
    return _result(site, exact.total(left, right) if site.type.is_decimal else left + right)


def subtract(site: CallSite, left: Number, right: Number) -> Value:
    return add(site, left, exact.opposite(right))


def multiply(site: CallSite, left: Number, right: Number) -> Value:
    return _result(site, exact.product(left, right) if site.type.is_decimal else left * right)


def divide(site: CallSite, left: Number, right: Number) -> Value:
    if right == 0:
        return None
    return _result(
        site, exact.quotient(left, right, site.type.scale) if site.type.is_decimal else left / right
    )


def remainder(site: CallSite, left: Number, right: Number) -> Value:
    return None if right == 0 else _result(site, _remainder(left, right))


def positive_remainder(site: CallSite, left: Number, right: Number) -> Value:
    if right == 0:
        return None
    rest = _remainder(left, right)
    if not rest < 0:
        return _result(site, rest)
    moved = exact.total(rest, right) if site.type.is_decimal else _result(site, rest + right)
    return _result(site, _remainder(moved, right))


def whole_quotient(site: CallSite, left: Number, right: Number) -> Value:
    if right == 0:
        return None
    return exact.wrapped(exact.whole_quotient(Decimal(left), Decimal(right)), site.type)


def negate(site: CallSite, value: Number) -> Value:
    return _result(site, exact.opposite(value))


def absolute(site: CallSite, value: Number) -> Value:
    return _result(site, value.copy_abs() if site.type.is_decimal else abs(value))


def ceiling(site: CallSite, value: Number) -> Value:
    if isinstance(value, float):
        return exact.saturated(math.ceil(value) if math.isfinite(value) else value, site.type)
    return _result(site, Decimal(math.ceil(value)) if site.type.is_decimal else value)


def floor(site: CallSite, value: Number) -> Value:
    if isinstance(value, float):
        return exact.saturated(math.floor(value) if math.isfinite(value) else value, site.type)
    return _result(site, Decimal(math.floor(value)) if site.type.is_decimal else value)


def round_half_up(site: CallSite, value: Number, digits: int = 0) -> Value:
    if isinstance(value, float):
        return float(exact.places(exact.of_double(value), digits)) if math.isfinite(value) else value
    if site.type.is_decimal:
        return _result(site, exact.places(value, min(digits, site.takes[0].scale)))
    return value if digits >= 0 else exact.wrapped(int(exact.places(Decimal(value), digits)), site.type)


def sign(_: CallSite, value: float) -> Value:
    return value if math.isnan(value) or value == 0 else math.copysign(1.0, value)


def power(_: CallSite, base: float, exponent: float) -> Value:
    if math.isnan(exponent) or (math.isinf(exponent) and abs(base) == 1):
        return math.nan
    try:
        return math.pow(base, exponent)
    except OverflowError:
        # As in Java, a result that is too large is infinite.
        odd = exponent == math.trunc(exponent) and exponent % 2 == 1
        return -math.inf if base < 0 and odd else math.inf
    except ValueError:
        # A negative base has no real root; zero to a negative power is infinite.
        odd = exponent == math.trunc(exponent) and exponent % 2 == 1
        return math.nan if base != 0 else math.copysign(math.inf, base) if odd else math.inf


def arc_tangent(_: CallSite, y: float, x: float) -> Value:
    return math.atan2(y + 0.0, x + 0.0)


def _of_double(function: Callable[[float], float]) -> Function:
    """A function from double to double: NaN where it has no value, infinite where it is too large."""

    def total(_: CallSite, value: float) -> Value:
        try:
            return function(value)
        except ValueError:
            # As in Java, an undefined result is NaN.
            return math.nan
        except OverflowError:
            # As in Java, a result that is too large is infinite.
            return math.inf

    return total


def _logarithm(function: Callable[[float], float]) -> Function:
    def total(_: CallSite, value: float) -> Value:
        return None if value <= 0 else function(value)

    return total


def _remainder(left: Number, right: Number) -> Number:
    if isinstance(left, Decimal):
        return exact.remainder(left, right)
    if isinstance(left, float):
        return math.nan if math.isinf(left) else math.fmod(left, right)
    return left - exact.whole_quotient(Decimal(left), Decimal(right)) * right


def _result(site: CallSite, value: Number) -> Value:
    """A number in the type of the result: whole numbers wrap, decimals round or become NULL."""
    if site.type.is_integral:
        return exact.wrapped(value, site.type)
    return exact.fitted(value, site.type) if site.type.is_decimal else float(value)


FUNCTIONS: dict[str, Function] = {
    "+": add,
    "-": subtract,
    "*": multiply,
    "/": divide,
    "%": remainder,
    "pmod": positive_remainder,
    "div": whole_quotient,
    "negate": negate,
    "abs": absolute,
    "ceil": ceiling,
    "floor": floor,
    "round": round_half_up,
    "sign": sign,
    "pow": power,
    "atan2": arc_tangent,
    "sqrt": _of_double(math.sqrt),
    "exp": _of_double(math.exp),
    "sin": _of_double(math.sin),
    "cos": _of_double(math.cos),
    "tan": _of_double(math.tan),
    "asin": _of_double(math.asin),
    "acos": _of_double(math.acos),
    "atan": _of_double(math.atan),
    "degrees": _of_double(math.degrees),
    "radians": _of_double(math.radians),
    "ln": _logarithm(math.log),
    "log10": _logarithm(math.log10),
    "log2": _logarithm(math.log2),
}
