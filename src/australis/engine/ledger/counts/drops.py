"""The log of drop boxes: where and when each was in place, and what it has shed.

The newest are kept. What was shed at each gate altogether is counted apart from them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from australis.engine.ledger.catalog import Catalog
from australis.engine.ledger.transaction import Transaction

KEPT = 10_000
"""How many of the newest drop boxes are kept, beside those that are in place."""


@dataclass(frozen=True)
class Entry:
    """A drop box in the log: where it is or was, its predicate, since when, and what it shed."""

    number: int
    superbox: str
    stream: str
    where: str
    share: float
    since: int
    until: int | None
    arrived: int
    shed: int


def drop_log(catalog: Catalog, *, withdrawn: int | None = None) -> list[Entry]:
    """All drop boxes that are kept, the oldest first; or those in place and the last ones withdrawn."""
    gone = "select * from dropbox where until is not null order by number desc limit ?"
    # Each half has its own index, since the log grows long. SQLite takes -1 for no limit.
    query = f"select * from dropbox where until is null union all select * from ({gone}) order by 1"
    rows: list[tuple[Any, ...]] = catalog.rows(query, -1 if withdrawn is None else withdrawn)
    return [Entry(*row) for row in rows]


def last_number(catalog: Catalog) -> int:
    """The number of the newest drop box; 0 before the first."""
    (last,) = catalog.rows("select coalesce(max(number), 0) from dropbox")[0]
    return int(last)


def note_insertion(change: Transaction, entry: Entry) -> None:
    """Record that a drop box was inserted."""
    change.execute("insert into dropbox values (?, ?, ?, ?, ?, ?, ?, ?, ?)", [tuple(vars(entry).values())])


def note_withdrawals(change: Transaction, numbers: Iterable[int], now: int) -> None:
    """Record that drop boxes were withdrawn."""
    rows = [(now, number) for number in numbers]
    change.execute("update dropbox set until = ? where number = ?", rows)
    old = "number <= (select max(number) from dropbox) - ? and until is not null"
    change.execute(f"delete from dropbox where {old}", [(KEPT,)])


def note_all_withdrawn(change: Transaction, now: int) -> None:
    """Record as withdrawn the drop boxes of a node that crashed."""
    change.execute("update dropbox set until = ? where until is null", [(now,)])


def count_shed(change: Transaction, counted: Mapping[int, tuple[int, int]]) -> None:
    """Add what reached drop boxes in a train, and what they shed."""
    query = "update dropbox set arrived = arrived + ?, shed = shed + ? where number = ?"
    change.execute(query, [(*pair, number) for number, pair in counted.items()])
