"""Hashes of values: CRC-32, XXH64 with the seed 42 as in Spark, MD5 and SHA-256."""

from __future__ import annotations

import hashlib
import math
import struct
import zlib
from typing import Any

from australis.algebra.expr import Value
from australis.algebra.types import BOOLEAN, DOUBLE, INT, STRING, DataType
from australis.reference.expressions.site import CallSite, Function

SEED = 42
_ALL = 2**64 - 1
_P1, _P2, _P3 = 0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9
_P4, _P5 = 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5


def xxhash64(site: CallSite, *values: Value) -> Value:
    """The hash of each value is the seed of the next one; a NULL leaves it unchanged."""
    hashed = SEED
    for value, type_ in zip(values, site.takes, strict=True):
        if value is not None:
            hashed = xxh64(_bytes(value, type_), hashed)
    return hashed - 2**64 if hashed >= 2**63 else hashed


def _bytes(value: Any, type_: DataType) -> bytes:
    """The bytes that stand for a value; doubles have one zero and one NaN."""
    if type_ == STRING:
        return bytes(value.encode())
    if type_ == DOUBLE:
        return struct.pack("<d", math.nan if math.isnan(value) else value or 0.0)
    return struct.pack("<i" if type_ in (INT, BOOLEAN) else "<q", value)


def xxh64(data: bytes, seed: int) -> int:
    """The hash XXH64 of some bytes.

    >>> hex(xxh64(b"", 0)), hex(xxh64(b"abc", 0))
    ('0xef46db3751d8e999', '0x44bc2cf5ad770999')
    """
    hashed, rest = (_of_stripes(data, seed) if len(data) >= 32 else seed + _P5), data[len(data) // 32 * 32 :]
    hashed = (hashed + len(data)) & _ALL
    while len(rest) >= 8:
        hashed = (_turn(hashed ^ _round(0, _number(rest[:8])), 27) * _P1 + _P4) & _ALL
        rest = rest[8:]
    if len(rest) >= 4:
        hashed = (_turn(hashed ^ (_number(rest[:4]) * _P1 & _ALL), 23) * _P2 + _P3) & _ALL
        rest = rest[4:]
    for byte in rest:
        hashed = _turn(hashed ^ (byte * _P5 & _ALL), 11) * _P1 & _ALL
    hashed = (hashed ^ (hashed >> 33)) * _P2 & _ALL
    hashed = (hashed ^ (hashed >> 29)) * _P3 & _ALL
    return hashed ^ (hashed >> 32)


def _of_stripes(data: bytes, seed: int) -> int:
    """The part of the hash that four sums of the stripes of 32 bytes make."""
    held = [(seed + _P1 + _P2) & _ALL, (seed + _P2) & _ALL, seed, (seed - _P1) & _ALL]
    for at in range(0, len(data) // 32 * 32, 8):
        held[at // 8 % 4] = _round(held[at // 8 % 4], _number(data[at : at + 8]))
    hashed = sum(_turn(each, bits) for each, bits in zip(held, (1, 7, 12, 18), strict=True)) & _ALL
    for each in held:
        hashed = ((hashed ^ _round(0, each)) * _P1 + _P4) & _ALL
    return hashed


def _round(held: int, word: int) -> int:
    return _turn((held + word * _P2) & _ALL, 31) * _P1 & _ALL


def _turn(value: int, bits: int) -> int:
    return (value << bits | value >> (64 - bits)) & _ALL


def _number(data: bytes) -> int:
    return int.from_bytes(data, "little")


FUNCTIONS: dict[str, Function] = {
    "crc32": lambda _, text: zlib.crc32(text.encode()),
    "xxhash64": xxhash64,
    "md5": lambda _, text: hashlib.md5(text.encode(), usedforsecurity=False).hexdigest(),
    "sha2": lambda _, text, bits: hashlib.sha256(text.encode()).hexdigest(),
}
