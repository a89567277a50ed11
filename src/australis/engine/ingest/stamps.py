"""What a program says of its tuples, checked before anything is written: local time and position."""

from __future__ import annotations

import operator

from australis.algebra.guards import shown
from australis.errors import EngineError, Problem

Position = tuple[str, str | int]
"""A source, and how far it has come: a text in its own words, or a number that grows with what it brings."""
NOW_LIMIT = 1 << 62
"""Local times are nearer to 1970 than this: a timeout that begins then must end at a time, too."""


def moment(path: str, now: object) -> int:
    """A local time as a whole number of microseconds; what no train could compute with is refused.

    >>> moment("n", 1_700_000_000_000_000)
    1700000000000000
    >>> moment("n", 1.5)
    Traceback (most recent call last):
    australis.errors.EngineError: n: its local time is 1.5; expected whole microseconds since 1970, below 2^62
    """
    found = _whole(now)
    if found is None or not -NOW_LIMIT < found < NOW_LIMIT:
        expected = "whole microseconds since 1970, below 2^62"
        raise EngineError(Problem(path, f"its local time is {shown(now)}", expected))
    return found


def check_position(path: str, position: object) -> None:
    """Refuse a position that is neither a text nor a whole number of a named source.

    >>> check_position("n", ("radio", 7))
    >>> check_position("n", ("radio", 7.5))
    Traceback (most recent call last):
    australis.errors.EngineError: n: its position is ('radio', 7.5); expected a source with a number or a text
    """
    match position:
        case (str(), str()):
            return
        case (str(), reached) if _whole(reached) is not None:
            return
    expected = "a source with a number or a text"
    raise EngineError(Problem(path, f"its position is {shown(position)}", expected))


def _whole(value: object) -> int | None:
    """A value as a whole number, also one of numpy; None if it is none."""
    if isinstance(value, bool):
        return None
    try:
        return operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        # It has a fraction, or is no number at all: whoever asks refuses it.
        return None
