"""Timestamps: their fields in local time, truncation, shifts and differences."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from australis.algebra.expr import INSTANT_MAX_US, UNITS_US
from australis.algebra.types import TIMESTAMP
from australis.kernels.expressions import doubles
from australis.kernels.expressions.arrays import (
    CallSite,
    Datum,
    Implementation,
    Mask,
    Numbers,
    arrow,
    either,
    is_scalar,
    nulls,
    raw,
)
from australis.kernels.expressions.fixed_point import longs, rescaled, unscaled
from australis.kernels.expressions.zones import DAY_S, Zone, zone

SECOND_US = 1_000_000
DAY_US = DAY_S * SECOND_US
_ZERO = np.zeros(1, np.int64)
_LAST_S, _LAST_US = divmod(2**63 - 1, SECOND_US)
_FIRST_S, _FIRST_US = divmod(-(2**63), SECOND_US)


@dataclass(frozen=True)
class LocalTimes:
    """Local times of a zone: days since 1970 and seconds of the day."""

    day: Numbers
    second: Numbers

    @property
    def seconds(self) -> Numbers:
        return self.day * DAY_S + self.second

    @property
    def month(self) -> Numbers:
        """Months since January of year 0."""
        return self.day.astype("M8[D]").astype("M8[M]").astype(np.int64) + 1970 * 12


def clock(instants: Numbers, where: Zone) -> LocalTimes:
    """The local times of some instants in microseconds."""
    seconds = instants // SECOND_US
    seconds = seconds + where.at(seconds)
    day = seconds // DAY_S
    return LocalTimes(day, seconds - day * DAY_S)


def day_of_month(day: Numbers, month: str = "M8[M]") -> Numbers:
    """The day since 1970 on which the month, or year, of a day begins."""
    return day.astype("M8[D]").astype(month).astype("M8[D]").astype(np.int64)


def joined(seconds: Numbers, micros: Numbers, null: Mask | None) -> pa.Array:
    """The timestamps of some instants in seconds and microseconds; NULL if one does not fit 64 bits."""
    over = (seconds > _LAST_S) | ((seconds == _LAST_S) & (micros > _LAST_US))
    under = (seconds < _FIRST_S) | ((seconds == _FIRST_S) & (micros < _FIRST_US))
    return arrow(seconds * SECOND_US + micros, TIMESTAMP.arrow, either(null, over | under))


def _field(read: Callable[[LocalTimes], Numbers]) -> Implementation:
    def implementation(site: CallSite, value: pa.Array) -> pa.Array:
        return arrow(read(clock(raw(value), zone(site.timezone))), pa.int32(), nulls(value))

    return implementation


def truncate(site: CallSite, unit: Datum, value: pa.Array) -> pa.Array:
    name = (unit if is_scalar(unit) else unit[0]).as_py().upper()
    instants, where, null = raw(value), zone(site.timezone), _reach(value)
    if name in ("MICROSECOND", "MILLISECOND", "SECOND"):
        return _floored(instants, UNITS_US[name], null)
    shown = clock(instants, where)
    if name in ("MINUTE", "HOUR", "DAY"):
        size = UNITS_US[name] // SECOND_US
        return joined(_retained(shown, shown.second % size, instants, where), _ZERO, null)
    return joined(where.day_starts(_BEGINNINGS[name](shown.day) * DAY_S), _ZERO, null)


def add(site: CallSite, value: Datum, interval: Datum) -> pa.Array:
    return _shifted(site, value, interval, 1)


def subtract(site: CallSite, value: Datum, interval: Datum) -> pa.Array:
    return _shifted(site, value, interval, -1)


def difference(site: CallSite, unit: Datum, start: Datum, end: Datum) -> pa.Array:
    """How many whole units lie between the local times of two instants."""
    size = UNITS_US[(unit if is_scalar(unit) else unit[0]).as_py().upper()]
    first, second, where = raw(start), raw(end), zone(site.timezone)
    null = either(_reach(start), _reach(end))
    seconds = clock(second, where).seconds - clock(first, where).seconds
    micros = second % SECOND_US - first % SECOND_US
    # Seconds and microseconds of opposite signs are first brought to one sign, as units round towards zero.
    seconds, micros = seconds + micros // SECOND_US, micros % SECOND_US
    lent = (seconds < 0) & (micros > 0)
    seconds, micros = seconds + lent, micros - lent * SECOND_US
    if size >= SECOND_US:
        return arrow(_towards_zero(seconds, size // SECOND_US), pa.int64(), null)
    return arrow(seconds * (SECOND_US // size) + _towards_zero(micros, size), pa.int64(), null)


def _unix(size: int) -> Implementation:
    def implementation(_: CallSite, value: pa.Array) -> pa.Array:
        return arrow(raw(value) // size, pa.int64(), nulls(value))

    return implementation


def _from_unix(size: int) -> Implementation:
    def implementation(_: CallSite, value: pa.Array) -> pa.Array:
        return from_number(value, size)

    return implementation


def from_number(value: pa.Array, size: int) -> pa.Array:
    """Timestamps from numbers of units of some microseconds; NULL if one does not fit 64 bits."""
    if pa.types.is_floating(value.type):
        return from_seconds(value)
    if pa.types.is_decimal(value.type):
        return _from_exact(value)
    numbers = raw(value).astype(np.int64)
    limit = (2**63 - 1) // size
    over = (numbers > limit) | (numbers < -limit - (size == 1))
    return arrow(numbers * size, TIMESTAMP.arrow, either(nulls(value), over))


def from_seconds(value: pa.Array) -> pa.Array:
    """Timestamps from seconds in doubles: truncated to microseconds, clamped to 64 bits, or NULL."""
    micros = doubles.to_integers(pc.multiply(value, float(SECOND_US)), pa.int64())
    strange = ~np.isfinite(raw(value))
    return arrow(raw(micros), TIMESTAMP.arrow, either(nulls(value), strange))


def _from_exact(value: pa.Array) -> pa.Array:
    """Decimals with at most six digits after the point."""
    micros = rescaled(unscaled(value), value.type.scale, 6)
    over = np.abs(micros) > (2**63 - 1) // SECOND_US * SECOND_US
    return longs(micros, either(nulls(value), over.astype(bool))).cast(TIMESTAMP.arrow)


def _shifted(site: CallSite, value: Datum, interval: Datum, sign: int) -> pa.Array:
    """A timestamp moved by a number of days on the calendar, and then by the rest of the interval."""
    instants, length, where = raw(value), raw(interval) * sign, zone(site.timezone)
    days = _towards_zero(length, DAY_US)
    rest = length - days * DAY_US
    seconds, micros = instants // SECOND_US, instants % SECOND_US
    if np.any(days):
        shown = clock(instants, where)
        seconds = _same_offset(shown.seconds + days * DAY_S, where.at(seconds), where)
    micros = micros + rest
    return joined(seconds + micros // SECOND_US, micros % SECOND_US, either(_reach(value), nulls(interval)))


def _retained(shown: LocalTimes, surplus: Numbers, instants: Numbers, where: Zone) -> Numbers:
    """The instants of local times without their surplus seconds, with the same offset if possible."""
    offset = where.at(instants // SECOND_US)
    return _same_offset(shown.seconds - surplus, offset, where)


def _same_offset(clocks: Numbers, offset: Numbers, where: Zone) -> Numbers:
    """The instants of local times; of two, the one with the given offset."""
    wanted = clocks - offset
    return np.where(where.at(wanted) == offset, wanted, where.instants(clocks))


def _reach(value: Datum) -> Mask | None:
    """Where a timestamp is NULL, or so far away that calendar arithmetic could overflow."""
    instants = raw(value)
    far = (instants > INSTANT_MAX_US) | (instants < -INSTANT_MAX_US)
    return either(nulls(value), far) if far.any() else nulls(value)


def _floored(instants: Numbers, size: int, null: Mask | None) -> pa.Array:
    return arrow(instants - instants % size, TIMESTAMP.arrow, null)


def _towards_zero(values: Numbers, size: int) -> Numbers:
    return np.where(values < 0, -(-values // size), values // size)


def _week(day: Numbers) -> Numbers:
    """The Monday of a day; 1970 began on a Thursday."""
    return day - (day + 3) % 7


def _quarter(day: Numbers) -> Numbers:
    month = day.astype("M8[D]").astype("M8[M]").astype(np.int64)
    return (month // 3 * 3).astype("M8[M]").astype("M8[D]").astype(np.int64)


_BEGINNINGS: dict[str, Callable[[Numbers], Numbers]] = {
    "WEEK": _week,
    "MONTH": day_of_month,
    "QUARTER": _quarter,
    "YEAR": lambda day: day_of_month(day, "M8[Y]"),
}

FUNCTIONS: dict[str, Implementation] = {
    "year": _field(lambda shown: shown.month // 12),
    "quarter": _field(lambda shown: shown.month % 12 // 3 + 1),
    "month": _field(lambda shown: shown.month % 12 + 1),
    "day": _field(lambda shown: shown.day - day_of_month(shown.day) + 1),
    "dayofweek": _field(lambda shown: (shown.day + 4) % 7 + 1),
    "dayofyear": _field(lambda shown: shown.day - day_of_month(shown.day, "M8[Y]") + 1),
    "weekday": _field(lambda shown: (shown.day + 3) % 7),
    "hour": _field(lambda shown: shown.second // 3600),
    "minute": _field(lambda shown: shown.second // 60 % 60),
    "second": _field(lambda shown: shown.second % 60),
    "date_trunc": truncate,
    "timestampdiff": difference,
    "unix_seconds": _unix(SECOND_US),
    "unix_millis": _unix(1_000),
    "unix_micros": _unix(1),
    "timestamp_seconds": _from_unix(SECOND_US),
    "timestamp_millis": _from_unix(1_000),
    "timestamp_micros": _from_unix(1),
}
