"""The approximate window functions: `percentile_sketch`, and `approx_count_distinct` by HyperLogLog."""

from __future__ import annotations

import math
import struct
from collections import Counter
from collections.abc import Sequence

from australis.algebra.expr import Value
from australis.algebra.types import DataType
from australis.reference.hashing import hash64

REGISTER_BITS = 12
REGISTERS = 2**REGISTER_BITS
_REST_BITS = 64 - REGISTER_BITS
_MANTISSA_BITS = 52
_LEAST_NORMAL = 2.0**-1022
_ALPHA = 0.7213475204444817
"""1 / (2 ln 2)."""


def percentile_sketch(values: Sequence[float], share: float, accuracy: float) -> float:
    """The middle of the bucket of the value at a position, rounded down; 0 is the least, 1 the greatest.

    Each power of 2 is divided into as few equal buckets as give the accuracy; zero has its own.
    """
    bits = 0
    while 0.5 ** (bits + 1) > accuracy:
        bits += 1
    buckets = sorted(_bucket(value, bits) for value in values)
    return _middle(buckets[math.floor((len(buckets) - 1) * share)], bits)


def _bucket(value: float, bits: int) -> int:
    """The number of a value's bucket: 0 for zero and less than any normal double, the greatest for NaN."""
    magnitude = math.nan if math.isnan(value) else abs(value)
    if magnitude < _LEAST_NORMAL:
        return 0
    number: int = struct.unpack("<q", struct.pack("<d", magnitude))[0] >> (_MANTISSA_BITS - bits)
    return -number if value < 0 else number


def _middle(bucket: int, bits: int) -> float:
    if not bucket:
        return 0.0
    width = 1 << (_MANTISSA_BITS - bits)
    low: float = struct.unpack("<d", struct.pack("<q", abs(bucket) * width))[0]
    middle: float = struct.unpack("<d", struct.pack("<q", abs(bucket) * width + width // 2))[0]
    found = middle if math.isfinite(low) else low
    return -found if bucket < 0 else found


def approximate_count(values: Sequence[Value], value_type: DataType) -> int:
    """How many distinct values there are, estimated from the greatest rank of each register."""
    if not values:
        return 0
    greatest = [0] * REGISTERS
    for value in values:
        found = hash64(value, value_type)
        register, rest = found >> _REST_BITS, found % 2**_REST_BITS
        greatest[register] = max(greatest[register], _REST_BITS - rest.bit_length() + 1)
    return _estimate(greatest)


def _estimate(greatest: list[int]) -> int:
    """The estimate, without tables of biases (Ertl, New cardinality estimation algorithms, algorithm 6)."""
    with_rank = Counter(greatest)
    total = REGISTERS * _full_part(1.0 - with_rank[_REST_BITS + 1] / REGISTERS)
    for rank in range(_REST_BITS, 0, -1):
        total = 0.5 * (total + with_rank[rank])
    total += REGISTERS * _empty_part(with_rank[0] / REGISTERS)
    return int(_ALPHA * REGISTERS * REGISTERS / total + 0.5)


def _empty_part(share: float) -> float:
    """What registers without values add: sigma of the paper."""
    if share == 1.0:
        return math.inf
    factor, total, before = 1.0, share, -1.0
    while total != before:
        share *= share
        before, total = total, total + share * factor
        factor += factor
    return total


def _full_part(share: float) -> float:
    """What registers with the greatest rank add: tau of the paper."""
    if share in (0.0, 1.0):
        return 0.0
    factor, total, before = 1.0, 1.0 - share, -1.0
    while total != before:
        share = math.sqrt(share)
        factor *= 0.5
        before, total = total, total - (1.0 - share) * (1.0 - share) * factor
    return total / 3.0
