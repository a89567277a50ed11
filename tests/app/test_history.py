"""`australis history`: what a connection point keeps, beside the node that has the root open or without."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession
from tests.app.files import australis, write
from tests.app.running import NETWORK

from australis.algebra.form.form import load
from australis.engine.node import Node

BEGIN = round(datetime(2026, 3, 1, 12, tzinfo=UTC).timestamp() * 1_000_000)
MINUTE = 60_000_000


def cars(begin: int, count: int) -> pa.Table:
    times = range(begin, begin + count)
    return pa.table(
        {
            "car": pa.array([time % 5 for time in times], pa.int32()),
            "time": pa.array(times, pa.int64()),
            "speed": pa.array([float(time) for time in times], pa.float64()),
        }
    )


@pytest.fixture(scope="module")
def folder(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A root that a node has open, with ten tuples a minute of an hour in 2026."""
    folder = tmp_path_factory.mktemp("history")
    write(folder / "cars.yaml", NETWORK)
    with Node(folder / "root") as node:
        node.deploy(load(folder / "cars.yaml"))
        node.pause()
        for minute in range(60):
            node.push("pos", cars(10 * minute, 10), now=BEGIN + minute * MINUTE)
        node.resume()
        node.drain()
        yield folder


@pytest.fixture(autouse=True)
def here(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    monkeypatch.setenv("AUSTRALIS_ROOT", "root")


def times(*arguments: str) -> list[int]:
    answer = australis("history", "pos", *arguments)
    assert (answer.exit_code, answer.stderr) == (0, "")
    return [json.loads(line)["time"] for line in answer.stdout.splitlines()]


def test_all_of_it_in_order() -> None:
    assert times() == list(range(600))
    first = australis("history", "pos", "--limit=1", "--json").stdout
    assert json.loads(first) == {"car": 0, "time": 0, "speed": 0.0}


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (("--where", "car = 2 AND speed > 580"), [582, 587, 592, 597]),
        (("--since=2026-03-01T12:58",), list(range(580, 600))),
        (("--since=2026-03-01T13:58+01:00",), list(range(580, 600))),
        (("--until=2026-03-01T12:01Z",), list(range(10))),
        (("--since=2026-03-01T12:30", "--until=2026-03-01T12:31"), list(range(300, 310))),
        (("--since=1h",), []),
        (("--limit=7",), list(range(7))),
        (("--limit=0",), []),
        (("--columns=speed,time", "--limit=2"), [0, 1]),
    ],
)
def test_a_part_of_it(options: tuple[str, ...], expected: list[int]) -> None:
    assert times(*options) == expected


def test_columns_are_those_that_were_asked_for() -> None:
    answer = australis("history", "pos", "--columns", "speed, car", "--limit=1")
    assert list(json.loads(answer.stdout)) == ["speed", "car"]


def test_into_files(folder: Path) -> None:
    assert australis("history", "pos", "--output=all.parquet").output == ""
    assert pq.read_table(folder / "all.parquet")["time"].to_pylist() == list(range(600))
    assert australis("history", "pos", "--columns=time", "--limit=2", "--output=two.csv").exit_code == 0
    assert (folder / "two.csv").read_text() == "time\n0\n1\n"
    assert len(australis("history", "pos", "--output=-").stdout.splitlines()) == 600


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("nobody",), 2, "cars: there is no connection point 'nobody'; expected one of pos"),
        (("mean",), 2, "'mean' is an arc, but no connection point"),
        (
            ("pos", "--where=sped > 1"),
            2,
            "where: unknown attribute 'sped'; expected one of car, time, speed (perhaps 'speed')",
        ),
        (("pos", "--columns=speed,sped"), 2, "--columns: there is no 'sped'; there is car, time, speed"),
        (("pos", "--since=yesterday"), 2, "'yesterday' is no time: try 90s, 2h, 3d or 2026-03-01T12:00"),
        (("pos", "--output=all.txt"), 1, "all.txt: its name has no known extension"),
    ],
)
def test_what_is_refused(arguments: tuple[str, ...], code: int, said: str) -> None:
    answer = australis("history", *arguments)
    assert (answer.exit_code, answer.stdout) == (code, "")
    assert said in answer.stderr


def test_files_that_everybody_can_read() -> None:
    """In the order of their tuples; the newest tuples are in none so far."""
    files = australis("history", "pos", "--files").stdout.splitlines()
    found = [time for file in files for time in pq.read_table(file)["time"].to_pylist()]
    assert found == list(range(len(found)))
    assert found


def test_a_query_without_a_node() -> None:
    """This node answers no commands, so that the query is that of its history."""
    answer = australis("query", "pos", "speed > 590", "--map=t=time")
    assert answer.stderr == "australis: no node answers on root: this is its history alone\n"
    assert [json.loads(line) for line in answer.stdout.splitlines()] == [{"t": t} for t in range(591, 600)]
