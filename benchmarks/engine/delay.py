"""The delay of the keyed average at 1,000 tuples a second, on both sides.

Every 100 ms a batch of 100 tuples arrives: a Parquet file renamed into the folder that Structured Streaming
watches, a table pushed to the node. Event time runs five times as fast as the clock, so a window of 10 s ends
every 2 s. A batch arrives when it is due, even if the feeder is late; writing a file before it is renamed is
not part of the delay, storing a pushed table is.

The delay of a result lasts from the end of its window, which is the arrival of the first tuple of any key at
or after that end, until the result can be read; that rule is the same for all sides. Structured Streaming
closes a window by its watermark, and Australis by progress, both without a slack: for both that same tuple
closes it. Australis by key closes the window of a key only when the next tuple of that key comes, and a key
has a tuple once a second. A result can be read in Structured Streaming when the sink's log in
`_spark_metadata` has its batch, which every reader of the output obeys; in Australis when a subscriber has
received it. Structured Streaming runs each batch as soon as it can (no trigger interval). All sides run for
the warm-up first; then every result counts.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from benchmarks.engine import streaming
from benchmarks.engine.inputs import START_US, closing, tuples_of
from benchmarks.engine.networks import network_of, progress_average

from australis import Network, Node

PERIOD_S, BATCH = 0.1, 100
STEP_US = 5_000
WINDOW_US = 10_000_000
WARM_UP_S, END_S = 15.0, 3.0
"""Arrivals in the first and the last seconds do not count: compilers warm up, the end is cut off."""


@dataclass(frozen=True)
class Feed:
    """Batches that are due at a fixed pace from a starting time."""

    begin: float
    batches: int

    def due(self, batch: np.ndarray | int) -> np.ndarray | float:
        """When a batch arrives, by the clock."""
        return self.begin + batch * PERIOD_S

    def run(self, arrive: Callable[[int], object]) -> None:
        """Let every batch arrive when it is due, or at once if it is late."""
        for number in range(self.batches):
            time.sleep(max(0.0, self.due(number) - time.time()))
            arrive(number)

    def summary(self, results: list[tuple[float, pa.Table]]) -> dict[str, float]:
        """The delays, in milliseconds, of tables of results with the moments at which they could be read."""
        readable = np.concatenate([np.full(table.num_rows, moment) for moment, table in results])
        starts = np.concatenate([starts_of(table) for _, table in results])
        ends = self.due(batch_at(starts + WINDOW_US))
        counts = (ends >= self.begin + WARM_UP_S) & (ends < self.due(self.batches) - END_S)
        delays = (readable - ends)[counts] * 1e3
        p95 = float(np.percentile(delays, 95))
        return {"delay_ms": float(np.median(delays)), "p95_ms": p95, "results": len(delays)}


def batch_at(times: np.ndarray) -> np.ndarray:
    """Which batch has the first tuple at or after some event times."""
    return -(-(times - START_US) // STEP_US) // BATCH


def batch_table(number: int) -> pa.Table:
    return tuples_of(number * BATCH, (number + 1) * BATCH, seed=3, step_us=STEP_US)


def run(job: dict[str, Any]) -> dict[str, float]:
    """One side's delays."""
    root, batches = Path(job["scratch"]) / f"delay-{job['side']}", int(job["seconds"] / PERIOD_S)
    network = NETWORKS.get(job["side"])
    return theirs(root, batches) if network is None else ours(root, batches, network())


# --- ours

NETWORKS: Mapping[str, Callable[[], Network]] = {
    "progress": lambda: progress_average("10 seconds", "0 seconds"),
    "by_key": lambda: network_of("keyed_average"),
}


def ours(root: Path, batches: int, network: Network) -> dict[str, float]:
    """Pushed to a node, read by a subscriber."""
    results: list[tuple[float, pa.Table]] = []
    with Node(root) as node:
        node.deploy(network)
        subscriber = threading.Thread(target=lambda: results.extend(_subscribed(node, batches)))
        subscriber.start()
        tables = [batch_table(number) for number in range(batches)]
        feed = Feed(time.time() + 1, batches)
        feed.run(lambda number: node.push("events", tables[number]))
        node.push("events", closing(batches * BATCH, STEP_US))
        subscriber.join()
    return feed.summary(results)


def _subscribed(node: Node, batches: int) -> Iterator[tuple[float, pa.Table]]:
    """What a subscriber receives, and when; up to the last windows, which the closing tuples close."""
    last = START_US + batches * BATCH * STEP_US - WINDOW_US
    for table in node.subscribe("out"):
        yield time.time(), table
        if starts_of(table).max() >= last:
            return


# --- theirs


def theirs(root: Path, batches: int) -> dict[str, float]:
    """Files in a folder, read from the sink."""
    folder, waiting, output = root / "in", root / "waiting", root / "out"
    for made in (folder, waiting):
        made.mkdir(parents=True)
    stream = streaming.session().readStream.schema(streaming.SCHEMA).parquet(str(folder))
    writer = streaming.average(stream).writeStream.format("parquet")
    query = writer.option("checkpointLocation", str(root / "checkpoint")).start(str(output))
    files = [written(waiting / f"{number:05d}.parquet", batch_table(number)) for number in range(batches)]
    feed = Feed(time.time() + 1, batches)
    feed.run(lambda number: files[number].rename(folder / files[number].name))
    query.processAllAvailable()
    query.stop()
    return feed.summary(list(committed(output)))


def written(path: Path, table: pa.Table) -> Path:
    pq.write_table(table, path)
    return path


def committed(output: Path) -> Iterator[tuple[float, pa.Table]]:
    """When each batch was committed to the sink's log, and its contents."""
    logs = {int(path.name.split(".")[0]): path for path in (output / "_spark_metadata").glob("[0-9]*")}
    seen: set[str] = set()
    for _, log in sorted(logs.items()):
        # Every tenth log repeats all before it.
        names = {json.loads(line)["path"].rpartition("/")[2] for line in log.read_text().splitlines()[1:]}
        for name in sorted(names - seen):
            yield log.stat().st_mtime, pq.read_table(output / name)
        seen |= names


def starts_of(table: pa.Table) -> np.ndarray:
    times: np.ndarray = table["time"].cast(pa.timestamp("us", "UTC")).cast(pa.int64()).to_numpy()
    return times
