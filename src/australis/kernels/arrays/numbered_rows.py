"""The parts of a state that are kept by key: tables with numbered rows, and tables that refer to them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from australis.errors import KernelError, Problem
from australis.kernels.arrays.columns import Mask, column, numbers, rows_of, with_numbers

PortKeys = tuple[tuple[str, ...], ...]
"""For each port of a box, the attributes by which its tuples are partitioned; they correspond across ports.
"""


@dataclass(frozen=True)
class Numbered:
    """A table of a state with one row per key; the row's position is the key's number."""

    table: str
    names: tuple[str, ...]
    """The columns that identify a key."""
    partitioned_by: tuple[str, ...]
    """Those of them that determine the partition of a key."""
    followers: Mapping[str, str]
    """The tables whose rows belong to a key, each with the column that holds the key's number."""


def by_group(
    table: str, group_by: Sequence[str], keys: Sequence[str], followers: Mapping[str, str]
) -> Numbered:
    """The groups of an order, whose attributes must determine the partition."""
    if not keys or not set(keys) <= set(group_by):
        grouped = f"groups by {', '.join(group_by)}" if group_by else "has no groups"
        asked = ", ".join(keys) or "no attributes"
        raise KernelError(
            Problem(table, f"{grouped}, so it cannot be partitioned by {asked}", "some attributes grouped by")
        )
    return Numbered(table, tuple(group_by), tuple(keys), followers)


def without_keys(state: Mapping[str, pa.Table], numbered: Numbered, gone: Mask) -> Mapping[str, pa.Table]:
    """A state without some keys, and without the rows that belong to them."""
    if not gone.any():
        return state
    after, places = dict(state), np.cumsum(~gone) - 1
    after[numbered.table] = rows_of(state[numbered.table], np.flatnonzero(~gone))
    for name, number in numbered.followers.items():
        keys = numbers(column(state[name], number))
        kept = np.flatnonzero(~gone[keys])
        after[name] = with_numbers(rows_of(state[name], kept), number, places[keys[kept]])
    return after
