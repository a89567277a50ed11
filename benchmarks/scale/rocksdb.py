"""A state of many groups in Structured Streaming, which keeps it in RocksDB, beside the same on our nodes.

All sides take the same tuples in turn: averages by key in windows that stay open. Each side has a process
of its own, and its CPU time is that of this process and its descendants. Structured Streaming gets a
Parquet file for each train, whose writing does not count, runs one query all the time, and drops its
results. Our nodes log the tuples and keep the results, and their big trains count with all merges that they
cause. At the end the windows are closed, and all sides must have the same averages.
"""

from __future__ import annotations

import math
import multiprocessing
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager, suppress
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from statistics import fmean, median
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import pyarrow.compute as pc
import pyarrow.parquet as pq
from benchmarks.engine.processes import cpu_seconds
from benchmarks.engine.tuning import STATE
from benchmarks.saying import say, steps
from benchmarks.scale.state import BIG, SMALL, Filled, batch

if TYPE_CHECKING:
    from pyspark.sql.streaming.query import StreamingQuery

KEYS = 1_000_000
WARM_PASSES, PASSES = 20, 11
ROUNDS, ROW = 2, 3
"""How often each side takes a row of big trains, and how many are in it."""
DAY_US = 86_400_000_000
THEIRS, SPARK, LIGHT = "streaming", "spark", "light"
OPTIONS = {
    # Otherwise a batch that moves the watermark is followed by one without tuples, which closes nothing here.
    "spark.sql.streaming.noDataMicroBatches.enabled": "false",
    # The state fits; by default 8 MB of it do.
    f"{STATE}.rocksdb.blockCacheSizeMB": "256",
}


class Side(Protocol):
    """What has a group for each key, and takes trains."""

    def fill(self) -> None: ...

    def train(self, tuples: int) -> tuple[float, float, int]: ...

    def big_train(self, passes: int) -> float: ...

    def means(self) -> tuple[int, float]: ...

    def close(self) -> None: ...


class Ours(Filled):
    """A node whose windows can be closed."""

    def means(self) -> tuple[int, float]:
        """Close all windows; returns the number of averages, and their sum."""
        self.at = DAY_US
        self.fill()
        means = self.node.read("means")["mean"]
        return len(means), pc.sum(means).as_py()

    def close(self) -> None:
        self.node.stop()


