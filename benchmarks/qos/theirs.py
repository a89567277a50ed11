"""The other side: a hand-written Structured Streaming query for each output, over a folder of files.

Native operators, RocksDB with changelog checkpoints, unix domain sockets, the same cores and partitions; each
batch begins as soon as the last one has ended. All queries are in one application, whose cores Spark's
scheduler shares among them: FIFO, or FAIR with a pool for each query, weighted like its output. A tuple can
be read when the sink's log has its batch.
"""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from benchmarks.engine.tuning import OPTIONS
from benchmarks.qos.feed import Feed
from benchmarks.qos.judging import Pieces
from benchmarks.qos.scene import (
    ALARMS,
    ARCHIVE,
    AVERAGES,
    FAILED,
    HOSTS,
    QUALITIES,
    SHOP,
    SIZES,
    VISITS,
    WINDOW,
    WINDOW_S,
    WINDOWED,
)
from benchmarks.qos.streams import PERIOD_S, START_US, Stream, read_stream
from pyarrow import parquet
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming.query import StreamingQuery

from australis.engine.spark import local_session

COLUMNS = "time timestamp, host long, line string"
POOL = "spark.scheduler.pool"
FILES_LISTED = {"spark.sql.sources.parallelPartitionDiscovery.threshold": "100000"}
"""A batch of more than 32 files would begin with a job that inspects each of them in its own task."""


def begin(mode: str, scratch: Path) -> SparkSession:
    """A session in which Spark's scheduler shares the cores among queries by FIFO or FAIR."""
    pools = scratch / "pools.xml"
    pools.write_text(_pools())
    sharing = {"spark.scheduler.mode": mode, "spark.scheduler.allocation.file": pools.as_uri()}
    spark = local_session("structured-streaming", options={**OPTIONS, **FILES_LISTED, **sharing})
    # Queries are stopped in the middle of a batch, and log that at length.
    spark.sparkContext.setLogLevel("OFF")
    return spark


def _pools() -> str:
    """A pool for each output; weights are whole numbers."""
    each = (
        f'<pool name="{name}"><schedulingMode>FIFO</schedulingMode>'
        f"<weight>{round(2 * quality.weight)}</weight><minShare>0</minShare></pool>"
        for name, quality in QUALITIES.items()
    )
    return f'<?xml version="1.0"?><allocations>{"".join(each)}</allocations>'


# --- the queries


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


# --- running them


def capacity(job: dict[str, Any], spark: SparkSession) -> dict[str, float]:
    """Tuples per second through all queries, over a backlog."""
    stream, rates = read_stream(Path(job["stream"])), []
    for attempt in range(job["attempts"]):
        root = Path(job["scratch"]) / f"capacity-{attempt}"
        queries = _start(spark, root, read_stream(Path(job["warm_up"])))
        began = time.perf_counter()
        for path in stream.files:
            _appear(path, root / "in")
        for query in queries:
            query.processAllAvailable()
        rates.append(stream.tuples / (time.perf_counter() - began))
        _stop(queries)
        shutil.rmtree(root, ignore_errors=True)
    # Other programs on the machine can only reduce it.
    return {"capacity": max(rates), "least": min(rates), "most": max(rates)}


def run(job: dict[str, Any], spark: SparkSession) -> dict[str, Any]:
    """A stream at its pace; what is not written at its end is late for ever."""
    stream, root = read_stream(Path(job["stream"])), Path(job["scratch"]) / "root"
    queries = _start(spark, root, read_stream(Path(job["warm_up"])))
    feed = Feed.soon(stream)
    late = feed.run(lambda path, due: _appear(path, root / "in"))
    _stop(queries)
    found = {name: _pieces(name, root, feed) for name in QUERIES}
    shutil.rmtree(root, ignore_errors=True)
    return {
        "outputs": {name: pieces.to_json() for name, pieces in found.items()},
        "until": stream.seconds,
        "late": late,
    }


def _appear(path: Path, folder: Path) -> None:
    """Let a file appear in a folder atomically."""
    os.link(path, folder / f"{path.parent.name}-{path.name}")


