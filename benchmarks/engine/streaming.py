"""The other side: each case by hand in Structured Streaming, with native operators and Parquet outputs."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from benchmarks.engine.cases import (
    ADVANCE,
    BAND,
    BAND_MS,
    DENSE_ADVANCE,
    DENSE_WINDOW,
    FAN_OUT,
    WINDOW,
    Case,
    threshold,
)
from benchmarks.engine.digest import Digest, digest_of_files
from benchmarks.engine.processes import cpu_seconds
from benchmarks.engine.tuning import OPTIONS, Tuning
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming.query import StreamingQuery

from australis.engine.spark import local_session

SCHEMA = "time timestamp, key long, value double"
NO_DELAY = "0 seconds"
"""The streams are in order, so a watermark needs no delay."""


def session(options: Mapping[str, str] | None = None) -> SparkSession:
    """A session with as many cores and partitions as ours, and Structured Streaming's best settings."""
    spark = local_session("structured-streaming", options={**OPTIONS, **(options or {})})
    spark.sparkContext.setLogLevel("ERROR")
    return spark


class Runner:
    """Runs a case over the files of its streams, again and again, in one process."""

    def __init__(self, spark: SparkSession, case: Case, inputs: Path, tuning: Tuning) -> None:
        self._spark, self._case, self._inputs, self._tuning = spark, case, inputs, tuning

    def run(self, root: Path) -> tuple[float, float, dict[str, Digest]]:
        """The clock and the cores' time from the second file to the last commit, and what came out.

        The queries run all the time, each batch as soon as there is something to take.
        """
        for name, value in self._tuning.options().items():
            self._spark.conf.set(name, value)
        self._fill(root)
        queries = self._start(root)
        self._appear(root, "warm")
        _finish(queries)
        used, begin = cpu_seconds(), time.perf_counter()
        self._appear(root, "rest")
        _finish(queries)
        seconds, cpu = time.perf_counter() - begin, cpu_seconds() - used
        for query in queries:
            query.stop()
        return seconds, cpu, {output: digest_of_files(_folder(root, output)) for output in self._case.outputs}

    def _fill(self, root: Path) -> None:
        """Folders with the files, which appear all at once where the queries look."""
        for stream in self._case.streams:
            (root / "in" / stream).mkdir(parents=True)
            for number, path in enumerate(sorted((self._inputs / stream).glob("*.parquet"))):
                folder = root / "waiting" / stream / ("rest" if number else "warm")
                folder.mkdir(parents=True, exist_ok=True)
                os.link(path, folder / path.name)

    def _appear(self, root: Path, part: str) -> None:
        for stream in self._case.streams:
            (root / "waiting" / stream / part).rename(root / "in" / stream / part)

    def _start(self, root: Path) -> list[StreamingQuery]:
        streams = [self._stream(root / "in" / name) for name in self._case.streams]
        result = QUERIES[self._tuning.query or self._case.name](*streams)
        return WAYS[self._tuning.way](result, root)

    def _stream(self, folder: Path) -> DataFrame:
        reader = self._spark.readStream.schema(SCHEMA)
        if self._tuning.files_per_batch is not None:
            reader = reader.option("maxFilesPerTrigger", self._tuning.files_per_batch)
        return reader.parquet(str(folder / "*"))


def _finish(queries: list[StreamingQuery]) -> None:
    """Wait until all that can be read has been taken, and what follows from it committed."""
    for query in queries:
        query.processAllAvailable()


# --- the queries


def filter_map(events: DataFrame) -> DataFrame:
    return events.filter("value > 50").selectExpr("time", "key", "value * 2 + 1 AS value")


def average(events: DataFrame, advance: str = WINDOW, size: str = WINDOW, delay: str = NO_DELAY) -> DataFrame:
    """The average of each key in windows of 10 s, or another size."""
    windows = events.withWatermark("time", delay).groupBy(F.window("time", size, advance), "key")
    return windows.agg(F.avg("value").alias("value")).selectExpr("window.start AS time", "key", "value")


def band_join(left: DataFrame, right: DataFrame) -> DataFrame:
    """Pairs of one key that are at most half a second apart."""
    return _pairs(left, right, "true")


