"""A layer of a state: some groups of a box, sorted by the hash of their keys, so that few are found at once.

Rows of tables that follow a numbered one refer to its rows by their place in the layer.
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

    def hashes(self, batches: Mapping[int, pa.Table]) -> Hashes:
        """The hashes of the groups that tuples belong to, ascending."""
        found = [key_hashes(batch, self.ports[port]) for port, batch in batches.items()]
        return distinct(np.concatenate([NO_HASHES, *found]))


def shape_of(kernel: Kernel) -> Shape | None:
    """How the state of a kernel falls into groups; None if it is one for all tuples."""
    ports = kernel.separated_by
    return Shape(kernel, ports, kernel.kept_by(ports)) if all(ports) and ports else None


def distinct(hashes: Hashes) -> Hashes:
    """Hashes in ascending order, each once; for many of them `np.unique` is far slower."""
    # A stable sort only merges what is sorted in parts.
    ascending = np.sort(hashes, kind="stable")
    return ascending[np.append(True, ascending[1:] != ascending[:-1])] if len(hashes) else hashes


def key_hashes(rows: pa.Table, names: Sequence[str]) -> Hashes:
    """A hash of 64 bits for the key of each row. Groups with one hash are kept together."""
    columns = [column(rows, name) for name in names]
    high, low = (spark_hash(columns, seed).view(np.uint32).astype(np.uint64) for seed in _SEEDS)
    joined: Hashes = (high << np.uint64(32)) | low
    return joined


@dataclass(frozen=True)
class Layer:
    """Groups by hash. Of those that a layer below has as well, these count."""

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

    def spread(self, name: str, places: Indexes, hashes: Hashes) -> Hashes:
        """The hash of each row of a table that belongs to the hashes at some places."""
        ends = self.ends[name]
        if ends is None:
            return hashes
        return np.repeat(hashes, ends[places] - np.where(places > 0, ends[places - 1], 0))


def layer_of(
    shape: Shape,
    state: State,
    hashes: Mapping[str, Hashes],
    known: Hashes,
) -> Layer:
    """The layer of a part of a state whose groups have some hashes.

    `known` are the hashes that layers below have: where the state has no rows for one, it is forgotten.
    """
    every = distinct(np.concatenate([known, *hashes.values()]))
    tables, ends, orders = {}, {}, {}
    for name, own in hashes.items():
        orders[name] = order = np.argsort(own, kind="stable")
        tables[name] = rearranged(state[name], order)
        ends[name] = _ends(every, own[order])
    for name, (table, number) in shape.follows.items():
        groups = numbers(column(state[name], number))
        places = inverse(orders[table])[groups]
        order = np.argsort(places, kind="stable")
        tables[name] = rearranged(with_numbers(state[name], number, places), order)
        ends[name] = _ends(every, hashes[table][groups[order]])
    rest = {name: table for name, table in state.items() if name not in tables}
    return Layer(every, tables, ends, rest, _due(shape, state, hashes, every))


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
