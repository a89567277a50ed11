"""MD5 (RFC 1321) and SHA-256 (FIPS 180-4) of whole columns, as hexadecimal texts.

The constants are computed by the formulas of the standards, and all words are 64-bit numbers below 2^32.
"""

from __future__ import annotations

from math import isqrt, sin

import numpy as np
import pyarrow as pa

from australis.kernels.compiled import njit
from australis.kernels.expressions.arrays import CallSite, Datum, Implementation, Numbers, nulls
from australis.kernels.expressions.code_points import strings_of, texts

_WORD = 0xFFFFFFFF
_DIGITS = np.frombuffer(b"0123456789abcdef", np.uint8)


def md5(_: CallSite, strings: pa.Array) -> pa.Array:
    held = texts(strings, len(strings))
    digests = _md5_digests(held.data, held.starts, held.ends, _MD5_STEPS, _MD5_TURNS)
    return _hexadecimal(digests, strings)


def sha2(_: CallSite, strings: pa.Array, bits: Datum) -> pa.Array:
    """SHA-256: 256 is the only number of bits."""
    held = texts(strings, len(strings))
    digests = _sha_digests(held.data, held.starts, held.ends, _SHA_STEPS, _SHA_STARTS)
    return _hexadecimal(digests, strings)


def _hexadecimal(digests: Numbers, strings: pa.Array) -> pa.Array:
    """The digests as texts, NULL where a string is NULL."""
    digits = np.stack([_DIGITS[digests >> 4], _DIGITS[digests & 15]], axis=-1)
    offsets = np.arange(len(strings) + 1, dtype=np.int64) * (2 * digests.shape[1])
    return strings_of(digits.reshape(-1), offsets, nulls(strings))


# --- constants


def _first_primes(count: int) -> list[int]:
    primes: list[int] = []
    candidate = 2
    while len(primes) < count:
        if all(candidate % prime for prime in primes):
            primes.append(candidate)
        candidate += 1
    return primes


