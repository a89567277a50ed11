"""Compiled loops over ranges of rows that lie in order and may overlap: order statistics and distinct counts.

Ranges come by where they begin, then by where they end. From one range to the next, only the rows that leave
and those that enter are touched, so overlapping windows cost little more than their rows.
"""

from __future__ import annotations

import numpy as np

from australis.kernels.arrays import Indexes, Mask, Numbers
from australis.kernels.compiled import njit

_SPREAD = 4
"""How many times as long as its first range a block of ranges may be; longer blocks have deeper trees."""
_BLOCK_LEAST = 1024
REGISTER_BITS = 12
REGISTERS = 1 << REGISTER_BITS
"""The registers of HyperLogLog."""
_ALPHA = 0.7213475204444817
"""1 / (2 ln 2)."""
RANK_MOST = 64 - REGISTER_BITS + 1
"""The rank of a hash whose bits are all 0 after those of the register."""


@njit(nogil=True)
def percentiles(values: Numbers, lows: Indexes, highs: Indexes, share: float) -> Numbers:
    """The percentile of each range; 0 for one without rows. NaN is greater than all other numbers."""
    found = np.zeros(lows.shape[0])
    first = 0
    while first < lows.shape[0]:
        past, high, total = block(lows, highs, first)
        if total > 2 * (high - lows[first]):
            _slide(values, lows, highs, share, first, past, high, found)
        else:
            for at in range(first, past):
                if highs[at] > lows[at]:
                    found[at] = _percentile(np.sort(values[lows[at] : highs[at]]), share)
        first = past
    return found


@njit(nogil=True)
def block(lows: Indexes, highs: Indexes, first: int) -> tuple[int, int, int]:
    """The first range after those that overlap near `first`, where they end, and their total length."""
    low, high, total = lows[first], highs[first], highs[first] - lows[first]
    most = low + max(_SPREAD * total, _BLOCK_LEAST)
    past = first + 1
    while past < lows.shape[0] and lows[past] < high and highs[past] <= most:
        high = max(high, highs[past])
        total += highs[past] - lows[past]
        past += 1
    return past, high, total


@njit(nogil=True)
def _percentile(ascending: Numbers, share: float) -> float:
    position = (ascending.shape[0] - 1) * share
    lower, higher = np.int64(np.floor(position)), np.int64(np.ceil(position))
    return _between(ascending[lower], ascending[higher], position, lower, higher)


@njit(nogil=True)
def _between(low: float, high: float, position: float, lower: int, higher: int) -> float:
    """The value at a position between two places, in proportion to its distances from them."""
    if lower == higher or low == high:
        return low
    return (higher - position) * low + (position - lower) * high


@njit(nogil=True)
def _slide(
    values: Numbers,
    lows: Indexes,
    highs: Indexes,
    share: float,
    first: int,
    past: int,
    high: int,
    found: Numbers,
) -> None:
    """The percentiles of a block of ranges: a tree counts the rows of the current one by their rank."""
    origin = lows[first]
    order, ranks, tree, top = slid_tree(values[origin:high])
    ascending = values[origin:high][order]
    begin = end = 0
    for at in range(first, past):
        begin, end = recount(tree, ranks, begin, end, lows[at] - origin, highs[at] - origin)
        if end > begin:
            position = (end - begin - 1) * share
            lower, higher = np.int64(np.floor(position)), np.int64(np.ceil(position))
            low = ascending[ranked(tree, top, lower)]
            above = low if lower == higher else ascending[ranked(tree, top, higher)]
            found[at] = _between(low, above, position, lower, higher)


@njit(nogil=True)
def slid_tree(values: Numbers) -> tuple[Indexes, Indexes, Indexes, int]:
    """The rows by value, the rank of each, an empty Fenwick tree over ranks, and its highest power of 2."""
    order = np.argsort(values, kind="mergesort")
    ranks = np.empty(len(order), np.int64)
    for rank in range(len(order)):
        ranks[order[rank]] = rank
    top = 1
    while top * 2 <= len(order):
        top *= 2
    return order, ranks, np.zeros(len(order) + 1, np.int64), top


