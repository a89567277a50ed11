"""A layer of a state: some groups of a box, sorted by the hash of their keys, so that few are found at once.

Rows of tables that follow a numbered one refer to its rows by their place in the block.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from australis.kernels.arrays import (
    Indexes,
    Numbered,
    Numbers,
    PortKeys,
    column,
    frozen,
    numbers,
    rows_of,
    spark_hash,
    with_numbers,
)
from australis.kernels.compiled import njit
from australis.kernels.kernel import NEVER_DUE, Due, Kernel, State
from australis.kernels.layers.narrow import lowered

Hashes = npt.NDArray[np.uint64]

_SEEDS = 42, 43
NO_HASHES: Hashes = np.empty(0, np.uint64)


@dataclass(frozen=True)
class Shape:
    """How the state of a kernel falls into groups: the tables kept by key, and the keys at each port."""

    kernel: Kernel
    ports: PortKeys
    numbered: tuple[Numbered, ...]

    @cached_property
    def follows(self) -> Mapping[str, tuple[str, str]]:
        """The tables whose rows belong to groups: the table of these, and the column that refers to it."""
        found = (
            (name, (each.table, number)) for each in self.numbered for name, number in each.followers.items()
        )
        return dict(found)

    @cached_property
    def kept(self) -> tuple[str, ...]:
        """All tables that are kept by key."""
        return (*(each.table for each in self.numbered), *self.follows)

    def hashes(self, batches: Mapping[int, pa.Table]) -> tuple[Hashes, Indexes]:
        """The hashes of the groups that tuples belong to, ascending, and the first tuple of each."""
        found = [key_hashes(batch, self.ports[port]) for port, batch in batches.items()]
        return first_of_each(np.concatenate([NO_HASHES, *found]))


def shape_of(kernel: Kernel) -> Shape | None:
    """How the state of a kernel falls into groups; None if it is one for all tuples."""
    ports = kernel.separated_by
    return Shape(kernel, ports, kernel.kept_by(ports)) if all(ports) and ports else None


def distinct(hashes: Hashes) -> Hashes:
    """Hashes in ascending order, each once; for many of them `np.unique` is far slower."""
    # A stable sort only merges what is sorted in parts.
    ascending = np.sort(hashes, kind="stable")
    return ascending[np.append(True, ascending[1:] != ascending[:-1])] if len(hashes) else hashes


def first_of_each(hashes: Hashes) -> tuple[Hashes, Indexes]:
    """Hashes in ascending order, each once, and where each is first."""
    ascending, order = in_order(hashes)
    is_first = np.append(True, ascending[1:] != ascending[:-1]) if len(hashes) else np.empty(0, np.bool_)
    return ascending[is_first], order[is_first]


def key_hashes(rows: pa.Table, names: Sequence[str]) -> Hashes:
    """A hash of 64 bits for the key of each row. Groups with one hash are kept together."""
    columns = [column(rows, name) for name in names]
    high, low = (spark_hash(columns, seed).view(np.uint32).astype(np.uint64) for seed in _SEEDS)
    joined: Hashes = (high << np.uint64(32)) | low
    return joined


@dataclass(frozen=True)
class Block:
    """Groups by hash, as tables that can be used where they lie."""

    hashes: Hashes
    """Ascending, each once. A hash without rows says that its groups are forgotten."""
    tables: Mapping[str, pa.Table]
    """The rows of the tables kept by key, in the order of the hashes."""
    ends: Mapping[str, Indexes | None]
    """Where the rows of each hash end in each table; None if each has exactly one."""
    rest: Mapping[str, pa.Table]
    """The tables that are not kept by key."""
    due: Due | None = None
    """When the groups of each hash are due; none if they never are."""
    nbytes: int = field(init=False)

    def __post_init__(self) -> None:
        tables = sum(table.nbytes for table in (*self.tables.values(), *self.rest.values()))
        object.__setattr__(self, "nbytes", int(tables + self.hashes.nbytes))

    def find(self, wanted: Hashes) -> Indexes:
        """Where some ascending hashes are; -1 where they are not."""
        places: Indexes = find_sorted(frozen(self.hashes), frozen(wanted))
        return places

    def rows(self, name: str, places: Indexes) -> Indexes:
        """The rows of a table that belong to the hashes at some places."""
        ends = self.ends[name]
        if ends is None:
            return places
        found: Indexes = ranges(np.where(places > 0, ends[places - 1], 0), ends[places])
        return found

    def counts(self, name: str, places: Indexes) -> Indexes:
        """How many rows of a table belong to each of the hashes at some places."""
        ends = self.ends[name]
        if ends is None:
            return np.ones(len(places), np.int64)
        found: Indexes = ends[places] - np.where(places > 0, ends[places - 1], 0)
        return found

    def reaches(self, first: int, beyond: int) -> bool:
        """Whether it may have hashes from one number up to another."""
        return len(self.hashes) > 0 and self.hashes[0] < beyond and self.hashes[-1] >= first

    def between(self, shape: Shape, first: int, beyond: int) -> Block:
        """The groups whose hashes are from one number up to another, without a copy of their columns."""
        begin = int(np.searchsorted(self.hashes, np.uint64(first)))
        end = int(np.searchsorted(self.hashes, np.uint64(beyond - 1), side="right"))
        if end - begin == len(self.hashes):
            return self
        extents = {name: (self._row(name, begin), self._row(name, end)) for name in self.tables}
        tables = {name: self.tables[name].slice(low, high - low) for name, (low, high) in extents.items()}
        for name, (table, number) in shape.follows.items():
            tables[name] = lowered(tables[name], number, extents[table][0])
        ends = {name: self._ends_between(name, begin, end) for name in self.ends}
        return Block(self.hashes[begin:end], tables, ends, self.rest, self._due_between(begin, end))

    def _ends_between(self, name: str, begin: int, end: int) -> Indexes | None:
        ends = self.ends[name]
        if ends is None or not self.tables[name].num_rows:
            return ends if ends is None else ends[begin:end]
        found: Indexes = ends[begin:end] - self._row(name, begin)
        return found

    def _due_between(self, begin: int, end: int) -> Due | None:
        if self.due is None:
            return None
        marks, times, quiet = self.due
        return Due(marks[begin:end], times[begin:end], quiet[begin:end])

    def _row(self, name: str, place: int) -> int:
        """The row of a table at which the hash at a place begins."""
        ends = self.ends[name]
        return place if ends is None else int(ends[place - 1]) if place else 0


@dataclass(frozen=True)
class Layer:
    """Groups by hash, in blocks of ascending hashes. Of those that a layer below has as well, these count."""

    blocks: tuple[Block, ...]
    """At least one; a train writes one, a merge of large layers several."""

    @cached_property
    def nbytes(self) -> int:
        return sum(block.nbytes for block in self.blocks)

    @property
    def rest(self) -> Mapping[str, pa.Table]:
        """The tables that are not kept by key."""
        return self.blocks[-1].rest


def block_of(
    shape: Shape,
    state: State,
    hashes: Mapping[str, Hashes],
    known: Hashes,
) -> Block:
    """The groups of a part of a state, which have some hashes.

    `known` are the hashes that layers below have: where the state has no rows for one, it is forgotten.
    """
    tables, ends = {}, {}
    laid = {name: in_order(own) for name, own in hashes.items()}
    every = distinct(np.concatenate([known, *(ascending for ascending, _ in laid.values())]))
    for name, (ascending, order) in laid.items():
        tables[name] = rearranged(state[name], order)
        ends[name] = _ends(every, ascending)
    for name, (table, number) in shape.follows.items():
        ascending, order = laid[table]
        places = inverse(order)[numbers(column(state[name], number))]
        order = order_of(places, len(ascending))
        tables[name] = rearranged(with_numbers(state[name], number, places), order)
        ends[name] = _ends(every, ascending[places[order]])
    rest = {name: table for name, table in state.items() if name not in tables}
    return Block(every, tables, ends, rest, _due(shape, state, hashes, every))


def inverse(order: Indexes) -> Indexes:
    """Where each row is in an order of rows."""
    places = np.empty_like(order)
    places[order] = np.arange(len(order))
    return places


def rearranged(rows: pa.Table, order: Indexes) -> pa.Table:
    """Rows in another order, without a copy if they are in it."""
    return rows if (np.diff(order) == 1).all() else rows_of(rows, order)


def no_rows(count: int) -> Indexes:
    """Where the rows of each hash end in a table without rows: the same number, which takes memory once."""
    return np.broadcast_to(np.int64(0), (count,))


def _ends(every: Hashes, hashes: Hashes) -> Indexes | None:
    """Where the rows of each hash end, among rows by hash."""
    if not len(hashes):
        return no_rows(len(every))
    if len(hashes) == len(every) and np.array_equal(hashes, every):
        return None
    return np.searchsorted(hashes, every, side="right").astype(np.int64, copy=False)


def _due(shape: Shape, state: State, hashes: Mapping[str, Hashes], every: Hashes) -> Due | None:
    """When the groups of each hash are due: the first of them."""
    found = shape.kernel.due(state)
    if found is None:
        return None
    places = np.searchsorted(every, hashes[shape.numbered[0].table])
    marks, times = np.full(len(every), np.inf), np.full(len(every), NEVER_DUE)
    np.minimum.at(marks, places, found.marks)
    np.minimum.at(times, places, found.times)
    quiet = np.ones(len(every), np.bool_)
    quiet[places[~found.quiet]] = False
    return Due(marks, times, quiet)


def in_order(hashes: Hashes) -> tuple[Hashes, Indexes]:
    """Hashes in ascending order, and where each was, equal ones as they come: far faster than to sort."""
    if len(hashes) < _DIGITS_FROM:
        order = np.argsort(hashes, kind="stable")
        return hashes[order], order
    ascending, places = _by_digits(hashes)
    return ascending, places


_DIGITS_FROM = 1 << 12
"""With fewer hashes it takes longer to count digits than to compare."""
_LOWEST_DIGIT, _DIGIT = np.uint64(40), np.uint64(8)
"""The bits below the highest 24, in which few hashes agree, and those of a digit."""
_INSERTED_MOST = 64
"""If more hashes agree in their digits, few of them differ, or many tuples have one of them."""


@njit(nogil=True)
def ranks_of(places: Indexes, count: int) -> Indexes:
    """Where each of some places below a count comes if they ascend, equal ones as they come."""
    free, ranks = np.zeros(count + 1, np.int64), np.empty(places.shape[0], np.int64)
    for at in range(places.shape[0]):
        free[np.uint64(places[at] + 1)] += 1
    free = np.cumsum(free)
    for at in range(places.shape[0]):
        place = np.uint64(places[at])
        ranks[at] = free[place]
        free[place] += 1
    return ranks


@njit(nogil=True)
def order_of(places: Indexes, count: int) -> Indexes:
    """The order in which places below a count ascend, equal ones as they come."""
    free, order = np.zeros(count + 1, np.int64), np.empty(places.shape[0], np.int64)
    for at in range(places.shape[0]):
        free[np.uint64(places[at] + 1)] += 1
    free = np.cumsum(free)
    for at in range(places.shape[0]):
        place = np.uint64(places[at])
        order[free[place]] = at
        free[place] += 1
    return order


@njit(nogil=True)
def _by_digits(hashes: Hashes) -> tuple[Hashes, Indexes]:
    """By the highest digits, which few hashes share since they are spread evenly, and then by the rest."""
    ascending, order = hashes.copy(), np.arange(hashes.shape[0])
    spare, places = np.empty_like(ascending), np.empty_like(order)
    for digit in range(3):
        shift = _LOWEST_DIGIT + np.uint64(digit) * _DIGIT
        free = np.zeros(257, np.int64)
        for at in range(hashes.shape[0]):
            free[((hashes[at] >> shift) & np.uint64(255)) + np.uint64(1)] += 1
        free = np.cumsum(free)
        for at in range(hashes.shape[0]):
            bucket = (ascending[at] >> shift) & np.uint64(255)
            place = np.uint64(free[bucket])
            spare[place], places[place] = ascending[at], order[at]
            free[bucket] += 1
        ascending, spare = spare, ascending
        order, places = places, order
    begin = 0
    while begin < hashes.shape[0]:
        end = begin + 1
        while end < hashes.shape[0] and ascending[end] >> _LOWEST_DIGIT == ascending[begin] >> _LOWEST_DIGIT:
            end += 1
        _sort_few(ascending[begin:end], order[begin:end])
        begin = end
    return ascending, order


@njit(inline=True)
def _sort_few(hashes: Hashes, order: Indexes) -> None:
    """Sort hashes where they are, and their places with them."""
    if hashes.shape[0] > _INSERTED_MOST:
        found = np.argsort(hashes, kind="mergesort")
        hashes[:], order[:] = hashes[found], order[found]
        return
    for at in range(1, hashes.shape[0]):
        own, row, place = hashes[at], order[at], at
        while place > 0 and hashes[place - 1] > own:
            hashes[place], order[place] = hashes[place - 1], order[place - 1]
            place -= 1
        hashes[place], order[place] = own, row


_STEPS = 16
"""So far a search goes step by step, which is faster than to halve what is left."""


@njit(inline=True)
def _first_from(hashes: Numbers, value: Any, low: int) -> int:
    """The first place from one on whose number is not less than a value."""
    count = hashes.shape[0]
    near = min(low + _STEPS, count)
    while low < near and hashes[low] < value:
        low += 1
    if low < near or near == count:
        return low
    high, step = low, 1
    while high < count and hashes[high] < value:
        low, high, step = high + 1, high + step, step * 2
    high = min(high, count)
    while low < high:
        middle = (low + high) // 2
        if hashes[middle] < value:
            low = middle + 1
        else:
            high = middle
    return low


@njit(nogil=True)
def find_sorted(hashes: Numbers, wanted: Numbers) -> Indexes:
    """Where each of some ascending numbers is, or -1: each search begins where the last one ended."""
    found, low = np.empty(wanted.shape[0], np.int64), 0
    for at in range(wanted.shape[0]):
        low = _first_from(hashes, wanted[at], low)
        found[at] = low if low < hashes.shape[0] and hashes[low] == wanted[at] else -1
    return found


_DENSE = 4
"""Up to so many hashes for each that is looked for, all are looked at, without branches."""


@njit(nogil=True)
def split_found(hashes: Hashes, wanted: Hashes, ranks: Indexes) -> tuple[Indexes, Indexes, Hashes, Indexes]:
    """Where some ascending hashes are, and their ranks; those that are nowhere, and theirs."""
    count = wanted.shape[0]
    places, own = np.empty(count, np.int64), np.empty(count, np.int64)
    others, theirs = np.empty(count, np.uint64), np.empty(count, np.int64)
    at, low, found = 0, 0, 0
    if hashes.shape[0] <= _DENSE * count:
        while at < count and low < hashes.shape[0]:
            value, other = wanted[at], hashes[low]
            places[found], own[found] = low, ranks[at]
            others[at - found], theirs[at - found] = value, ranks[at]
            found += value == other
            at, low = at + (value <= other), low + (other <= value)
    while at < count:
        low = _first_from(hashes, wanted[at], low)
        if low < hashes.shape[0] and hashes[low] == wanted[at]:
            places[found], own[found] = low, ranks[at]
            found += 1
        else:
            others[at - found], theirs[at - found] = wanted[at], ranks[at]
        at += 1
    return places[:found], own[:found], others[: count - found], theirs[: count - found]


@njit(nogil=True)
def ranges(begins: Indexes, ends: Indexes) -> Indexes:
    """All numbers of some ranges, one range after the other."""
    found = np.empty(np.sum(ends - begins), np.int64)
    at = 0
    for index in range(begins.shape[0]):
        for number in range(begins[index], ends[index]):
            found[at] = number
            at += 1
    return found
