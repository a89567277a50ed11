"""Times written and read by a format, over whole columns.

Dates are written once for each day of a train, and clock times once for each second of the day.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import groupby

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from australis.algebra.expr import (
    DATE_LETTERS,
    MONTHS,
    SHORT_NAME,
    WEEKDAYS,
    TimeField,
    TimePart,
    read_times,
    reading,
    written_times,
)
from australis.kernels.expressions.arrays import (
    CallSite,
    Datum,
    Implementation,
    Numbers,
    constant,
    either,
    nulls,
    raw,
    spread,
)
from australis.kernels.expressions.text_to_timestamps import days_since_1970
from australis.kernels.expressions.times import SECOND_US, LocalTimes, clock, day_of_month, joined
from australis.kernels.expressions.timestamps_to_text import years
from australis.kernels.expressions.zones import DAY_S, zone


def date_format(site: CallSite, value: pa.Array, pattern: Datum) -> pa.Array:
    shown = clock(raw(value), zone(site.timezone))
    runs = groupby(written_times(constant(pattern)), key=_source)
    texts = [_run(source, list(parts), shown, raw(value)) for source, parts in runs]
    whole = spread(pc.binary_join_element_wise(*texts, "", ""), len(value))
    null = nulls(value)
    return whole if null is None else pc.if_else(pa.array(null), pa.scalar(None, pa.string()), whole)


def _source(part: TimePart) -> str:
    """What the text of a part depends on: the day, the second of the day, or the fraction of the second."""
    if isinstance(part, str):
        return "nothing"
    return "day" if part.letter in DATE_LETTERS else "fraction" if part.letter == "S" else "second"


def _run(source: str, parts: list[TimePart], shown: LocalTimes, micros: Numbers) -> Datum:
    """The text of parts that follow each other and depend on one thing."""
    fields = [part for part in parts if isinstance(part, TimeField)]
    match source:
        case "day":
            return _for_each(shown.day, lambda days: [_date_text(field, days) for field in fields])
        case "second":
            return _for_each(shown.second, lambda seconds: [_clock_text(field, seconds) for field in fields])
        case "fraction":
            digits = pc.utf8_slice_codeunits(pa.array(micros % SECOND_US + SECOND_US).cast(pa.string()), 1)
            return pc.binary_join_element_wise(*(_cut(digits, field.width) for field in fields), "")
        case _:
            return pa.scalar("".join(map(str, parts)))


def _for_each(numbers: Numbers, write: Callable[[Numbers], list[pa.Array]]) -> pa.Array:
    """The texts of numbers, written once for each different number."""
    coded = pa.array(numbers).dictionary_encode()
    return pc.binary_join_element_wise(*write(raw(coded.dictionary)), "").take(coded.indices)


def _date_text(field: TimeField, days: Numbers) -> pa.Array:
    month = days.astype("M8[D]").astype("M8[M]").astype(np.int64) + 1970 * 12
    match field.letter:
        case "y":
            return years(month // 12)
        case "M" if field.is_name:
            return _names(MONTHS, field.width).take(pa.array(month % 12))
        case "E":
            return _names(WEEKDAYS, field.width).take(pa.array((days + 3) % 7))
        case "D":
            return _padded(days - day_of_month(days, "M8[Y]") + 1, field.width)
        case "M":
            return _padded(month % 12 + 1, field.width)
        case _:
            return _padded(days - day_of_month(days) + 1, field.width)


def _clock_text(field: TimeField, seconds: Numbers) -> pa.Array:
    hour = seconds // 3600
    match field.letter:
        case "a":
            return pa.array(["AM", "PM"]).take(pa.array((hour >= 12).astype(np.int64)))
        case "h":
            return _padded((hour + 11) % 12 + 1, field.width)
        case "H":
            return _padded(hour, field.width)
        case "m":
            return _padded(seconds // 60 % 60, field.width)
        case _:
            return _padded(seconds % 60, field.width)


def _names(names: tuple[str, ...], width: int) -> pa.Array:
    return pa.array([name if width > SHORT_NAME else name[:SHORT_NAME] for name in names])


def _padded(numbers: Numbers, width: int) -> pa.Array:
    return pc.utf8_lpad(pa.array(numbers).cast(pa.string()), width, "0")


def _cut(digits: pa.Array, width: int) -> pa.Array:
    """The first digits of a fraction; those after microseconds are zeros."""
    return pc.utf8_rpad(pc.utf8_slice_codeunits(digits, 0, width), width, "0")


def to_timestamp(site: CallSite, value: pa.Array, pattern: Datum) -> pa.Array:
    """The instants of local times; fields that the format lacks are those of 1970-01-01 00:00:00."""
    text = constant(pattern)
    parts = pc.extract_regex(value, reading(text))
    month = _named_month(parts) if _names_months(text) else _number(parts, "M", 1)
    day, wrong = days_since_1970(_number(parts, "y", 1970), month, _number(parts, "d", 1))
    hour, minute, second = _hour(parts), _number(parts, "m", 0), _number(parts, "s", 0)
    wrong = wrong | (hour > 23) | (minute > 59) | (second > 59)
    clocks = day * DAY_S + hour * 3600 + minute * 60 + second
    return joined(zone(site.timezone).instants(clocks), _micros(parts), either(nulls(parts), wrong))


def _names_months(pattern: str) -> bool:
    fields = (part for part in read_times(pattern) if isinstance(part, TimeField))
    return any(field.letter == "M" and field.is_name for field in fields)


def _field(parts: pa.Array, name: str) -> pa.Array | None:
    index = parts.type.get_field_index(name)
    return None if index < 0 else pc.struct_field(parts, index)


def _number(parts: pa.Array, name: str, missing: int) -> Numbers:
    digits = _field(parts, name)
    return np.full(len(parts), missing) if digits is None else raw(digits.cast(pa.int64()))


def _named_month(parts: pa.Array) -> Numbers:
    """The numbers of months, of which a name has at least three letters."""
    short = pc.ascii_lower(pc.utf8_slice_codeunits(_field(parts, "M"), 0, SHORT_NAME))
    names = pa.array([name[:SHORT_NAME].lower() for name in MONTHS])
    return raw(pc.index_in(short, names).cast(pa.int64()).fill_null(0)) + 1


def _hour(parts: pa.Array) -> Numbers:
    """The hour of the day; 24 for one that does not exist."""
    if _field(parts, "h") is None:
        return _number(parts, "H", 0)
    hour, half = _number(parts, "h", 0), _field(parts, "a")
    is_afternoon = np.zeros(len(parts), bool)
    if half is not None:
        is_afternoon = pc.equal(pc.ascii_lower(half), "pm").fill_null(False).to_numpy(zero_copy_only=False)
    return np.where((hour < 1) | (hour > 12), 24, hour % 12 + 12 * is_afternoon)


def _micros(parts: pa.Array) -> Numbers:
    digits = _field(parts, "S")
    if digits is None:
        return np.zeros(len(parts), np.int64)
    six = pc.utf8_rpad(pc.utf8_slice_codeunits(digits, 0, 6), 6, "0")
    return raw(six.cast(pa.int64()))


FUNCTIONS: dict[str, Implementation] = {"date_format": date_format, "to_timestamp": to_timestamp}
