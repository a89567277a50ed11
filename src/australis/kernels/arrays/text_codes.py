"""Texts as numbers, by first occurrence: a table of hashes, in half the time that Arrow's takes or less.

For each distinct text a record has its last and its first 8 bytes and its length. So texts of up to 16 bytes
are compared without a look at the bytes of the one that came before, which lie anywhere in memory.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from australis.kernels.arrays.columns import Indexes
from australis.kernels.arrays.texts import Bytes, Ints, text_bytes
from australis.kernels.compiled import njit

WORD_BYTES = 8
RECORD_WORDS = 4
"""The last bytes of a text, its first bytes, its length, and where it begins."""
_SIZE_LEAST = 1 << 12
_SPARE = 1 << 10

Words = npt.NDArray[np.uint64]


def text_codes(known: pa.Array, given: pa.Array) -> Indexes:
    """Numbers for the given texts after those of the known ones, which are distinct; there are no NULLs.

    >>> text_codes(pa.array(["b"]), pa.array(["a", "b", "", "a"])).tolist()
    [1, 0, 2, 1]
    """
    size = max(_SIZE_LEAST, 1 << (2 * len(known)).bit_length())
    records = np.empty((len(known) + _SPARE, RECORD_WORDS), np.uint64)
    codes: Indexes = _hash(
        *text_bytes(known), *text_bytes(given), np.zeros(size, np.uint64), records, len(known)
    )
    return codes


@njit(nogil=True)
def _hash(
    old_ends: Ints, old_data: Bytes, ends: Ints, data: Bytes, table: Words, records: Words, known: int
) -> Indexes:
    """Number texts by first occurrence; `table` has half of the hash and the number, from 1, by hash."""
    for row in range(known):
        begin = np.uint64(old_ends[row])
        length = np.uint64(old_ends[row + 1]) - begin
        last, first = _last_word(old_data, begin, length), _first_word(old_data, begin, length)
        _note(records, row, last, first, length, begin)
        _insert(table, _entry(_hashed(last, first, old_data, begin, length), row))
    codes, count = np.empty(ends.shape[0] - 1, np.int64), known
    old, mask = np.uint64(known), np.uint64(table.shape[0] - 1)
    for row in range(codes.shape[0]):
        begin = np.uint64(ends[row])
        length = np.uint64(ends[row + 1]) - begin
        last, first = _last_word(data, begin, length), _first_word(data, begin, length)
        found = _hashed(last, first, data, begin, length)
        place = (found >> np.uint64(32)) & mask
        while True:
            entry = table[place]
            if entry == 0:
                codes[row] = count
                if count == records.shape[0]:
                    records = _doubled(records)
                _note(records, count, last, first, length, begin)
                table[place] = _entry(found, count)
                count += 1
                if 2 * count > table.shape[0]:
                    table = _enlarged(table)
                    mask = np.uint64(table.shape[0] - 1)
                break
            if (entry ^ found) >> np.uint64(32) == 0:
                code = (entry & np.uint64(0xFFFFFFFF)) - np.uint64(1)
                same = (records[code, 0] == last) & (records[code, 1] == first)
                if same & (records[code, 2] == length) and (
                    # Of texts of up to 16 bytes, the record has all bytes.
                    length <= np.uint64(2 * WORD_BYTES)
                    or (code < old and _same(data, begin, old_data, records[code, 3], length))
                    or (code >= old and _same(data, begin, data, records[code, 3], length))
                ):
                    codes[row] = code
                    break
            place = (place + np.uint64(1)) & mask
    return codes


@njit(nogil=True, inline=True)
def _note(
    records: Words, code: int, last: np.uint64, first: np.uint64, length: np.uint64, begin: np.uint64
) -> None:
    at = np.uint64(code)
    records[at, 0], records[at, 1], records[at, 2], records[at, 3] = last, first, length, begin


@njit(nogil=True)
def _doubled(records: Words) -> Words:
    more = np.empty((2 * records.shape[0], RECORD_WORDS), np.uint64)
    more[: records.shape[0]] = records
    return more


@njit(nogil=True, inline=True)
def _hashed(last: np.uint64, first: np.uint64, data: Bytes, begin: np.uint64, length: np.uint64) -> np.uint64:
    """The hash of a text with these words at its ends."""
    found = _mixed(_mixed(length, last), first)
    at = np.uint64(WORD_BYTES)
    while at + np.uint64(WORD_BYTES) < length:
        found = _mixed(found, _word(data, begin + at))
        at += np.uint64(WORD_BYTES)
    return found


@njit(nogil=True, inline=True)
def _same(data: Bytes, begin: np.uint64, other: Bytes, other_begin: np.uint64, length: np.uint64) -> bool:
    """Whether two texts with the same first and last words are equal between these."""
    at = np.uint64(WORD_BYTES)
    while at + np.uint64(WORD_BYTES) < length:
        if _word(data, begin + at) != _word(other, other_begin + at):
            return False
        at += np.uint64(WORD_BYTES)
    return True


@njit(nogil=True, inline=True)
def _entry(found: np.uint64, code: int) -> np.uint64:
    return (found & np.uint64(0xFFFFFFFF00000000)) | np.uint64(code + 1)


@njit(nogil=True, inline=True)
def _insert(table: Words, entry: np.uint64) -> None:
    """Put an entry into the first free place from that of its hash on."""
    mask = np.uint64(table.shape[0] - 1)
    place = (entry >> np.uint64(32)) & mask
    while table[place]:
        place = (place + np.uint64(1)) & mask
    table[place] = entry


@njit(nogil=True)
def _enlarged(table: Words) -> Words:
    larger = np.zeros(4 * table.shape[0], np.uint64)
    for place in range(table.shape[0]):
        if table[place]:
            _insert(larger, table[place])
    return larger


@njit(nogil=True, inline=True)
def _mixed(found: np.uint64, word: np.uint64) -> np.uint64:
    found = (found ^ word) * np.uint64(0x9E3779B97F4A7C15)
    return found ^ (found >> np.uint64(32))


@njit(nogil=True, inline=True)
def _last_word(data: Bytes, begin: np.uint64, length: np.uint64) -> np.uint64:
    """The last 8 bytes of a text as a number, or all of a shorter one."""
    if length >= np.uint64(WORD_BYTES):
        return _word(data, begin + length - np.uint64(WORD_BYTES))
    if length and begin + np.uint64(WORD_BYTES) <= np.uint64(data.shape[0]):
        return _word(data, begin) >> (np.uint64(8) * (np.uint64(WORD_BYTES) - length))
    word = np.uint64(0)
    for at in range(length):
        word = (word << np.uint64(8)) | np.uint64(data[begin + at])
    return word


@njit(nogil=True, inline=True)
def _first_word(data: Bytes, begin: np.uint64, length: np.uint64) -> np.uint64:
    """The first 8 bytes of a text as a number, or 0 for a shorter one."""
    return _word(data, begin) if length >= np.uint64(WORD_BYTES) else np.uint64(0)


@njit(nogil=True, inline=True)
def _word(data: Bytes, begin: np.uint64) -> np.uint64:
    word = np.uint64(0)
    for at in range(np.uint64(WORD_BYTES)):
        word = (word << np.uint64(8)) | np.uint64(data[begin + at])
    return word
