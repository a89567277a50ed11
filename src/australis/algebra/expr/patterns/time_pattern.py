"""Formats of times: `yyyy-MM-dd HH:mm:ss.SSS`, in the letters of Spark's that mean the same everywhere."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from australis.algebra.expr.patterns.failure import PatternError

MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
"""Names are English, as in Spark, whatever the machine speaks."""
DATE_LETTERS = frozenset("yMdDE")
SHORT_NAME = 3
"""How many letters the short name of a month or weekday has, and the field that asks for it."""
_FRACTION_MAX = 9

_NUMBERS = ("yyyy", "M", "MM", "d", "dd", "H", "HH", "h", "hh", "m", "mm", "s", "ss")
_READABLE = frozenset((*_NUMBERS, "MMM", "MMMM", "a", *("S" * n for n in range(1, _FRACTION_MAX + 1))))
_WRITABLE = _READABLE | {"D", "DDD", "E", "EEE", "EEEE"}
_PIECE = re.compile(
    r"(?P<letters>([A-Za-z])\2*)|'(?P<quoted>(?:[^']|'')*)'|(?P<sign>[^A-Za-z'#{}\[\]])", re.DOTALL
)


@dataclass(frozen=True)
class TimeField:
    """A part of a time, by its letter and how often that is repeated."""

    letter: str
    width: int

    def __str__(self) -> str:
        return self.letter * self.width

    @property
    def is_name(self) -> bool:
        """Whether the field is written in letters rather than digits."""
        return self.letter in "Ea" or (self.letter == "M" and self.width >= SHORT_NAME)


TimePart = TimeField | str
"""A field, or a text that stands for itself."""


@lru_cache(maxsize=256)
def written_times(text: str) -> tuple[TimePart, ...]:
    """The parts of a format that DATE_FORMAT writes.

    >>> [str(part) for part in written_times("dd.MM. 'at' HH")]
    ['dd', '.', 'MM', '. at ', 'HH']
    """
    return _parts(text, _WRITABLE)


@lru_cache(maxsize=256)
def read_times(text: str) -> tuple[TimePart, ...]:
    """The parts of a format that TO_TIMESTAMP reads: each field once, and no number that has no clear end."""
    parts = _parts(text, _READABLE)
    _check_once(parts)
    _check_ends(parts)
    for part in parts:
        if isinstance(part, str) and (not part.isascii() or "'" in part):
            raise PatternError(f"the text {part!r} has more than ASCII without quotes", "other texts")
    return parts


@lru_cache(maxsize=256)
def reading(text: str, end: str = r"\z") -> str:
    r"""The regular expression of the texts that a format reads, with a group for each letter.

    >>> reading("HH:mm")
    '\\A(?P<H>[0-9]{2}):(?P<m>[0-9]{2})\\z'
    """
    body = "".join(
        f"(?P<{part.letter}>{_digits(part)})" if isinstance(part, TimeField) else _in_either_case(part)
        for part in read_times(text)
    )
    return rf"\A{body}{end}"


def time_guard(text: str) -> str:
    """The regular expression of the texts that a format reads, in the syntax of Java."""
    return re.sub(r"\(\?P<\w>", "(?:", reading(text))


def _parts(text: str, known: frozenset[str]) -> tuple[TimePart, ...]:
    parts: list[TimePart] = []
    place = 0
    while place < len(text):
        found = _PIECE.match(text, place)
        if not found:
            raise PatternError(
                f"{text[place:]!r} in a format", "other signs, or the sign between single quotes"
            )
        if letters := found["letters"]:
            if letters not in known:
                raise PatternError(
                    f"no {letters!r} here", f"one of {_listed(known)}; other letters in quotes"
                )
            parts.append(TimeField(letters[0], len(letters)))
        else:
            quoted = found["quoted"]
            _append(parts, found["sign"] if quoted is None else quoted.replace("''", "'") or "'")
        place = found.end()
    return tuple(parts)


def _append(parts: list[TimePart], text: str) -> None:
    if parts and isinstance(parts[-1], str):
        parts[-1] += text
    else:
        parts.append(text)


def _listed(known: frozenset[str]) -> str:
    by_letter = sorted(known, key=lambda letters: (letters.lower(), letters))
    shown = [letters for letters in by_letter if "SS" not in letters]
    return ", ".join("S to SSSSSSSSS" if letters == "S" else letters for letters in shown)


def _check_once(parts: tuple[TimePart, ...]) -> None:
    letters = [part.letter for part in parts if isinstance(part, TimeField)]
    if not letters:
        raise PatternError("a format without fields", "such as yyyy-MM-dd HH:mm:ss")
    for letter in letters:
        if letters.count(letter) > 1:
            raise PatternError(f"two fields {letter!r}", "each field once")
    if "h" in letters and "H" in letters:
        raise PatternError("both H and h", "HH, or hh and a")
    if "a" in letters and "h" not in letters:
        raise PatternError("a without hh", "hh and a, or HH alone")


def _check_ends(parts: tuple[TimePart, ...]) -> None:
    """Refuse a number whose digits run into the next one's."""
    for part, following in pairwise(parts):
        if isinstance(part, str) or isinstance(following, str) or part.is_name or following.is_name:
            continue
        if part.width == 1 or part.letter == "S" or following.letter == "S":
            what = f"{part}{following} without a sign between the two"
            raise PatternError(what, f"such as {part}.{following}")
        if following.width == 1:
            raise PatternError(f"{following} directly after a number", f"{str(following) * 2}")


def _digits(field: TimeField) -> str:
    """The texts of a field; one letter also reads zeros before the number."""
    if field.letter == "a":
        return "[AaPp][Mm]"
    if field.is_name:
        names = (month if field.width > SHORT_NAME else month[:SHORT_NAME] for month in MONTHS)
        return f"{'|'.join(map(_in_either_case, names))}"
    if field.letter == "S":
        return f"[0-9]{{1,{field.width}}}"
    return f"[0-9]{{{field.width}}}" if field.width > 1 else "0{0,17}[0-9]{1,2}"


def _in_either_case(text: str) -> str:
    return "".join(f"[{sign.upper()}{sign.lower()}]" if sign.isalpha() else re.escape(sign) for sign in text)
