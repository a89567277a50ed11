"""Converts text to values: whole columns at once, and with care where a column has an invalid text.

The texts of a type: whole numbers, decimal numbers, `true` and `false`, and timestamps in ISO 8601 with `T`
or a blank, with `Z` or an offset, or without, in the network's time zone. Digits after the microsecond are
cut off; an int or a decimal that does not fit is refused. Surrounding blanks are ignored, and an empty text
is NULL, except for strings.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal, localcontext
from zoneinfo import ZoneInfo

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from australis.algebra.types import DataType

_WHOLE = re.compile(r"[+-]?[0-9]+")
_REAL = re.compile(r"[+-]?(([0-9]+\.?[0-9]*|\.[0-9]+)(e[+-]?[0-9]+)?|nan|inf|infinity)", re.IGNORECASE)
_MOMENT = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)"
    r"(?:[T ](\d\d)(?::(\d\d)(?::(\d\d)(?:\.(\d+))?)?)?"
    r"(?:(Z)|([+-])(\d\d):?(\d\d)?)?)?",
    re.IGNORECASE | re.ASCII,
)
_BITS = {"int": 31, "long": 63}
_EPOCH = date(1970, 1, 1).toordinal()
_SLOW_ROWS = 512
_NAIVE = pa.timestamp("us")

Value = int | float | Decimal | bool | str


@dataclass(frozen=True)
class Converted:
    """A column of values, and the rows whose text is not a value; those are NULL in it."""

    column: pa.Array
    bad_rows: tuple[int, ...] = ()


def convert(texts: pa.Array, data_type: DataType, timezone: str) -> Converted:
    """The values of a column of texts.

    >>> from australis.algebra.types import INT
    >>> convert(pa.array(["1", "x", " 3 ", None]), INT, "UTC").bad_rows
    (1,)
    """
    if data_type.name == "string":
        return Converted(texts)
    try:
        return Converted(_FAST[data_type.name](texts, data_type, timezone))
    except pa.ArrowInvalid:
        # Some texts are not values: convert half by half, to find out which.
        return _halved(texts, data_type, timezone)


def parse_value(text: str, data_type: DataType, timezone: str) -> Value | None:
    """The value of one text, NULL for an empty one; raises ValueError if it is not a value."""
    text = text.strip()
    return _SLOW[data_type.name](text, data_type, timezone) if text else None


def _halved(texts: pa.Array, data_type: DataType, timezone: str) -> Converted:
    """Convert half by half, so that a few bad texts slow down only their neighbours."""
    if len(texts) <= _SLOW_ROWS:
        return _careful(texts, data_type, timezone)
    middle = len(texts) // 2
    first, second = (convert(half, data_type, timezone) for half in (texts[:middle], texts[middle:]))
    column = pa.concat_arrays([first.column, second.column])
    return Converted(column, (*first.bad_rows, *(row + middle for row in second.bad_rows)))


def _careful(texts: pa.Array, data_type: DataType, timezone: str) -> Converted:
    """Convert each distinct text once: a column that needs care tends to repeat the same faults."""
    encoded = texts.dictionary_encode()
    values: list[Value | None] = []
    bad = []
    for index, text in enumerate(encoded.dictionary.to_pylist()):
        try:
            values.append(parse_value(text, data_type, timezone))
        except ValueError:
            # The caller reports the row.
            values.append(None)
            bad.append(index)
    column = pa.array(values, data_type.arrow).take(encoded.indices)
    is_bad = np.isin(encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False), bad)
    return Converted(column, tuple(np.flatnonzero(is_bad).tolist()))


def _fast_whole(texts: pa.Array, data_type: DataType, timezone: str) -> pa.Array:
    if pc.any(pc.match_substring(texts, "x", ignore_case=True)).as_py():
        raise pa.ArrowInvalid("Arrow would read 0x10 as 16")
    return texts.cast(data_type.arrow)


def _fast_cast(texts: pa.Array, data_type: DataType, timezone: str) -> pa.Array:
    return texts.cast(data_type.arrow)


def _fast_boolean(texts: pa.Array, data_type: DataType, timezone: str) -> pa.Array:
    is_true = pc.equal(texts, "true")
    if not pc.all(pc.or_(is_true, pc.equal(texts, "false"))).as_py():
        raise pa.ArrowInvalid("neither true nor false")
    return is_true


def _fast_moment(texts: pa.Array, data_type: DataType, timezone: str) -> pa.Array:
    """All have a zone or none has; a local time that a clock change skips needs care."""
    zoned = pc.match_substring_regex(texts, "(Z|[+-][0-9]{2}:?[0-9]{2})$")
    if pc.all(zoned).as_py():
        return texts.cast(data_type.arrow)
    if pc.any(zoned).as_py():
        raise pa.ArrowInvalid("some have a zone, some have none")
    local = texts.cast(_NAIVE)
    if timezone == "UTC":
        return local.cast(data_type.arrow)
    return pc.assume_timezone(local, timezone, ambiguous="earliest", nonexistent="raise").cast(
        data_type.arrow
    )


def _slow_whole(text: str, data_type: DataType, timezone: str) -> int:
    if not _WHOLE.fullmatch(text):
        raise ValueError(text)
    value = int(text)
    bound = 1 << _BITS[data_type.name]
    if not -bound <= value < bound:
        raise ValueError(text)
    return value


def _slow_real(text: str, data_type: DataType, timezone: str) -> float:
    if not _REAL.fullmatch(text):
        raise ValueError(text)
    return float(text)


def _slow_decimal(text: str, data_type: DataType, timezone: str) -> Decimal:
    if not _REAL.fullmatch(text):
        raise ValueError(text)
    with localcontext() as context:
        context.prec = 80
        value = Decimal(text)
        if not value.is_finite() or abs(value.adjusted()) > 40:
            return _zero_or_refuse(value, text)
        steps = value.scaleb(data_type.scale)
        if steps != steps.to_integral_value() or abs(steps) >= 10**data_type.precision:
            raise ValueError(text)
        return value.quantize(Decimal(1).scaleb(-data_type.scale))


def _zero_or_refuse(value: Decimal, text: str) -> Decimal:
    if value.is_finite() and not value:
        return Decimal(0)
    raise ValueError(text)


def _slow_boolean(text: str, data_type: DataType, timezone: str) -> bool:
    lowered = text.lower()
    if lowered not in ("true", "false"):
        raise ValueError(text)
    return lowered == "true"


def _slow_moment(text: str, data_type: DataType, timezone: str) -> int:
    """Microseconds since 1970; a local time that a clock change skips or repeats has the offset before it."""
    match = _MOMENT.fullmatch(text)
    if not match:
        raise ValueError(text)
    year, month, day, hour, minute, second = (int(part or 0) for part in match.groups()[:6])
    local = datetime(year, month, day, hour, minute, second)  # noqa: DTZ001 the zone is looked up for it below
    fraction = int((match[7] or "").ljust(6, "0")[:6])
    seconds = (local.toordinal() - _EPOCH) * 86_400 + hour * 3600 + minute * 60 + second
    return (seconds - _offset_seconds(match, local, timezone)) * 1_000_000 + fraction


def _offset_seconds(match: re.Match[str], local: datetime, timezone: str) -> int:
    if match[8]:
        return 0
    if match[9]:
        seconds = int(match[10]) * 3600 + int(match[11] or 0) * 60
        return -seconds if match[9] == "-" else seconds
    offset = ZoneInfo(timezone).utcoffset(local)
    return 0 if offset is None else round(offset.total_seconds())


_FAST: dict[str, Callable[[pa.Array, DataType, str], pa.Array]] = {
    "int": _fast_whole,
    "long": _fast_whole,
    "double": _fast_cast,
    "decimal": _fast_cast,
    "boolean": _fast_boolean,
    "timestamp": _fast_moment,
}
_SLOW: dict[str, Callable[[str, DataType, str], Value]] = {
    "int": _slow_whole,
    "long": _slow_whole,
    "double": _slow_real,
    "decimal": _slow_decimal,
    "boolean": _slow_boolean,
    "timestamp": _slow_moment,
}
