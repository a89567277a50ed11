"""CAST, with None for what cannot be converted."""

from __future__ import annotations

import math
import re
from decimal import Decimal

from australis.algebra.expr import Value, read_zone
from australis.algebra.types import LONG, DataType
from australis.reference.expressions import exact, times
from australis.reference.expressions.site import CallSite, Number

_BLANKS = "".join(map(chr, range(33)))
_CONTROLS = _BLANKS + "\x7f"
_WHOLE = re.compile(r"([+-]?)(\d*)(?:\.\d*)?", re.ASCII)
_DOUBLE = re.compile(r"([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)[dDfF]?", re.ASCII)
_HEXADECIMAL = re.compile(
    r"([+-]?0[xX](?:[0-9a-fA-F]+\.?[0-9a-fA-F]*|\.[0-9a-fA-F]+)[pP][+-]?\d+)[dDfF]?", re.ASCII
)
_DECIMAL = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?0*\d{1,10})?")
_MOMENT = re.compile(
    r"([+-]?\d{4,6})(?:-(\d{1,2})(?:-(\d{1,2})(?:[ T](\d{1,2})(?::(\d{1,2})(?::(\d{1,2})"
    r"(?:\.(\d*))?([^\d.].*)?)?)?)?)?)?",
    re.ASCII,
)
_TRUTHS = {
    **dict.fromkeys(("t", "true", "y", "yes", "1"), True),
    **dict.fromkeys(("f", "false", "n", "no", "0"), False),
}
_INFINITIES = {
    **dict.fromkeys(("inf", "+inf", "infinity", "+infinity"), math.inf),
    **dict.fromkeys(("-inf", "-infinity"), -math.inf),
}


def cast(site: CallSite, value: Value) -> Value:
    """A value in the type of the site.

    >>> from australis.algebra.types import INT, STRING
    >>> cast(CallSite(INT, (STRING,)), " 12.9 ")
    12
    """
    (source,) = site.takes
    if value is None or source == site.type:
        return value
    match source.name:
        case "string":
            return _from_text(site, str(value))
        case "timestamp":
            return _from_timestamp(site, value)
        case _:
            return _from_number(site, int(value) if isinstance(value, bool) else value, source)


def _from_number(site: CallSite, value: Number, source: DataType) -> Value:
    target = site.type
    match target.name:
        case "int" | "long" if isinstance(value, float):
            return exact.saturated(value, target)
        case "int" | "long":
            return exact.wrapped(int(value), target)
        case "double":
            return float(value)
        case "decimal":
            return _to_decimal(value, target)
        case "boolean":
            return bool(value != 0)
        case "timestamp":
            return _to_timestamp(value)
        case _:
            return ("true" if value else "false") if source.name == "boolean" else _number_text(value, source)


def _to_decimal(value: Number, target: DataType) -> Value:
    if isinstance(value, float):
        return exact.fitted(exact.of_double(value), target) if math.isfinite(value) else None
    return exact.fitted(Decimal(value), target)


def _to_timestamp(value: Number) -> Value:
    """Seconds since 1970: whole numbers are clamped to 64 bits, of decimals the low 64 bits remain."""
    if isinstance(value, float):
        return times.from_seconds(value)
    if isinstance(value, Decimal):
        return exact.wrapped(int(exact.moved(value, 6)), LONG)
    return max(-times.LONG_MAX - 1, min(times.LONG_MAX, int(value) * times.SECOND_US))


def _number_text(value: Number, source: DataType) -> str:
    return str(exact.places(value, source.scale)) if source.is_decimal else str(value)


def _from_timestamp(site: CallSite, value: Number) -> Value:
    seconds = value // times.SECOND_US
    match site.type.name:
        case "long":
            return int(seconds)
        case "int":
            return int(seconds) if -(2**31) <= seconds < 2**31 else None
        case "double":
            return float(value / times.SECOND_US)
        case "decimal":
            return exact.fitted(Decimal(value).scaleb(-6), site.type)
        case _:
            return _timestamp_text(value, site.timezone)


