"""Spark reads and writes a node as the format `australis`, found without registration."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from tests.client.test_control import network
from tests.client.test_tuples import rows

import australis
from australis.errors import ServiceError
from pyspark_australis import DefaultSource
from pyspark_australis.options import SourceOptions


def test_batches_and_streams(spark: SparkSession, start: Callable[..., str], tmp_path: Path) -> None:
    if " " in sys.executable:
        # Spark then looks for no data sources: it asks a shell for the Python without quoting its path.
        spark.dataSource.register(DefaultSource)
    url = start()
    with australis.connect(url) as node:
        node.deploy(network())
        node.push("pos", rows(0, 100))
        # For a consumer that has read nothing, all is kept.
        assert node.consumer("test", "far") == (0, None)
        end = node.status()["log_end"]
        with node.subscribe("far", begin=0, end=end) as tables:
            assert sum(table.num_rows for table in tables) == 100
        frame = spark.read.format("australis").option("url", url).option("output", "far").load()
        assert frame.columns == ["sid", "time", "pos", "#ts", "#seq"]
        assert sorted(row["time"] for row in frame.collect()) == list(range(100))
        # A query reads the output and writes it into the input again, as other tuples.
        stream = (
            spark.readStream.format("australis")
            .option("url", url)
            .option("output", "far")
            .option("consumer", "spark")
            .option("maxTuplesPerTrigger", "40")
            .load()
        )
        moved = stream.filter("time < 100").selectExpr("sid", "time + 1000 AS time", "pos")
        for _ in range(2):
            query = (
                moved.writeStream.format("australis")
                .option("url", url)
                .option("input", "pos")
                .option("checkpointLocation", str(tmp_path / "checkpoint"))
                .trigger(availableNow=True)
                .start()
            )
            query.awaitTermination()
        end = node.status()["log_end"]
        with node.subscribe("far", begin=0, end=end) as tables:
            found = [n for table in tables for n in table["time"].to_pylist()]
        assert sorted(found) == [*range(100), *range(1000, 1100)]


def test_a_token_is_no_option() -> None:
    with pytest.raises(ServiceError, match="would be in Spark's plans"):
        SourceOptions.of({"token": "secret"})
    with pytest.raises(ServiceError, match="is no option of australis"):
        SourceOptions.of({"ouput": "far"})
