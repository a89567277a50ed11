"""Tables that Spark writes: each tuple once, though the node ends between writing and its acknowledgement."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from australis import Network, Node
from australis.algebra.builder import NetworkBuilder
from australis.algebra.schema import parse_schema
from australis.engine.sinks import SparkTableSink, parse_sink, write_out
from australis.engine.sinks.spark_table import RunningTable
from australis.errors import EngineError

SCHEMA = parse_schema("n long")


def network() -> Network:
    net = NetworkBuilder("n")
    net.input("s", "n long").filter("n >= 0").output("all")
    return net.build()


class Killed(Exception):
    """The node ends here."""


def push(node: Node, begin: int, end: int) -> None:
    node.push("s", pa.table({"n": range(begin, end)}))
    node.drain()


@pytest.mark.parametrize("format", ["parquet", "delta", "iceberg"])
def test_each_tuple_is_there_once(
    spark: SparkSession, tmp_path: Path, format: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = str(tmp_path / "table")
    _prepare(spark, format, place)
    sink = parse_sink("all", f"spark:{format}:{place}", SCHEMA)
    assert isinstance(sink, SparkTableSink)
    with Node(tmp_path / "root", spark=spark) as node:
        node.deploy(network())
        push(node, 0, 100)
        write_out(node, sink)
        push(node, 100, 200)
        with monkeypatch.context() as patch:
            patch.setattr(RunningTable, "_acknowledge", _killed)
            with pytest.raises(Killed):
                write_out(node, sink)
        push(node, 200, 300)
        sink.check(node.consumer(sink.consumer, "all")[1])
        write_out(node, sink)
        found = spark.read.format(format).load(place).select("n").toArrow()["n"].to_pylist()
    assert sorted(found) == list(range(300))


def _killed(running: RunningTable, end: int) -> None:
    raise Killed(end)


def _prepare(spark: SparkSession, format: str, place: str) -> None:
    """Skip what this Spark has no package for; make the table where Iceberg wants one."""
    if format == "parquet":
        return
    try:
        spark.range(0).selectExpr("id AS n").write.format(format).save(place)
    except Exception as error:
        pytest.skip(f"this Spark has no {format}: {str(error).splitlines()[0]}")


def test_a_light_node_has_no_spark(tmp_path: Path) -> None:
    with Node(tmp_path / "root", runner="light") as node:
        node.deploy(network())
        with pytest.raises(EngineError, match="is not Spark"):
            write_out(node, parse_sink("all", f"delta:{tmp_path}/t", SCHEMA))


@pytest.mark.parametrize("text", ["spark:jdbc:x", "spark:parquet:", "delta:", "spark:x"])
def test_what_is_no_table(text: str) -> None:
    with pytest.raises(EngineError, match="is no table that Spark writes exactly once"):
        parse_sink("all", text, SCHEMA)


def test_a_position_of_another_kind() -> None:
    with pytest.raises(EngineError, match="is none of a table"):
        parse_sink("all", "delta:t", SCHEMA).check('{"size": 7}')
