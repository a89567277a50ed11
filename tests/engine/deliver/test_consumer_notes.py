"""What a consumer notes of itself stays until it says something else."""

from __future__ import annotations

from pathlib import Path

from australis.engine.ledger.catalog import Catalog


def test_a_note_stays_when_only_the_number_goes_on(tmp_path: Path) -> None:
    catalog = Catalog(tmp_path / "catalog.db")
    for seq, note in ((0, None), (3, "30 bytes"), (5, None)):
        with catalog.transaction() as transaction:
            transaction.set_consumer("file", "=alarm", seq, note)
    assert catalog.consumer("file", "=alarm") == (5, "30 bytes")
    catalog.close()
