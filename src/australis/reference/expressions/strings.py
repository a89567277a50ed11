"""Functions of strings, which Python also treats as code points."""

from __future__ import annotations

import re

from australis.algebra.expr import Value
from australis.reference.expressions.site import CallSite, Function

_INT_MAX = 2**31 - 1


def substring(_: CallSite, value: str, position: int, size: int = _INT_MAX) -> Value:
    """From a position, counted from 1, or from the end if it is negative; 0 counts as 1."""
    start = position - 1 if position > 0 else len(value) + position if position < 0 else 0
    return value[max(start, 0) : max(start + size, 0)]


def left(_: CallSite, value: str, size: int) -> Value:
    return value[: max(size, 0)]


def right(_: CallSite, value: str, size: int) -> Value:
    return value[max(len(value) - size, 0) :] if size > 0 else ""


def replace(_: CallSite, value: str, old: str, new: str) -> Value:
    return value.replace(old, new) if old else value


def place(_: CallSite, value: str, needle: str) -> Value:
    return value.find(needle) + 1


def pad_left(_: CallSite, value: str, size: int, pad: str = " ") -> Value:
    return _padding(value, size, pad) + value[: max(size, 0)]


def pad_right(_: CallSite, value: str, size: int, pad: str = " ") -> Value:
    return value[: max(size, 0)] + _padding(value, size, pad)


def _padding(value: str, size: int, pad: str) -> str:
    missing = max(size - len(value), 0)
    return (pad * missing)[:missing]


def split_part(_: CallSite, value: str, delimiter: str, number: int) -> Value:
    """The part of that number, counted from 1, or from the last if negative; empty if there is none."""
    if number == 0:
        return None
    parts = value.split(delimiter) if delimiter else [value]
    index = number - 1 if number > 0 else len(parts) + number
    return parts[index] if 0 <= index < len(parts) else ""


def like(_: CallSite, value: str, pattern: str) -> Value:
    """Whether a text matches a pattern: % is any text, _ one code point, and a backslash escapes either."""
    wild = {"%": ".*", "_": "."}
    tokens = re.findall(r"\\.|[^\\]", pattern, re.DOTALL)
    body = "".join(wild.get(token) or re.escape(token.removeprefix("\\") or token) for token in tokens)
    return re.fullmatch(body, value, re.DOTALL) is not None


FUNCTIONS: dict[str, Function] = {
    "length": lambda _, value: len(value),
    "upper": lambda _, value: value.upper(),
    "lower": lambda _, value: value.lower(),
    "trim": lambda _, value: value.strip(" "),
    "ltrim": lambda _, value: value.lstrip(" "),
    "rtrim": lambda _, value: value.rstrip(" "),
    "substring": substring,
    "left": left,
    "right": right,
    "replace": replace,
    "startswith": lambda _, value, needle: value.startswith(needle),
    "endswith": lambda _, value, needle: value.endswith(needle),
    "contains": lambda _, value, needle: needle in value,
    "instr": place,
    "lpad": pad_left,
    "rpad": pad_right,
    "reverse": lambda _, value: value[::-1],
    "repeat": lambda _, value, times: value * times,
    "concat": lambda _, *values: "".join(values),
    "split_part": split_part,
    "ascii": lambda _, value: ord(value[0]) if value else 0,
    "like": like,
}
