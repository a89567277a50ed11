"""The keeper: stores are read once per root, again when asked or due, and trouble is noted, not lost."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest
from tests.engine.ledger.held import opened
from tests.engine.tables.made import joined, sqlite_table, streamed
from tests.waiting import until

from australis.algebra.store import Pull, Store
from australis.engine.ingest import Ingest
from australis.engine.ledger import LOAD, PUSH, Ledger
from australis.engine.tables import Keeper, Tables
from australis.engine.threads import SYSTEM
from australis.errors import EngineError
from australis.plan.superboxes import plan

COLUMNS = "id int, name text, power double precision"
OLD, NEW = [(1, "one", 10.0)], [(1, "uno", 10.0), (3, "tre", 30.0)]
START = 1_000_000


class Clock:
    now = START

    def __call__(self) -> int:
        return self.now


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(sqlite_table(tmp_path / "cars.db", COLUMNS, OLD), "cars", Pull.LOAD, "1 min")


@pytest.fixture
def ledger(tmp_path: Path, store: Store) -> Iterator[Ledger]:
    with opened(tmp_path / "root", made=plan(joined(store))) as ledger:
        yield ledger


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def tables(clock: Clock) -> Tables:
    return Tables(clock=clock)


@pytest.fixture
def keeper(ledger: Ledger, tables: Tables) -> Iterator[Keeper]:
    keeper = Keeper(ledger, Ingest(ledger, SYSTEM), tables, lambda: 7, SYSTEM)
    yield keeper
    keeper.stop()


def change_rows(tmp_path: Path) -> None:
    sqlite_table(tmp_path / "cars.db", COLUMNS, NEW)


def events(ledger: Ledger) -> list[tuple[str, str, int]]:
    return [(each.kind, each.input, each.rows) for each in ledger.catalog.events(0, 1 << 62)]


def test_a_store_is_read_once_on_a_root(ledger: Ledger, tables: Tables, keeper: Keeper) -> None:
    keeper.begin({})
    assert events(ledger) == [(LOAD, "cars", 1)]
    state = tables.states["cars"]
    assert (state.how, state.version, state.rows, state.read) == (Pull.LOAD, 1, 1, START)
    keeper.begin({})
    assert len(events(ledger)) == 1


def test_rows_that_are_given_are_not_read(ledger: Ledger, keeper: Keeper) -> None:
    keeper.begin({"cars"})
    assert events(ledger) == []


def test_a_refresh_is_a_new_version_in_the_log(
    tmp_path: Path, ledger: Ledger, tables: Tables, keeper: Keeper
) -> None:
    keeper.begin({})
    change_rows(tmp_path)
    assert keeper.refresh("cars") == ledger.queues.log_end
    assert events(ledger) == [(LOAD, "cars", 1), (LOAD, "cars", 2)]
    assert (tables.states["cars"].version, tables.states["cars"].rows) == (2, 2)


def test_what_has_no_store_is_refused(keeper: Keeper) -> None:
    with pytest.raises(EngineError, match="trips: 'trips' is no input with a store; expected one of cars"):
        keeper.refresh("trips")


def test_trouble_is_noted_and_the_rows_stay(
    tmp_path: Path, ledger: Ledger, tables: Tables, keeper: Keeper
) -> None:
    keeper.begin({})
    (tmp_path / "cars.db").unlink()
    with pytest.raises(EngineError):
        keeper.refresh("cars")
    state = tables.states["cars"]
    assert (state.version, state.since, state.tries) == (1, START, 1)
    assert state.trouble
    assert len(events(ledger)) == 1
    change_rows(tmp_path)
    keeper.refresh("cars")
    assert (tables.states["cars"].version, tables.states["cars"].trouble) == (2, "")


def test_a_store_is_read_again_when_it_is_due(
    tmp_path: Path, ledger: Ledger, tables: Tables, keeper: Keeper, clock: Clock
) -> None:
    asked: list[str] = []
    keeper.begin({})
    change_rows(tmp_path)
    keeper.start(asked.append)
    assert len(events(ledger)) == 1
    clock.now += 60_000_000
    keeper.reschedule()
    until(lambda: tables.states["cars"].version == 2)
    assert events(ledger)[1:] == [(LOAD, "cars", 2)]
    assert asked == ["trips.cars"], "there must be room first"


def test_a_keeper_that_stopped_logs_nothing(ledger: Ledger, keeper: Keeper) -> None:
    keeper.begin({})
    keeper.stop()
    with pytest.raises(EngineError, match=r"trips\.cars: was read while the node ended"):
        keeper.refresh("cars")
    assert len(events(ledger)) == 1


def test_another_network_has_its_new_stores_read_before_it_runs(
    tmp_path: Path, ledger: Ledger, keeper: Keeper
) -> None:
    keeper.begin({})
    elsewhere = Store(sqlite_table(tmp_path / "other.db", COLUMNS, NEW), "cars", Pull.LOAD)
    assert keeper.read_ahead(ledger.plan.network, {}) == []
    assert keeper.read_ahead(joined(elsewhere), {"cars": pa.table({})}) == []
    (found,) = keeper.read_ahead(joined(elsewhere), {})
    (arrival,) = keeper.store_arrivals([found], joined(elsewhere))
    assert (arrival.name, arrival.kind, arrival.stored.segment.rows) == ("cars", LOAD, 2)
    assert len(events(ledger)) == 1, "it is logged when that runs"


def test_a_stream_has_only_what_is_new_pushed(tmp_path: Path) -> None:
    store = Store(sqlite_table(tmp_path / "cars.db", COLUMNS, OLD), "cars", ascending="id")
    with opened(tmp_path / "stream", made=plan(streamed(store))) as ledger:
        keeper = Keeper(ledger, Ingest(ledger, SYSTEM), Tables(), lambda: 7, SYSTEM)
        keeper.begin({})
        keeper.refresh("cars")
        change_rows(tmp_path)
        keeper.refresh("cars")
        assert events(ledger) == [(PUSH, "cars", 1), (PUSH, "cars", 1)]
