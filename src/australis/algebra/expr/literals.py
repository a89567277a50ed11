"""Literals: what number, interval or timestamp a piece of text stands for, and its type in Spark SQL."""

from __future__ import annotations

import math
import re
from datetime import date
from decimal import Decimal

from australis.algebra.types import DOUBLE, INT, LONG, DataType, decimal

INT_MAX, LONG_MAX = 2**31 - 1, 2**63 - 1
INSTANT_MAX_US = 4 * 10**18
"""The farthest instant from 1970, and the longest interval, that timestamp arithmetic takes: 126,751 years.

The sum of two of them fits 64 bits in every time zone, so nothing overflows; beyond it the result is NULL.
"""
UNITS_US = {
    "MICROSECOND": 1,
    "MILLISECOND": 1_000,
    "SECOND": 1_000_000,
    "MINUTE": 60_000_000,
    "HOUR": 3_600_000_000,
    "DAY": 86_400_000_000,
    "WEEK": 604_800_000_000,
}
"""The units of intervals and of TIMESTAMPDIFF, in microseconds."""

_NUMBER_LENGTH_MAX = 1_000
Typed = tuple[int | float | Decimal, DataType]
_NUMBER = re.compile(
    r"(?P<sign>-?)(?P<digits>\d+\.?\d*|\.\d+)(?P<exponent>[eE][+-]?\d+)?(?P<suffix>\w*)", re.ASCII
)
_TIMESTAMP = re.compile(
    r"(?P<year>[+-]?\d{4,6})-(?P<month>\d\d)-(?P<day>\d\d)"
    r"(?:[ T](?P<hour>\d\d):(?P<minute>\d\d)(?::(?P<second>\d\d)(?:\.(?P<fraction>\d{1,6}))?)?"
    r"(?: ?(?P<zone>Z|UTC|[+-]\d\d:\d\d|[A-Za-z_]+(?:/[A-Za-z0-9_+-]+)+))?)?",
    re.ASCII,
)


def number(text: str) -> Typed | None:
    """The number that a text such as `30`, `-1.50`, `3e8` or `7L` stands for, or None.

    >>> [(value, str(type_)) for value, type_ in map(number, ("30", "2147483648", "0.50", "3e8"))]
    [(30, 'int'), (2147483648, 'long'), (Decimal('0.50'), 'decimal(2,2)'), (300000000.0, 'double')]
    """
    match = _NUMBER.fullmatch(text)
    if match is None or len(text) > _NUMBER_LENGTH_MAX:
        return None
    bare = text.removesuffix(match["suffix"]) if match["suffix"] else text
    match match["suffix"].upper(), bool(match["exponent"]):
        case ("D", _) | ("", True):
            return _double(bare)
        case "L", False:
            return _long(bare)
        case "BD", _:
            return _decimal(bare)
        case "", False:
            return _decimal(bare) if "." in bare else _integer(bare)
        case _:
            return None


def _double(text: str) -> Typed | None:
    value = float(text)
    return (value, DOUBLE) if math.isfinite(value) else None


def _integer(text: str) -> Typed | None:
    value = int(text)
    if -INT_MAX - 1 <= value <= INT_MAX:
        return value, INT
    return _long(text) or _decimal(text)


def _long(text: str) -> Typed | None:
    if not re.fullmatch(r"-?\d+", text):
        return None
    value = int(text)
    return (value, LONG) if -LONG_MAX - 1 <= value <= LONG_MAX else None


def _decimal(text: str) -> Typed | None:
    value = Decimal(text)
    type_ = decimal_type_of(value)
    return (value, type_) if type_ else None


def decimal_type_of(value: Decimal) -> DataType | None:
    """The narrowest decimal type that holds a value as it is written, or None if no type does."""
    _, digits, exponent = value.as_tuple()
    assert isinstance(exponent, int)
    written = len(digits) if value else 1
    scale = max(0, -exponent)
    precision = max(written + max(0, exponent), scale)
    return decimal(precision, scale) if precision <= 38 else None


def interval_us(amount: str, unit: str) -> int | None:
    """The microseconds of `amount` units, or None if that is not a whole number or is too long."""
    scale = UNITS_US.get(unit.upper().removesuffix("S"))
    pattern = r"-?\d+(\.\d{1,6})?" if scale == UNITS_US["SECOND"] else r"-?\d+"
    if scale is None or not re.fullmatch(pattern, amount, re.ASCII):
        return None
    value = int(Decimal(amount) * scale)
    return value if abs(value) <= INSTANT_MAX_US else None


def timestamp_us(text: str) -> int | None:
    """The instant of a timestamp text in UTC (`Z` or `UTC` at its end), in microseconds since 1970.

    >>> timestamp_us("2003-01-01 00:00:30Z")
    1041379230000000
    >>> timestamp_us("2003-01-01 00:00:30") is None  # which instant that is depends on the time zone
    True
    """
    match = _TIMESTAMP.fullmatch(text)
    if match is None or match["zone"] not in ("Z", "UTC"):
        return None
    value = _local_us(match)
    return value if value is not None and -LONG_MAX - 1 <= value <= LONG_MAX else None


def is_timestamp(text: str) -> bool:
    """Whether a text has the form of a timestamp literal, and its date and time exist."""
    match = _TIMESTAMP.fullmatch(text)
    return match is not None and _local_us(match) is not None


def _local_us(match: re.Match[str]) -> int | None:
    """The microseconds from 1970 to a date and time, all in one time zone; None if there is no such time."""
    days = _days(int(match["year"]), int(match["month"]), int(match["day"]))
    hour, minute, second = (int(match[part] or 0) for part in ("hour", "minute", "second"))
    if days is None or hour > 23 or minute > 59 or second > 59:
        return None
    seconds = days * 86_400 + hour * 3_600 + minute * 60 + second
    return seconds * 1_000_000 + int((match["fraction"] or "").ljust(6, "0"))


def _days(year: int, month: int, day: int) -> int | None:
    """The days from 1970-01-01 to a date of the Gregorian calendar, which repeats every 400 years."""
    cycle, year_of_cycle = divmod(year, 400)
    try:
        ordinal = date(year_of_cycle + 400, month, day).toordinal()
    except ValueError:
        # The day does not exist: the caller refuses the text, or returns NULL.
        return None
    return ordinal + (cycle - 1) * 146_097 - date(1970, 1, 1).toordinal()


def interval_text(value_us: int) -> str:
    """The literal of an interval, in the largest unit that divides it.

    >>> interval_text(600_000_000), interval_text(1_500_000)
    ("INTERVAL '10' MINUTE", "INTERVAL '1500' MILLISECOND")
    """
    unit = next(unit for unit, scale in reversed(UNITS_US.items()) if value_us % scale == 0)
    return f"INTERVAL '{value_us // UNITS_US[unit]}' {unit}"


def timestamp_text(value_us: int) -> str:
    """The literal of an instant, in UTC."""
    days, us = divmod(value_us, UNITS_US["DAY"])
    seconds, fraction = divmod(us, 1_000_000)
    cycle, days_of_cycle = divmod(days, 146_097)
    day = date.fromordinal(date(2370, 1, 1).toordinal() - 146_097 + days_of_cycle)
    year = day.year + 400 * cycle
    sign = "-" if year < 0 else "+" if year > 9999 else ""
    clock = f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}.{fraction:06}"
    return f"TIMESTAMP '{sign}{abs(year):04}-{day:%m-%d} {clock}Z'"