def _cube_root(number: int) -> int:
    """The integer part of a cube root."""
    low, high = 0, 1 << (number.bit_length() // 3 + 1)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if middle**3 <= number else (low, middle - 1)
    return low


_MD5_STEPS = np.array([int(abs(sin(step + 1)) * 2**32) for step in range(64)])
_MD5_TURNS = np.array([[7, 12, 17, 22], [5, 9, 14, 20], [4, 11, 16, 23], [6, 10, 15, 21]])
_SHA_STEPS = np.array([_cube_root(prime << 96) & _WORD for prime in _first_primes(64)])
_SHA_STARTS = np.array([isqrt(prime << 64) & _WORD for prime in _first_primes(8)])

# --- loops


@njit(nogil=True, inline=True)
def _padded(data: Numbers, start: int, size: int, at: int) -> np.int64:
    """A byte of a message followed by a one bit and zeros."""
    if at < size:
        return np.int64(data[start + at])
    return np.int64(0x80) if at == size else np.int64(0)


@njit(nogil=True)
def _md5_digests(data: Numbers, starts: Numbers, ends: Numbers, steps: Numbers, turns: Numbers) -> Numbers:
    digests = np.empty((starts.shape[0], 16), np.uint8)
    words, state = np.empty(16, np.int64), np.empty(4, np.int64)
    for row in range(starts.shape[0]):
        start, size = starts[row], ends[row] - starts[row]
        state[0], state[1], state[2], state[3] = 0x67452301, 0xEFCDAB89, 0x98BADCFE, 0x10325476
        blocks = (size + 8) // 64 + 1
        for block in range(blocks):
            for word in range(16):
                at, value = 64 * block + 4 * word, np.int64(0)
                for byte in range(4):
                    value |= _padded(data, start, size, at + byte) << (8 * byte)
                words[word] = value
            if block == blocks - 1:
                words[14], words[15] = (8 * size) & _WORD, (8 * size) >> 32
            _md5_block(words, state, steps, turns)
        for byte in range(16):
            digests[row, byte] = (state[byte // 4] >> (8 * (byte % 4))) & 0xFF
    return digests


@njit(nogil=True)
def _md5_block(words: Numbers, state: Numbers, steps: Numbers, turns: Numbers) -> None:
    a, b, c, d = state[0], state[1], state[2], state[3]
    for step in range(64):
        if step < 16:
            mixed, word = (b & c) | (~b & d), step
        elif step < 32:
            mixed, word = (d & b) | (~d & c), (5 * step + 1) % 16
        elif step < 48:
            mixed, word = b ^ c ^ d, (3 * step + 5) % 16
        else:
            mixed, word = c ^ (b | (~d & _WORD)), (7 * step) % 16
        added = (a + mixed + steps[step] + words[word]) & _WORD
        turn = turns[step // 16, step % 4]
        a, d, c, b = d, c, b, (b + ((added << turn) | (added >> (32 - turn)))) & _WORD
    state[0], state[1] = (state[0] + a) & _WORD, (state[1] + b) & _WORD
    state[2], state[3] = (state[2] + c) & _WORD, (state[3] + d) & _WORD


@njit(nogil=True)
def _sha_digests(data: Numbers, starts: Numbers, ends: Numbers, steps: Numbers, first: Numbers) -> Numbers:
    digests = np.empty((starts.shape[0], 32), np.uint8)
    words, state = np.empty(64, np.int64), np.empty(8, np.int64)
    for row in range(starts.shape[0]):
        start, size = starts[row], ends[row] - starts[row]
        state[:] = first
        blocks = (size + 8) // 64 + 1
        for block in range(blocks):
            for word in range(16):
                at, value = 64 * block + 4 * word, np.int64(0)
                for byte in range(4):
                    value = (value << 8) | _padded(data, start, size, at + byte)
                words[word] = value
            if block == blocks - 1:
                words[14], words[15] = (8 * size) >> 32, (8 * size) & _WORD
            _sha_block(words, state, steps)
        for byte in range(32):
            digests[row, byte] = (state[byte // 4] >> (24 - 8 * (byte % 4))) & 0xFF
    return digests


@njit(nogil=True)
def _sha_block(words: Numbers, state: Numbers, steps: Numbers) -> None:
    for word in range(16, 64):
        far, near = words[word - 15], words[word - 2]
        one = _turn(far, 7) ^ _turn(far, 18) ^ (far >> 3)
        two = _turn(near, 17) ^ _turn(near, 19) ^ (near >> 10)
        words[word] = (words[word - 16] + one + words[word - 7] + two) & _WORD
    a, b, c, d = state[0], state[1], state[2], state[3]
    e, f, g, h = state[4], state[5], state[6], state[7]
    for step in range(64):
        chosen = (e & f) ^ (~e & g)
        one = (h + (_turn(e, 6) ^ _turn(e, 11) ^ _turn(e, 25)) + chosen + steps[step] + words[step]) & _WORD
        most = (a & b) ^ (a & c) ^ (b & c)
        two = (_turn(a, 2) ^ _turn(a, 13) ^ _turn(a, 22)) + most
        h, g, f, e = g, f, e, (d + one) & _WORD
        d, c, b, a = c, b, a, (one + two) & _WORD
    state[0], state[1] = (state[0] + a) & _WORD, (state[1] + b) & _WORD
    state[2], state[3] = (state[2] + c) & _WORD, (state[3] + d) & _WORD
    state[4], state[5] = (state[4] + e) & _WORD, (state[5] + f) & _WORD
    state[6], state[7] = (state[6] + g) & _WORD, (state[7] + h) & _WORD


@njit(nogil=True, inline=True)
def _turn(word: int, bits: int) -> int:
    return ((word >> bits) | (word << (32 - bits))) & _WORD


FUNCTIONS: dict[str, Implementation] = {"md5": md5, "sha2": sha2}
