"""Stored tables of networks that change while they run."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from tests.engine.tables.made import CARS, sqlite_table, trips
from tests.engine.tables.test_nodes import COLUMNS, NEW, OLD, awaited, found

from australis import Node
from australis.algebra.boxes import Filter
from australis.algebra.builder import NetworkBuilder
from australis.algebra.network import Network, Ref
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


def by_hour(store: Store, *columns: str) -> Network:
    """Trips with some columns, joined with cars."""
    net = NetworkBuilder("trips")
    cars = net.table("cars", CARS, store=store)
    stream = net.input("trips", "car int, at long").map({name: name for name in columns}, as_="some")
    stream.join(cars, "left.car = right.id", left=Order("at", slack=1_000), as_="with").output("found")
    return net.build()


def test_a_join_that_begins_anew_for_another_stream_has_its_table(
    spark: SparkSession, tmp_path: Path
) -> None:
    """The box is the same, but its state is of other tuples, and goes, with the table in it."""
    store = Store(sqlite_table(tmp_path / "cars.db", COLUMNS, OLD), "cars", Pull.LOAD)
    with Node() as node:
        node.deploy(by_hour(store, "car", "at"))
        node.push("trips", trips(1))
        assert found(node) == ["one"]
        node.change(by_hour(store, "at", "car"))
        node.push("trips", trips(1))
        assert found(node)[-1:] == ["one"]


CHILD = """
import os, sys
from australis import Node
from australis.algebra.store import Store
from australis.engine.crash_points import VARIABLE
from tests.engine.tables.made import trips
from tests.engine.tables.test_changes import by_hour

root, url, point = sys.argv[1:]
with Node(root) as node:
    node.deploy(by_hour(Store(url, "cars", "load"), "car", "at"))
    node.push("trips", trips(1))
    node.drain()
    os.environ[VARIABLE] = f"{point}:1"
    node.change(by_hour(Store(url, "cars", "load"), "at", "car"))
"""


@pytest.mark.parametrize(
    "point", ["change.prepared", "change.switching", "ledger.committed", "change.switched"]
)
def test_a_node_that_is_killed_in_a_change_has_a_join_with_its_table(
    spark: SparkSession, tmp_path: Path, point: str
) -> None:
    """The rows are written before the change, and committed with it."""
    url = sqlite_table(tmp_path / "cars.db", COLUMNS, OLD)
    command = [sys.executable, "-c", CHILD, str(tmp_path / "root"), url, point]
    killed = subprocess.run(command, check=False, capture_output=True)
    assert killed.returncode == -9, killed.stderr.decode()
    with Node(tmp_path / "root") as node:
        recorded = node.recorded()
        assert recorded is not None
        node.deploy(recorded)
        node.push("trips", trips(1))
        node.push("trips", trips(2))
        assert found(node)[-3:] == ["one", "deux", "two"]


def test_a_change_does_not_wait_for_a_table_that_does_not_answer(spark: SparkSession, tmp_path: Path) -> None:
    """Trips that came before wait for the database, and would have to be through with it first."""
    path = tmp_path / "cars.db"
    store = Store(sqlite_table(path, COLUMNS, OLD), "cars", Pull.LOOKUP)
    before = network(store, one="")
    real = replace(before.boxes["real"], box=Filter(("car > 1",)))
    more = replace(before.boxes["real"], sources=(Ref("one"),))
    outputs = {**before.outputs, "by_one": replace(before.outputs["by_one"], source=Ref("more"))}
    behind = replace(before, boxes={**before.boxes, "real": real, "more": more}, outputs=outputs)
    with Node() as node:
        node.deploy(before)
        path.rename(tmp_path / "away.db")
        node.push("trips", trips(1))
        awaited(node, lambda: bool(node.statistics().tables["cars"].trouble))
        assert next(node.subscribe("all")).num_rows == 1
        with pytest.raises(EngineError, match=r"trips\.cars: tuples that come before .* unable to open"):
            node.change(behind)
        node.push("trips", trips(2))
        (tmp_path / "away.db").rename(path)
        assert found(node, "by_one") == ["one", "deux", "two"]
        node.change(behind)
        node.push("trips", trips(1))
        assert found(node, "by_one") == ["one", "deux", "two", "one"]
