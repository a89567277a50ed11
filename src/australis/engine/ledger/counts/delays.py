"""Delays of outputs as histograms, with buckets that grow by a fixed ratio."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

BUCKETS_PER_OCTAVE = 8
"""A bucket is 9 % wide."""


def bucket(delay_us: int) -> int:
    """The bucket of a delay."""
    return math.floor(BUCKETS_PER_OCTAVE * math.log2(max(delay_us, 1)))


def middle_us(index: int) -> float:
    """The delay in the middle of a bucket.

    >>> 950 < middle_us(bucket(1000)) < 1050
    True
    """
    middle: float = 2 ** ((index + 0.5) / BUCKETS_PER_OCTAVE)
    return middle


def histogram(arrivals: Iterable[tuple[int, int]], now: int) -> dict[int, int]:
    """The delays at `now` of tuples that arrived at some times, by bucket."""
    found: dict[int, int] = {}
    for arrived, tuples in arrivals:
        index = bucket(now - arrived)
        found[index] = found.get(index, 0) + tuples
    return found


def quantile_us(buckets: Mapping[int, int], fraction: float) -> float | None:
    """The delay below which a fraction of the tuples lies; None without tuples.

    >>> quantile_us({80: 1, 96: 9}, 0.5) == middle_us(96)
    True
    """
    wanted = fraction * sum(buckets.values())
    seen = 0
    for index in sorted(buckets):
        seen += buckets[index]
        if seen >= wanted:
            return middle_us(index)
    return None
