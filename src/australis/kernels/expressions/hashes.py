"""CRC32 and XXHASH64 of whole columns, equal to Spark's."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from australis.kernels.compiled import njit
from australis.kernels.expressions.arrays import (
    CallSite,
    Datum,
    Implementation,
    Numbers,
    arrow,
    length,
    nulls,
    raw,
    spread,
    truths,
)
from australis.kernels.expressions.code_points import texts

SEED = 42
_CRC_POLYNOMIAL = 0xEDB88320
# Numba turns a sum of a signed and an unsigned number into a double, so every number is unsigned.
_P1 = np.uint64(0x9E3779B185EBCA87)
_P2 = np.uint64(0xC2B2AE3D27D4EB4F)
_P3 = np.uint64(0x165667B19E3779F9)
_P4 = np.uint64(0x85EBCA77C2B2AE63)
_P5 = np.uint64(0x27D4EB2F165667C5)
_U0, _U8, _U64 = np.uint64(0), np.uint64(8), np.uint64(64)
_U1, _U7, _U12, _U18 = np.uint64(1), np.uint64(7), np.uint64(12), np.uint64(18)
_U11, _U23, _U27, _U31 = np.uint64(11), np.uint64(23), np.uint64(27), np.uint64(31)
_U29, _U32, _U33 = np.uint64(29), np.uint64(32), np.uint64(33)


def crc32(_: CallSite, strings: pa.Array) -> pa.Array:
    held = texts(strings, len(strings))
    return arrow(_crcs(held.data, held.starts, held.ends, _CRC_TABLE), pa.int64(), nulls(strings))


def xxhash64(_: CallSite, *data: Datum) -> pa.Array:
    """The hash of each row: that of a value is the seed of the next one, and a NULL leaves it unchanged."""
    rows = length(*data)
    hashes = np.full(rows, SEED, np.uint64)
    for datum in data:
        array = spread(datum, rows)
        hashed, missing = _hashed(array, hashes), nulls(array)
        hashes = hashed if missing is None else np.where(missing, hashes, hashed)
    return arrow(hashes.view(np.int64), pa.int64())


def _hashed(array: pa.Array, seeds: Numbers) -> Numbers:
    """The hashes of values, each from the seed of its row; that of a NULL is arbitrary."""
    if array.type == pa.string():
        held = texts(array, len(array))
        hashed: Numbers = _of_bytes(held.data, held.starts, held.ends, seeds)
        return hashed
    if array.type == pa.bool_():
        return _of_ints(truths(array).astype(np.uint64), seeds)
    if array.type == pa.int32():
        return _of_ints(raw(array).view(np.uint32).astype(np.uint64), seeds)
    return _of_longs(_bits(array), seeds)


def _bits(array: pa.Array) -> Numbers:
    """The 64 bits that stand for a value; doubles have one zero and one NaN."""
    values = raw(array)
    if array.type == pa.float64():
        values = np.where(values == 0, 0.0, np.where(np.isnan(values), np.nan, values))
    return values.view(np.uint64)


def _of_ints(values: Numbers, seeds: Numbers) -> Numbers:
    hashes = (seeds + _P5 + np.uint64(4)) ^ (values * _P1)
    return _mixed(_turned(hashes, _U23) * _P2 + _P3)


def _of_longs(values: Numbers, seeds: Numbers) -> Numbers:
    hashes = (seeds + _P5 + _U8) ^ (_turned(values * _P2, _U31) * _P1)
    return _mixed(_turned(hashes, _U27) * _P1 + _P4)


def _turned(values: Numbers, bits: np.uint64) -> Numbers:
    turned: Numbers = (values << bits) | (values >> (_U64 - bits))
    return turned


def _mixed(hashes: Numbers) -> Numbers:
    hashes = (hashes ^ (hashes >> _U33)) * _P2
    hashes = (hashes ^ (hashes >> _U29)) * _P3
    mixed: Numbers = hashes ^ (hashes >> _U32)
    return mixed


@njit(nogil=True)
def _of_bytes(data: Numbers, starts: Numbers, ends: Numbers, seeds: Numbers) -> Numbers:
    hashes = np.empty(starts.shape[0], np.uint64)
    for row in range(starts.shape[0]):
        at, end, seed = starts[row], ends[row], seeds[row]
        size = np.uint64(end - at)
        if end - at >= 32:
            one, two, three, four = seed + _P1 + _P2, seed + _P2, seed, seed - _P1
            while end - at >= 32:
                one = _round(one, _word(data, at, 8))
                two = _round(two, _word(data, at + 8, 8))
                three = _round(three, _word(data, at + 16, 8))
                four = _round(four, _word(data, at + 24, 8))
                at += 32
            mixed = _turn(one, _U1) + _turn(two, _U7) + _turn(three, _U12) + _turn(four, _U18)
            mixed = (mixed ^ _round(_U0, one)) * _P1 + _P4
            mixed = (mixed ^ _round(_U0, two)) * _P1 + _P4
            mixed = (mixed ^ _round(_U0, three)) * _P1 + _P4
            mixed = (mixed ^ _round(_U0, four)) * _P1 + _P4
        else:
            mixed = seed + _P5
        mixed += size
        while end - at >= 8:
            mixed = _turn(mixed ^ _round(_U0, _word(data, at, 8)), _U27) * _P1 + _P4
            at += 8
        if end - at >= 4:
            mixed = _turn(mixed ^ (_word(data, at, 4) * _P1), _U23) * _P2 + _P3
            at += 4
        while at < end:
            mixed = _turn(mixed ^ (np.uint64(data[at]) * _P5), _U11) * _P1
            at += 1
        mixed = (mixed ^ (mixed >> _U33)) * _P2
        mixed = (mixed ^ (mixed >> _U29)) * _P3
        hashes[row] = mixed ^ (mixed >> _U32)
    return hashes


@njit(nogil=True, inline=True)
def _turn(value: np.uint64, bits: np.uint64) -> np.uint64:
    return (value << bits) | (value >> (_U64 - bits))


@njit(nogil=True, inline=True)
def _round(held: np.uint64, word: np.uint64) -> np.uint64:
    return _turn(held + word * _P2, _U31) * _P1


@njit(nogil=True, inline=True)
def _word(data: Numbers, at: int, size: int) -> np.uint64:
    """Some bytes as a number, the least significant first."""
    word = np.uint64(0)
    for place in range(size):
        word |= np.uint64(data[at + place]) << np.uint64(8 * place)
    return word


@njit(nogil=True)
def _crcs(data: Numbers, starts: Numbers, ends: Numbers, table: Numbers) -> Numbers:
    crcs = np.empty(starts.shape[0], np.int64)
    for row in range(starts.shape[0]):
        crc = 0xFFFFFFFF
        for at in range(starts[row], ends[row]):
            crc = (crc >> 8) ^ table[(crc ^ data[at]) & 0xFF]
        crcs[row] = crc ^ 0xFFFFFFFF
    return crcs


def _crc_table() -> Numbers:
    """What each byte adds to a checksum."""
    table = np.arange(256, dtype=np.int64)
    for _ in range(8):
        table = (table >> 1) ^ np.where(table & 1, _CRC_POLYNOMIAL, 0)
    return table


_CRC_TABLE = _crc_table()

FUNCTIONS: dict[str, Implementation] = {"crc32": crc32, "xxhash64": xxhash64}
