"""What REGEXP_REPLACE puts in place of a match: `$1` is what group 1 matched, a backslash escapes."""

from __future__ import annotations

from australis.algebra.expr.patterns.failure import PatternError
from australis.algebra.expr.patterns.regular import Regular

GROUP_MAX = 9
"""The largest group that a replacement can name: RE2 reads one digit."""

Piece = str | int
"""A text, or the number of a group."""


def replacement(text: str, pattern: Regular) -> tuple[Piece, ...]:
    r"""The pieces of a replacement for the matches of a pattern.

    >>> from australis.algebra.expr.patterns.regular_reader import regular
    >>> replacement(r"<$1\$>", regular("(a+)"))
    ('<', 1, '$>')
    """
    pieces: list[Piece] = []
    place = 0
    while place < len(text):
        sign, following = text[place], text[place + 1 : place + 2]
        if sign == "$":
            piece, place = _group(text, place + 1, pattern)
            pieces.append(piece)
            continue
        if sign == "\\" and not following:
            raise PatternError("a backslash at the end of the replacement", r"\\ for a backslash")
        _append(pieces, following if sign == "\\" else sign)
        place += 2 if sign == "\\" else 1
    return tuple(pieces)


def _append(pieces: list[Piece], text: str) -> None:
    if pieces and isinstance(pieces[-1], str):
        pieces[-1] += text
    else:
        pieces.append(text)


def _group(text: str, place: int, pattern: Regular) -> tuple[int, int]:
    """The group that digits name, as many of them as name a group that exists, and the place after them."""
    groups, digits = pattern.groups, 0
    while _is_digit(text[place + digits : place + digits + 1]) and (
        digits == 0 or int(text[place : place + digits + 1]) <= groups
    ):
        digits += 1
    if not digits:
        raise PatternError("$ without the number of a group", r"$1, or \$ for the sign itself")
    number = int(text[place : place + digits])
    if number > min(groups, GROUP_MAX):
        expected = f"a group from $0 to ${min(groups, GROUP_MAX)}"
        raise PatternError(f"${number}, but the pattern has {groups} groups", expected)
    check_group(number, pattern)
    return number, place + digits


def check_group(number: int, pattern: Regular) -> None:
    """Refuse to read a group that is inside a repetition."""
    if number in pattern.repeated:
        what = f"group {number} is inside a repetition, and engines differ in which round it holds"
        raise PatternError(what, "the repetition inside the group, as in ((?:a|b)+)")


def _is_digit(sign: str) -> bool:
    return sign.isascii() and sign.isdigit()
