"""Spark's hash over Arrow: assigns a key to the same partition as a Spark plan would.

It is Murmur3 (x86, 32 bits) with the seed 42: the hash of a column is the seed of the next one, and a NULL
leaves it unchanged. Doubles are hashed with one zero and one NaN, so that keys that GROUP BY considers equal
are in one partition. The Spark column that equals `partitions` is `pmod(hash(keys), count)`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from australis.errors import KernelError, Problem
from australis.kernels.arrays.columns import Indexes, Numbers, column, frozen, numbers
from australis.kernels.arrays.groups import normalised
from australis.kernels.arrays.texts import Bytes, Ints, text_bytes
from australis.kernels.compiled import njit
from australis.kernels.expressions import nulls, raw, words

SEED = 42
DIGEST_BYTES = 16
LONG_DIGITS_MOST = 18
"""A decimal with more digits is hashed by the bytes of its unscaled number, otherwise as that number."""

Hashes = npt.NDArray[np.uint32]
Digests = npt.NDArray[np.bytes_]


def partitions(batch: pa.Table, keys: Sequence[str], count: int) -> Indexes:
    """The partition, of `count`, to which the keys of each row belong; without keys it is 0.

    >>> partitions(pa.table({"sid": ["a", "b", None, "a"]}), ["sid"], 4).tolist()
    [2, 1, 2, 2]
    """
    if not keys or count == 1:
        return np.zeros(batch.num_rows, np.int64)
    return spark_hash([column(batch, name) for name in keys]).astype(np.int64) % count


def digests(columns: Sequence[pa.Array | pa.ChunkedArray]) -> Digests:
    """By what rows are known again: 16 bytes for each, of four hashes; NULL is a value as any other.

    >>> one, other = digests([pa.array([None, 1]), pa.array([1, None])])
    >>> bool(one == other)
    False
    """
    arrays = [each.combine_chunks() if isinstance(each, pa.ChunkedArray) else each for each in columns]
    missing = [pa.array(np.asarray(each.is_null()).astype(np.int32)) for each in arrays]
    hashed = [spark_hash([*missing, *arrays], SEED + number) for number in range(DIGEST_BYTES // 4)]
    return np.ascontiguousarray(np.stack(hashed, axis=1)).view(f"S{DIGEST_BYTES}").reshape(-1)


def spark_hash(columns: Sequence[pa.Array], seed: int = SEED) -> Ints:
    """What Spark's `hash(c1, c2, ...)` returns for each row of at least one column.

    >>> spark_hash([pa.array(["Spark", None]), pa.array([1, 2])]).tolist()
    [-660272343, -797927272]
    """
    hashes = np.full(len(columns[0]), seed, np.uint32)
    for array in columns:
        hashed, missing = _hashed(array, frozen(hashes)), nulls(array)
        hashes = hashed if missing is None else np.where(missing, hashes, hashed)
    return hashes.view(np.int32)


def _hashed(array: pa.Array, seeds: Hashes) -> Hashes:
    """The hashes of values, each from the seed of its row; the hash of a NULL is arbitrary."""
    kind = array.type
    if kind == pa.string():
        return _strings(*text_bytes(array), seeds)
    if pa.types.is_decimal128(kind) and kind.precision > LONG_DIGITS_MOST:
        return _wide(*map(frozen, words(array)), seeds)
    if kind == pa.bool_():
        return _ints(frozen(numbers(array).astype(np.int32)), seeds)
    return _ints(frozen(raw(array)), seeds) if kind == pa.int32() else _longs(_bits(array), seeds)


def _bits(array: pa.Array) -> Indexes:
    """The 64 bits that stand for a value; for a timestamp, its microseconds."""
    if array.type == pa.float64():
        return frozen(raw(normalised(array)).view(np.int64))
    if array.type == pa.int64() or pa.types.is_timestamp(array.type) or pa.types.is_decimal128(array.type):
        return numbers(array)
    expected = "an attribute's type: int, long, double, decimal, string, boolean or timestamp"
    raise KernelError(Problem("", f"a key of Arrow's type {array.type} cannot be hashed", expected))


# --- the loops; each product and sum is cut to 32 bits, since numba would widen it


@njit(nogil=True)
def _mixed(seed: np.uint32, word: np.uint32) -> np.uint32:
    """A hash with 32 more bits mixed into it."""
    word = np.uint32(word * np.uint32(0xCC9E2D51))
    word = np.uint32(np.uint32(word << np.uint32(15)) | (word >> np.uint32(17)))
    word = seed ^ np.uint32(word * np.uint32(0x1B873593))
    word = np.uint32(np.uint32(word << np.uint32(13)) | (word >> np.uint32(19)))
    return np.uint32(np.uint32(word * np.uint32(5)) + np.uint32(0xE6546B64))


@njit(nogil=True)
def _finished(seed: np.uint32, length: int) -> np.uint32:
    """A hash after its last bits; `length` is the value's length in bytes."""
    found = seed ^ np.uint32(length)
    found = np.uint32((found ^ (found >> np.uint32(16))) * np.uint32(0x85EBCA6B))
    found = np.uint32((found ^ (found >> np.uint32(13))) * np.uint32(0xC2B2AE35))
    return np.uint32(found ^ (found >> np.uint32(16)))


