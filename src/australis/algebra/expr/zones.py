"""The names of time zones in text: regions such as `Europe/Helsinki`, offsets such as `+02:00` or `UTC-3`."""

from __future__ import annotations

import re
from functools import lru_cache
from zoneinfo import available_timezones

_SHORT = {
    "ACT": "Australia/Darwin",
    "AET": "Australia/Sydney",
    "AGT": "America/Argentina/Buenos_Aires",
    "ART": "Africa/Cairo",
    "AST": "America/Anchorage",
    "BET": "America/Sao_Paulo",
    "BST": "Asia/Dhaka",
    "CAT": "Africa/Harare",
    "CNT": "America/St_Johns",
    "CST": "America/Chicago",
    "CTT": "Asia/Shanghai",
    "EAT": "Africa/Addis_Ababa",
    "ECT": "Europe/Paris",
    "EST": "-05:00",
    "HST": "-10:00",
    "IET": "America/Indiana/Indianapolis",
    "IST": "Asia/Kolkata",
    "JST": "Asia/Tokyo",
    "MIT": "Pacific/Apia",
    "MST": "-07:00",
    "NET": "Asia/Yerevan",
    "NST": "Pacific/Auckland",
    "PLT": "Asia/Karachi",
    "PNT": "America/Phoenix",
    "PRT": "America/Puerto_Rico",
    "PST": "America/Los_Angeles",
    "SST": "Pacific/Guadalcanal",
    "VST": "Asia/Ho_Chi_Minh",
}
"""Names of three letters, which Java keeps for compatibility."""
_OFFSET = re.compile(r"(?:UTC|GMT|UT)?([+-])(\d{1,2})(?::?([0-5]\d)(?::?([0-5]\d))?)?", re.ASCII)
_SPACED = re.compile(r"[+-](?:\d{1,2}|\d{4}|\d{6}|\d\d:\d\d(?::\d\d)?)", re.ASCII)
_OFFSET_MAX = 18 * 3600


@lru_cache(maxsize=1024)
def read_zone(text: str) -> str | int | None:
    """The region, or the offset in seconds, that a text names, as Spark reads it; None if it names none.

    >>> read_zone("Europe/Helsinki"), read_zone("UTC+2"), read_zone("-1:30"), read_zone("europe")
    ('Europe/Helsinki', 7200, -5400, None)
    """
    name = text.strip("".join(map(chr, range(33))))
    name = re.sub(r"([+-])([0-9]):", r"\g<1>0\2:", name, count=1)
    name = re.sub(r"([+-])([0-9][0-9]):([0-9])\Z", r"\1\2:0\3", name, count=1)
    name = _SHORT.get(name, name)
    if name in ("Z", "UTC", "GMT", "UT"):
        return 0
    return _offset(name) if _OFFSET.fullmatch(name) else _region(name)


def _offset(name: str) -> int | None:
    sign, hours, minutes, seconds = _OFFSET.fullmatch(name).groups()  # type: ignore[union-attr]
    size = int(hours) * 3600 + int(minutes or 0) * 60 + int(seconds or 0)
    if size > _OFFSET_MAX or not _SPACED.fullmatch(name.lstrip("UTCGM")):
        return None
    return -size if sign == "-" else size


def _region(name: str) -> str | None:
    return name if name in _regions() else None


@lru_cache(maxsize=1)
def _regions() -> frozenset[str]:
    return frozenset(available_timezones())