class Theirs:
    """A query over the files of a folder."""

    def __init__(self, root: Path, keys: int) -> None:
        self.keys, self.at, self._random = keys, 0, np.random.default_rng(1)
        self._files, self._waiting = root / "in", root / "waiting"
        for folder in (self._files, self._waiting):
            folder.mkdir(parents=True)
        self._query = _averages(self._files, root / "checkpoint")

    def fill(self) -> None:
        """A group for each key."""
        self._run(np.arange(self.keys))

    def train(self, tuples: int) -> tuple[float, float, int]:
        """The clock and the CPU time of a batch."""
        return *self._run(self._random.integers(0, self.keys, tuples)), 0

    def big_train(self, passes: int) -> float:
        """The average CPU time of a row of big batches, without what RocksDB does after the last."""
        return fmean(self.train(BIG)[1] for _ in range(passes))

    def means(self) -> tuple[int, float]:
        """Close all windows; returns the number of averages, and their sum."""
        self.at = DAY_US
        self.fill()
        self.train(1)
        found = self._query.lastProgress
        assert found is not None
        count, total = found["observedMetrics"]["closed"]
        return count, total

    def search_ms(self) -> float:
        """How long both tasks of a small batch look for windows to close, the median of the timed ones."""
        batches = [found for found in self._query.recentProgress if found.numInputRows == SMALL]
        return median(found.stateOperators[0].allRemovalsTimeMs for found in batches[-PASSES:])

    def close(self) -> None:
        self._query.stop()

    def _run(self, keys: np.ndarray) -> tuple[float, float]:
        self.at += 1
        path = self._waiting / f"{self.at:012d}.parquet"
        # In two groups of rows, one for each core.
        pq.write_table(batch(keys, self.at), path, row_group_size=-(-len(keys) // 2))
        clock, cpu = time.perf_counter(), cpu_seconds()
        path.rename(self._files / path.name)
        self._query.processAllAvailable()
        return time.perf_counter() - clock, cpu_seconds() - cpu


def _averages(files: Path, checkpoint: Path) -> StreamingQuery:
    # Only here, since other parts measure the memory of the process that imports this module.
    from benchmarks.engine import streaming  # noqa: PLC0415
    from pyspark.sql import functions as F  # noqa: PLC0415

    spark = streaming.session(OPTIONS)
    stream = spark.readStream.schema("k long, at timestamp, v double").parquet(str(files))
    windows = stream.withWatermark("at", streaming.NO_DELAY).groupBy(F.window("at", "1 day"), "k")
    means = windows.agg(F.avg("v").alias("mean")).observe("closed", F.count("*"), F.sum("mean"))
    writer = means.writeStream.format("noop").outputMode("append")
    return writer.option("checkpointLocation", str(checkpoint)).start()


SIDES: Mapping[str, Callable[[Path, int], Side]] = {
    THEIRS: Theirs,
    SPARK: partial(Ours, runner="spark"),
    LIGHT: partial(Ours, runner="light"),
}


def _serve(side: str, keys: int, pipe: Connection) -> None:
    """Call the methods that arrive in the pipe, and send what they return."""
    with TemporaryDirectory(prefix="australis-rocksdb-") as folder:
        found = SIDES[side](Path(folder) / "root", keys)
        with closing(found), suppress(EOFError):  # the benchmark has ended, or was interrupted
            while True:
                method, arguments = pipe.recv()
                pipe.send(getattr(found, method)(*arguments))


class Remote:
    """A side in a process of its own."""

    def __init__(self, pipe: Connection) -> None:
        self._pipe = pipe

    def call(self, method: str, *arguments: int) -> Any:
        """What a method returns there."""
        self._pipe.send((method, arguments))
        return self._pipe.recv()


@contextmanager
def _remote(side: str, keys: int) -> Iterator[Remote]:
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    process = context.Process(target=_serve, args=(side, keys, there))
    process.start()
    there.close()  # so that the end of the process ends the pipe
    try:
        yield Remote(here)
    finally:
        here.close()
        process.join()


def measure(keys: int = KEYS) -> dict[str, float]:
    """What trains cost on each side, small ones by the clock and big ones in CPU time, and the ratios."""
    with ExitStack() as stack:
        sides = {side: stack.enter_context(_remote(side, keys)) for side in SIDES}
        for side in steps("Filling states", sides.values()):
            side.call("fill")
        small = _in_turn(
            "Small trains", sides, WARM_PASSES + PASSES, lambda side: side.call("train", SMALL)[0]
        )
        small_s = {name: median(found[WARM_PASSES:]) for name, found in small.items()}
        search_ms = sides[THEIRS].call("search_ms")
        # The first round warms up.
        big = _in_turn("Rows of big trains", sides, 1 + ROUNDS, lambda side: side.call("big_train", ROW))
        big_s = {name: fmean(found[1:]) for name, found in big.items()}
        say("Closing windows ...")
        _check({name: side.call("means") for name, side in sides.items()}, keys)
    return {
        "rocksdb_small_ms": 1e3 * small_s[THEIRS],
        "rocksdb_small_x": small_s[THEIRS] / small_s[SPARK],
        "rocksdb_small_light_x": small_s[THEIRS] / small_s[LIGHT],
        "rocksdb_search_ms": search_ms,
        "rocksdb_big_cpu_s": big_s[THEIRS],
        "rocksdb_big_x": big_s[THEIRS] / big_s[SPARK],
        "rocksdb_big_light_x": big_s[THEIRS] / big_s[LIGHT],
    }


def _in_turn(
    what: str, sides: Mapping[str, Remote], passes: int, take: Callable[[Remote], float]
) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {name: [] for name in sides}
    for _ in steps(what, range(passes)):
        for name, side in sides.items():
            found[name].append(take(side))
    say(f"{what}: {found}")
    return found


def _check(means: Mapping[str, tuple[int, float]], keys: int) -> None:
    """All sides must have an average for each key, and the same ones as far as their sum shows."""
    expected = means[THEIRS][1]
    if any(count != keys or not math.isclose(total, expected) for count, total in means.values()):
        raise SystemExit(f"the sides differ in the number of averages and their sum: {means}")
