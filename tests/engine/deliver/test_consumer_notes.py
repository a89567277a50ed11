"""What a consumer notes of itself stays until it says something else."""

from __future__ import annotations

from pathlib import Path

from tests.engine.ledger.held import opened


def test_a_note_stays_when_only_the_number_goes_on(tmp_path: Path) -> None:
    with opened(tmp_path) as ledger:
        for seq, note in ((0, None), (3, "30 bytes"), (5, None)):
            with ledger.change() as change:
                change.set_consumer("file", "=alarm", seq, note)
        assert ledger.catalog.consumer("file", "=alarm") == (5, "30 bytes")
