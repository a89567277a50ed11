"""A JSON array as JSON lines: cut at its own commas, in one compiled pass over its bytes."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from australis.kernels.compiled import njit

_BLANK = re.compile(rb"(?:\A|\n)[ \t]*(?:\n|\Z)")
_WHOLE, _TORN, _UNOPENED = 0, 1, 2


def as_lines(body: bytes) -> bytes:
    """The elements of a JSON array, or another value, one a line; raises ValueError if brackets do not pair.

    What is between the commas is not looked at: whoever reads the lines refuses what is no JSON.

    >>> as_lines(b'[{"a": 1, "b": "x,y"},\\n {"a": [2, 3]}]')
    b'{"a": 1, "b": "x,y"}\\n {"a": [2, 3]}'
    """
    text = np.frombuffer(body.strip(b" \t\r\n"), np.uint8).copy()
    is_array = bool(len(text)) and text[0] == ord("[")
    fault, values = _cut(text, 1 if is_array else -1)
    if fault == _TORN:
        raise ValueError("ends within a value")
    if fault == _UNOPENED:
        raise ValueError("closes a bracket that was not opened")
    lines = text.tobytes()
    if not is_array:
        return lines
    if values != 1 or not lines.endswith(b"]"):
        raise ValueError("goes on after the end of its array")
    lines = lines[1:-1]
    if lines.strip(b" \t") and _BLANK.search(lines):
        raise ValueError("has a comma without a value")
    return lines


@njit(nogil=True)
def _cut(text: NDArray[np.uint8], depth_cut: int) -> Any:
    """Make line ends spaces, and commas at a depth line ends; returns the fault and the number of values."""
    depth, values, is_in_string, is_escaped = 0, 0, False, False
    for place in range(len(text)):
        byte = text[place]
        if is_in_string:
            if is_escaped:
                is_escaped = False
            elif byte == 92:  # a backslash
                is_escaped = True
            elif byte == 34:  # a quotation mark
                is_in_string = False
        elif byte == 34:
            is_in_string = True
        elif byte in (91, 123):  # [ {
            depth += 1
        elif byte in (93, 125):  # ] }
            depth -= 1
            if depth < 0:
                return _UNOPENED, values
            if depth == 0:
                values += 1
        elif byte in (10, 13):
            text[place] = 32
        elif byte == 44 and depth == depth_cut:
            text[place] = 10
    return (_TORN if depth or is_in_string else _WHOLE), values
