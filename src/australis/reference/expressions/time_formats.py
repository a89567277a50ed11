"""Times written and read by a format."""

from __future__ import annotations

import re

from australis.algebra.expr import MONTHS, SHORT_NAME, WEEKDAYS, TimeField, Value, reading, written_times
from australis.reference.expressions import times
from australis.reference.expressions.site import CallSite, Function


def date_format(site: CallSite, micros: int, pattern: str) -> Value:
    """The local time of an instant, as a format writes it."""
    moment = times.shown(micros, site.timezone)
    parts = written_times(pattern)
    return "".join(part if isinstance(part, str) else _written(part, moment, micros) for part in parts)


def _written(field: TimeField, moment: times.Moment, micros: int) -> str:
    match field.letter:
        case "y":
            sign = "-" if moment.year < 0 else "+" if moment.year > 9999 else ""
            return f"{sign}{abs(moment.year):04}"
        case "M" | "E" if field.is_name:
            name = MONTHS[moment.month - 1] if field.letter == "M" else WEEKDAYS[(moment.days + 3) % 7]
            return name if field.width > SHORT_NAME else name[:SHORT_NAME]
        case "S":
            return f"{micros % times.SECOND_US:06}000"[: field.width]
        case "a":
            return "PM" if moment.hour >= 12 else "AM"
        case _:
            return f"{_number(field.letter, moment):0{field.width}}"


def _number(letter: str, moment: times.Moment) -> int:
    match letter:
        case "D":
            first = times.days_of(moment.year, 1, 1)
            assert first is not None
            return moment.days - first + 1
        case "h":
            return (moment.hour + 11) % 12 + 1
        case _:
            numbers = {"M": moment.month, "d": moment.day, "H": moment.hour, "m": moment.minute}
            return numbers.get(letter, moment.second)


def to_timestamp(site: CallSite, text: str, pattern: str) -> Value:
    """The instant of a local time in a text; what the format lacks is that of 1970-01-01 00:00:00."""
    found = re.match(reading(pattern, end=r"\Z"), text)
    if not found:
        return None
    parts = found.groupdict()
    days = times.days_of(int(parts.get("y", 1970)), _month(parts.get("M", "1")), int(parts.get("d", 1)))
    hour = _hour(parts)
    minute, second = int(parts.get("m", 0)), int(parts.get("s", 0))
    if days is None or hour is None or minute > 59 or second > 59:
        return None
    clock = days * times.DAY_S + hour * 3600 + minute * 60 + second
    fraction = int(f"{parts.get('S', '')[:6]:0<6}")
    return times.held(times.instant_of(clock, site.timezone) * times.SECOND_US + fraction)


def _month(text: str) -> int:
    """The number of a month, of which a name has at least three letters."""
    if text.isdigit():
        return int(text)
    short = text[:SHORT_NAME].lower()
    return next(number for number, name in enumerate(MONTHS, 1) if name[:SHORT_NAME].lower() == short)


def _hour(parts: dict[str, str]) -> int | None:
    if "h" not in parts:
        hour = int(parts.get("H", 0))
        return hour if hour <= 23 else None
    hour, is_afternoon = int(parts["h"]), parts.get("a", "AM").upper() == "PM"
    return hour % 12 + 12 * is_afternoon if 1 <= hour <= 12 else None


FUNCTIONS: dict[str, Function] = {"date_format": date_format, "to_timestamp": to_timestamp}
