"""Spark's hash of one value: Murmur3 (x86, 32 bits), with each byte after the last whole word as a word."""

from __future__ import annotations

import math
import struct
from decimal import Decimal

from australis.algebra.expr import Value
from australis.algebra.types import DataType

_LONG_DIGITS_MOST = 18
_WORD = 2**32 - 1


def hash64(value: Value, data_type: DataType) -> int:
    """64 bits of a value that is not NULL: two of Spark's hashes, mixed by the finish of SplitMix64."""
    data, words = _bytes(value, data_type), _words(value, data_type)
    mixed = _murmur(words, len(data), 42) << 32 | _murmur(words, len(data), 43)
    mixed = (mixed ^ mixed >> 30) * 0xBF58476D1CE4E5B9 % 2**64
    mixed = (mixed ^ mixed >> 27) * 0x94D049BB133111EB % 2**64
    return mixed ^ mixed >> 31


def _words(value: Value, data_type: DataType) -> list[int]:
    """The 32-bit words that are hashed."""
    data = _bytes(value, data_type)
    whole = len(data) // 4 * 4
    words = [int.from_bytes(data[at : at + 4], "little") for at in range(0, whole, 4)]
    return words + [(byte - 256 if byte > 127 else byte) & _WORD for byte in data[whole:]]


def _bytes(value: Value, data_type: DataType) -> bytes:
    """The bytes of a value; GROUP BY's equal values have the same."""
    if isinstance(value, str):
        return value.encode("utf-8")
    if isinstance(value, float):
        return struct.pack("<d", math.nan if math.isnan(value) else value + 0.0)
    if isinstance(value, Decimal):
        unscaled = int(value.scaleb(data_type.scale))
        if data_type.precision > _LONG_DIGITS_MOST:
            length = ((unscaled if unscaled >= 0 else ~unscaled).bit_length() // 8) + 1
            return unscaled.to_bytes(length, "big", signed=True)
        return unscaled.to_bytes(8, "little", signed=True)
    assert value is not None
    return int(value).to_bytes(4 if data_type.name in ("int", "boolean") else 8, "little", signed=True)


def _murmur(words: list[int], length: int, seed: int) -> int:
    found = seed
    for word in words:
        mixed = word * 0xCC9E2D51 & _WORD
        mixed = (mixed << 15 | mixed >> 17) & _WORD
        found ^= mixed * 0x1B873593 & _WORD
        found = (found << 13 | found >> 19) & _WORD
        found = found * 5 + 0xE6546B64 & _WORD
    found ^= length
    found = (found ^ found >> 16) * 0x85EBCA6B & _WORD
    found = (found ^ found >> 13) * 0xC2B2AE35 & _WORD
    return found ^ found >> 16
