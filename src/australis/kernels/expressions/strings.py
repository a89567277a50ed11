"""Functions of strings that count code points, pad, cut and join."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from australis.kernels.expressions.arrays import (
    CallSite,
    Datum,
    Implementation,
    Numbers,
    arrow,
    is_scalar,
    length,
    nulls,
    raw,
    spread,
)
from australis.kernels.expressions.code_points import cut, texts

_INT_MAX = 2**31 - 1


def length_in_points(_: CallSite, value: Datum) -> pa.Array:
    return pc.utf8_length(value)


def upper(_: CallSite, value: Datum) -> pa.Array:
    return _in_case(value, pc.ascii_upper, str.upper)


def lower(_: CallSite, value: Datum) -> pa.Array:
    return _in_case(value, pc.ascii_lower, str.lower)


def trim(_: CallSite, value: Datum) -> pa.Array:
    return pc.utf8_trim(value, " ")


def trim_left(_: CallSite, value: Datum) -> pa.Array:
    return pc.utf8_ltrim(value, " ")


def trim_right(_: CallSite, value: Datum) -> pa.Array:
    return pc.utf8_rtrim(value, " ")


def substring(_: CallSite, value: Datum, position: Datum, size: Datum | None = None) -> pa.Array:
    """From a position, counted from 1, or from the end if it is negative; 0 counts as 1."""
    size = pa.scalar(_INT_MAX, pa.int32()) if size is None else size
    data = (value, position, size)
    if is_scalar(position) and is_scalar(size) and position.as_py() >= 0:
        start = max(position.as_py() - 1, 0)
        return pc.utf8_slice_codeunits(value, start, start + max(size.as_py(), 0))
    held = texts(value, length(*data))
    place = raw(position).astype(np.int64)
    start = np.where(place > 0, place - 1, 0)
    if np.any(place < 0):
        start = np.where(place < 0, _counts(value) + place, start)
    return cut(held, start, start + raw(size), nulls(*data))


def left(_: CallSite, value: Datum, size: Datum) -> pa.Array:
    if is_scalar(size):
        return pc.utf8_slice_codeunits(value, 0, max(size.as_py(), 0))
    return cut(texts(value, length(value, size)), np.array([0]), raw(size), nulls(value, size))


def right(_: CallSite, value: Datum, size: Datum) -> pa.Array:
    if is_scalar(size) and size.as_py() > 0:
        return pc.utf8_slice_codeunits(value, -size.as_py())
    held, count = texts(value, length(value, size)), _counts(value)
    start = count - np.maximum(raw(size), 0)
    return cut(held, start, count, nulls(value, size))


def pad_left(site: CallSite, value: Datum, size: Datum, pad: Datum | None = None) -> pa.Array:
    pad = pa.scalar(" ") if pad is None else pad
    value = spread(value, length(value, size, pad))
    return pc.binary_join_element_wise(_padding(value, size, pad), left(site, value, size), "")


def pad_right(site: CallSite, value: Datum, size: Datum, pad: Datum | None = None) -> pa.Array:
    pad = pa.scalar(" ") if pad is None else pad
    value = spread(value, length(value, size, pad))
    return pc.binary_join_element_wise(left(site, value, size), _padding(value, size, pad), "")


def reverse(_: CallSite, value: pa.Array) -> pa.Array:
    return pc.utf8_reverse(value)


def repeat(_: CallSite, value: Datum, times: Datum) -> pa.Array:
    rows = length(value, times)
    count = arrow(np.broadcast_to(np.maximum(raw(times), 0), (rows,)), pa.int32(), nulls(times))
    return pc.binary_repeat(spread(value, rows), count)


def concat(_: CallSite, *values: Datum) -> pa.Array:
    return pc.binary_join_element_wise(*values, "")


def first_point(_: CallSite, value: pa.Array) -> pa.Array:
    """The number of the first code point, 0 for the empty string."""
    held = texts(value, len(value))
    data = np.append(held.data, np.zeros(4, np.uint8)).astype(np.int32)
    lead, second, third, fourth = (data[held.starts + i] for i in range(4))
    number = np.select(
        [lead < 0x80, lead < 0xE0, lead < 0xF0],
        [lead, (lead & 0x1F) << 6 | second & 0x3F, (lead & 0x0F) << 12 | (second & 0x3F) << 6 | third & 0x3F],
        (lead & 0x07) << 18 | (second & 0x3F) << 12 | (third & 0x3F) << 6 | fourth & 0x3F,
    )
    return arrow(np.where(held.ends > held.starts, number, 0), pa.int32(), nulls(value))


def _in_case(value: pa.Array, ascii: Callable[[pa.Array], pa.Array], full: Callable[[str], str]) -> pa.Array:
    """Upper or lower case; one code point may become several, but Arrow maps each to exactly one.

    So Python converts the distinct values that are not all ASCII, one at a time.
    """
    plain = pc.string_is_ascii(value)
    if pc.all(plain).as_py() is not False:
        return ascii(value)
    coded = pc.dictionary_encode(pc.if_else(plain, pa.scalar(None, pa.string()), value))
    changed = pa.array([full(text) for text in coded.dictionary.to_pylist()], pa.string())
    return pc.if_else(plain, ascii(pc.if_else(plain, value, "")), changed.take(coded.indices))


def _padding(value: pa.Array, size: Datum, pad: Datum) -> pa.Array:
    """The padding that brings a string to a size: the pad, repeated and cut."""
    missing = np.maximum(raw(size) - _counts(value), 0)
    null = nulls(value, size, pad)
    if is_scalar(size) and is_scalar(pad):
        text, most = pad.as_py(), max(size.as_py(), 0)
        pieces = pa.array([(text * count)[:count] for count in range(most + 1)])
        return pieces.take(arrow(missing, pa.int64(), null))
    times = -(-missing // np.maximum(_counts(pad), 1)) * (_counts(pad) > 0)
    many = pc.binary_repeat(spread(pad, len(value)), arrow(times, pa.int64(), null))
    return cut(texts(many, len(value)), np.array([0]), missing, null)


def _counts(value: Datum) -> Numbers:
    return raw(pc.utf8_length(value)).astype(np.int64)


FUNCTIONS: dict[str, Implementation] = {
    "length": length_in_points,
    "upper": upper,
    "lower": lower,
    "trim": trim,
    "ltrim": trim_left,
    "rtrim": trim_right,
    "substring": substring,
    "left": left,
    "right": right,
    "lpad": pad_left,
    "rpad": pad_right,
    "reverse": reverse,
    "repeat": repeat,
    "concat": concat,
    "ascii": first_point,
}
