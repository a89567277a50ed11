"""GET_JSON_OBJECT over whole columns: values are found and written by compiled loops over the bytes."""

from __future__ import annotations

from itertools import accumulate

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from australis.algebra.expr import json_path
from australis.kernels.expressions import doubles
from australis.kernels.expressions.arrays import (
    CallSite,
    Datum,
    Implementation,
    Mask,
    Numbers,
    arrow,
    constant,
    nulls,
    raw,
)
from australis.kernels.expressions.code_points import Texts, gather, texts
from australis.kernels.expressions.json_scan import find_all
from australis.kernels.expressions.json_write import NEEDS_FLOATS, floats_in, java_texts, write_all

_NONE = Texts(np.zeros(0, np.uint8), np.zeros(0, np.int64), np.zeros(0, np.int64))
_GROWTH = 6
"""How many bytes a byte of a container can become: a control character is written as \\u001F."""
_NUMBER_MAX = 26
"""How many bytes a number can become if it is shorter than that."""


def get_json_object(_: CallSite, value: pa.Array, path: Datum) -> pa.Array:
    """Most values are a slice of their text; those that are not are written anew."""
    held = texts(value, len(value))
    firsts, lasts, others = find_all(held.data, held.starts, held.ends, *_steps(constant(path)))
    null = nulls(value)
    if null is not None:
        firsts[null], others[null] = -1, False
    empty = others | (firsts < 0)
    sliced = gather(held.data, np.where(empty, 0, firsts), np.where(empty, 0, lasts), empty)
    if not others.any():
        return sliced
    written = _written(held.data, firsts[others], lasts[others])
    return pc.replace_with_mask(sliced, arrow(others, pa.bool_()), written)


def _written(data: Numbers, firsts: Numbers, lasts: Numbers) -> pa.Array:
    """Values as text: strings without escapes, containers without blanks."""
    offsets = np.concatenate([[0], np.cumsum(_room(data, firsts, lasts))])
    out = np.empty(offsets[-1], np.uint8)
    unknown = np.full(len(firsts), -1)
    stops = write_all(data, firsts, lasts, out, offsets, _NONE.data, _NONE.starts, _NONE.ends, unknown)
    again = np.flatnonzero(stops == NEEDS_FLOATS)
    if len(again):
        floats, numbers = _floats(data, firsts, lasts, again)
        places = firsts[again], lasts[again], out, offsets[again]
        stops[again] = write_all(data, *places, floats.data, floats.starts, floats.ends, numbers)
    null = stops < 0
    return gather(out, offsets[:-1], np.where(null, offsets[:-1], stops), null)


def _steps(path: str) -> tuple[Numbers, Numbers, Numbers, Numbers]:
    """The steps of a path as numbers: the bytes of all names, where each begins and ends, and the indexes."""
    steps = json_path(path)
    names = [b"" if isinstance(step, int) else step.encode() for step in steps]
    ends = list(accumulate(map(len, names)))
    return (
        np.frombuffer(b"".join(names), np.uint8),
        np.array([0, *ends[:-1]][: len(ends)], np.int64),
        np.array(ends, np.int64),
        np.array([step if isinstance(step, int) else -1 for step in steps], np.int64),
    )


def _room(data: Numbers, firsts: Numbers, lasts: Numbers) -> Numbers:
    """How many bytes each value can take when it is written."""
    sign, size = data[firsts], lasts - firsts
    is_string = (sign == ord('"')) | (sign == ord("'"))
    is_container = (sign == ord("{")) | (sign == ord("["))
    return np.where(is_string, size, np.where(is_container, _GROWTH * size, np.maximum(size, _NUMBER_MAX)))


def _floats(data: Numbers, firsts: Numbers, lasts: Numbers, rows: Numbers) -> tuple[Texts, Numbers]:
    """The texts of the numbers in some rows as Java writes them, and which is the first one of each row."""
    counts = floats_in(data, firsts, lasts, rows, _NONE.starts, _NONE.ends)
    total = int(counts.sum())
    starts, ends = np.empty(total, np.int64), np.empty(total, np.int64)
    floats_in(data, firsts, lasts, rows, starts, ends)
    return _as_java(gather(data, starts, ends, None)), np.cumsum(counts) - counts


def _as_java(written: pa.Array) -> Texts:
    """Numbers as Java writes doubles: by their shortest digits."""
    values = raw(written.cast(pa.float64()))
    finite = np.isfinite(values)
    digits, exponents = doubles.shortest(np.where(finite, values, 0.0))
    out = np.empty(32 * len(values), np.uint8)
    stops = java_texts(np.abs(digits), exponents, np.signbit(values), out)
    starts = np.arange(len(values)) * 32
    _put_infinities(out, starts, stops, finite, np.signbit(values))
    return Texts(out, starts, stops)


def _put_infinities(out: Numbers, starts: Numbers, stops: Numbers, finite: Mask, negative: Mask) -> None:
    """What is too large for a double is a string: JSON has no infinities."""
    for is_negative, text in ((False, b'"Infinity"'), (True, b'"-Infinity"')):
        rows = np.flatnonzero(~finite & (negative == is_negative))
        places = starts[rows, None] + np.arange(len(text))
        out[places] = np.frombuffer(text, np.uint8)
        stops[rows] = starts[rows] + len(text)


FUNCTIONS: dict[str, Implementation] = {"get_json_object": get_json_object}