def _timestamp_text(micros: int, timezone: str) -> str:
    """The local time as text, with as many digits of the fraction as needed; years may have a sign."""
    moment = times.shown(micros, timezone)
    sign = "-" if moment.year < 0 else "+" if moment.year > 9999 else ""
    day = f"{sign}{abs(moment.year):04}-{moment.month:02}-{moment.day:02}"
    fraction = f".{micros % times.SECOND_US:06}".rstrip("0").rstrip(".")
    return f"{day} {moment.hour:02}:{moment.minute:02}:{moment.second:02}{fraction}"


def _from_text(site: CallSite, text: str) -> Value:
    match site.type.name:
        case "int" | "long":
            return _whole(text.strip(_CONTROLS), site.type)
        case "double":
            return _double(text.strip(_BLANKS))
        case "decimal":
            return _decimal(text.strip(_BLANKS), site.type)
        case "boolean":
            return _TRUTHS.get(text.strip(_CONTROLS).lower())
        case _:
            return _moment(text.strip(_CONTROLS), site.timezone)


def _whole(text: str, type_: DataType) -> int | None:
    """A whole number with an optional sign and a fraction, which is truncated."""
    found = _WHOLE.fullmatch(text)
    if not found or not re.search(r"[\d.]", text, re.ASCII):
        return None
    number = int(found[1] + (found[2] or "0"))
    return number if exact.wrapped(number, type_) == number else None


def _double(text: str) -> float | None:
    """A decimal or hexadecimal number with an optional suffix, an infinity, or NaN."""
    if found := _DOUBLE.fullmatch(text):
        return float(found[1])
    if found := _HEXADECIMAL.fullmatch(text):
        return _hexadecimal(found[1])
    if text.lower() == "nan" or text in ("+NaN", "-NaN"):
        return math.nan
    return _INFINITIES.get(text.lower())


def _hexadecimal(text: str) -> float:
    try:
        return float.fromhex(text)
    except OverflowError:
        # Too large for a double, as in Java.
        return -math.inf if text.startswith("-") else math.inf


def _decimal(text: str, type_: DataType) -> Decimal | None:
    """A number with an optional exponent; its scale must fit 32 bits."""
    if not _DECIMAL.fullmatch(text):
        return None
    mantissa, _, exponent = text.lower().partition("e")
    decimals = len(mantissa.partition(".")[2])
    if abs(int(exponent or 0) - decimals) >= 2**31:
        return None
    return _moved(Decimal(mantissa), int(exponent or 0), type_)


def _moved(mantissa: Decimal, exponent: int, type_: DataType) -> Decimal | None:
    """A number times a power of ten; powers beyond all digits need not be written out."""
    if mantissa == 0 or mantissa.adjusted() + exponent < -100:
        return exact.fitted(Decimal(0), type_)
    if mantissa.adjusted() + exponent > 100:
        return None
    return exact.fitted(exact.moved(mantissa, exponent), type_)


def _moment(text: str, timezone: str) -> int | None:
    """The instant that a text means; omitted parts default to their first value."""
    found = _MOMENT.fullmatch(text)
    if not found:
        return None
    year, month, day, hour, minute, second, fraction, zone_name = found.groups()
    days = times.days_of(int(year), int(month or 1), int(day or 1))
    zone = timezone if zone_name is None else read_zone(zone_name)
    hours, minutes, seconds = int(hour or 0), int(minute or 0), int(second or 0)
    if days is None or zone is None or hours > 23 or minutes > 59 or seconds > 59:
        return None
    clock = days * times.DAY_S + hours * 3600 + minutes * 60 + seconds
    micros = int(f"{fraction or ''}000000"[:6])
    return times.held(times.instant_of(clock, zone) * times.SECOND_US + micros)
