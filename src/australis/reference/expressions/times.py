"""Timestamps: microseconds since 1970 in UTC, and their local time in a time zone."""

from __future__ import annotations

import math
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import NamedTuple
from zoneinfo import ZoneInfo

from australis.algebra.expr import INSTANT_MAX_US, UNITS_US, Value
from australis.algebra.types import LONG
from australis.reference.expressions import exact
from australis.reference.expressions.site import CallSite, Function, Number

SECOND_US, DAY_S = 1_000_000, 86_400
DAY_US = DAY_S * SECOND_US
LONG_MAX = 2**63 - 1
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_EPOCH_DAY = date(1970, 1, 1).toordinal()
_CYCLE_DAYS = 146_097
"""The days of 400 years, after which the calendar and the rules of time zones repeat themselves."""
_FAR_S = 365 * 530 * DAY_S
"""About the year 2500, after which every year is like one 400 years before."""

Zone = str | int
"""A region's name, or an offset in seconds."""


class Moment(NamedTuple):
    """A local time, and the days since 1970."""

    year: int
    month: int
    day: int
    hour: int
    minute: int
    second: int
    days: int


def offset_at(second: int, zone: Zone) -> int:
    """How many seconds a zone's local time is ahead of UTC at a second since 1970.

    >>> offset_at(1_720_000_000, "Europe/Helsinki")
    10800
    """
    if isinstance(zone, int):
        return zone
    cycle = _CYCLE_DAYS * DAY_S
    if second > _FAR_S:
        second = _FAR_S - cycle + (second - _FAR_S) % cycle
    elif second < -_FAR_S:
        second = -_FAR_S
    shown = (_EPOCH + timedelta(seconds=second)).astimezone(ZoneInfo(zone))
    return round((shown.utcoffset() or timedelta()).total_seconds())


def instant_of(clock: int, zone: Zone) -> int:
    """The second since 1970 at which a zone's clocks show a local time, given in seconds as if it were UTC.

    A time that occurs twice means the first of the two; one that is skipped is read with the earlier offset.
    """
    before, after = offset_at(clock - DAY_S, zone), offset_at(clock + DAY_S, zone)
    for offset in (before, after):
        if offset_at(clock - offset, zone) == offset:
            return clock - offset
    return clock - before


def date_of(days: int) -> tuple[int, int, int]:
    """The year, month and day that lie some days after 1970-01-01."""
    cycles, rest = divmod(days, _CYCLE_DAYS)
    found = date.fromordinal(_EPOCH_DAY + rest)
    return found.year + 400 * cycles, found.month, found.day


def days_of(year: int, month: int, day: int) -> int | None:
    """The days from 1970-01-01 to a date, or None if there is no such date."""
    cycles, rest = divmod(year - 1970, 400)
    try:
        found = date(1970 + rest, month, day)
    except ValueError:
        # The day does not exist.
        return None
    return found.toordinal() - _EPOCH_DAY + cycles * _CYCLE_DAYS