def _pairs(left: DataFrame, right: DataFrame, also: str) -> DataFrame:
    others = right.withColumnsRenamed({name: f"right_{name}" for name in ("time", "key", "value")})
    near = f"right_time BETWEEN time - INTERVAL {BAND} AND time + INTERVAL {BAND}"
    sides = left.withWatermark("time", NO_DELAY), others.withWatermark("right_time", NO_DELAY)
    pairs = sides[0].join(sides[1], F.expr(f"key = right_key AND {near} AND {also}"))
    return pairs.selectExpr("time", "key", "value - right_value AS value")


def bucketed_band_join(left: DataFrame, right: DataFrame) -> DataFrame:
    """The same, with the time in the equality too: otherwise every pair of a key in a batch is compared."""
    bucket = f"floor(unix_millis({{}}) / {BAND_MS})"
    ours = left.withColumn("bucket", F.expr(bucket.format("time")))
    near = F.expr(f"explode(sequence({bucket.format('time')} - 1, {bucket.format('time')} + 1))")
    theirs = right.withColumn("right_bucket", near)
    return _pairs(ours, theirs, "bucket = right_bucket")


QUERIES: Mapping[str, Callable[..., DataFrame]] = {
    "filter_map": filter_map,
    "keyed_average": average,
    "sliding_average": lambda events: average(events, ADVANCE),
    "dense_average": lambda events: average(events, DENSE_WINDOW, DENSE_WINDOW),
    "dense_sliding": lambda events: average(events, DENSE_ADVANCE, DENSE_WINDOW),
    "band_join": band_join,
    "bucketed": bucketed_band_join,
    "fan_out": average,
}


# --- the ways to write


def to_sink(result: DataFrame, root: Path) -> list[StreamingQuery]:
    """With Spark's own exactly-once file sink."""
    return [_sink(result, root / "out", root / "checkpoint")]


def to_queries(result: DataFrame, root: Path) -> list[StreamingQuery]:
    """A query for each output, each with its own average."""
    return [
        _sink(_above(result, number), root / f"out{number}", root / f"checkpoint{number}")
        for number in range(FAN_OUT)
    ]


def to_partitioned(result: DataFrame, root: Path) -> list[StreamingQuery]:
    """One query and one sink: a row for each output that wants it, in a folder for each output."""
    wanted = [F.when(F.col("value") > threshold(number), F.lit(f"out{number}")) for number in range(FAN_OUT)]
    rows = result.withColumn("output", F.explode(F.array_compact(F.array(*wanted))))
    return [_sink(rows, root / "all", root / "checkpoint", partition="output")]


def to_persisted(result: DataFrame, root: Path) -> list[StreamingQuery]:
    """A batch is kept in memory and written once for each output, one by one."""
    return [_foreach(result, root, threads=1)]


def to_persisted_by_threads(result: DataFrame, root: Path) -> list[StreamingQuery]:
    """A batch is kept in memory and written once for each output, several in parallel."""
    return [_foreach(result, root, threads=4)]


WAYS: Mapping[str, Callable[[DataFrame, Path], list[StreamingQuery]]] = {
    "sink": to_sink,
    "queries": to_queries,
    "partitioned": to_partitioned,
    "persist": to_persisted,
    "persist_threads": to_persisted_by_threads,
}


def _folder(root: Path, output: str) -> Path:
    partition = root / "all" / f"output={output}"
    return partition if partition.exists() else root / output


def _above(result: DataFrame, number: int) -> DataFrame:
    return result.filter(F.col("value") > threshold(number))


def _sink(result: DataFrame, path: Path, checkpoint: Path, partition: str | None = None) -> StreamingQuery:
    writer = result.writeStream.format("parquet").option("checkpointLocation", str(checkpoint))
    writer = writer.partitionBy(partition) if partition else writer
    return writer.start(str(path))


def _foreach(result: DataFrame, root: Path, threads: int) -> StreamingQuery:
    def write(batch: DataFrame, number: int) -> None:
        # A folder for each batch, overwritten when a batch is repeated, makes it exactly once.
        kept = batch.persist()
        kept.count()
        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(lambda output: _write(kept, root, number, output), range(FAN_OUT)))
        kept.unpersist()

    writer = result.writeStream.foreachBatch(write).option("checkpointLocation", str(root / "checkpoint"))
    return writer.start()


def _write(batch: DataFrame, root: Path, number: int, output: int) -> None:
    _above(batch, output).write.mode("overwrite").parquet(str(root / f"out{output}" / f"batch-{number}"))
