"""The windows that one query merges by hand are those of Spark."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
from benchmarks.qos.one_query import Windows
from benchmarks.qos.scene import AVERAGES, SHOP, SIZES, WINDOW
from benchmarks.qos.separate import COLUMNS
from benchmarks.qos.streams import write_stream
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

BATCHES, TUPLES, OPEN_FROM = 25, 400, 20
"""Two and a half seconds; the last window stays open."""
KEYS = [("time", "ascending"), ("host", "ascending")]


def test_merged_windows_are_those_of_spark(spark: SparkSession, tmp_path: Path) -> None:
    stream = write_stream(tmp_path / "stream", [TUPLES] * BATCHES, 60)
    windows, found = Windows(), []
    for first in range(0, BATCHES, 7):
        files = [str(path) for path in stream.files[first : first + 7]]
        _, results = windows.add(spark.read.schema(COLUMNS).parquet(*files).filter(SHOP))
        found.append(results)
    closed = [str(path) for path in stream.files[:OPEN_FROM]]
    sizes = spark.read.schema(COLUMNS).parquet(*closed).filter(SHOP)
    sizes = sizes.selectExpr(*(f"{text} AS {name}" for name, text in SIZES.items()))
    computed = [F.expr(text).alias(name) for name, text in AVERAGES.items()]
    expected = sizes.groupBy(F.window("time", WINDOW), "host").agg(*computed)
    names = ["time", "host", *AVERAGES]
    whole = expected.selectExpr("window.start AS time", "host", *AVERAGES).toArrow().select(names)
    merged = pa.concat_tables(each.select(names).cast(whole.schema) for each in found if len(each))
    assert len(whole) > 100
    assert merged.sort_by(KEYS).to_pylist() == whole.sort_by(KEYS).to_pylist()
