"""Text to timestamps, as Spark reads it: `2024`, `2024-3-1 9:30`, `2024-03-01T09:30:00.5+02:00`, ...

A text without a zone is a local time of the network's time zone. A text with a time but no date is NULL,
because an expression does not know today's date.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from australis.algebra.expr import read_zone
from australis.kernels.expressions.arrays import Mask, Numbers, either, nulls, raw
from australis.kernels.expressions.code_points import texts
from australis.kernels.expressions.text_to_numbers import CONTROLS
from australis.kernels.expressions.times import SECOND_US, joined
from australis.kernels.expressions.zones import DAY_S, Zone, fixed, zone

_MOMENT = (
    r"\A(?P<year>[+-]?\d{4,6})(?:-(?P<month>\d{1,2})(?:-(?P<day>\d{1,2})(?:[ T](?P<hour>\d{1,2})"
    r"(?::(?P<minute>\d{1,2})(?::(?P<second>\d{1,2})(?:\.(?P<fraction>\d{0,6})\d*)?(?P<zone>[^0-9.].*)?)?)?)?)?)?\z"
)
_NAIVE = pa.timestamp("us")


def timestamps(value: pa.Array, timezone: str) -> pa.Array:
    """The instants that some texts mean, NULL where a text is not a timestamp.

    >>> timestamps(pa.array(["2024-07-01 12:00", "noon"]), "Europe/Helsinki").cast("int64").to_pylist()
    [1719824400000000, None]
    """
    common = _in_common_form(value)
    if common is not None:
        return _placed(raw(common) // SECOND_US, raw(common) % SECOND_US, zone(timezone), nulls(value))
    parts = pc.extract_regex(pc.utf8_trim(value, CONTROLS), _MOMENT)
    day, wrong = _days(parts)
    hour, minute, second = (_number(parts, name, 0) for name in ("hour", "minute", "second"))
    wrong |= (hour > 23) | (minute > 59) | (second > 59)
    clocks = day * DAY_S + hour * 3600 + minute * 60 + second
    micros = _number(parts, "fraction", 0, fill=6)
    return _by_zone(parts.field("zone"), clocks, micros, timezone, either(nulls(parts), wrong))


def _in_common_form(value: pa.Array) -> pa.Array | None:
    """Arrow's result, which is much faster, if all texts look like `2024-03-01 09:30:00` without a zone."""
    held = texts(value, len(value))
    long_enough = held.ends - held.starts >= 16
    colon = np.append(held.data, np.zeros(16, np.uint8))[held.starts + 13] == ord(":")
    null = nulls(value)
    if not np.all(long_enough & colon if null is None else long_enough & colon | null):
        return None
    try:
        return value.cast(_NAIVE)
    except pa.ArrowInvalid:
        # The slower way reads them.
        return None


def _days(parts: pa.Array) -> tuple[Numbers, Mask]:
    """The days since 1970, and where a date does not exist."""
    return days_since_1970(_number(parts, "year", 1970), _number(parts, "month", 1), _number(parts, "day", 1))


def days_since_1970(year: Numbers, month: Numbers, day: Numbers) -> tuple[Numbers, Mask]:
    """The days from 1970 to some dates, and where a date does not exist."""
    months = (year - 1970) * 12 + month - 1
    start, following = (m.astype("M8[M]").astype("M8[D]").astype(np.int64) for m in (months, months + 1))
    wrong = (month < 1) | (month > 12) | (day < 1) | (day > following - start)
    return start + day - 1, wrong


def _number(parts: pa.Array, name: str, missing: int, fill: int = 0) -> Numbers:
    """A part of each text as a number; a fraction is first padded with zeros."""
    digits = parts.field(name)
    absent = pc.equal(digits, "")
    if fill:
        digits = pc.utf8_rpad(digits, fill, "0")
    return raw(pc.if_else(absent, str(missing), pc.utf8_ltrim(digits, "+")).cast(pa.int64()))


def _by_zone(names: pa.Array, clocks: Numbers, micros: Numbers, timezone: str, null: Mask | None) -> pa.Array:
    """The instants of local times, zone by zone: a train's texts name few zones."""
    coded = names.dictionary_encode()
    codes = coded.indices.fill_null(-1).to_numpy(zero_copy_only=False)
    instants, wrong = np.zeros(len(clocks), np.int64), np.zeros(len(clocks), bool)
    for code, name in enumerate(coded.dictionary.to_pylist()):
        rows = codes == code
        where = zone(timezone) if name == "" else _named_zone(name)
        if where is None:
            wrong |= rows
        else:
            instants[rows] = where.instants(clocks[rows])
    return joined(instants, micros, either(null, wrong))


def _named_zone(name: str) -> Zone | None:
    found = read_zone(name)
    if found is None:
        return None
    return fixed(found) if isinstance(found, int) else zone(found)


def _placed(clocks: Numbers, micros: Numbers, where: Zone, null: Mask | None) -> pa.Array:
    return joined(where.instants(clocks), micros, null)
