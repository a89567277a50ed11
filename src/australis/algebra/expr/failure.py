"""How an expression is refused: with its text, the position in it, and what was expected."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from typing import NoReturn

from australis.errors import ExpressionError, Problem


def refuse(text: str, position: int, what: str, expected: str = "") -> NoReturn:
    """Raise an error for a text that has `what` at a position."""
    raise ExpressionError(Problem("", what, expected, text=text, position=position))


def nearest(name: str, known: Iterable[str]) -> str:
    """The known name most like `name`, probably what was meant; empty if none is close.

    >>> nearest("POS", ("sid", "time", "pos"))
    'pos'
    >>> nearest("speed", ("sid", "time", "pos"))
    ''
    """
    by_lower = {candidate.lower(): candidate for candidate in known}
    close = get_close_matches(name.lower(), by_lower, n=1)
    return by_lower[close[0]] if close else ""