@njit(nogil=True)
def recount(tree: Indexes, ranks: Indexes, begin: int, end: int, low: int, high: int) -> tuple[int, int]:
    """Let a tree that counts the rows `begin:end` count `low:high`; `low` is not below `begin`."""
    while end < high:
        count_rank(tree, ranks[end], 1)
        end += 1
    while end > high:
        end -= 1
        count_rank(tree, ranks[end], -1)
    while begin < low:
        count_rank(tree, ranks[begin], -1)
        begin += 1
    return begin, end


@njit(nogil=True)
def count_rank(tree: Indexes, rank: int, change: int) -> None:
    """Count a row of a rank in a Fenwick tree."""
    at = rank + 1
    while at < tree.shape[0]:
        tree[at] += change
        at += at & -at


@njit(nogil=True)
def ranked(tree: Indexes, top: int, number: int) -> int:
    """The rank of the row that has `number` rows before it, from the counts of a Fenwick tree."""
    at, rest, step = 0, number, top
    while step:
        if at + step < tree.shape[0] and tree[at + step] <= rest:
            at += step
            rest -= tree[at]
        step //= 2
    return at


@njit(nogil=True)
def distinct_counts(codes: Indexes, count: int, lows: Indexes, highs: Indexes) -> Indexes:
    """How many distinct codes, all below `count`, each range has."""
    found, seen = np.zeros(lows.shape[0], np.int64), np.zeros(count, np.int64)
    begin = end = distinct = 0
    for at in range(lows.shape[0]):
        if lows[at] >= end:
            for place in range(begin, end):
                seen[codes[place]] = 0
            begin = end = lows[at]
            distinct = 0
        while end < highs[at]:
            distinct += seen[codes[end]] == 0
            seen[codes[end]] += 1
            end += 1
        while end > highs[at]:
            end -= 1
            seen[codes[end]] -= 1
            distinct -= seen[codes[end]] == 0
        while begin < lows[at]:
            seen[codes[begin]] -= 1
            distinct -= seen[codes[begin]] == 0
            begin += 1
        found[at] = distinct
    return found


@njit(nogil=True)
def repeated_later(codes: Indexes, count: int, starts: Indexes) -> Mask:
    """Which rows have a code, below `count`, that comes again later in their sequence."""
    repeated, seen_in = np.zeros(codes.shape[0], np.bool_), np.full(count, -1, np.int64)
    for sequence in range(starts.shape[0] - 1):
        for place in range(starts[sequence + 1] - 1, starts[sequence] - 1, -1):
            repeated[place] = seen_in[codes[place]] == sequence
            seen_in[codes[place]] = sequence
    return repeated


@njit(nogil=True)
def weighted_places(keys: Indexes, weights: Indexes, lows: Indexes, highs: Indexes, share: float) -> Indexes:
    """For each range the place of a row whose key is that of the percentile; rows count by their weights.

    It is the key at position share * (n - 1) of the n weighed rows in order, rounded down.
    """
    found = np.zeros(lows.shape[0], np.int64)
    first = 0
    while first < lows.shape[0]:
        past, high, _ = block(lows, highs, first)
        _slide_weighted(keys, weights, lows, highs, share, first, past, high, found)
        first = past
    return found


@njit(nogil=True)
def _slide_weighted(
    keys: Indexes,
    weights: Indexes,
    lows: Indexes,
    highs: Indexes,
    share: float,
    first: int,
    past: int,
    high: int,
    found: Indexes,
) -> None:
    origin = lows[first]
    order, ranks, tree, top = slid_tree(keys[origin:high])
    begin = end = origin
    total = 0
    for at in range(first, past):
        while end < highs[at]:
            count_rank(tree, ranks[end - origin], weights[end])
            total += weights[end]
            end += 1
        while end > highs[at]:
            end -= 1
            count_rank(tree, ranks[end - origin], -weights[end])
            total -= weights[end]
        while begin < lows[at]:
            count_rank(tree, ranks[begin - origin], -weights[begin])
            total -= weights[begin]
            begin += 1
        if total:
            number = np.int64(np.floor((total - 1) * share))
            found[at] = origin + order[ranked(tree, top, number)]


