"""What outputs received and gates let in: as totals, and for the last minutes second by second.

It is committed with the trains, so readers of the catalogue see what the node sees.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from australis.engine.ledger.catalog import Catalog
from australis.engine.ledger.transaction import Transaction
from australis.qos.histograms import Counts

KEPT_S = 600
"""How many seconds are kept."""
_NO_STREAM = ""
"""Takes the place of a stream in rows of `recent_mouth` about a box or an input."""


@dataclass(frozen=True)
class GateCount:
    """What reached a stream of a superbox, and how much of it was shed."""

    arrived: int = 0
    shed: int = 0

    def __add__(self, other: GateCount) -> GateCount:
        return GateCount(self.arrived + other.arrived, self.shed + other.shed)

    def __sub__(self, other: GateCount) -> GateCount:
        return GateCount(self.arrived - other.arrived, self.shed - other.shed)

    @property
    def kept(self) -> float:
        """The fraction that was let in; 1 if nothing came."""
        return 1.0 - self.shed / self.arrived if self.arrived else 1.0


@dataclass(frozen=True)
class DiscardCount:
    """What reached a box or an input, and how much of it was late or quarantined there."""

    received: int = 0
    discarded: int = 0
    late: int = 0
    """Those of them that came too late for the order, which a box may emit all the same: in totals only."""

    def __sub__(self, other: DiscardCount) -> DiscardCount:
        discarded, late = self.discarded - other.discarded, self.late - other.late
        return DiscardCount(self.received - other.received, discarded, late)

    def with_late_emitted(self) -> DiscardCount:
        """The same for a box that emits late tuples."""
        return DiscardCount(self.received, self.discarded - self.late)

    @property
    def kept(self) -> float:
        """The fraction that was not discarded; 1 if nothing came.

        Tuples that came in one second may be discarded in the next, so over a short time it is not exact.
        """
        return max(0.0, 1.0 - self.discarded / self.received) if self.received else 1.0


@dataclass(frozen=True)
class Recent:
    """What happened in a period."""

    delays: dict[str, dict[int, int]] = field(default_factory=dict)
    """Tuples of each output by bucket of their delay."""
    values: dict[str, dict[int, int]] = field(default_factory=dict)
    """Tuples of each output by the bin of its value graph."""
    gates: dict[tuple[str, str], GateCount] = field(default_factory=dict)
    """By superbox and stream."""
    discards: dict[str, DiscardCount] = field(default_factory=dict)
    """By box, and by input."""

    def counts(self, output: str, bins: int) -> Counts:
        """The value histogram of an output."""
        found = np.zeros(bins, np.int64)
        for index, tuples in self.values.get(output, {}).items():
            found[index] = tuples
        return found

    def since(self, before: Recent) -> Recent:
        """What has happened since an earlier moment."""
        gates = {key: each - before.gates.get(key, GateCount()) for key, each in self.gates.items()}
        discards = {
            name: each - before.discards.get(name, DiscardCount()) for name, each in self.discards.items()
        }
        return Recent(_less(self.delays, before.delays), _less(self.values, before.values), gates, discards)


def all_so_far(catalog: Catalog) -> Recent:
    """Everything that ever happened on a root."""
    found = _read(catalog, "", "")
    query = "select id, received, late + ignored + rejected, late from box"
    found.discards.update({name: DiscardCount(*counted) for name, *counted in catalog.rows(query)})
    return found


def recent(catalog: Catalog, since: int, until: int) -> Recent:
    """What happened from one second up to another."""
    return _read(catalog, "recent_", "where second >= ? and second < ?", since, until)


def _read(catalog: Catalog, kind: str, where: str, *values: int) -> Recent:
    found = Recent()
    tail = f"{where} group by 1, 2"
    query = f"select output, bucket, sum(tuples) from {kind}delay {tail}"
    for output, bucket, tuples in catalog.rows(query, *values):
        found.delays.setdefault(output, {})[bucket] = tuples
    query = f"select output, bin, sum(tuples) from {kind}value {tail}"
    for output, index, tuples in catalog.rows(query, *values):
        found.values.setdefault(output, {})[index] = tuples
    query = f"select superbox, stream, sum(arrived), sum(shed) from {kind}mouth {tail}"
    for superbox, stream, arrived, shed in catalog.rows(query, *values):
        if stream == _NO_STREAM:
            found.discards[superbox] = DiscardCount(arrived, shed)
        else:
            found.gates[superbox, stream] = GateCount(arrived, shed)
    return found


def note_recent(transaction: Transaction, now: int, seen: Recent) -> None:
    """Add what a train did to the totals and to the second in which it was committed; forget old seconds.

    The total of delays is not kept here: outputs that no train writes have delays, too. Nor is the total of
    what was discarded, which the counters of boxes have.
    """
    second = now // 1_000_000
    gates = [(*key, each.arrived, each.shed) for key, each in seen.gates.items()]
    rows: dict[str, Sequence[tuple[str | int, ...]]]
    rows = {"delay": _rows(seen.delays), "value": _rows(seen.values), "mouth": gates}
    for table in ("value", "mouth"):
        _add(transaction, table, _KEYS[table], rows[table])
    for table, found in rows.items():
        _add(transaction, f"recent_{table}", f"second, {_KEYS[table]}", [(second, *row) for row in found])
        transaction.execute(f"delete from recent_{table} where second < ?", [(second - KEPT_S,)])
    note_discards(transaction, now, seen.discards)


def note_discards(transaction: Transaction, now: int, discards: Mapping[str, DiscardCount]) -> None:
    """Add what boxes and inputs discarded to the second in which it is committed."""
    found = discards.items()
    rows = [(now // 1_000_000, name, _NO_STREAM, each.received, each.discarded) for name, each in found]
    _add(transaction, "recent_mouth", f"second, {_KEYS['mouth']}", rows)


def _rows(found: Mapping[str, Mapping[int, int]]) -> list[tuple[str, int, int]]:
    return [(output, index, tuples) for output, each in found.items() for index, tuples in each.items()]


_KEYS = {"delay": "output, bucket", "value": "output, bin", "mouth": "superbox, stream"}


def _add(transaction: Transaction, table: str, key: str, rows: Sequence[tuple[str | int, ...]]) -> None:
    """Add numbers to those that a table has under their keys."""
    sums = ("arrived", "shed") if table.endswith("mouth") else ("tuples",)
    marks = ", ".join("?" for _ in (*key.split(", "), *sums))
    grown = ", ".join(f"{name} = {name} + excluded.{name}" for name in sums)
    transaction.execute(
        f"insert into {table} values ({marks}) on conflict ({key}) do update set {grown}", rows
    )


def _less(
    after: Mapping[str, Mapping[int, int]], before: Mapping[str, Mapping[int, int]]
) -> dict[str, dict[int, int]]:
    return {
        output: {index: tuples - before.get(output, {}).get(index, 0) for index, tuples in found.items()}
        for output, found in after.items()
    }
