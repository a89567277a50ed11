"""Repartition: rewrites the states of a box, kept in partitions by key, for another number of partitions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np
import pyarrow as pa

from australis.errors import KernelError, Problem
from australis.kernels.arrays import (
    Indexes,
    Numbered,
    PortKeys,
    by_slot,
    column,
    encode,
    numbers,
    partitions,
    rows_of,
    stacked,
    with_numbers,
)
from australis.kernels.kernel import Kernel, State


def repartition(kernel: Kernel, states: Sequence[State], keys: PortKeys, count: int) -> tuple[State, ...]:
    """The states of a box's partitions, rewritten for `count` partitions by `keys`.

    Continuing with them gives the same results as continuing with the old ones. Groups are numbered by first
    arrival in their partition. Since the order of first arrivals across partitions is unknown, the groups of
    each old partition follow those of the one before it. This affects only the sequence of what several
    groups emit together: at a timeout, or at the end.

    A box that keeps one state for all its tuples must stay in one partition: WSort, Tumble and Drop, any box
    without groups, and Resample without a predicate, which drops a left tuple when all known groups have
    passed it.
    """
    if len(states) == count == 1:
        return tuple(states)
    return divide(kernel, states, keys, count, lambda found: partitions(found, found.column_names, count))


def divide(
    kernel: Kernel,
    states: Sequence[State],
    keys: PortKeys,
    count: int,
    owners: Callable[[pa.Table], Indexes],
) -> tuple[State, ...]:
    """The states of a box's partitions, rewritten for `count` owners.

    `owners` has those of some keys: rows with the attributes of `keys`, which are in the same order.
    """
    tables = kernel.kept_by(keys)
    return _split(tables, _merged(tables, states), count, owners)


def _merged(tables: Sequence[Numbered], states: Sequence[State]) -> State:
    """Several states merged into one, key after key. All have the same of what is not kept by key."""
    merged = dict(states[0])
    for numbered in tables:
        rows = [state[numbered.table] for state in states]
        firsts = np.cumsum([0, *(table.num_rows for table in rows)])
        merged[numbered.table] = _distinct(stacked(rows), numbered)
        for name, number in numbered.followers.items():
            parts = [
                with_numbers(state[name], number, _numbers(state[name], number) + first)
                for state, first in zip(states, firsts[:-1], strict=True)
            ]
            merged[name] = stacked(parts)
    return merged


def _distinct(rows: pa.Table, numbered: Numbered) -> pa.Table:
    """The rows of keys, each of which must occur once."""
    keys = rows.select(list(numbered.names))
    if encode(keys.slice(0, 0), 0, keys).count < rows.num_rows:
        raise KernelError(Problem(numbered.table, "a key is in several states", "states partitioned by key"))
    return rows


def _split(
    tables: Sequence[Numbered], state: State, count: int, owners_of: Callable[[pa.Table], Indexes]
) -> tuple[State, ...]:
    """A state in partitions. Keys and rows keep their sequence; what is not kept by key goes to all."""
    parts = [dict(state) for _ in range(count)]
    for numbered in tables:
        keys = state[numbered.table]
        owners = owners_of(keys.select(list(numbered.partitioned_by)))
        places = _places(owners, count)
        _share(parts, numbered.table, keys, owners)
        for name, number in numbered.followers.items():
            codes = _numbers(state[name], number)
            _share(parts, name, with_numbers(state[name], number, places[codes]), owners[codes])
    return tuple(parts)


def _places(owners: Indexes, count: int) -> Indexes:
    """The place of each row among those of its owner."""
    order, begins = by_slot(owners, count)
    places = np.empty_like(order)
    places[order] = np.arange(len(order)) - begins[owners[order]]
    return places


def _share(parts: Sequence[dict[str, pa.Table]], name: str, table: pa.Table, owners: Indexes) -> None:
    """Give each part its rows of a table."""
    order, begins = by_slot(owners, len(parts))
    for part, (begin, end) in zip(parts, pairwise(begins), strict=True):
        part[name] = rows_of(table, order[begin:end])


def _numbers(table: pa.Table, name: str) -> Indexes:
    return numbers(column(table, name))
