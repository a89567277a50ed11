"""Strings as bytes and as code points: cutting pieces out of many strings at once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from australis.kernels.compiled import njit
from australis.kernels.expressions.arrays import Datum, Mask, Numbers, is_scalar, spread, validity


@dataclass(frozen=True)
class Texts:
    """The bytes of many strings, and where each of them begins and ends."""

    data: Numbers
    starts: Numbers
    ends: Numbers

    def __len__(self) -> int:
        return len(self.starts)

    @property
    def sizes(self) -> Numbers:
        return self.ends - self.starts


def texts(strings: Datum, rows: int) -> Texts:
    """The bytes of strings; a scalar stands for the same bytes in all rows."""
    if is_scalar(strings):
        one = texts(spread(strings, 1), 1)
        return Texts(one.data, np.repeat(one.starts, rows), np.repeat(one.ends, rows))
    _, offsets, buffer = strings.buffers()
    if offsets is None or len(strings) == 0:
        return Texts(_frozen(np.zeros(0, np.uint8)), np.zeros(rows, np.int64), np.zeros(rows, np.int64))
    places = np.frombuffer(offsets, np.int32, count=strings.offset + len(strings) + 1)[strings.offset :]
    places = places.astype(np.int64)
    return Texts(_frozen(np.frombuffer(buffer or b"", np.uint8)), places[:-1], places[1:])


def cut(held: Texts, start: Numbers, stop: Numbers, null: Mask | None) -> pa.Array:
    """From each string the code points from `start` up to `stop`, where 0 is its first.

    >>> cut(texts(pa.array(["aé😀", "xyz"]), 2), np.array([1]), np.array([3]), None).to_pylist()
    ['é😀', 'yz']
    """
    first, last = _places(held.data, held.starts, held.ends, _each(start, held), _each(stop, held))
    return gather(held.data, first, last, null)


def points_before(held: Texts, at: Numbers) -> Numbers:
    """How many code points begin before a byte of each string, counted from the string's start."""
    before: Numbers = _points_before(held.data, held.starts, at)
    return before


def gather(data: Numbers, starts: Numbers, ends: Numbers, null: Mask | None) -> pa.Array:
    """The strings whose bytes lie between starts and ends."""
    offsets = np.concatenate([[0], np.cumsum(ends - starts)])
    return strings_of(_copied(data, starts, offsets), offsets, null)


def strings_of(data: Numbers, offsets: Numbers, null: Mask | None) -> pa.Array:
    """The string array of some bytes and the offsets between its strings."""
    if offsets[-1] > np.iinfo(np.int32).max:
        raise OverflowError("the strings of one train hold more than 2 GB; make trains shorter")
    rows = len(offsets) - 1
    buffers = [validity(null, rows), pa.py_buffer(offsets.astype(np.int32)), pa.py_buffer(data)]
    return pa.Array.from_buffers(pa.string(), rows, buffers)


def _each(numbers: Numbers, held: Texts) -> Numbers:
    return np.array(np.broadcast_to(numbers, (len(held),)), dtype=np.int64)


def _frozen(data: Numbers) -> Numbers:
    """The bytes in the one form that numba sees, so that it compiles one function rather than two."""
    view = data.view()
    view.flags.writeable = False
    return view


@njit()
def _next(data, place):  # type: ignore[no-untyped-def]
    """The byte after the code point at a place; its first byte gives its length."""
    lead = data[place]
    return place + 1 if lead < 0x80 else place + 2 if lead < 0xE0 else place + 3 if lead < 0xF0 else place + 4


@njit()
def _places(data, starts, ends, first, last):  # type: ignore[no-untyped-def]
    """The bytes at which the code points numbered first and last begin, or the end of the string."""
    from_byte, to_byte = np.empty(len(starts), np.int64), np.empty(len(starts), np.int64)
    for row in range(len(starts)):
        place, point = starts[row], 0
        while point < first[row] and place < ends[row]:
            place, point = _next(data, place), point + 1
        from_byte[row] = place
        while point < last[row] and place < ends[row]:
            place, point = _next(data, place), point + 1
        to_byte[row] = place
    return from_byte, to_byte


@njit()
def _points_before(data, starts, at):  # type: ignore[no-untyped-def]
    counts = np.zeros(len(starts), np.int64)
    for row in range(len(starts)):
        place = starts[row]
        while place < starts[row] + at[row]:
            place = _next(data, place)
            counts[row] += 1
    return counts


@njit()
def _copied(data, starts, offsets):  # type: ignore[no-untyped-def]
    out = np.empty(offsets[-1], np.uint8)
    for row in range(len(starts)):
        place = starts[row]
        for to in range(offsets[row], offsets[row + 1]):
            out[to] = data[place]
            place += 1
    return out
