"""A version of a table counts for every train behind it, however soon that comes."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from tests.engine.in_process import InProcess
from tests.engine.ledger.held import FSYNC, UnsureHome
from tests.engine.tables.made import CARS, joined, sqlite_table, trips
from tests.engine.tables.test_nodes import COLUMNS, NEW, OLD, found
from tests.waiting import until

from australis import Node
from australis.algebra.builder import NetworkBuilder
from australis.algebra.network import Network
from australis.algebra.store import Pull, Store
from australis.engine.ingest.log import Arrival
from australis.errors import EngineError, Problem


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(sqlite_table(tmp_path / "cars.db", COLUMNS, OLD), "cars", Pull.LOOKUP)


@pytest.fixture
def home(tmp_path: Path) -> UnsureHome:
    return UnsureHome(tmp_path)


@pytest.fixture
def node(tmp_path: Path, home: UnsureHome) -> Iterator[Node]:
    with Node(tmp_path, runner=InProcess(), catalog=home) as node:
        yield node


def without_join() -> Network:
    net = NetworkBuilder("trips")
    net.input("trips", "car int, at long").filter("car > 99", as_="none").output("nothing")
    return net.build()


def test_a_train_right_behind_a_change_looks_its_table_up(node: Node, store: Store) -> None:
    node.deploy(without_join())
    keeper = node._deployed.keeper
    reschedule = keeper.reschedule

    def late() -> None:
        node.push("trips", trips(1, 2))
        node.drain()
        reschedule()

    keeper.reschedule = late  # type: ignore[method-assign]
    node.change(joined(store))
    assert found(node) == ["one", "deux", "two"]


def test_a_train_right_behind_a_refresh_does_not_remember_what_was_before(
    tmp_path: Path, node: Node, store: Store
) -> None:
    node.deploy(joined(store))
    node.push("trips", trips(1))
    assert found(node) == ["one"]
    sqlite_table(tmp_path / "cars.db", COLUMNS, NEW)
    ingest = node._deployed.ingest
    append = ingest.append

    def soon(arrival: Arrival) -> int:
        end = append(arrival)
        if arrival.name == "cars":
            node.push("trips", trips(1))
            node.drain()
        return end

    ingest.append = soon  # type: ignore[method-assign]
    node.refresh("cars")
    assert found(node) == ["one", "uno"]


def test_every_refresh_is_a_version_of_its_own(node: Node, store: Store) -> None:
    node.deploy(joined(store))
    before = node.statistics().tables["cars"].version
    threads = [threading.Thread(target=node.refresh, args=("cars",)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert node.statistics().tables["cars"].version == before + 8
    assert node._deployed.tables.versions() == {"cars": before + 8}


def test_a_version_that_was_not_committed_never_was(node: Node, home: UnsureHome, store: Store) -> None:
    node.deploy(joined(store))
    node.drain()
    before = node._deployed.tables.versions()
    home.db.takes_effect = False
    with pytest.raises(EngineError, match=FSYNC):
        node.refresh("cars")
    assert node._deployed.tables.versions() == before


def test_a_failure_that_cannot_be_noted_does_not_end_the_refreshing(
    tmp_path: Path, node: Node, store: Store, caplog: pytest.LogCaptureFixture
) -> None:
    """As on a full disk: what was read cannot be committed, nor that this failed."""
    node.deploy(joined(replace(store, refresh="100 ms")))
    tables = node._deployed.tables
    (tmp_path / "cars.db").rename(tmp_path / "away.db")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tables, "note_failure", refuse_to_note)
        until(lambda: "its failure could not be noted: catalog: is full" in caplog.text)
    (tmp_path / "away.db").rename(tmp_path / "cars.db")
    version = tables.states["cars"].version
    until(lambda: tables.states["cars"].version > version)


def refuse_to_note(*what: object) -> None:
    raise EngineError(Problem("catalog", "is full"))


def test_what_goes_wrong_is_counted_try_by_try(tmp_path: Path, node: Node, store: Store) -> None:
    node.deploy(joined(store, CARS))
    node.drain()
    (tmp_path / "cars.db").rename(tmp_path / "away.db")
    for tries in (1, 2, 3):
        with pytest.raises(EngineError, match="unable to open"):
            node.refresh("cars")
        state = node._deployed.tables.states["cars"]
        assert (state.tries, node.statistics().tables["cars"]) == (tries, state)
    (tmp_path / "away.db").rename(tmp_path / "cars.db")
    node.refresh("cars")
    assert node.statistics().tables["cars"].trouble == ""
