"""A layer of a state: some groups of a box, sorted by the hash of their keys, so that few are found at once.

Rows of tables that follow a numbered one refer to its rows by their place in the block.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from australis.kernels.arrays import (
    Indexes,
    Numbered,
    Numbers,
    PortKeys,
    column,
    numbers,
    rows_of,
    spark_hash,
    with_numbers,
)
from australis.kernels.compiled import njit
from australis.kernels.kernel import NEVER_DUE, Due, Kernel, State

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
    order = ascending_order(hashes)
    ascending = hashes[order]
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
        places: Indexes = find_sorted(self.hashes, wanted)
        return places

    def rows(self, name: str, places: Indexes) -> Indexes:
        """The rows of a table that belong to the hashes at some places."""
        ends = self.ends[name]
        if ends is None:
            return places
        found: Indexes = ranges(np.where(places > 0, ends[places - 1], 0), ends[places])
        return found

    def spread(self, name: str, places: Indexes, hashes: Numbers) -> Numbers:
        """The hash of each row of a table that belongs to the hashes at some places."""
        ends = self.ends[name]
        if ends is None:
            return hashes
        return np.repeat(hashes, ends[places] - np.where(places > 0, ends[places - 1], 0))

    def between(self, shape: Shape, first: int, beyond: int) -> Block:
        """The groups whose hashes are from one number up to another, without a copy of their columns."""
        begin = int(np.searchsorted(self.hashes, np.uint64(first)))
        end = int(np.searchsorted(self.hashes, np.uint64(beyond - 1), side="right"))
        if end - begin == len(self.hashes):
            return self
        extents = {name: (self._row(name, begin), self._row(name, end)) for name in self.tables}
        tables = {name: self.tables[name].slice(low, high - low) for name, (low, high) in extents.items()}
        for name, (table, number) in shape.follows.items():
            places = numbers(column(tables[name], number)) - extents[table][0]
            tables[name] = with_numbers(tables[name], number, places)
        ends = {
            name: None if known is None else known[begin:end] - extents[name][0]
            for name, known in self.ends.items()
        }
        return Block(self.hashes[begin:end], tables, ends, self.rest, self._due_between(begin, end))

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
    orders = {name: ascending_order(own) for name, own in hashes.items()}
    every = distinct(np.concatenate([known, *(own[orders[name]] for name, own in hashes.items())]))
    for name, own in hashes.items():
        order = orders[name]
        tables[name] = rearranged(state[name], order)
        ends[name] = _ends(every, own[order])
    for name, (table, number) in shape.follows.items():
        groups = numbers(column(state[name], number))
        places = inverse(orders[table])[groups]
        order = order_of(places, len(orders[table]))
        tables[name] = rearranged(with_numbers(state[name], number, places), order)
        ends[name] = _ends(every, hashes[table][groups[order]])
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


def _ends(every: Hashes, hashes: Hashes) -> Indexes | None:
    """Where the rows of each hash end, among rows by hash."""
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


def ascending_order(hashes: Hashes) -> Indexes:
    """The order in which hashes ascend, equal ones as they come: `np.argsort` takes five times as long."""
    if len(hashes) < _BUCKETS:
        return np.argsort(hashes, kind="stable")
    order: Indexes = _order_by_buckets(hashes)
    return order


_BUCKETS = 1 << 16
_SHIFT = np.uint64(48)
_INSERTED_MOST = 64
"""In a bucket with more hashes, few of them differ, or many tuples have one of them."""


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
def _order_by_buckets(hashes: Hashes) -> Indexes:
    """First by the highest bits; hashes are spread evenly, so few share these."""
    begins = np.zeros(_BUCKETS + 1, np.int64)
    for at in range(hashes.shape[0]):
        begins[(hashes[at] >> _SHIFT) + np.uint64(1)] += 1
    begins = np.cumsum(begins)
    order, free = np.empty(hashes.shape[0], np.int64), begins.copy()
    for at in range(hashes.shape[0]):
        bucket = hashes[at] >> _SHIFT
        order[free[bucket]] = at
        free[bucket] += 1
    for bucket in range(_BUCKETS):
        begin, end = begins[bucket], begins[bucket + 1]
        if end - begin > _INSERTED_MOST:
            part = order[begin:end]
            order[begin:end] = part[np.argsort(hashes[part], kind="mergesort")]
            continue
        for at in range(begin + 1, end):
            row = order[at]
            place = at
            while place > begin and hashes[order[place - 1]] > hashes[row]:
                order[place] = order[place - 1]
                place -= 1
            order[place] = row
    return order


@njit(nogil=True)
def find_sorted(hashes: Numbers, wanted: Numbers) -> Indexes:
    """Where each of some ascending numbers is, or -1: each search begins where the last one ended."""
    found = np.empty(wanted.shape[0], np.int64)
    low, count = 0, hashes.shape[0]
    for at in range(wanted.shape[0]):
        value, step = wanted[at], 1
        high = low
        while high < count and hashes[high] < value:
            low, high, step = high + 1, high + step, step * 2
        high = min(high, count)
        while low < high:
            middle = (low + high) // 2
            if hashes[middle] < value:
                low = middle + 1
            else:
                high = middle
        found[at] = low if low < count and hashes[low] == value else -1
    return found


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
