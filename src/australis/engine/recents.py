"""The last minutes, second by second: delays and values of outputs, and what came to mouths and was shed.

They are committed with the trains, so whoever looks into the catalogue sees what the node sees.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np

from australis.engine.storage.catalog import Catalog, Transaction
from australis.qos.histograms import Counts

KEPT_S = 600
"""How many seconds are kept."""


@dataclass(frozen=True)
class Mouthful:
    """What came to a stream of a superbox, and what of it was shed."""

    arrived: int = 0
    shed: int = 0

    def __add__(self, other: Mouthful) -> Mouthful:
        return Mouthful(self.arrived + other.arrived, self.shed + other.shed)

    @property
    def kept(self) -> float:
        """The fraction that was let in; 1 where nothing came."""
        return 1.0 - self.shed / self.arrived if self.arrived else 1.0


@dataclass(frozen=True)
class Recent:
    """What happened in some seconds."""

    delays: dict[str, dict[int, int]] = field(default_factory=dict)
    """Tuples of each output by bucket of their delay."""
    values: dict[str, dict[int, int]] = field(default_factory=dict)
    """Tuples of each output by the bin of its value graph."""
    mouths: dict[tuple[str, str], Mouthful] = field(default_factory=dict)
    """By superbox and stream."""

    def counts(self, output: str, bins: int) -> Counts:
        """The value histogram of an output."""
        found = np.zeros(bins, np.int64)
        for index, tuples in self.values.get(output, {}).items():
            found[index] = tuples
        return found


def recent(catalog: Catalog, since: int, until: int) -> Recent:
    """What happened from one second up to another."""
    found = Recent()
    where = "where second >= ? and second < ? group by 1, 2"
    for output, bucket, tuples in catalog.rows(
        f"select output, bucket, sum(tuples) from recent_delay {where}", since, until
    ):
        found.delays.setdefault(output, {})[bucket] = tuples
    for output, index, tuples in catalog.rows(
        f"select output, bin, sum(tuples) from recent_value {where}", since, until
    ):
        found.values.setdefault(output, {})[index] = tuples
    for superbox, stream, arrived, shed in catalog.rows(
        f"select superbox, stream, sum(arrived), sum(shed) from recent_mouth {where}", since, until
    ):
        found.mouths[superbox, stream] = Mouthful(arrived, shed)
    return found


def note(transaction: Transaction, now: int, seen: Recent) -> None:
    """Add what a train did to the second that it was committed in; what is too old is forgotten."""
    second = now // 1_000_000
    _add(transaction, "recent_delay", second, _pairs(seen.delays))
    _add(transaction, "recent_value", second, _pairs(seen.values))
    query = (
        "insert into recent_mouth values (?, ?, ?, ?, ?) on conflict (second, superbox, stream)"
        " do update set arrived = arrived + excluded.arrived, shed = shed + excluded.shed"
    )
    rows = [(second, *key, each.arrived, each.shed) for key, each in seen.mouths.items()]
    transaction.change(query, rows)
    for table in ("recent_delay", "recent_value", "recent_mouth"):
        transaction.change(f"delete from {table} where second < ?", [(second - KEPT_S,)])


def _pairs(found: Mapping[str, Mapping[int, int]]) -> Iterable[tuple[str, int, int]]:
    return ((output, index, tuples) for output, each in found.items() for index, tuples in each.items())


def _add(transaction: Transaction, table: str, second: int, rows: Iterable[tuple[str, int, int]]) -> None:
    key = "bucket" if table == "recent_delay" else "bin"
    query = (
        f"insert into {table} values (?, ?, ?, ?) on conflict (second, output, {key})"
        " do update set tuples = tuples + excluded.tuples"
    )
    transaction.change(query, [(second, *row) for row in rows])
