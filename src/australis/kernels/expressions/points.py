"""Strings as code points: where they begin in the bytes, and how to cut pieces out of many strings at once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from australis.kernels.expressions.arrays import Datum, Mask, Numbers, is_scalar, spread, validity


@dataclass(frozen=True)
class Texts:
    """The bytes of many strings, where each begins and ends, and which are NULL."""

    data: Numbers
    starts: Numbers
    ends: Numbers

    def __len__(self) -> int:
        return len(self.starts)


@dataclass(frozen=True)
class Points:
    """The code points of many strings: `begin` has the byte of each, and one more entry for the end of the last."""

    texts: Texts
    begin: Numbers
    first: Numbers
    count: Numbers

    def cut(self, start: Numbers, stop: Numbers, null: Mask | None) -> pa.Array:
        """From each string the code points from `start` up to `stop`, where 0 is its first."""
        start = np.clip(start, 0, self.count)
        stop = np.clip(stop, start, self.count)
        return gather(self.texts.data, self.begin[self.first + start], self.begin[self.first + stop], null)


def texts(strings: Datum, rows: int) -> Texts:
    """The bytes of strings; a scalar stands for the same bytes in all rows."""
    if is_scalar(strings):
        one = texts(spread(strings, 1), 1)
        return Texts(one.data, np.broadcast_to(one.starts, (rows,)), np.broadcast_to(one.ends, (rows,)))
    _, offsets, data = strings.buffers()
    places = np.frombuffer(offsets, np.int32, count=strings.offset + len(strings) + 1)[strings.offset :]
    places = places.astype(np.int64)
    return Texts(np.frombuffer(data or b"", np.uint8), places[:-1], places[1:])


def points(strings: Datum, rows: int) -> Points:
    """The code points of strings.

    >>> points(pa.array(["aé", "", "😀"]), 3).count
    array([2, 0, 1])
    """
    held = texts(strings, rows)
    used = held.data[: held.ends[-1] if len(held) else 0]
    # A byte 10xxxxxx continues a code point, every other begins one.
    begins = (used & 0xC0) != 0x80
    before = np.concatenate([[0], np.cumsum(begins)])
    begin = np.append(np.flatnonzero(begins), len(used))
    first = before[held.starts]
    return Points(held, begin, first, before[held.ends] - first)


def gather(data: Numbers, starts: Numbers, ends: Numbers, null: Mask | None) -> pa.Array:
    """The strings whose bytes lie between starts and ends."""
    sizes = ends - starts
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    total = int(offsets[-1])
    picks = np.arange(total) + np.repeat(starts - offsets[:-1], sizes)
    return strings_of(data[picks], offsets, null)


def strings_of(data: Numbers, offsets: Numbers, null: Mask | None) -> pa.Array:
    """The string array of some bytes and the offsets between its strings."""
    if offsets[-1] > np.iinfo(np.int32).max:
        raise OverflowError("the strings of one train hold more than 2 GB; make trains shorter")
    buffers = [
        validity(null, len(offsets) - 1),
        pa.py_buffer(offsets.astype(np.int32)),
        pa.py_buffer(np.ascontiguousarray(data, dtype=np.uint8)),
    ]
    return pa.Array.from_buffers(pa.string(), len(offsets) - 1, buffers)


def lengths(strings: Datum) -> pa.Array:
    """The number of code points of each string."""
    return pc.utf8_length(strings)
