"""Ad hoc queries that join the past of a stream with a stored table of the network."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession
from tests.engine.tables.made import CARS, sqlite_table
from tests.engine.tables.test_nodes import COLUMNS, NEW, OLD, found

from australis import Node
from australis.algebra.builder import NetworkBuilder
from australis.algebra.network import Network
from australis.algebra.order import Order
from australis.algebra.store import Pull, Store
from australis.engine.history import organisation as keeping
from australis.engine.store import runs
from australis.errors import EngineError, NetworkError

TRIPS = "car int not null, at long not null"


def network(store: Store | None) -> Network:
    """Trips that are kept by car, and a table of cars that nobody reads so far."""
    net = NetworkBuilder("trips")
    net.input("trips", TRIPS).point("past", history="forever", key="car").filter("car > 0").output("all")
    net.table("cars", CARS, store=store)
    return net.build()


def ask(table: str = "cars", schema: str = CARS) -> Network:
    net = NetworkBuilder("ask")
    by_car = Order("at", slack=1_000, group_by=("car",))
    cars = net.table(table, schema)
    net.input("past", TRIPS).join(cars, "left.car = right.id", left=by_car, as_="with").output("found")
    return net.build()


def trips(begin: int, count: int = 10) -> pa.Table:
    """Trips of cars 0 to 9, one after the other."""
    return pa.table({"car": pa.array(range(count), pa.int32()), "at": range(begin, begin + count)})


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs and row groups of a few tuples."""
    monkeypatch.setattr(keeping, "RUN_ROWS_MOST", 50)
    monkeypatch.setattr(runs, "GROUP_ROWS", 5)


@pytest.mark.parametrize("pull", [Pull.LOAD, Pull.LOOKUP])
def test_the_past_meets_the_rows_of_the_table(spark: SparkSession, tmp_path: Path, pull: str) -> None:
    store = Store(sqlite_table(tmp_path / "cars.db", COLUMNS, OLD), "cars", pull)
    with Node(tmp_path / "root") as node:
        node.deploy(network(store))
        for begin in range(0, 200, 10):
            node.push("trips", trips(begin))
            node.drain()
        node.attach(ask(), name="asked")
        assert found(node, "asked") == ["one", "deux", "two"] * 20
        received = node.statistics().boxes["asked.with"].received
        assert received == 200 if pull == Pull.LOOKUP else received < 100
        node.push("trips", trips(200))
        assert found(node, "asked") == ["one", "deux", "two"] * 21
    with Node(tmp_path / "root") as node:
        node.deploy(network(store))
        sqlite_table(tmp_path / "cars.db", COLUMNS, NEW)
        node.refresh("cars")
        node.push("trips", trips(210))
        assert found(node, "asked")[-2:] == ["uno", "tre"]
        node.detach("asked")


def test_what_a_query_cannot_join(spark: SparkSession, tmp_path: Path) -> None:
    store = Store(sqlite_table(tmp_path / "cars.db", COLUMNS, OLD), "cars")
    with Node() as node:
        node.deploy(network(store))
        with pytest.raises(NetworkError, match="has no stored table 'vans'; expected one of cars"):
            node.attach(ask("vans"))
        with pytest.raises(NetworkError, match="but the stored table has "):
            node.attach(ask(schema="id int, name string"))
        (tmp_path / "cars.db").unlink()
        with pytest.raises(EngineError, match="unable to open database file"):
            node.attach(ask())
        assert node.attached() == {}


def test_rows_that_were_given_once_cannot_be_read_again(spark: SparkSession) -> None:
    rows = pa.table({"id": pa.array([1], pa.int32()), "name": ["one"], "power": [1.0]})
    with Node() as node:
        node.deploy(network(None), tables={"cars": rows})
        node.push("trips", trips(0))
        node.drain()
        with pytest.raises(EngineError, match=r"trips\.cars: .*rows are needed again"):
            node.attach(ask())
