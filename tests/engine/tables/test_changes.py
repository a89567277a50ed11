"""Stored tables of networks that change while they run."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from tests.engine.tables.made import CARS, sqlite_table, trips
from tests.engine.tables.test_nodes import COLUMNS, NEW, OLD, awaited, found

from australis import Node
from australis.algebra.builder import NetworkBuilder
from australis.algebra.network import Network
from australis.algebra.order import Order
from australis.algebra.store import Pull, Store
from australis.errors import EngineError

pytestmark = pytest.mark.timeout(240)


def network(store: Store | None, **predicates: str) -> Network:
    """Trips, joined with cars under some predicates."""
    net = NetworkBuilder("trips")
    stream = net.input("trips", "car int, at long")
    stream.filter("car > 0", as_="real").output("all")
    if store is not None:
        cars = net.table("cars", CARS, store=store)
        for name, predicate in predicates.items():
            order = Order("at", slack=1_000)
            stream.join(cars, f"left.car = right.id{predicate}", left=order, as_=name).output(f"by_{name}")
    return net.build()


@pytest.mark.parametrize("pull", [Pull.LOAD, Pull.LOOKUP])
def test_a_table_comes_while_the_network_runs(spark: SparkSession, tmp_path: Path, pull: str) -> None:
    store = Store(sqlite_table(tmp_path / "cars.db", COLUMNS, OLD), "cars", pull, refresh="100 ms")
    with Node() as node:
        node.deploy(network(None))
        node.push("trips", trips(1))
        node.change(network(store, one=""))
        node.push("trips", trips(2))
        assert found(node, "by_one") == ["deux", "two"]
        sqlite_table(tmp_path / "cars.db", COLUMNS, NEW)
        version = node.statistics().tables["cars"].version
        awaited(node, lambda: node.statistics().tables["cars"].version > version + 1)
        node.push("trips", trips(3))
        assert found(node, "by_one") == ["deux", "two", "tre"]


def test_a_new_join_has_all_rows_that_it_needs(spark: SparkSession, tmp_path: Path) -> None:
    store = Store(sqlite_table(tmp_path / "cars.db", COLUMNS, OLD), "cars", Pull.LOAD)
    with Node(tmp_path / "root") as node:
        node.deploy(network(store, fast=" and right.power > 15"))
        node.push("trips", trips(1, 2))
        assert found(node, "by_fast") == ["two"]
        node.change(network(store, fast=" and right.power > 15", slow=" and right.power < 15"))
        node.push("trips", trips(1, 2))
        assert found(node, "by_slow") == ["one"]
        assert found(node, "by_fast") == ["two", "two"]
    with Node(tmp_path / "root") as node:
        node.deploy(network(store, fast=" and right.power > 15", slow=" and right.power < 15"))
        node.push("trips", trips(1, 2))
        assert found(node, "by_slow") == ["one", "one"]


def test_a_change_to_a_table_that_is_not_there_changes_nothing(spark: SparkSession, tmp_path: Path) -> None:
    with Node() as node:
        node.deploy(network(None))
        with pytest.raises(EngineError, match="unable to open database file"):
            node.change(network(Store(f"sqlite:///{tmp_path}/none.db", "cars"), one=""))
        node.push("trips", trips(1))
        node.drain()
        assert node.read("all").num_rows == 1
        assert node.statistics().tables == {}
