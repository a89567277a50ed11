"""The delay of the average of keys that fall quiet, from the end of a window to its result, on both sides.

There are 1,000 keys. Tuples come at 1,000 a second, in event time that runs with the clock, up to 200 ms out
of order. In each window of a second a tenth of the keys send, ten tuples each on average, and are quiet for
nine windows after it. So no tuple of a key closes its window; that takes the progress of the whole stream.
Both sides close a window when the greatest time so far is 200 ms after its end, Structured Streaming by a
watermark, Australis by the marks of its input. The delay of a result lasts from the arrival of the first
batch with such a tuple until the result can be read; arrivals and readers are those of `delay`.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import fmean, median, quantiles
from typing import Any

import numpy as np
import pyarrow as pa
from benchmarks.engine import streaming
from benchmarks.engine.australis_side import RUNNERS
from benchmarks.engine.delay import BATCH, END_S, PERIOD_S, WARM_UP_S, Feed, committed, starts_of, written
from benchmarks.engine.digest import Digest, digest
from benchmarks.engine.inputs import KEYS, START_US, STEP_US, closing, table_of
from benchmarks.engine.networks import progress_average
from benchmarks.engine.processes import cpu_seconds

from australis import Node

WINDOW_US, SLACK_US = 1_000_000, 200_000
WINDOW, SLACK = "1 second", "200 milliseconds"
TURNS = 10
"""In how many windows all keys have had their turn."""
Results = list[tuple[float, pa.Table]]
"""Tables of results, each with the time at which it could be read."""


class Stream:
    """All tuples that arrive, always the same."""

    def __init__(self, batches: int) -> None:
        count = batches * BATCH
        random = np.random.default_rng(5)
        # Less than the slack, so that no tuple is late.
        times = np.arange(count) * STEP_US - random.integers(0, SLACK_US, count)
        self._times = np.maximum(times, 0) + START_US
        turns = (self._times - START_US) // WINDOW_US % TURNS
        self._keys = turns * (KEYS // TURNS) + random.integers(0, KEYS // TURNS, count)
        self._values = random.random(count) * 100
        self._highest = np.maximum.accumulate(self._times)

    def batch(self, number: int) -> pa.Table:
        """The tuples that arrive together."""
        part = slice(number * BATCH, (number + 1) * BATCH)
        return table_of(self._times[part], self._keys[part], self._values[part])

    def closed_by(self, starts: np.ndarray) -> np.ndarray:
        """The batch with the first tuple that closes each window, by its start."""
        closers: np.ndarray = np.searchsorted(self._highest, starts + WINDOW_US + SLACK_US)
        return closers // BATCH


@dataclass(frozen=True)
class Quiet:
    """The results that count: their delays, and the CPU seconds of all processes in a second."""

    delays_ms: list[float]
    cpu_s: float
    digest: Digest
    medians_ms: tuple[float, ...] = ()
    """The median of each pass, where several were joined."""

    @staticmethod
    def joined(passes: list[Quiet]) -> Quiet:
        """Several passes as one."""
        delays = [delay for each in passes for delay in each.delays_ms]
        medians = tuple(sorted(each.median_ms for each in passes))
        return Quiet(delays, fmean(each.cpu_s for each in passes), passes[0].digest, medians)

    @property
    def median_ms(self) -> float:
        return median(self.delays_ms)

    @property
    def p95_ms(self) -> float:
        return quantiles(self.delays_ms, n=20)[-1]

    def __str__(self) -> str:
        spread = f"{self.medians_ms[0]:.0f}-{self.medians_ms[-1]:.0f}"
        return f"{self.median_ms:.0f} ms (passes {spread}, p95 {self.p95_ms:.0f})"

    @staticmethod
    def from_json(made: dict[str, Any]) -> Quiet:
        """What another process has measured."""
        return Quiet(made["delays_ms"], made["cpu_s"], Digest(**made["digest"]))


@dataclass
class Span:
    """The part of a feed whose results count, and the CPU time that all processes use meanwhile."""

    feed: Feed
    used: list[float] = field(default_factory=list)

    def note(self, number: int) -> None:
        """Note the CPU time when the first and the last batch that count arrive."""
        if number in self.batches:
            self.used.append(cpu_seconds())

    @property
    def batches(self) -> tuple[int, int]:
        return int(WARM_UP_S / PERIOD_S), int(self.feed.batches - END_S / PERIOD_S)

    def summary(self, results: Results, stream: Stream) -> Quiet:
        """The delays, the CPU time and a digest of the results that count."""
        first, last = self.batches
        delays, tables = [], []
        for readable, table in results:
            closed_by = stream.closed_by(starts_of(table))
            counts = (closed_by >= first) & (closed_by < last)
            delays.append((readable - self.feed.due(closed_by))[counts] * 1e3)
            tables.append(table.select(["time", "key", "value"]).filter(pa.array(counts)))
        cpu_s = (self.used[1] - self.used[0]) / ((last - first) * PERIOD_S)
        return Quiet(np.concatenate(delays).tolist(), cpu_s, digest(tables))


def run(job: dict[str, Any]) -> dict[str, Any]:
    """One side's delays."""
    root, batches = Path(job["scratch"]) / f"quiet-{job['side']}", int(job["seconds"] / PERIOD_S)
    runner = RUNNERS.get(job["side"])
    return asdict(theirs(root, batches) if runner is None else ours(root, batches, runner))


def ours(root: Path, batches: int, runner: str) -> Quiet:
    """Pushed to a node, read by a subscriber."""
    stream, results = Stream(batches), list[tuple[float, pa.Table]]()
    with Node(root, runner=runner) as node:
        node.deploy(progress_average(WINDOW, SLACK))
        subscriber = threading.Thread(target=lambda: results.extend(_subscribed(node, batches)))
        subscriber.start()
        tables = [stream.batch(number) for number in range(batches)]
        span = Span(Feed(time.time() + 1, batches))

        def arrive(number: int) -> None:
            node.push("events", tables[number])
            span.note(number)

        span.feed.run(arrive)
        node.push("events", closing(batches * BATCH))
        subscriber.join()
    return span.summary(results, stream)


def _subscribed(node: Node, batches: int) -> Iterator[tuple[float, pa.Table]]:
    """What a subscriber receives, and when; up to the last windows, which the closing tuples close."""
    last = START_US + batches * BATCH * STEP_US - WINDOW_US
    for table in node.subscribe("out"):
        yield time.time(), table
        if starts_of(table).max() >= last:
            return


def theirs(root: Path, batches: int) -> Quiet:
    """Files in a folder, read from the sink."""
    stream = Stream(batches)
    folder, waiting, output = root / "in", root / "waiting", root / "out"
    for made in (folder, waiting):
        made.mkdir(parents=True)
    events = streaming.session().readStream.schema(streaming.SCHEMA).parquet(str(folder))
    writer = streaming.average(events, WINDOW, WINDOW, SLACK).writeStream.format("parquet")
    query = writer.option("checkpointLocation", str(root / "checkpoint")).start(str(output))
    files = [written(waiting / f"{number:05d}.parquet", stream.batch(number)) for number in range(batches)]
    span = Span(Feed(time.time() + 1, batches))

    def arrive(number: int) -> None:
        files[number].rename(folder / files[number].name)
        span.note(number)

    span.feed.run(arrive)
    query.processAllAvailable()
    query.stop()
    return span.summary(list(committed(output)), stream)
