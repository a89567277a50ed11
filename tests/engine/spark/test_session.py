"""The Spark session of the tests is the one that trains run in."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pyarrow as pa
from pyspark.sql import SparkSession


def interpreters(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        yield pa.record_batch({"python": [sys.executable] * batch.num_rows})


def test_python_workers_run_this_python(spark: SparkSession) -> None:
    rows = spark.range(4).mapInArrow(interpreters, "python string").distinct().collect()
    assert [row.python for row in rows] == [sys.executable]


def test_settings_of_a_train(spark: SparkSession) -> None:
    settings = {
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.ansi.enabled": "false",
        "spark.sql.adaptive.enabled": "false",
        "spark.sql.shuffle.partitions": "2",
        "spark.python.unix.domain.socket.enabled": "true",
        "spark.ui.enabled": "false",
    }
    assert {name: spark.conf.get(name) for name in settings} == settings


def test_not_ansi_means_no_error_stops_a_train(spark: SparkSession) -> None:
    row = spark.sql("SELECT CAST('x' AS INT) AS bad, 1 / 0 AS nothing, 2147483647 + 1 AS wrapped").first()
    assert row is not None
    assert row.asDict() == {"bad": None, "nothing": None, "wrapped": -2147483648}
