"""Texts for how fast to replay: `5000/s`, `5k/s`, `300/min`; `20x`."""

from __future__ import annotations

import re

from australis.algebra.guards import guard
from australis.errors import EngineError, Problem

_SECONDS = {
    **dict.fromkeys(("s", "sec", "second"), 1),
    **dict.fromkeys(("min", "minute"), 60),
    **dict.fromkeys(("h", "hour"), 3600),
    **dict.fromkeys(("d", "day"), 86_400),
}
_MANY = {"": 1, "k": 1_000, "m": 1_000_000, "g": 1_000_000_000}
_NUMBER = r"(\d{1,15}(?:\.\d{1,15})?)"
_RATE = re.compile(rf"\s*{_NUMBER}\s*([kmg]?)\s*/\s*([a-z]+)\s*", re.ASCII | re.IGNORECASE)
_SPEED = re.compile(rf"\s*{_NUMBER}\s*x?\s*", re.ASCII | re.IGNORECASE)
_RATE_EXPECTED = "tuples per time, such as '5000/s', '5k/s' or '300/min'"
_SPEED_EXPECTED = "a factor, such as '20x'; 1x is as in the data"


def parse_rate(text: str) -> float:
    """The tuples per second that a text asks for.

    >>> parse_rate("5000/s"), parse_rate("5k/s"), parse_rate("300/min")
    (5000.0, 5000.0, 5.0)
    """
    guard(text, str, "rate", _RATE_EXPECTED)
    match = _RATE.fullmatch(text)
    if not match or match[3].lower() not in _SECONDS:
        raise EngineError(Problem("rate", f"{text!r} is no rate", _RATE_EXPECTED))
    rate = float(match[1]) * _MANY[match[2].lower()] / _SECONDS[match[3].lower()]
    if rate <= 0:
        raise EngineError(Problem("rate", f"{text!r} would bring no tuple, ever", _RATE_EXPECTED))
    return rate


def parse_speed(text: str) -> float:
    """How many seconds of the data pass in one second.

    >>> parse_speed("20x"), parse_speed("0.5x")
    (20.0, 0.5)
    """
    guard(text, str, "speed", _SPEED_EXPECTED)
    match = _SPEED.fullmatch(text)
    if not match:
        raise EngineError(Problem("speed", f"{text!r} is no speed", _SPEED_EXPECTED))
    speed = float(match[1])
    if speed <= 0:
        raise EngineError(Problem("speed", f"at {text!r} no time would pass", _SPEED_EXPECTED))
    return speed