@njit(nogil=True)
def _ints(values: Ints, seeds: Hashes) -> Hashes:
    found = np.empty(values.shape[0], np.uint32)
    for row in range(values.shape[0]):
        found[row] = _finished(_mixed(seeds[row], np.uint32(values[row])), 4)
    return found


@njit(nogil=True)
def _longs(values: Indexes, seeds: Hashes) -> Hashes:
    found = np.empty(values.shape[0], np.uint32)
    for row in range(values.shape[0]):
        low, high = np.uint32(values[row]), np.uint32(values[row] >> 32)
        found[row] = _finished(_mixed(_mixed(seeds[row], low), high), 8)
    return found


@njit(nogil=True)
def _strings(ends: Ints, data: Bytes, seeds: Hashes) -> Hashes:
    """For texts in UTF-8. Unlike in standard Murmur3, each byte of the tail is mixed in by itself, signed."""
    found = np.empty(seeds.shape[0], np.uint32)
    for row in range(seeds.shape[0]):
        begin, end = np.uint64(ends[row]), np.uint64(ends[row + 1])
        whole = begin + ((end - begin) & ~np.uint64(3))
        seed, at = seeds[row], begin
        while at < whole:
            low = np.uint32(data[at]) | np.uint32(data[at + np.uint64(1)]) << np.uint32(8)
            high = np.uint32(data[at + np.uint64(2)]) | np.uint32(data[at + np.uint64(3)]) << np.uint32(8)
            seed = _mixed(seed, low | high << np.uint32(16))
            at += np.uint64(4)
        while at < end:
            seed = _mixed(seed, np.uint32(np.int8(data[at])))
            at += np.uint64(1)
        found[row] = _finished(seed, end - begin)
    return found


@njit(nogil=True)
def _wide(lows: Numbers, highs: Indexes, seeds: Hashes) -> Hashes:
    """For 128-bit numbers, hashed like texts: by the fewest bytes that hold them, the highest first."""
    found, data = np.empty(seeds.shape[0], np.uint32), np.empty(16, np.uint8)
    for row in range(seeds.shape[0]):
        for place in range(8):
            data[7 - place] = np.uint8(highs[row] >> (8 * place))
            data[15 - place] = np.uint8(lows[row] >> np.uint64(8 * place))
        begin, filling = 0, 0xFF if highs[row] < 0 else 0
        # A byte that only repeats the sign of the next one can go.
        while begin < 15 and data[begin] == filling and (data[begin + 1] ^ filling) < 0x80:
            begin += 1
        ends = np.array([begin, 16], np.int32)
        found[row] = _strings(ends, data, seeds[row : row + 1])[0]
    return found
