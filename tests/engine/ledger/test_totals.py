"""What trains have counted, read again from the catalogue."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.engine.ledger.held import MemoryHome, opened

from australis.engine.ledger import Head, Ledger, transaction
from australis.engine.ledger.counts.totals import (
    TrainCount,
    box_costs,
    box_counts,
    last_commit_at,
    last_trains,
    port_counts,
    taken_and_shed,
)

COUNTED = {
    "received": 5,
    "emitted": 4,
    "late": 3,
    "ignored": 2,
    "rejected": 1,
    "unread": 6,
    "nanoseconds": 700,
}


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    with opened(tmp_path, MemoryHome()) as ledger:
        yield ledger


def run_train(ledger: Ledger, lo: int, hi: int, *, shed: int = 0, superbox: str = "some") -> None:
    """A train that took all its tuples but those that were shed, and ran for a microsecond each."""
    version = ledger.queues.heads[superbox].version + 1
    with ledger.change() as change:
        change.set_head(superbox, Head(hi, version))
        change.note_train((superbox, lo, hi, hi - lo - shed, 0, 1, 1000 + hi, hi - lo, shed))


def test_counters_of_boxes_and_ports_are_sums_over_trains(ledger: Ledger) -> None:
    assert (box_counts(ledger.catalog), port_counts(ledger.catalog)) == ({}, {})
    for _ in "ab":
        with ledger.change() as change:
            change.count_box("some", COUNTED)
            change.count_ports({"some": 4, "some.1": 1})
    assert box_counts(ledger.catalog) == {"some": (10, 8, 6, 4, 2, 12, 1400, 2)}
    assert box_costs(ledger.catalog) == {"some": (10, 1400)}
    assert port_counts(ledger.catalog) == {"some": 8, "some.1": 2}


def test_the_last_trains_of_a_superbox_are_told_the_oldest_first(ledger: Ledger) -> None:
    assert last_commit_at(ledger.catalog) == 0
    run_train(ledger, 0, 5)
    run_train(ledger, 0, 9, superbox="count")
    run_train(ledger, 5, 7, shed=1)
    assert last_trains(ledger.catalog, "some") == [TrainCount(5, 5), TrainCount(1, 2)]
    assert last_trains(ledger.catalog, "count") == [TrainCount(9, 9)]
    assert last_commit_at(ledger.catalog) == 1009


def test_what_was_taken_and_shed_is_of_the_trains_in_between(ledger: Ledger) -> None:
    for lo in (0, 10, 20):
        run_train(ledger, lo, lo + 10, shed=lo // 10)
    assert taken_and_shed(ledger.catalog, "some", 0, 30) == (27, 3)
    assert taken_and_shed(ledger.catalog, "some", 10, 20) == (9, 1)
    assert taken_and_shed(ledger.catalog, "some", 15, 21) == (17, 3)
    assert taken_and_shed(ledger.catalog, "some", 30, 40) == (0, 0)
    assert taken_and_shed(ledger.catalog, "count", 0, 30) == (0, 0), "it has not run"


def test_nothing_is_said_of_trains_that_are_forgotten(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transaction, "TRAINS_KEPT", 2)
    for lo in (0, 10, 20):
        run_train(ledger, lo, lo + 10)
    assert taken_and_shed(ledger.catalog, "some", 0, 30) is None
    assert taken_and_shed(ledger.catalog, "some", 10, 30) == (20, 0)
