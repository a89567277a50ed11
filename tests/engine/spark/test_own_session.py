"""A user's own Spark session runs trains, and is left as it is."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from australis import Node
from australis.algebra.builder import NetworkBuilder
from australis.engine.settings import Way
from australis.errors import EngineError


@pytest.mark.parametrize("way", list(Way))
def test_it_runs_trains_and_stays_as_it_is(spark: SparkSession, tmp_path: Path, way: Way) -> None:
    """With ANSI mode on, the cast of what is no number would be an error."""
    own = spark.newSession()
    settings = {
        "spark.sql.ansi.enabled": "true",
        "spark.sql.session.timeZone": "Europe/Helsinki",
        "spark.sql.shuffle.partitions": "7",
    }
    for name, value in settings.items():
        own.conf.set(name, value)
    net = NetworkBuilder("n")
    net.input("s", "text string").map({"number": "cast(text as int)"}).output("numbers")
    with Node(tmp_path / "root", spark=own, way=way) as node:
        assert node.spark is own
        node.deploy(net.build())
        node.push("s", pa.table({"text": ["1", "one", "2"]}))
        node.drain()
        assert node.read("numbers")["number"].to_pylist() == [1, None, 2]
    assert {name: own.conf.get(name) for name in settings} == settings
    assert own.range(3).count() == 3


def test_a_plain_node_shares_the_spark_of_its_process_and_leaves_its_settings(
    spark: SparkSession, tmp_path: Path
) -> None:
    zone = spark.conf.get("spark.sql.session.timeZone")
    spark.conf.set("spark.sql.session.timeZone", "Europe/Helsinki")
    try:
        with Node(tmp_path / "root", spark_options={"spark.sql.shuffle.partitions": "5"}) as node:
            assert node.spark.sparkContext is spark.sparkContext
            assert spark.conf.get("spark.sql.session.timeZone") == "Europe/Helsinki"
            assert spark.conf.get("spark.sql.shuffle.partitions") != "5"
    finally:
        spark.conf.set("spark.sql.session.timeZone", zone)
    assert spark.range(3).count() == 3, "it still runs"


def test_one_that_was_stopped(spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spark.sparkContext, "_jsc", None)
    with pytest.raises(
        EngineError, match="spark: is a SparkSession that was stopped; expected one that runs"
    ):
        Node(tmp_path / "root", spark=spark)
