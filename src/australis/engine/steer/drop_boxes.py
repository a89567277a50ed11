"""The drop boxes that stand on a node, and the ledger of what they have shed: exact, and kept for good."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from australis.engine.ledger.catalog import Catalog, Transaction
from australis.engine.ledger.queues import Queues
from australis.engine.worker.waybill import Mouth
from australis.policy.shed.drop_boxes import DropBox
from australis.policy.shed.shedder import Command, Withdraw


@dataclass(frozen=True)
class Entry:
    """A drop box in the ledger: where it stands or stood, by which predicate, since when; what it shed."""

    number: int
    superbox: str
    stream: str
    where: str
    share: float
    since: int
    until: int | None
    arrived: int
    shed: int


class DropBoxes:
    """The drop boxes at the mouths of superboxes. Who calls it holds the node's lock."""

    def __init__(self, catalog: Catalog, queues: Queues, now: int) -> None:
        self._catalog, self._queues = catalog, queues
        self._standing: dict[str, dict[str, Mouth]] = {}
        self.ordered: dict[str, DropBox] = {}
        """What was ordered for each superbox."""
        (last,) = catalog.rows("select coalesce(max(number), 0) from dropbox")[0]
        self._last: int = last
        with catalog.transaction() as transaction:
            # Those of a node that ended before are gone with it.
            transaction.change("update dropbox set until = ? where until is null", [(now,)])

    @property
    def standing(self) -> Mapping[str, Mapping[str, Mouth]]:
        """The drop boxes of each superbox by stream."""
        return self._standing

    def at(self, superbox: str) -> Mapping[str, Mouth]:
        """The drop boxes at the streams of a superbox."""
        return self._standing.get(superbox, {})

    def obey(self, commands: Iterable[Command], now: int) -> None:
        """Insert, change and withdraw drop boxes, in the ledger as well; the next train has them."""
        with self._catalog.transaction() as transaction:
            for command in commands:
                closing = [(now, each.number) for each in self.at(command.stage).values()]
                transaction.change("update dropbox set until = ? where number = ?", closing)
                if isinstance(command, Withdraw):
                    self._standing.pop(command.stage, None)
                    self.ordered.pop(command.stage, None)
                else:
                    self._standing[command.stage] = self._placed(transaction, command.stage, command.box, now)
                    self.ordered[command.stage] = command.box

    def clear(self, now: int) -> None:
        """Withdraw all drop boxes, at the end of a node."""
        self.obey([Withdraw(superbox) for superbox in self._standing], now)

    def _placed(self, transaction: Transaction, superbox: str, box: DropBox, now: int) -> dict[str, Mouth]:
        streams = self._queues.plan.superboxes[superbox].streams
        found = {}
        for stream, arc in streams.items():
            if box.where and arc not in box.where:
                continue
            where = box.where.get(arc, "")
            self._last += 1
            found[stream] = Mouth(self._last, box.share, where)
            row = (self._last, superbox, stream, where, box.share, now, None, 0, 0)
            transaction.change("insert into dropbox values (?, ?, ?, ?, ?, ?, ?, ?, ?)", [row])
        return found


def count(transaction: Transaction, counted: Mapping[int, tuple[int, int]]) -> None:
    """Add to the ledger what came to drop boxes in a train, and what they shed."""
    query = "update dropbox set arrived = arrived + ?, shed = shed + ? where number = ?"
    transaction.change(query, [(*pair, number) for number, pair in counted.items()])


def ledger(catalog: Catalog, *, withdrawn: int | None = None) -> list[Entry]:
    """All drop boxes that ever stood, the oldest first; or those that stand and the last that do not."""
    gone = "select * from dropbox where until is not null order by number desc limit ?"
    # Each half has an index of its own: ledgers grow long. SQLite takes -1 for no limit.
    query = f"select * from dropbox where until is null union all select * from ({gone}) order by 1"
    rows: list[tuple[Any, ...]] = catalog.rows(query, -1 if withdrawn is None else withdrawn)
    return [Entry(*row) for row in rows]
