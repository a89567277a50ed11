"""The drop boxes in place on a node."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence

from australis.engine.ledger import (
    Entry,
    Ledger,
    UnitOfWork,
    last_number,
    note_all_withdrawn,
    note_insertion,
    note_withdrawals,
)
from australis.engine.worker import GateDropBox
from australis.policy.shed import Command, DropBox, Insert, Withdraw

_log = logging.getLogger(__name__)


class DropBoxes:
    """The drop boxes at the gates of superboxes. Only one thread at a time may change them."""

    def __init__(self, ledger: Ledger, now: int) -> None:
        self._ledger = ledger
        self._standing: dict[str, dict[str, GateDropBox]] = {}
        self.ordered: dict[str, DropBox] = {}
        """The last command for each superbox."""
        self._last = last_number(ledger.catalog)
        with ledger.change() as change:
            # Those of a node that ended before are gone with it.
            note_all_withdrawn(change, now)

    @property
    def standing(self) -> Mapping[str, Mapping[str, GateDropBox]]:
        """The drop boxes of each superbox by stream."""
        return self._standing

    def at(self, superbox: str) -> Mapping[str, GateDropBox]:
        """The drop boxes at the streams of a superbox."""
        return self._standing.get(superbox, {})

    def obey(self, commands: Sequence[Command], now: int) -> None:
        """Insert, change and withdraw drop boxes, also in the log; the next train uses them."""
        if commands:
            with self._ledger.change() as change:
                self.write(change, commands, now)
            for command in commands:
                _log.info("%s", _described(command))

    def write(self, change: UnitOfWork, commands: Iterable[Command], now: int) -> None:
        """Record commands inside a change that may contain more; they take effect once it is committed."""
        standing, ordered = dict(self._standing), dict(self.ordered)
        for command in commands:
            note_withdrawals(change, (each.number for each in self.at(command.stage).values()), now)
            standing.pop(command.stage, None)
            ordered.pop(command.stage, None)
            if not isinstance(command, Withdraw):
                standing[command.stage] = self._place(change, command.stage, command.box, now)
                ordered[command.stage] = command.box

        def follow() -> None:
            self._standing, self.ordered = standing, ordered

        change.follow(follow)

    def clear(self, now: int) -> None:
        """Withdraw all drop boxes, at the end of a node."""
        self.obey([Withdraw(superbox) for superbox in self._standing], now)

    def _place(self, change: UnitOfWork, superbox: str, box: DropBox, now: int) -> dict[str, GateDropBox]:
        found = {}
        for stream, arc in change.queues.plan.superboxes[superbox].streams.items():
            if box.where and arc not in box.where:
                continue
            where = box.where.get(arc, "")
            self._last += 1
            found[stream] = GateDropBox(self._last, box.share, where, box.rate)
            note_insertion(change, Entry(self._last, superbox, stream, where, box.share, now, None, 0, 0))
        return found


def _described(command: Command) -> str:
    """A command for the log.

    >>> _described(Insert("fast", DropBox.random(0.25)))
    'the drop box before fast is inserted, and sheds 25.0 % of what comes'
    """
    if isinstance(command, Withdraw):
        return f"the drop box before {command.stage} is withdrawn"
    what = "inserted" if isinstance(command, Insert) else "changed"
    where = f", where {' or '.join(command.box.where.values())}" if command.box.where else ""
    sheds = f"sheds {100 * command.box.rate:.1f} % of what comes{where}"
    return f"the drop box before {command.stage} is {what}, and {sheds}"
