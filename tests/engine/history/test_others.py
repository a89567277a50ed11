"""History as others see it: DuckDB, pandas and Spark read the folder of a point while a node goes on."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import duckdb
import pandas as pd
import pyarrow as pa
import pytest
from pyspark.sql import SparkSession
from tests.engine.history.bench import SCHEMA, tuples

from australis import Node
from australis.algebra.builder import NetworkBuilder
from australis.algebra.network import Network
from australis.algebra.order import Order
from australis.engine.history import organisation as keeping
from australis.engine.history import read_history

COUNTED = 'count(*), count(distinct "#seq"), coalesce(sum(v), 0)'


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keeping, "RUN_ROWS_MOST", 300)


def network(history: str | int = "forever") -> Network:
    """A connection point on what comes in, and one on what is derived from it in two parts."""
    net = NetworkBuilder("n")
    stream = net.input("s", SCHEMA).point("past", history=history, key="k")
    order = Order("v", group_by=("k",))
    counts = stream.aggregate({"n": "count(*)"}, order, size=5, as_="counts")
    counts.point("counted", history="forever", key="n").output("out")
    return net.build()


def by_duckdb(folder: Path) -> tuple[int, int, float]:
    (found,) = duckdb.sql(f"select {COUNTED} from read_parquet('{folder}/*.parquet')").fetchall()
    return found[0], found[1], float(found[2])


def by_pandas(folder: Path) -> tuple[int, int, float]:
    found = pd.read_parquet(folder)
    return len(found), found["#seq"].nunique(), float(found["v"].sum())


def by_spark(folder: Path) -> tuple[int, int, float]:
    session = SparkSession.active()
    found = (
        session.read.parquet(str(folder)).selectExpr(*COUNTED.replace('"', "`").split(", ", 2)).collect()[0]
    )
    return found[0], found[1], float(found[2])


@pytest.mark.parametrize("read", [by_duckdb, by_pandas, by_spark], ids=lambda each: each.__name__)
def test_the_folder_has_every_tuple_once_while_a_node_goes_on(
    spark: SparkSession, tmp_path: Path, read: Callable[[Path], tuple[int, int, float]]
) -> None:
    folder, counts = tmp_path / "history" / "past", []
    with Node(tmp_path) as node:
        node.deploy(network())
        for number in range(30):
            node.push("s", tuples(number * 100, 100))
            if number % 5 == 4:
                node.drain()
            if any(folder.glob("*.parquet")):
                rows, distinct, total = read(folder)
                assert rows == distinct
                assert rows % 100 == 0
                assert total == sum(range(rows)) / 2, "the first tuples, each once, none torn"
                counts.append(rows)
        node.drain()
        assert counts == sorted(counts)
        assert counts[-1] >= 2000
        everything = pa.concat_tables(node.history("past"))
        assert everything["v"].to_pylist() == [number / 2 for number in range(3000)]


def test_history_outlives_restarts_and_is_read_beside_a_node(spark: SparkSession, tmp_path: Path) -> None:
    for start in range(3):
        with Node(tmp_path) as node:
            node.deploy(network())
            for number in range(10):
                node.push("s", tuples((start * 10 + number) * 100, 100))
            node.drain()
            own = pa.concat_tables(node.history("counted", where="n >= 1", columns=["k", "n"]))
            beside = pa.concat_tables(read_history(tmp_path, "counted", where="n >= 1", columns=["k", "n"]))
            assert own == beside
        assert pa.concat_tables(read_history(tmp_path, "past"))["v"].to_pylist() == [
            number / 2 for number in range((start + 1) * 1000)
        ]


def test_another_process_reads_history(spark: SparkSession, tmp_path: Path) -> None:
    with Node(tmp_path) as node:
        node.deploy(network())
        for number in range(10):
            node.push("s", tuples(number * 100, 100))
        node.drain()
        code = (
            "from australis.engine.history import read_history;"
            f"print(sum(table.num_rows for table in read_history({str(tmp_path)!r}, 'past', where='k = 3')))"
        )
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        assert done.stdout.split() == ["100"]


MINUTE = 60_000_000


def size(file: Path) -> int:
    """The size of a file, which may be replaced by another one just now."""
    try:
        return file.stat().st_size
    except FileNotFoundError:
        return 0


def test_an_hour_stays_within_what_is_asked_for(spark: SparkSession, tmp_path: Path) -> None:
    """Ten minutes of history, an hour of a clock that is handed in: the disk has no more than it needs."""
    now = [0]
    with Node(tmp_path, clock=lambda: now[0]) as node:
        node.deploy(network("10 min"))
        sizes = []
        for step in range(240):
            now[0] = step * MINUTE // 4
            node.push("s", tuples(step * 200, 200))
            node.drain()
            files = [*(tmp_path / "history" / "past").glob("*"), *(tmp_path / "segments").glob("s-*")]
            sizes.append(sum(map(size, files)))
            kept = pa.concat_tables(node.history("past", columns=["v"]))
            assert kept.num_rows >= min(step + 1, 40) * 200
        ten_minutes = sizes[39]
        assert max(sizes) <= ten_minutes * 1.25
        late = pa.concat_tables(node.history("past", since="5 min"))
        assert late.num_rows == 21 * 200
