"""Stores whose rows are pushed as a stream: once, again, what is new, and through a loss of power."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from tests.engine.in_process import InProcess
from tests.engine.tables.made import sqlite_table, streamed
from tests.engine.tables.server import Server
from tests.engine.tables.test_nodes import awaited

from australis import NetworkBuilder, Node
from australis.algebra.store import Store
from australis.engine.crash_points import VARIABLE
from australis.errors import EngineError

pytestmark = pytest.mark.timeout(240)
COLUMNS = "id int, name text, power double precision"
CARS = [(2, "two", 20.0), (1, "one", 10.0), (3, "none", 0.0)]


def names(node: Node) -> list[str]:
    node.drain()
    return [row["name"] for row in node.read("cars").sort_by("#seq").to_pylist()]


def test_rows_are_pushed_once(spark: SparkSession, tmp_path: Path) -> None:
    network = streamed(Store(sqlite_table(tmp_path / "cars.db", COLUMNS, CARS), "cars"))
    for _ in range(2):
        with Node(tmp_path / "root") as node:
            node.deploy(network)
            assert names(node) == ["two", "one"]
            # The filter behind it went to the database.
            assert node.statistics().log_end == 3


def test_a_refresh_pushes_all_rows_again(spark: SparkSession, tmp_path: Path) -> None:
    network = streamed(Store(sqlite_table(tmp_path / "cars.db", COLUMNS, CARS), "cars"))
    with Node() as node:
        node.deploy(network)
        sqlite_table(tmp_path / "cars.db", COLUMNS, [(4, "four", 4.0)])
        node.refresh("cars")
        assert names(node) == ["two", "one", "four"]


@pytest.mark.parametrize("schema", ["id int not null", "id long not null"])
def test_with_what_ascends_only_what_is_new_comes(spark: SparkSession, tmp_path: Path, schema: str) -> None:
    store = Store(sqlite_table(tmp_path / "cars.db", COLUMNS, CARS), "cars", ascending="id")
    network = streamed(store, f"{schema}, name string, power double")
    with Node(tmp_path / "root") as node:
        node.deploy(network)
        node.refresh("cars")
        sqlite_table(tmp_path / "cars.db", COLUMNS, [*CARS, (5, "five", 5.0), (4, "four", 4.0)])
        node.refresh("cars")
        assert names(node) == ["one", "two", "four", "five"]
    with Node(tmp_path / "root") as node:
        node.deploy(network)
        node.refresh("cars")
        sqlite_table(tmp_path / "cars.db", COLUMNS, [(6, "six", 6.0)])
        end = node.refresh("cars")
        assert names(node) == ["one", "two", "four", "five", "six"]
        assert node.refresh("cars") == end


def test_times_ascend_too(spark: SparkSession, postgresql: Server) -> None:
    postgresql.run(
        "drop table if exists sold",
        "create table sold (at timestamptz, name text, power float8)",
        "insert into sold values ('2024-01-01Z', 'a', 1), ('2024-01-02Z', 'b', 1)",
    )
    network = streamed(
        Store(postgresql.uri, "sold", ascending="at", refresh="100 ms"),
        "at timestamp not null, name string, power double",
    )
    with Node() as node:
        node.deploy(network)
        postgresql.run(
            "insert into sold values ('2024-01-02T00:00:00.000001Z', 'c', 1), ('2023-01-01Z', 'late', 1)"
        )
        awaited(node, lambda: node.statistics().log_end > 3)
        assert names(node) == ["a", "b", "c"]


def test_files_are_pushed_too(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "cars.csv").write_text("id,name,power\n2,two,2\n1,one,1\nx,bad,1\n")
    network = streamed(Store(str(tmp_path / "cars.csv"), ascending="id"))
    with Node() as node:
        node.deploy(network)
        (tmp_path / "cars.csv").write_text("id,name,power\n2,two,2\n1,one,1\n3,three,3\n")
        node.refresh("cars")
        assert names(node) == ["one", "two", "three"]
        assert node.read("quarantine").num_rows == 1


def test_an_empty_table_is_one(spark: SparkSession, tmp_path: Path) -> None:
    network = streamed(Store(sqlite_table(tmp_path / "cars.db", COLUMNS, []), "cars", ascending="id"))
    with Node() as node:
        node.deploy(network)
        assert names(node) == []
        sqlite_table(tmp_path / "cars.db", COLUMNS, CARS)
        node.refresh("cars")
        assert names(node) == ["one", "two"]


CHILD = """
import sys
from pathlib import Path
from australis import Node
from australis.algebra.store import Store
from tests.engine.tables.made import sqlite_table, streamed

root, url = sys.argv[1:]
with Node(root) as node:
    node.deploy(streamed(Store(url, "cars", ascending="id")))
    for last in (200, 300):
        path = url.removeprefix("sqlite:///")
        sqlite_table(Path(path), "id int, name text, power real", [(n, str(n), 1.0) for n in range(last)])
        node.refresh("cars")
    node.drain()
"""


@pytest.mark.parametrize(
    "point",
    ["ingest.written:1", "ingest.committed:1", "ingest.written:2", "ingest.committed:2", "train.changed:1"],
)
def test_a_killed_node_pushes_every_row_once(spark: SparkSession, tmp_path: Path, point: str) -> None:
    url = sqlite_table(
        tmp_path / "cars.db", "id int, name text, power real", [(n, str(n), 1.0) for n in range(100)]
    )
    command = [sys.executable, "-c", CHILD, str(tmp_path / "root"), url]
    killed = subprocess.run(command, env={**os.environ, VARIABLE: point}, check=False, capture_output=True)
    assert killed.returncode == -9, killed.stderr.decode()
    with Node(tmp_path / "root") as node:
        node.deploy(streamed(Store(url, "cars", ascending="id")))
        sqlite_table(
            tmp_path / "cars.db", "id int, name text, power real", [(n, str(n), 1.0) for n in range(300)]
        )
        node.refresh("cars")
        node.drain()
        assert names(node) == [str(n) for n in range(300)]


def test_a_store_that_is_gone_is_said_when_it_is_refreshed(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "cars.csv").write_text("id,name,power\n2,two,2\n")
    with Node() as node:
        node.deploy(streamed(Store(str(tmp_path / "cars.csv"))))
        (tmp_path / "cars.csv").unlink()
        with pytest.raises(EngineError, match=r"cars\.csv.*no such file|there is no such file"):
            node.refresh("cars")
        assert "no such file" in str(node.statistics().tables["cars"]).lower()


def test_rows_without_a_weight_have_1(tmp_path: Path) -> None:
    (tmp_path / "cars.csv").write_text("id\n1\n2\n")
    rows = sqlite_table(tmp_path / "cars.db", "id int, copies real", [(1, None), (2, 5.0)])
    stores = Store(str(tmp_path / "cars.csv")), Store(rows, "cars")
    for number, (store, expected) in enumerate(zip(stores, ([1.0, 1.0], [1.0, 5.0]), strict=True)):
        net = NetworkBuilder("n")
        cars = net.input("cars", "id int, copies double not null", weight="copies", store=store)
        cars.filter("copies > 0", as_="some").output("out")
        with Node(tmp_path / f"root-{number}", runner=InProcess()) as node:
            node.deploy(net.build())
            node.drain()
            assert node.read("out")["copies"].to_pylist() == expected
