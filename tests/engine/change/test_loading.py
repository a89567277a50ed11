"""Loading: stored tables have their rows before a network runs, from the caller or from the root."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest
from tests.engine.ledger.held import MemoryHome, opened

from australis.algebra.builder import NetworkBuilder
from australis.algebra.network import Network
from australis.algebra.order import Order
from australis.engine.change.loading import check_tables, load
from australis.engine.files import Rejected
from australis.engine.ingest import Ingest
from australis.engine.ledger import LOAD, Ledger
from australis.engine.threads import SYSTEM
from australis.errors import EngineError
from australis.plan.superboxes import QUARANTINE_ARC, plan

ROWS = pa.table({"id": [1, 2], "name": ["one", "two"]})
TABLES = {"cars": ROWS}


def network() -> Network:
    net = NetworkBuilder("n")
    cars = net.table("cars", "id long, name string")
    trips = net.input("trips", "car long, at long")
    trips.join(cars, "left.car = right.id", left=Order("at"), as_="with").output("found")
    return net.build()


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    with opened(tmp_path, MemoryHome(), plan(network())) as ledger:
        yield ledger


@pytest.fixture
def ingest(ledger: Ledger) -> Ingest:
    return Ingest(ledger, SYSTEM)


def events(ledger: Ledger) -> list[tuple[str, str, int, int]]:
    return [(each.kind, each.input, each.rows, each.now) for each in ledger.catalog.events(0, 1 << 62)]


def test_a_table_is_loaded_once(ledger: Ledger, ingest: Ingest) -> None:
    for _ in "ab":
        load(network(), ledger.catalog, ingest, TABLES, 5, {})
    assert events(ledger) == [(LOAD, "cars", 2, 5)]
    load(network(), ledger.catalog, ingest, {}, 5, {})


def test_rows_that_do_not_fit_go_to_the_quarantine(ledger: Ledger, ingest: Ingest) -> None:
    load(network(), ledger.catalog, ingest, TABLES, 5, {"cars": [Rejected("is no number", "x,three")]})
    assert [each.rows for each in ledger.queues.segments["cars"]] == [2]
    assert [each.rows for each in ledger.queues.segments[QUARANTINE_ARC]] == [1]


def test_a_table_without_rows_is_refused(ledger: Ledger, ingest: Ingest) -> None:
    with pytest.raises(EngineError, match=r"^n\.cars: is a stored table without rows; expected tables=\{"):
        load(network(), ledger.catalog, ingest, {}, 5, {})
    assert events(ledger) == []


def test_rows_of_another_shape_are_refused_before_any_are_loaded(ledger: Ledger, ingest: Ingest) -> None:
    bad = {"cars": ROWS.select(["id"])}
    for refuse in (
        lambda: check_tables(network(), ledger.catalog, bad),
        lambda: load(network(), ledger.catalog, ingest, bad, 5, {}),
    ):
        with pytest.raises(EngineError, match=r"^n\.cars: has no column 'name'"):
            refuse()
    assert events(ledger) == []


def test_rows_that_are_needed_again_have_to_be_given(ledger: Ledger, ingest: Ingest) -> None:
    load(network(), ledger.catalog, ingest, TABLES, 5, {})
    check_tables(network(), ledger.catalog, {})
    check_tables(network(), ledger.catalog, TABLES, again=["cars"])
    with pytest.raises(
        EngineError, match=r"^n\.cars: .* rows are needed again, for a join that starts again"
    ):
        check_tables(network(), ledger.catalog, {}, again=["cars"])
