"""Sizes of windows and lengths of time: `10`, `2.5`, or a text such as `10 min`.

A size is measured in the units of the attribute it is laid along: whole numbers for int and long,
microseconds for timestamps, and for decimals whole steps of their last digit.
"""

from __future__ import annotations

import re
import sys
from decimal import Decimal

from australis.algebra.guards import guard, is_a, shown
from australis.algebra.types import DataType
from australis.errors import AlgebraError, Problem

Span = int | float | str
GREATEST_SIZE = 2**62
"""The greatest size in whole steps: an order value and a size then add up within 64 bits."""

_MICROSECONDS = {
    "us": 1,
    "ms": 1_000,
    "s": 1_000_000,
    "min": 60_000_000,
    "h": 3_600_000_000,
    "d": 86_400_000_000,
}
_UNITS = {
    **dict.fromkeys(("us", "microsecond", "microseconds"), "us"),
    **dict.fromkeys(("ms", "millisecond", "milliseconds"), "ms"),
    **dict.fromkeys(("s", "sec", "second", "seconds"), "s"),
    **dict.fromkeys(("min", "minute", "minutes"), "min"),
    **dict.fromkeys(("h", "hour", "hours"), "h"),
    **dict.fromkeys(("d", "day", "days"), "d"),
}
_DURATION = re.compile(r"\s*(\d{1,20}(?:\.\d{1,20})?)\s*([a-z]+)\s*", re.ASCII)
_DURATION_EXPECTED = "a length of time such as '500 ms', '10 s', '10 min', '1 hour' or '2 d'"


def microseconds(text: str, *, zero: bool = False) -> int:
    """The microseconds in a length of time, which may be 0 only if `zero`.

    >>> microseconds("10 min")
    600000000
    """
    guard(text, str, "", _DURATION_EXPECTED)
    match = _DURATION.fullmatch(text.lower())
    if not match or match[2] not in _UNITS:
        raise AlgebraError(Problem("", f"{shown(text)} is not a length of time", _DURATION_EXPECTED))
    length = Decimal(match[1]) * _MICROSECONDS[_UNITS[match[2]]]
    if length != int(length) or not (zero or length > 0):
        raise AlgebraError(
            Problem("", f"{text!r} is not a whole, positive number of microseconds", _DURATION_EXPECTED)
        )
    if length > GREATEST_SIZE:
        raise AlgebraError(Problem("", f"{text!r} is not a length of time", "at most 2^62 microseconds"))
    return int(length)


def units(span: Span, order_type: DataType, *, zero: bool = False) -> int | float:
    """A size in the units of an order attribute's type; it may be 0 only if `zero`.

    >>> from australis.algebra.types import LONG, TIMESTAMP, decimal
    >>> units(10, LONG), units("1 s", TIMESTAMP), units(0.5, decimal(10, 2))
    (10, 1000000, 50)
    """
    if order_type.name == "timestamp":
        if not isinstance(span, str):
            raise AlgebraError(Problem("", f"{shown(span)} is not a length of time", _DURATION_EXPECTED))
        return microseconds(span, zero=zero)
    if not is_a(span, (int, float)) or not _is_size(span, zero):  # type: ignore[arg-type]
        expected = "a number, 0 or greater" if zero else "a number greater than 0"
        raise AlgebraError(
            Problem("", f"{shown(span)} is not a size for an order of type {order_type}", expected)
        )
    assert not isinstance(span, str)
    if order_type.name == "double":
        return float(span)
    return _fitting(_whole_steps(span, order_type), span, order_type)


def _is_size(number: float, zero: bool) -> bool:
    return (number > 0 or (zero and number == 0)) and number <= sys.float_info.max


def _fitting(steps: int, span: Span, order_type: DataType) -> int:
    if steps > GREATEST_SIZE:
        expected = f"at most 2^62 steps of a {order_type}"
        raise AlgebraError(Problem("", f"{span!r} is not a size for an order of type {order_type}", expected))
    return steps


def _whole_steps(span: float, order_type: DataType) -> int:
    steps = Decimal(str(span)).scaleb(order_type.scale)
    if steps != int(steps):
        raise AlgebraError(
            Problem(
                "",
                f"{span!r} is not a size for an order of type {order_type}",
                f"a number with at most {order_type.scale} decimals",
            )
        )
    return int(steps)
