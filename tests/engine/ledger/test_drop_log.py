"""The log of drop boxes: the newest are kept, and all that are in place."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.engine.ledger.held import opened

from australis.engine.ledger.counts import drops
from australis.engine.ledger.counts.drops import (
    Entry,
    drop_log,
    last_number,
    note_insertion,
    note_withdrawals,
)


def test_old_entries_are_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drops, "KEPT", 3)
    with opened(tmp_path) as ledger:
        for number in range(1, 11):
            with ledger.change() as change:
                note_insertion(change, Entry(number, "some", "s", "", 0.5, number, None, 0, 0))
                # The second one stays in place.
                note_withdrawals(change, [number] if number != 2 else [], number)
        assert [entry.number for entry in drop_log(ledger.catalog)] == [2, 8, 9, 10]
        assert last_number(ledger.catalog) == 10
