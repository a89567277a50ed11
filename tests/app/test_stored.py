"""Networks with stores on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from pyspark.sql import SparkSession
from tests.engine.tables.made import joined, sqlite_table, streamed, trips

from australis.algebra.form.form import dumps
from australis.algebra.network import Network
from australis.algebra.store import Store
from australis.app.cli import main
from australis.engine.node import Node

CARS = [(1, "one", 10.0), (2, "two", 0.0)]


def call(*arguments: str | Path) -> Result:
    return CliRunner().invoke(main, [str(each) for each in arguments])


def written(folder: Path, network: Network) -> Path:
    (folder / "net.json").write_text(dumps(network))
    return folder / "net.json"


def cars(folder: Path) -> str:
    return sqlite_table(folder / "cars.db", "id int, name text, power real", CARS)


def test_a_run_joins_with_a_store(spark: SparkSession, tmp_path: Path) -> None:
    net = written(tmp_path, joined(Store(cars(tmp_path), "cars")))
    (tmp_path / "trips.csv").write_text("car,at\n2,1\n1,2\n7,3\n")
    root, found = tmp_path / "root", tmp_path / "found.csv"
    answer = call("run", net, "-i", f"trips={tmp_path / 'trips.csv'}", "-o", f"found={found}", "--root", root)
    assert answer.exit_code == 0, answer.output
    assert found.read_text().splitlines()[1:] == ["2,1,2,two,0", "1,2,1,one,10"]
    assert "cars: loaded 2 rows at " in call("stats", root).output
    told = json.loads(call("stats", root, "--json").output)["tables"]["cars"]
    assert (told["how"], told["rows"], told["trouble"]) == ("load", 2, "")


def test_a_run_pushes_a_store(spark: SparkSession, tmp_path: Path) -> None:
    net = written(tmp_path, streamed(Store(cars(tmp_path), "cars")))
    for _ in range(2):
        answer = call("run", net, "-o", f"cars={tmp_path / 'out.csv'}", "--root", tmp_path / "root")
        assert answer.exit_code == 0, answer.output
        assert (tmp_path / "out.csv").read_text().splitlines()[1:] == ["1,one,10"]


def test_a_store_is_read_again(spark: SparkSession, tmp_path: Path) -> None:
    """By a command of its own, with a node that has the root open and without."""
    network, root, found = joined(Store(cars(tmp_path), "cars")), tmp_path / "root", []
    with Node(root, control=True) as node:
        node.deploy(network)
        sqlite_table(tmp_path / "cars.db", "id int, name text, power real", [(1, "first", 10.0)])
        assert call("refresh", "cars", "--root", root).output == "cars is read again\n"
        node.push("trips", trips(1))
        node.drain()
        found += node.read("found")["name"].to_pylist()
    sqlite_table(tmp_path / "cars.db", "id int, name text, power real", [(1, "second", 10.0)])
    assert call("refresh", "cars", "--root", root).output == "cars is read again\n"
    with Node(root) as node:
        node.deploy(network)
        node.push("trips", trips(1))
        node.drain()
        assert [*found, *node.read("found")["name"].to_pylist()] == ["first", "first", "second"]
    wrong = call("refresh", "trips", "--root", root)
    assert wrong.exit_code == 1
    assert "there is no input 'trips' with a store; expected one of cars" in wrong.output


def test_an_input_with_a_store_takes_no_file(tmp_path: Path) -> None:
    net = written(tmp_path, joined(Store(cars(tmp_path), "cars")))
    answer = call("run", net, "-i", "trips=a.csv", "-i", "cars=b.csv", "-o", "found=c.csv")
    assert answer.exit_code == 2
    assert "cars is read from its store: leave out --input cars" in answer.output


@pytest.mark.parametrize("engine", ["reference", "kernels"])
def test_engines_of_this_process_read_no_stores(tmp_path: Path, engine: str) -> None:
    net = written(tmp_path, joined(Store(cars(tmp_path), "cars")))
    answer = call("run", net, "-i", "trips=a.csv", "-o", "found=c.csv", "--engine", engine)
    assert answer.exit_code == 2
    assert "cars is read from its store, which is for --engine spark" in answer.output


def test_pictures_name_the_store(tmp_path: Path) -> None:
    net = written(tmp_path, joined(Store("cars.parquet")))
    assert "cars: stored table in cars.parquet" in call("explain", net).output
    assert "in cars.parquet" in call("explain", net, "--format", "svg").output


@pytest.mark.parametrize(
    ("store", "said"),
    [
        (Store("cars.parquet"), "asks cars, a stored table loaded from cars.parquet"),
        (
            Store("sqlite:///c.db", "cars", "lookup"),
            "looked up by the keys of each train in cars of sqlite:///c.db",
        ),
        (
            Store("sqlite:///c.db", "cars"),
            "loaded from cars of sqlite:///c.db if it has at most 50,000 rows, else",
        ),
    ],
)
def test_a_plan_says_how_a_table_is_read(tmp_path: Path, store: Store, said: str) -> None:
    answer = call("explain", written(tmp_path, joined(store)), "--physical")
    assert answer.exit_code == 0
    assert said in " ".join(answer.output.replace("│", " ").split())
