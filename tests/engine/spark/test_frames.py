"""What an output keeps as a DataFrame: the same tuples as `read`, of every type, while the node runs on."""

from __future__ import annotations

import subprocess
import sys
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from australis import Node
from australis.algebra.builder import NetworkBuilder
from australis.engine.deliver import Holds
from australis.engine.spark.frames import divided
from australis.errors import EngineError

SCHEMA = "i int, n long not null, x double, t string, b boolean, at timestamp, d decimal(10,2)"


def network() -> NetworkBuilder:
    net = NetworkBuilder("n")
    net.input("s", SCHEMA).filter("n >= 0").output("all")
    return net


def rows(begin: int, end: int) -> pa.Table:
    numbers = range(begin, end)
    return pa.table(
        {
            "i": pa.array([n if n % 5 else None for n in numbers], pa.int32()),
            "n": pa.array(list(numbers), pa.int64()),
            "x": pa.array([n / 3 for n in numbers], pa.float64()),
            "t": [f"text {n}" for n in numbers],
            "b": [n % 2 == 0 for n in numbers],
            "at": pa.array(
                [datetime(2026, 3, 1, 12, n % 60, tzinfo=UTC) for n in numbers], pa.timestamp("us", "UTC")
            ),
            "d": pa.array([Decimal(n) / 4 for n in numbers], pa.decimal128(10, 2)),
        }
    )


@pytest.mark.parametrize("zone", ["UTC", "Europe/Helsinki"])
def test_a_frame_holds_what_read_returns(spark: SparkSession, tmp_path: Path, zone: str) -> None:
    own = spark.newSession()
    own.conf.set("spark.sql.session.timeZone", zone)
    own.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", "7")
    with Node(tmp_path / "root", spark=own) as node:
        node.deploy(network().build())
        assert node.frame("all").collect() == []
        for begin in (0, 100, 200):
            node.push("s", rows(begin, begin + 100))
            node.drain()
        frame, table = node.frame("all"), node.read("all")
        found = frame.orderBy("`#seq`").toArrow()
        assert found.column_names == table.column_names
        assert found.cast(table.schema).equals(table)
        part = node.frame("all", 150, 250)
        assert sorted(row["n"] for row in part.collect()) == node.read("all", 150, 250)["n"].to_pylist()
        assert frame.filter("n % 2 = 0").count() == 150


def test_its_files_stay_when_nobody_else_needs_them(spark: SparkSession, tmp_path: Path) -> None:
    with Node(tmp_path / "root", spark=spark) as node:
        node.deploy(network().build())
        node.push("s", rows(0, 100))
        node.drain()
        frame, brief = node.frame("all"), node.frame("all", hold_s=0)
        node.acknowledge("reader", "all", node.statistics().log_end)
        assert node.read("all").num_rows == 0
        assert frame.count() == brief.count() == 100
        holds: Holds = node._deployed.subscriptions._holds  # the frame's hour is over
        holds.close()
        while holds._is_watched:
            pass
        with pytest.raises(PySparkException, match="is not there any more"):
            frame.collect()


def test_a_frame_needs_spark(tmp_path: Path) -> None:
    with Node(tmp_path / "root", runner="light") as node:
        node.deploy(network().build())
        with pytest.raises(EngineError, match="is not Spark"):
            node.frame("all")


def test_a_session_that_a_user_has_started_with_no_setting_of_ours(tmp_path: Path) -> None:
    """Spark takes the first `python3` of the PATH for its workers, whatever Python the program runs on."""
    program = f"""
import os, sys
sys.path.insert(0, {str(Path(__file__).parents[3])!r})
from pyspark.sql import SparkSession
from tests.engine.spark.test_frames import network, rows
from australis import Node
from australis.engine.spark import find_java
os.environ["JAVA_HOME"] = str(find_java())
session = SparkSession.builder.master("local[1]").getOrCreate()
with Node({str(tmp_path / "root")!r}, spark=session) as node:
    node.deploy(network().build())
    node.push("s", rows(0, 10))
    node.drain()
    print(node.frame("all").count(), session.range(3).count())
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.stdout == "10 3\n", done.stderr


def test_no_segments_make_no_part() -> None:
    assert divided([], 10) == ()
