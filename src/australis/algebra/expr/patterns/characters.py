"""Sets of characters, as the sorted ranges of their code points."""

from __future__ import annotations

from collections.abc import Iterable

Ranges = tuple[tuple[int, int], ...]
"""Inclusive ranges of code points, sorted, with gaps between them."""

_ALL: Ranges = ((0, 0xD7FF), (0xE000, 0x10FFFF))
"""Every character: surrogates are none."""
_CASES = ord("a") - ord("A")


def one(character: str) -> Ranges:
    """The set of a single character."""
    return ((ord(character), ord(character)),)


def span(first: str, last: str) -> Ranges:
    """The characters between two, with both."""
    return ((ord(first), ord(last)),)


def union(sets: Iterable[Ranges]) -> Ranges:
    """What is in any of some sets.

    >>> union([((97, 99),), ((100, 101), (120, 120))])
    ((97, 101), (120, 120))
    """
    merged: list[tuple[int, int]] = []
    for low, high in sorted(pair for ranges in sets for pair in ranges):
        if merged and low <= merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], max(high, merged[-1][1]))
        else:
            merged.append((low, high))
    return tuple(merged)


def complement(ranges: Ranges) -> Ranges:
    """Every character that is not in a set."""
    gaps, place = [], 0
    for low, high in (*ranges, (0x110000, 0x110000)):
        gaps.append((place, low - 1))
        place = high + 1
    return tuple(
        (max(low, first), min(high, last))
        for low, high in gaps
        for first, last in _ALL
        if max(low, first) <= min(high, last)
    )


def either_case(ranges: Ranges) -> Ranges:
    """A set with the other case of its ASCII letters."""
    lower = _letters(ranges, "az", -_CASES)
    upper = _letters(ranges, "AZ", _CASES)
    return union([ranges, lower, upper])


def _letters(ranges: Ranges, ends: str, shift: int) -> Ranges:
    first, last = map(ord, ends)
    cut = ((max(low, first), min(high, last)) for low, high in ranges)
    return tuple((low + shift, high + shift) for low, high in cut if low <= high)


DIGITS = span("0", "9")
WORDS = union([DIGITS, span("A", "Z"), span("a", "z"), one("_")])
SPACES = union([span("\t", "\r"), one(" ")])
LINE_ENDS = union([one("\n"), one("\r"), one("\x85"), span("\u2028", "\u2029")])