def shown(micros: int, zone: Zone) -> Moment:
    """The local time of a zone at an instant."""
    clock = clock_of(micros, zone)
    days, second = divmod(clock, DAY_S)
    return Moment(*date_of(days), second // 3600, second // 60 % 60, second % 60, days)


def clock_of(micros: int, zone: Zone) -> int:
    """The local time of a zone in seconds since 1970-01-01 00:00 on its clock."""
    second = micros // SECOND_US
    return second + offset_at(second, zone)


def shifted(micros: int, interval: int, zone: Zone) -> int | None:
    """An instant moved by a number of days on the calendar, and then by the rest of an interval."""
    if abs(micros) > INSTANT_MAX_US:
        return None
    days = int(Decimal(interval) / DAY_US)
    rest = interval - days * DAY_US
    if days:
        micros = _moved(micros, days * DAY_S, zone) * SECOND_US + micros % SECOND_US
    return held(micros + rest)


def held(micros: int) -> int | None:
    """A timestamp, or None if it does not fit 64 bits."""
    return micros if -LONG_MAX - 1 <= micros <= LONG_MAX else None


def truncate(site: CallSite, unit: str, micros: int) -> Value:
    """The beginning of the unit of time that contains an instant."""
    if abs(micros) > INSTANT_MAX_US:
        return None
    if unit in ("MICROSECOND", "MILLISECOND", "SECOND"):
        return micros - micros % UNITS_US[unit]
    zone = site.timezone
    if unit in ("MINUTE", "HOUR", "DAY"):
        surplus = clock_of(micros, zone) % (UNITS_US[unit] // SECOND_US)
        return _moved(micros, -surplus, zone) * SECOND_US
    moment = shown(micros, zone)
    return _day_start(_BEGINNINGS[unit](moment), zone) * SECOND_US


def difference(site: CallSite, unit: str, start: int, end: int) -> Value:
    """How many whole units lie between the local times of two instants."""
    if max(abs(start), abs(end)) > INSTANT_MAX_US:
        return None
    first, second = (clock_of(t, site.timezone) * SECOND_US + t % SECOND_US for t in (start, end))
    units = abs(second - first) // UNITS_US[unit]
    return units if second >= first else -units


def from_number(site: CallSite, value: Number) -> Value:
    """Seconds since 1970 as a timestamp."""
    if isinstance(value, float):
        return from_seconds(value)
    return held(int(value * SECOND_US)) if abs(value) <= LONG_MAX // SECOND_US else None


def from_millis(_: CallSite, value: int) -> Value:
    return value * 1000 if abs(value) <= LONG_MAX // 1000 else None


def from_seconds(value: float) -> int | None:
    """Seconds since 1970 in a double, truncated to microseconds."""
    if not math.isfinite(value):
        return None
    return exact.saturated(value * SECOND_US, LONG)


def _moved(micros: int, seconds: int, zone: Zone) -> int:
    """The second at which the clock shows so much more; if there are two, the one with the current offset."""
    clock, offset = clock_of(micros, zone) + seconds, offset_at(micros // SECOND_US, zone)
    if offset_at(clock - offset, zone) == offset:
        return clock - offset
    return instant_of(clock, zone)


def _day_start(days: int, zone: Zone) -> int:
    """The second at which a day begins: if midnight is skipped, the first second after the gap."""
    second = instant_of(days * DAY_S, zone)
    if second + offset_at(second, zone) == days * DAY_S:
        return second
    before, after = second - DAY_S, second
    while after - before > 1:
        middle = (before + after) // 2
        if offset_at(middle, zone) == offset_at(second, zone):
            after = middle
        else:
            before = middle
    return after


def _first_of(year: int, month: int) -> int:
    found = days_of(year, month, 1)
    assert found is not None
    return found


_BEGINNINGS: dict[str, Callable[[Moment], int]] = {
    "WEEK": lambda moment: moment.days - (moment.days + 3) % 7,
    "MONTH": lambda moment: _first_of(moment.year, moment.month),
    "QUARTER": lambda moment: _first_of(moment.year, (moment.month - 1) // 3 * 3 + 1),
    "YEAR": lambda moment: _first_of(moment.year, 1),
}


def _field(read: Callable[[Moment], int]) -> Function:
    return lambda site, micros: read(shown(micros, site.timezone))


FUNCTIONS: dict[str, Function] = {
    "year": _field(lambda moment: moment.year),
    "quarter": _field(lambda moment: (moment.month - 1) // 3 + 1),
    "month": _field(lambda moment: moment.month),
    "day": _field(lambda moment: moment.day),
    "dayofweek": _field(lambda moment: (moment.days + 4) % 7 + 1),
    "dayofyear": _field(lambda moment: moment.days - _first_of(moment.year, 1) + 1),
    "weekday": _field(lambda moment: (moment.days + 3) % 7),
    "hour": _field(lambda moment: moment.hour),
    "minute": _field(lambda moment: moment.minute),
    "second": _field(lambda moment: moment.second),
    "date_trunc": truncate,
    "timestampdiff": difference,
    "unix_seconds": lambda _, micros: micros // SECOND_US,
    "unix_millis": lambda _, micros: micros // 1000,
    "unix_micros": lambda _, micros: micros,
    "timestamp_seconds": from_number,
    "timestamp_millis": from_millis,
    "timestamp_micros": lambda _, micros: micros,
}
