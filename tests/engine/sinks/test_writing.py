"""Sinks beside a node that runs: all is written before the end, and an error ends everything."""

from __future__ import annotations

import threading
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession
from tests.engine.sinks.through_node import network

from australis import Node
from australis.engine.sinks import Sink, Writing, parse_sink
from australis.engine.sources import Options, SignalWaiter, Source, feed, parse_source
from australis.errors import EngineError

NETWORK = network()


def sources(tuples: int) -> list[Source]:
    text = f"generator:seed=7,tuples={tuples},n=serial(),sid=key(4)"
    return [
        parse_source(name, text, NETWORK.inputs[name].schema, Options(batch=500)) for name in NETWORK.inputs
    ]


def sinks(folder: Path, **names: str) -> list[Sink]:
    return [
        parse_sink(output, str(folder / name), NETWORK.output_schema(output))
        for output, name in names.items()
    ]


def test_outputs_are_written_while_the_node_runs(tmp_path: Path, spark: SparkSession) -> None:
    heard: list[str] = []
    first = threading.Event()

    def hear(output: str, table: pa.Table) -> None:
        heard.append(output)
        first.set()

    with Node(tmp_path / "root") as node:
        node.deploy(NETWORK)
        with Writing(node, sinks(tmp_path, high="high.csv", all="all.parquet"), heard=hear):
            feed(node, sources(2000), SignalWaiter())
            assert first.wait(60)
            feed(node, sources(3000), SignalWaiter())
    rows = pq.read_table(tmp_path / "all.parquet").num_rows
    assert rows == 6000
    high = (tmp_path / "high.csv").read_text().splitlines()
    assert len(high) - 1 == sum(float(line.rsplit(",", 1)[1]) >= 50 for line in high[1:]) > 2000
    assert set(heard) == {"high", "all"}


def test_an_error_ends_all_sinks_and_tells(tmp_path: Path, spark: SparkSession) -> None:
    waiter = SignalWaiter()
    with Node(tmp_path / "root") as node:
        node.deploy(NETWORK)
        writing = Writing(node, sinks(tmp_path, high="nowhere/high.csv", all="all.csv"), failed=waiter.end)
        assert not waiter.until(waiter.now() + 60)
        with pytest.raises(EngineError, match=r"high\.csv: cannot be written: No such file or directory"):
            writing.finish()


def test_who_leaves_loses_nothing(tmp_path: Path, spark: SparkSession) -> None:
    with Node(tmp_path / "root") as node:
        node.deploy(NETWORK)
        writing = Writing(node, sinks(tmp_path, all="all.csv"))
        feed(node, sources(1000), SignalWaiter())
        writing.leave()
    with Node(tmp_path / "root") as node:
        node.deploy(NETWORK)
        with Writing(node, sinks(tmp_path, all="all.csv")):
            node.drain()
    assert len((tmp_path / "all.csv").read_text().splitlines()) == 2001
