"""What a node knows of its stored tables follows the commit that it belongs to, and only that."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.engine.ledger.held import opened

from australis.engine.ledger import Ledger
from australis.engine.tables import Tables
from australis.engine.tables.known_tables import TableState

SILENT = TableState("lookup", trouble="no answer", since=5, next_try=1_000_005, tries=1)


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    with opened(tmp_path) as ledger:
        yield ledger


def silent_tables() -> Tables:
    return Tables({"cars": SILENT, "roads": SILENT})


def test_tables_that_answered_are_well_again_after_the_commit(ledger: Ledger) -> None:
    tables = silent_tables()
    with ledger.change() as change:
        tables.note_answers(change, {"cars"})
        assert tables.states["cars"] == SILENT
    assert tables.states == {"cars": TableState("lookup"), "roads": SILENT}


def test_answers_count_only_if_their_train_is_committed(ledger: Ledger) -> None:
    tables = silent_tables()

    def fail() -> None:
        with ledger.change() as change:
            tables.note_answers(change, {"cars"})
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert tables.states == {"cars": SILENT, "roads": SILENT}


def test_a_table_that_is_loaded_is_not_well_because_a_train_has_read_it(ledger: Ledger) -> None:
    stale = TableState("load", trouble="no answer", since=5, next_try=6, tries=1)
    tables = Tables({"cars": stale})
    with ledger.change() as change:
        tables.note_answers(change, {"cars"})
    assert tables.states == {"cars": stale}