@njit(nogil=True)
def register_counts(values: Indexes, lows: Indexes, highs: Indexes) -> Indexes:
    """The distinct values that HyperLogLog estimates for each range of rows, each register * 64 + rank."""
    found = np.zeros(lows.shape[0], np.int64)
    rows_at = np.zeros(REGISTERS * 64, np.int32)
    greatest = np.zeros(REGISTERS, np.int64)
    with_rank = np.zeros(64, np.int64)
    with_rank[0] = REGISTERS
    begin = end = 0
    for at in range(lows.shape[0]):
        if lows[at] >= end:
            for place in range(begin, end):
                rows_at[values[place]] = 0
                _set_rank(greatest, with_rank, values[place] >> 6, 0)
            begin = end = lows[at]
        while end < highs[at]:
            _take_rank(values[end], rows_at, greatest, with_rank)
            end += 1
        while end > highs[at]:
            end -= 1
            _drop_rank(values[end], rows_at, greatest, with_rank)
        while begin < lows[at]:
            _drop_rank(values[begin], rows_at, greatest, with_rank)
            begin += 1
        found[at] = _estimate(with_rank)
    return found


@njit(nogil=True)
def _take_rank(value: int, rows_at: Indexes, greatest: Indexes, with_rank: Indexes) -> None:
    rows_at[value] += 1
    if value & 63 > greatest[value >> 6]:
        _set_rank(greatest, with_rank, value >> 6, value & 63)


@njit(nogil=True)
def _drop_rank(value: int, rows_at: Indexes, greatest: Indexes, with_rank: Indexes) -> None:
    rows_at[value] -= 1
    register, rank = value >> 6, value & 63
    if rows_at[value] == 0 and greatest[register] == rank:
        while rank > 0 and rows_at[register * 64 + rank] == 0:
            rank -= 1
        _set_rank(greatest, with_rank, register, rank)


@njit(nogil=True)
def _set_rank(greatest: Indexes, with_rank: Indexes, register: int, rank: int) -> None:
    with_rank[greatest[register]] -= 1
    greatest[register] = rank
    with_rank[rank] += 1


@njit(nogil=True)
def _estimate(with_rank: Indexes) -> int:
    """The estimate from how many registers have each rank, without bias tables (Ertl 2017, algorithm 6)."""
    total = REGISTERS * _full_part(1.0 - with_rank[RANK_MOST] / REGISTERS)
    for rank in range(RANK_MOST - 1, 0, -1):
        total = 0.5 * (total + with_rank[rank])
    total += REGISTERS * _empty_part(with_rank[0] / REGISTERS)
    return int(np.floor(_ALPHA * REGISTERS * REGISTERS / total + 0.5))


@njit(nogil=True)
def _empty_part(share: float) -> float:
    if share == 1.0:
        return np.inf
    factor, total = 1.0, share
    while True:
        share *= share
        before = total
        total += share * factor
        factor += factor
        if total == before:
            return total


@njit(nogil=True)
def _full_part(share: float) -> float:
    if share in (0.0, 1.0):
        return 0.0
    factor, total = 1.0, 1.0 - share
    while True:
        share = np.sqrt(share)
        before = total
        factor *= 0.5
        total -= (1.0 - share) * (1.0 - share) * factor
        if total == before:
            return total / 3.0


@njit(nogil=True)
def hidden_later(values: Indexes, starts: Indexes) -> Mask:
    """Which rows, each register * 64 + rank, a later one of their sequence makes useless."""
    hidden = np.zeros(values.shape[0], np.bool_)
    greatest, seen_in = np.zeros(REGISTERS, np.int64), np.full(REGISTERS, -1, np.int64)
    for sequence in range(starts.shape[0] - 1):
        for place in range(starts[sequence + 1] - 1, starts[sequence] - 1, -1):
            register, rank = values[place] >> 6, values[place] & 63
            if seen_in[register] == sequence and greatest[register] >= rank:
                hidden[place] = True
            else:
                seen_in[register], greatest[register] = sequence, rank
    return hidden
