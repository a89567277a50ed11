"""Dividing: which partition of a key each row of a table belongs to, and when a file is split by that."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from australis.engine.store.splits.layout import Division, by_partition
from australis.kernels.arrays import partitions


@dataclass(frozen=True)
class Splitting:
    """How the files of an arc are written: by partition of its readers' key, if they have enough rows."""

    keys: tuple[str, ...]
    partitions: int
    rows_least: int

    def division(self, table: pa.Table) -> Division | None:
        """How a table is divided; None if nobody reads by key, or the table is too small."""
        if not self.keys or self.partitions == 1 or table.num_rows < max(1, self.rows_least):
            return None
        owners = partitions(table, self.keys, self.partitions)
        return Division(self.keys, self.partitions, owners, min(1_000, self.rows_least))


@dataclass(frozen=True)
class SplitSettings:
    """When a node splits files."""

    partitions: int
    rows_least: int
    """The rows from which on a file is split."""

    def by(self, keys: tuple[str, ...]) -> Splitting:
        """How files of an arc are split that is read by some keys, or by none."""
        return Splitting(keys, self.partitions, self.rows_least)


WHOLE = SplitSettings(1, 0)
"""Split nothing."""


def divided(table: pa.Table, keys: tuple[str, ...], count: int, wanted: tuple[int, ...]) -> list[pa.Table]:
    """The rows of some of the partitions of a table, each in their order.

    >>> rows = pa.table({"sid": ["a", "b", None, "a"]})
    >>> [each["sid"].to_pylist() for each in divided(rows, ("sid",), 4, (1, 2, 3))]
    [['b'], ['a', None, 'a'], []]
    """
    owners = partitions(table, keys, count)
    if len(wanted) == 1:
        return [table.filter(pa.array(owners == wanted[0]))]
    order = by_partition(owners, count)
    sorted_owners = owners[order]
    bounds = [sorted_owners.searchsorted([each, each + 1]).tolist() for each in wanted]
    return [table.take(pa.array(order[begin:end])) for begin, end in bounds]
