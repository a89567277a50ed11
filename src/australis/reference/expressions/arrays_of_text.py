"""Arrays of strings, which SPLIT makes."""

from __future__ import annotations

import re
from typing import Any

from australis.algebra.expr import Value, regular
from australis.reference.expressions.site import CallSite, Function


def split(_: CallSite, value: str, pattern: str, limit: int) -> Any:
    """The texts between the matches of a pattern; the last of at most `limit` has all that is left."""
    parts: list[str] = []
    place = 0
    for found in re.finditer(regular(pattern).text(end=r"\Z"), value):
        if len(parts) + 1 == limit:
            break
        parts.append(value[place : found.start()])
        place = found.end()
    return [*parts, value[place:]]


def get(_: CallSite, array: list[str], index: int) -> Value:
    """An element, counted from 0; NULL if there is none."""
    return array[index] if 0 <= index < len(array) else None


def element_at(_: CallSite, array: list[str], place: int) -> Value:
    """An element, counted from 1, or from the end if the place is negative; NULL if there is none."""
    index = place - 1 if place > 0 else len(array) + place
    return array[index] if place != 0 and 0 <= index < len(array) else None


FUNCTIONS: dict[str, Function] = {
    "split": split,
    "get": get,
    "element_at": element_at,
    "array_contains": lambda _, array, value: value in array,
    "array_join": lambda _, array, separator: separator.join(array),
    "size": lambda _, array: -1 if array is None else len(array),
}
