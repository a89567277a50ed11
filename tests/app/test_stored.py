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


RUNS = [("--engine", "reference"), ("--engine", "kernels"), ("--runner", "light")]


def table_in(folder: Path, kind: str) -> Store:
    """The table of cars, of which one row does not fit, as the store of a kind, by a relative path."""
    (folder / "cars.csv").write_text("id,name,power\n1,one,10\nx,bad,1\n2,two,0\n")
    sqlite_table(folder / "cars.db", "id int, name text, power real", [CARS[0], (None, "bad", 1.0), CARS[1]])
    if kind == "csv":
        return Store("cars.csv")
    return Store("sqlite:///cars.db", "cars", pull="" if kind == "sqlite" else kind)


@pytest.mark.parametrize("kind", ["csv", "sqlite", "lookup"])
def test_every_engine_joins_with_a_store(tmp_path: Path, kind: str) -> None:
    """The same rows, and the same quarantine but for a lookup, which skips what does not fit."""
    net = written(tmp_path, joined(table_in(tmp_path, kind)))
    (tmp_path / "trips.csv").write_text("car,at\n2,1\n1,2\n7,3\n")
    seen = []
    for run in RUNS:
        found, bad = tmp_path / "found.csv", tmp_path / "bad.csv"
        files = ("-i", f"trips={tmp_path / 'trips.csv'}", "-o", f"found={found}", "-o", f"quarantine={bad}")
        answer = call("run", net, *files, *run)
        assert answer.exit_code == 0, answer.output
        rejected = bad.read_text() if kind != "lookup" else ""
        seen.append((found.read_text(), rejected))
    assert seen[0][0].splitlines()[1:] == ["2,1,2,two,0", "1,2,1,one,10"]
    assert len(seen[0][1].splitlines()) == (0 if kind == "lookup" else 2)
    assert seen == [seen[0]] * 3


def test_every_engine_pushes_a_store(tmp_path: Path) -> None:
    net = written(tmp_path, streamed(table_in(tmp_path, "csv")))
    seen = []
    for run in RUNS:
        answer = call("run", net, "-o", f"cars={tmp_path / 'out.csv'}", "--batch", "1", *run)
        assert answer.exit_code == 0, answer.output
        seen.append((tmp_path / "out.csv").read_text().splitlines()[1:])
    assert seen == [["1,one,10"]] * 3


def test_a_store_that_is_gone_is_named(tmp_path: Path) -> None:
    net = written(tmp_path, streamed(Store("cars.csv")))
    answer = call("run", net, "-o", f"cars={tmp_path / 'out.csv'}", "--engine", "kernels")
    assert answer.exit_code == 1
    assert f"{tmp_path / 'cars.csv'}: there is no such file" in answer.output


@pytest.mark.parametrize("kind", ["csv", "lookup"])
def test_paths_of_stores_begin_at_the_networks_file(
    tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Wherever the run, the next one and the refresh are started."""
    home, root = tmp_path / "home of it", tmp_path / "root"
    home.mkdir()
    net = written(home, joined(table_in(home, kind)))
    (tmp_path / "trips.csv").write_text("car,at\n2,1\n")
    run = ("-i", "trips=trips.csv", "-o", "found=found.csv", "--root", root, "--runner", "light")
    monkeypatch.chdir(tmp_path)
    first = call("run", "home of it/net.json", *run)
    assert first.exit_code == 0, first.output
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    (elsewhere / "trips.csv").write_text("car,at\n1,2\n")
    again = call("run", net, *run)
    assert again.exit_code == 0, again.output
    read = [path.read_text().splitlines()[1:] for path in (tmp_path / "found.csv", elsewhere / "found.csv")]
    assert read == [["2,1,2,two,0"], ["1,2,1,one,10"]]


def test_paths_of_a_network_made_in_python_begin_at_the_current_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The root keeps the absolute path, so a later look at it does not depend on the directory."""
    monkeypatch.chdir(tmp_path)
    with Node(tmp_path / "root", runner="light") as node:
        node.deploy(joined(table_in(tmp_path, "csv")))
        recorded = node.recorded()
    assert recorded is not None
    store = recorded.inputs["cars"].store
    assert store is not None
    assert store.at == str(tmp_path / "cars.csv")


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
