"""The other side: hand-written Structured Streaming, over a folder of files, in two ways.

A query for each output (`separate`), where Spark's scheduler shares the cores among them: FIFO, or FAIR with
a pool for each query, weighted like its output; or queries that write several outputs (`one_query`). Native
operators, RocksDB with changelog checkpoints, unix domain sockets, the same cores and partitions; each batch
begins as soon as the last one has ended.
"""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Protocol

from benchmarks.engine.processes import cpu_seconds
from benchmarks.engine.tuning import OPTIONS
from benchmarks.qos.feed import Feed
from benchmarks.qos.judging import Pieces
from benchmarks.qos.one_query import OneQuery, TwoQueries
from benchmarks.qos.scene import QUALITIES
from benchmarks.qos.separate import SeparateQueries
from benchmarks.qos.streams import PERIOD_S, Stream, read_stream
from pyspark.sql import SparkSession

from australis.engine.spark import local_session

FILES_LISTED = {"spark.sql.sources.parallelPartitionDiscovery.threshold": "100000"}
"""A batch of more than 32 files would begin with a job that inspects each of them in its own task."""


class Application(Protocol):
    """Queries that run."""

    def drain(self) -> None: ...
    def stop(self) -> None: ...
    def pieces(self, name: str, feed: Feed) -> Pieces: ...


Start = Callable[[SparkSession, Path], Application]
"""Starts queries over a folder."""
SHARING: Mapping[str, Start] = {"one query": OneQuery, "two queries": TwoQueries}
"""The sides whose outputs share queries; the others are called like the mode of Spark's scheduler."""


def begin(side: str, scratch: Path) -> tuple[SparkSession, Start]:
    """A session whose scheduler shares the cores among queries by FIFO or FAIR, and what starts these."""
    pools = scratch / "pools.xml"
    pools.write_text(_pools())
    mode = "FIFO" if side in SHARING else side
    sharing = {"spark.scheduler.mode": mode, "spark.scheduler.allocation.file": pools.as_uri()}
    spark = local_session("structured-streaming", options={**OPTIONS, **FILES_LISTED, **sharing})
    # Queries are stopped in the middle of a batch, and log that at length.
    spark.sparkContext.setLogLevel("OFF")
    return spark, SHARING.get(side, SeparateQueries)


def _pools() -> str:
    """A pool for each output; weights are whole numbers."""
    each = (
        f'<pool name="{name}"><schedulingMode>FIFO</schedulingMode>'
        f"<weight>{round(2 * quality.weight)}</weight><minShare>0</minShare></pool>"
        for name, quality in QUALITIES.items()
    )
    return f'<?xml version="1.0"?><allocations>{"".join(each)}</allocations>'


def capacity(job: dict[str, Any], spark: SparkSession, start: Start) -> dict[str, Any]:
    """Tuples per second through all queries, over a backlog."""
    stream, rates, cpu_us = read_stream(Path(job["stream"])), [], []
    for attempt in range(job["attempts"]):
        root = Path(job["scratch"]) / f"capacity-{attempt}"
        running = _start(start, spark, root, read_stream(Path(job["warm_up"])))
        began, used = time.perf_counter(), cpu_seconds()
        for path in stream.files:
            _appear(path, root / "in")
        running.drain()
        rates.append(stream.tuples / (time.perf_counter() - began))
        cpu_us.append((cpu_seconds() - used) / stream.tuples * 1e6)
        running.stop()
        shutil.rmtree(root, ignore_errors=True)
    # Other programs on the machine can only reduce it.
    return {"capacity": max(rates), "least": min(rates), "most": max(rates), "cpu_us": min(cpu_us)}


def run(job: dict[str, Any], spark: SparkSession, start: Start) -> dict[str, Any]:
    """A stream at its pace; what is not written at its end is late for ever."""
    stream, root = read_stream(Path(job["stream"])), Path(job["scratch"]) / "root"
    running = _start(start, spark, root, read_stream(Path(job["warm_up"])))
    feed, used = Feed.soon(stream), cpu_seconds()
    late = feed.run(lambda path, due: _appear(path, root / "in"))
    used = cpu_seconds() - used
    running.stop()
    found = {name: running.pieces(name, feed) for name in QUALITIES}
    shutil.rmtree(root, ignore_errors=True)
    return {
        "outputs": {name: pieces.to_json() for name, pieces in found.items()},
        "until": stream.seconds,
        "late": late,
        "cpu_s": used,
    }


def _appear(path: Path, folder: Path) -> None:
    """Let a file appear in a folder atomically."""
    os.link(path, folder / f"{path.parent.name}-{path.name}")


def _start(start: Start, spark: SparkSession, root: Path, warm_up: Stream) -> Application:
    """All queries, warm: they have already taken some files."""
    folder = root / "in"
    folder.mkdir(parents=True)
    running = start(spark, root)
    for path in warm_up.files:
        _appear(path, folder)
        time.sleep(PERIOD_S)
    running.drain()
    return running
