"""A query for each output: Spark's scheduler shares the cores among them, and each reads the files itself.

A tuple can be read when the sink's log has its batch.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from benchmarks.qos.feed import Feed
from benchmarks.qos.judging import Pieces
from benchmarks.qos.scene import ALARMS, ARCHIVE, AVERAGES, FAILED, SHOP, SIZES, VISITS, WINDOW, WINDOWED
from benchmarks.qos.taken import batches, taken, windows
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming.query import StreamingQuery

COLUMNS = "time timestamp, host long, line string"
POOL = "spark.scheduler.pool"


def _expressions(attributes: Mapping[str, str]) -> list[str]:
    return [f"{text} AS {name}" for name, text in attributes.items()]


def alarms(shop: DataFrame) -> DataFrame:
    return shop.selectExpr(*_expressions(ALARMS)).filter(FAILED)


def visits(shop: DataFrame) -> DataFrame:
    return shop.selectExpr(*_expressions(VISITS))


def averages(shop: DataFrame) -> DataFrame:
    sizes = shop.selectExpr(*_expressions(SIZES)).withWatermark("time", "0 seconds")
    computed = [F.expr(text).alias(name) for name, text in AVERAGES.items()]
    windows = sizes.groupBy(F.window("time", WINDOW), "host").agg(*computed)
    return windows.selectExpr("window.start AS time", "host", *AVERAGES)


def archive(shop: DataFrame) -> DataFrame:
    return shop.selectExpr(*_expressions(ARCHIVE))


QUERIES: Mapping[str, Callable[[DataFrame], DataFrame]] = {
    "alarms": alarms,
    "visits": visits,
    "averages": averages,
    "archive": archive,
}


class SeparateQueries:
    """The queries of all outputs, side by side."""

    def __init__(self, spark: SparkSession, root: Path, names: Iterable[str] = QUERIES) -> None:
        self._root = root
        self._running = [self._query(spark, name) for name in names]

    def _query(self, spark: SparkSession, name: str) -> StreamingQuery:
        # The thread of a query inherits the local properties of the one that starts it.
        spark.sparkContext.setLocalProperty(POOL, name)
        shop = spark.readStream.schema(COLUMNS).parquet(str(self._root / "in")).filter(SHOP)
        writer = QUERIES[name](shop).writeStream.format("parquet")
        state, out = self._root / "state" / name, self._root / "out" / name
        return writer.option("checkpointLocation", str(state)).start(str(out))

    def drain(self) -> None:
        for query in self._running:
            query.processAllAvailable()

    def stop(self) -> None:
        for query in self._running:
            query.stop()

    def pieces(self, name: str, feed: Feed) -> Pieces:
        """What an output received."""
        output = self._root / "out" / name
        committed = {batch: at - feed.begin for batch, at in _committed(output).items()}
        if name != WINDOWED:
            return batches(name, taken(self._root / "state" / name), committed, feed)
        written = [(batch, output / path) for batch, path in _written(output)]
        return windows(written, committed, feed)


def _committed(output: Path) -> dict[int, float]:
    """When each batch could be read."""
    logs = (output / "_spark_metadata").glob("[0-9]*")
    return {int(path.name.split(".")[0]): path.stat().st_mtime for path in logs}


def _written(output: Path) -> list[tuple[int, str]]:
    """The files that each batch wrote; every tenth log repeats all before it."""
    found: dict[str, int] = {}
    logs = {int(path.name.split(".")[0]): path for path in (output / "_spark_metadata").glob("[0-9]*")}
    for batch, log in sorted(logs.items()):
        for line in log.read_text().splitlines()[1:]:
            found.setdefault(json.loads(line)["path"].rpartition("/")[2], batch)
    return [(batch, path) for path, batch in found.items()]