def _start(spark: SparkSession, root: Path, warm_up: Stream) -> list[StreamingQuery]:
    """All queries, warm: they have already taken some files."""
    folder = root / "in"
    folder.mkdir(parents=True)
    queries = [_query(spark, name, root) for name in QUERIES]
    for path in warm_up.files:
        _appear(path, folder)
        time.sleep(PERIOD_S)
    for query in queries:
        query.processAllAvailable()
    return queries


def _query(spark: SparkSession, name: str, root: Path) -> StreamingQuery:
    # The thread of a query inherits the local properties of the one that starts it.
    spark.sparkContext.setLocalProperty(POOL, name)
    shop = spark.readStream.schema(COLUMNS).parquet(str(root / "in")).filter(SHOP)
    writer = QUERIES[name](shop).writeStream.format("parquet")
    return writer.option("checkpointLocation", str(root / "state" / name)).start(str(root / "out" / name))


def _stop(queries: list[StreamingQuery]) -> None:
    for query in queries:
        query.stop()


# --- what came of it


def _pieces(name: str, root: Path, feed: Feed) -> Pieces:
    committed = {batch: at - feed.begin for batch, at in _committed(root / "out" / name).items()}
    if name == WINDOWED:
        return _windows(root / "out" / name, committed, feed)
    column = 2 if name == "alarms" else 1
    delivered = np.full(len(feed.stream.files), np.inf)
    places = {f"{path.parent.name}-{path.name}": number for number, path in enumerate(feed.stream.files)}
    for file, batch in _taken(root / "state" / name).items():
        if file in places and batch in committed:
            delivered[places[file]] = committed[batch]
    arrived = np.arange(len(delivered)) * PERIOD_S
    return Pieces(arrived, delivered, feed.stream.due[:, column].astype(float), np.ones(len(delivered)))


def _committed(output: Path) -> dict[int, float]:
    """When each batch could be read."""
    logs = (output / "_spark_metadata").glob("[0-9]*")
    return {int(path.name.split(".")[0]): path.stat().st_mtime for path in logs}


def _taken(checkpoint: Path) -> dict[str, int]:
    """The batch that took each file."""
    found = {}
    for log in (checkpoint / "sources" / "0").glob("[0-9]*"):
        for line in log.read_text().splitlines()[1:]:
            entry = json.loads(line)
            found[entry["path"].rpartition("/")[2]] = int(entry["batchId"])
    return found


def _windows(output: Path, committed: Mapping[int, float], feed: Feed) -> Pieces:
    """When the results of each window could be read."""
    count = round(feed.stream.seconds / WINDOW_S) - 1
    begin_us = _first_us(feed.stream)
    tuples = dict.fromkeys(range(count), 0)
    found: list[tuple[int, float, int]] = []
    for batch, path in _written(output):
        times = parquet.read_table(output / path, columns=["time"])["time"].cast(pa.timestamp("us", "UTC"))
        starts = (times.cast(pa.int64()).to_numpy() - begin_us) // (WINDOW_S * 1_000_000)
        for window, results in zip(*np.unique(starts, return_counts=True), strict=True):
            if int(window) in tuples and batch in committed:
                found.append((int(window), committed[batch], int(results)))
                tuples[int(window)] += int(results)
    found += [(window, np.inf, HOSTS - seen) for window, seen in tuples.items() if seen < HOSTS]
    windows, delivered, results = (np.array(column, float) for column in zip(*found, strict=True))
    return Pieces(windows * WINDOW_S, delivered, results, np.ones(len(windows)))


def _first_us(stream: Stream) -> int:
    first = parquet.read_table(stream.files[0], columns=["time"])["time"][0]
    return int(first.value) - (int(first.value) - START_US) % 1_000_000


def _written(output: Path) -> list[tuple[int, str]]:
    """The files that each batch wrote; every tenth log repeats all before it."""
    found: dict[str, int] = {}
    logs = {int(path.name.split(".")[0]): path for path in (output / "_spark_metadata").glob("[0-9]*")}
    for batch, log in sorted(logs.items()):
        for line in log.read_text().splitlines()[1:]:
            found.setdefault(json.loads(line)["path"].rpartition("/")[2], batch)
    return [(batch, path) for path, batch in found.items()]
