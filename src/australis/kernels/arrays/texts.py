"""Texts as compiled loops compare them: where each begins and ends, the bytes of all, and first bytes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from australis.kernels.arrays.columns import Indexes, frozen
from australis.kernels.compiled import njit

PREFIX_BYTES = 8

Ints = npt.NDArray[np.int32]
Bytes = npt.NDArray[np.uint8]


class Texts(NamedTuple):
    """The texts of an array; that of a NULL is arbitrary."""

    ends: Ints
    """Where the first text begins, and then where each ends."""
    data: Bytes
    prefixes: Indexes
    """Numbers that compare as the first 8 bytes do; shorter texts have zeros after them."""


def texts_of(array: pa.Array) -> Texts:
    """An array of texts in the form that loops compare.

    >>> texts_of(pa.array(["b", "ab", "a"])).prefixes.argsort().tolist()
    [2, 1, 0]
    """
    ends, data = text_bytes(array)
    return Texts(ends, data, frozen(_prefixes(ends, data)))


def text_bytes(array: pa.Array) -> tuple[Ints, Bytes]:
    """The offsets at which the texts of an array begin and end, and the bytes of them all."""
    _, offsets, data = array.buffers()
    if not len(array):
        return frozen(np.zeros(1, np.int32)), frozen(np.zeros(0, np.uint8))
    ends = np.frombuffer(offsets, np.int32, array.offset + len(array) + 1)[array.offset :]
    return frozen(ends), frozen(np.frombuffer(data, np.uint8) if data else np.zeros(0, np.uint8))


@njit(nogil=True)
def _prefixes(ends: Ints, data: Bytes) -> Indexes:
    found = np.empty(ends.shape[0] - 1, np.int64)
    for row in range(found.shape[0]):
        begin, word = np.uint64(ends[row]), np.uint64(0)
        length = np.uint64(ends[row + 1]) - begin
        if length >= np.uint64(PREFIX_BYTES):
            for at in range(np.uint64(PREFIX_BYTES)):
                word = (word << np.uint64(8)) | np.uint64(data[begin + at])
        elif length:
            for at in range(length):
                word = (word << np.uint64(8)) | np.uint64(data[begin + at])
            word <<= np.uint64(8) * (np.uint64(PREFIX_BYTES) - length)
        found[row] = np.int64(word ^ np.uint64(1 << 63))
    return found


@njit(nogil=True)
def is_text_before(texts: Texts, one: int, other: int) -> bool:
    """Whether a text comes before another by its bytes."""
    if texts.prefixes[one] != texts.prefixes[other]:
        return bool(texts.prefixes[one] < texts.prefixes[other])
    begin, begin_other = texts.ends[one], texts.ends[other]
    length, length_other = texts.ends[one + 1] - begin, texts.ends[other + 1] - begin_other
    for at in range(PREFIX_BYTES, min(length, length_other)):
        byte, byte_other = texts.data[np.uint64(begin + at)], texts.data[np.uint64(begin_other + at)]
        if byte != byte_other:
            return bool(byte < byte_other)
    return bool(length < length_other)
