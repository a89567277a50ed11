"""Nodes with stored tables: loaded or looked up, refreshed, gone, back again."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession
from tests.engine.tables.made import joined, sqlite_table, trips
from tests.engine.tables.server import Server

from australis import Node
from australis.algebra.builder import NetworkBuilder
from australis.algebra.network import Network
from australis.algebra.order import Order
from australis.algebra.store import Pull, Store
from australis.engine.tables import choosing
from australis.engine.tables.known_tables import NEVER, Tables, TableState
from australis.errors import EngineError

pytestmark = pytest.mark.timeout(240)
COLUMNS = "id int, name text, power double precision"
OLD = [(1, "one", 10.0), (2, "two", 20.0), (2, "deux", None)]
NEW = [(1, "uno", 10.0), (3, "tre", 30.0)]
Make = Callable[[list[tuple[object, ...]]], Store]


@pytest.fixture(params=["sqlite", "postgresql"])
def make(request: pytest.FixtureRequest, tmp_path: Path) -> Make:
    """What makes the table of cars anew, in a database of each kind."""
    if request.param == "sqlite":
        return lambda rows: Store(sqlite_table(tmp_path / "cars.db", COLUMNS, rows), "cars")
    server: Server = request.getfixturevalue("postgresql")

    def made(rows: list[tuple[object, ...]]) -> Store:
        values = [f"({n}, '{name}', {'null' if p is None else p})" for n, name, p in rows]
        server.run(
            "drop table if exists cars",
            f"create table cars ({COLUMNS})",
            f"insert into cars values {', '.join(values)}",
        )
        return Store(server.uri, "cars")

    return made


def pulled(store: Store, pull: str) -> Store:
    return Store(store.at, store.table, pull)


def found(node: Node, output: str = "found") -> list[str]:
    """The names that were found, trip by trip."""
    node.drain()
    return [
        row["name"]
        for row in node.read(output).sort_by([("#seq", "ascending"), ("name", "ascending")]).to_pylist()
    ]


@pytest.mark.parametrize("pull", [Pull.LOAD, Pull.LOOKUP])
@pytest.mark.parametrize("way", ["fused", "spark"])
def test_trips_find_their_cars(spark: SparkSession, make: Make, pull: str, way: str) -> None:
    with Node(way=way) as node:
        node.deploy(joined(pulled(make(OLD), pull)))
        node.push("trips", trips(2, 1, None, 7, 1))
        assert found(node) == ["deux", "two", "one", "one"]
        state = node.statistics().tables["cars"]
        assert (state.how, state.rows, state.trouble) == (pull, 3 if pull == Pull.LOAD else None, "")


@pytest.mark.parametrize("train", [1, 1_000])
@pytest.mark.parametrize("restarts", [False, True])
def test_a_new_version_counts_from_one_number_on(
    spark: SparkSession, make: Make, tmp_path: Path, train: int, restarts: bool
) -> None:
    network = joined(pulled(make(OLD), Pull.LOAD))
    node = Node(tmp_path / "root", train=train)
    with node:
        node.deploy(network)
        node.pause()
        node.push("trips", trips(1, 2))
        make(NEW)
        node.refresh("cars")
        node.push("trips", trips(1, 3))
        if not restarts:
            node.resume()
            assert found(node) == ["one", "deux", "two", "uno", "tre"]
    if restarts:
        with Node(tmp_path / "root", train=train) as node:
            node.deploy(network)
            assert found(node) == ["one", "deux", "two", "uno", "tre"]


def test_a_table_may_be_empty_and_filled_later(spark: SparkSession, tmp_path: Path) -> None:
    store = Store(sqlite_table(tmp_path / "cars.db", COLUMNS, []), "cars")
    with Node() as node:
        node.deploy(joined(store))
        node.push("trips", trips(1))
        sqlite_table(tmp_path / "cars.db", COLUMNS, OLD)
        node.refresh("cars")
        node.push("trips", trips(1, 2))
        sqlite_table(tmp_path / "cars.db", COLUMNS, [])
        node.refresh("cars")
        node.push("trips", trips(1, 2))
        assert found(node) == ["one", "deux", "two"]


def test_what_is_looked_up_is_remembered_until_a_refresh(spark: SparkSession, make: Make) -> None:
    with Node() as node:
        node.deploy(joined(pulled(make(OLD), Pull.LOOKUP)))
        node.push("trips", trips(1))
        assert found(node) == ["one"]
        make(NEW)
        node.push("trips", trips(1))
        # One worker of two may not have asked so far.
        assert found(node)[1:] in (["one"], ["uno"])
        node.refresh("cars")
        node.push("trips", trips(1, 2, 3))
        assert found(node)[2:] == ["uno", "tre"]
        assert node.statistics().tables["cars"].version == 2


def test_a_schedule_refreshes_by_itself(spark: SparkSession, tmp_path: Path) -> None:
    url = sqlite_table(tmp_path / "cars.db", COLUMNS, OLD)
    with Node() as node:
        node.deploy(joined(Store(url, "cars", refresh="100 ms")))
        sqlite_table(tmp_path / "cars.db", COLUMNS, NEW)
        awaited(node, lambda: node.statistics().tables["cars"].rows == 2)
        node.push("trips", trips(3))
        assert found(node) == ["tre"]


def awaited(node: Node, is_so: Callable[[], bool]) -> None:
    node._ledger.guard.wait_until(is_so)


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("drop table cars", "is not there"),
        ("alter table cars drop column name", "has no column 'name', but id, power"),
    ],
)
@pytest.mark.parametrize("pull", [Pull.LOAD, Pull.LOOKUP])
def test_a_table_that_is_gone_or_changed_leaves_the_node_running(
    spark: SparkSession, postgresql: Server, statement: str, said: str, pull: str
) -> None:
    postgresql.run(
        "drop table if exists cars", f"create table cars ({COLUMNS})", "insert into cars values (1, 'one', 1)"
    )
    with Node() as node:
        node.deploy(joined(Store(postgresql.uri, "cars", pull)))
        node.push("trips", trips(1))
        assert found(node) == ["one"]
        postgresql.run(statement)
        with pytest.raises(EngineError, match=f"trips.cars: cars of .* {said}"):
            node.refresh("cars")
        state = str(node.statistics().tables["cars"])
        assert state.startswith("stale since ")
        assert said in state
        if pull == Pull.LOAD:
            node.push("trips", trips(1))
            assert found(node) == ["one", "one"]


def beside(store: Store) -> Network:
    """A join with a table that is looked up, and beside it a stream that has nothing to do with it."""
    net = NetworkBuilder("trips")
    cars = net.table("cars", "id int not null, name string, power double", store=store)
    net.input("trips", "car int, at long").join(
        cars, "left.car = right.id", left=Order("at", slack=1_000), as_="with"
    ).output("found")
    net.input("pings", "n int").filter("n > 0", as_="some").output("pings")
    return net.build()


def test_a_server_that_is_down_holds_up_only_who_needs_it(spark: SparkSession, postgresql: Server) -> None:
    postgresql.run(
        "drop table if exists cars", f"create table cars ({COLUMNS})", "insert into cars values (1, 'one', 1)"
    )
    with Node() as node:
        node.deploy(beside(Store(postgresql.uri, "cars", Pull.LOOKUP)))
        node.push("trips", trips(1))
        assert found(node) == ["one"]
        node.refresh("cars")
        postgresql.stop()
        try:
            node.push("trips", trips(1, 1))
            awaited(node, lambda: bool(node.statistics().tables["cars"].trouble))
            node.push("pings", pa.table({"n": pa.array([1, 2], pa.int32())}))
            assert next(node.subscribe("pings")).num_rows == 2
            state = node.statistics().tables["cars"]
            assert "cannot be read" in state.trouble
            assert state.next_try is not None
            assert node.read("found").num_rows == 1
        finally:
            postgresql.start()
        assert found(node) == ["one", "one", "one"]
        assert node.statistics().tables["cars"].trouble == ""
        node.check()


def test_a_loaded_table_needs_no_server(spark: SparkSession, postgresql: Server, tmp_path: Path) -> None:
    postgresql.run(
        "drop table if exists cars", f"create table cars ({COLUMNS})", "insert into cars values (1, 'one', 1)"
    )
    network = joined(Store(postgresql.uri, "cars", Pull.LOAD, refresh="100 ms"))
    with Node(tmp_path / "root") as node:
        node.deploy(network)
    postgresql.stop()
    try:
        with Node(tmp_path / "root") as node:
            node.deploy(network)
            awaited(node, lambda: bool(node.statistics().tables["cars"].trouble))
            node.push("trips", trips(1))
            assert found(node) == ["one"]
            postgresql.start()
            awaited(node, lambda: not node.statistics().tables["cars"].trouble)
    finally:
        postgresql.start()


def test_a_node_is_not_deployed_on_a_table_that_is_not_there(spark: SparkSession, tmp_path: Path) -> None:
    with Node() as node, pytest.raises(EngineError, match="unable to open database file"):
        node.deploy(joined(Store(f"sqlite:///{tmp_path}/none.db", "cars")))


def test_size_decides_how_a_table_is_read(
    spark: SparkSession, make: Make, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    store = make(OLD)
    for most, how in ((3, "load"), (2, "lookup")):
        monkeypatch.setattr(choosing, "ROWS_LOADED_MOST", most if "sqlite" in store.at else most - 3 + 128)
        with Node(tmp_path / how) as node:
            node.deploy(joined(store))
            assert node.statistics().tables["cars"].how == how
    # What was decided stays, whatever the size is by then.
    with Node(tmp_path / "load") as node:
        node.deploy(joined(store))
        assert node.statistics().tables["cars"].how == "load"
        node.push("trips", trips(1))
        assert found(node) == ["one"]


def test_what_cannot_be_looked_up_is_said(spark: SparkSession, tmp_path: Path) -> None:
    url = sqlite_table(tmp_path / "cars.db", "id, name text, power real", [])
    with Node() as node, pytest.raises(EngineError, match="cannot be looked up by id; expected types that"):
        node.deploy(joined(Store(url, "cars", Pull.LOOKUP)))


def test_only_inputs_with_a_store_are_refreshed(spark: SparkSession, make: Make) -> None:
    with Node() as node:
        node.deploy(joined(make(OLD)))
        with pytest.raises(EngineError, match="'trips' is no input with a store; expected one of cars"):
            node.refresh("trips")


def test_rows_that_do_not_fit_go_to_the_quarantine(spark: SparkSession, tmp_path: Path) -> None:
    url = sqlite_table(
        tmp_path / "cars.db",
        "id, name text, power real",
        [(1, "one", 1.0), (None, "x", 1.0), ("y", "z", 1.0)],
    )
    with Node() as node:
        node.deploy(joined(Store(url, "cars")))
        node.push("trips", trips(1))
        assert found(node) == ["one"]
        assert sorted(node.read("quarantine")["reason"].to_pylist()) == [
            "'id' is NULL, which its schema does not allow",
            "id: 'y' is no int",
        ]


def test_a_table_whose_time_to_be_asked_has_come_wakes_nobody() -> None:
    """Who needs it is free to ask; if nobody does, there is nothing to wake up for, again and again."""
    state = TableState(Pull.LOOKUP, trouble="is away", since=0, next_try=2_000_000)
    tables = Tables({"cars": state}, clock=lambda: 1_000_000)
    assert tables.pause_s() == 1.0
    tables.clock = lambda: 3_000_000
    assert tables.pause_s() == NEVER
