"""Linear cost: 1 M, 10 M and 100 M tuples through a keyed average, time per tuple and memory.

The tuples are in Parquet files of 1 M each, written before the clock starts and adopted as segments; the time
is measured from the start of the node until the last commit. Memory is that of the driver, of the JVM and of
the Python workers, sampled while it runs.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from benchmarks.saying import run, say, steps
from benchmarks.soak import below, resident_mb

from australis import Network, NetworkBuilder, Node, Order

FILE_TUPLES = 1_000_000
KEYS = 1_000
STEP_US = 1_000
TRIES = 9
"""A single million is one train: the median of this many counts."""


def network() -> Network:
    """The average of each key over 10 seconds."""
    net = NetworkBuilder("average")
    events = net.input("events", "at timestamp, key long, value double")
    order = Order("at", group_by=("key",))
    events.aggregate({"mean": "avg(value)", "n": "count(*)"}, order, size="10 seconds").output("means")
    return net.build()


def write_file(path: Path, number: int) -> None:
    """The events from million `number` on."""
    rng = np.random.default_rng(number)
    first = number * FILE_TUPLES
    at = np.arange(first, first + FILE_TUPLES) * STEP_US
    columns = {
        "at": pa.array(at).cast(pa.timestamp("us", "UTC")),
        "key": rng.integers(0, KEYS, FILE_TUPLES),
        "value": rng.random(FILE_TUPLES),
    }
    pq.write_table(pa.table(columns), path, compression="snappy", row_group_size=250_000)


@contextmanager
def memory_sampled(peaks: dict[str, float]) -> Iterator[None]:
    """Record the most memory, in MB, that each kind of process uses inside the block."""
    ended = threading.Event()

    def sample() -> None:
        while not ended.wait(0.5):
            for kind, megabytes in memory().items():
                peaks[kind] = max(peaks.get(kind, 0.0), megabytes)

    sampler = threading.Thread(target=sample, daemon=True)
    sampler.start()
    try:
        yield
    finally:
        ended.set()
        sampler.join()


def memory() -> dict[str, float]:
    """Resident memory in MB: the driver, the JVM, all Python workers together."""
    me = os.getpid()
    found = {"driver": resident_mb(me), "jvm": 0.0, "workers": 0.0}
    for pid in below(me):
        found["jvm" if _is_java(pid) else "workers"] += resident_mb(pid)
    return {kind: round(megabytes, 1) for kind, megabytes in found.items()}


def _is_java(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip() == "java"
    except OSError:
        return False


def measure(directory: Path, millions: int) -> dict[str, object]:
    """Run that many million tuples through a warm node; for a single million, the median of several runs."""
    tries = TRIES if millions == 1 else 1
    peaks: dict[str, float] = {}
    with Node(train=FILE_TUPLES) as node:
        node.deploy(network())
        _timed(node, directory, range(1))
        with memory_sampled(peaks):
            starts = [1 + number * millions for number in range(tries)]
            times = sorted(_timed(node, directory, range(start, start + millions)) for start in starts)
    seconds = times[len(times) // 2]
    return {
        "tuples": millions * FILE_TUPLES,
        "seconds": round(seconds, 3),
        "us_per_tuple": round(seconds / millions, 4),
        "peak_mb": peaks,
    }


def _cost(run: dict[str, object]) -> float:
    return float(str(run["us_per_tuple"]))


def _timed(node: Node, directory: Path, files: range) -> float:
    """The seconds that the tuples of some files take from the start of the node."""
    node.pause()
    for number in files:
        node.adopt("events", directory / f"{number}.parquet")
    began = time.perf_counter()
    node.resume()
    node.drain()
    return time.perf_counter() - began


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--millions", type=int, nargs="*", default=[1, 10, 100])
    parser.add_argument(
        "--rounds", type=int, default=3, help="how often all sizes run in turn; medians count"
    )
    arguments = parser.parse_args()
    sizes, rounds = arguments.millions, arguments.rounds
    with tempfile.TemporaryDirectory(prefix="australis-linear-") as place:
        directory = Path(place)
        for number in steps("Writing files of a million tuples", range(max(*sizes, TRIES) + 1)):
            write_file(directory / f"{number}.parquet", number)
        measure(directory, min(sizes))  # Everything is warm from here on.
        found: dict[int, list[dict[str, object]]] = {millions: [] for millions in sizes}
        for _ in range(rounds):
            for millions in sizes:
                say(f"Measuring {millions} million tuples ...")
                found[millions].append(measure(directory, millions))
                print(json.dumps(found[millions][-1]), file=sys.stderr, flush=True)
    runs = [sorted(each, key=_cost)[len(each) // 2] for each in found.values()]
    costs = [_cost(run) for run in runs]
    print(json.dumps({"runs": runs, "spread": round(max(costs) / min(costs) - 1, 3)}))


if __name__ == "__main__":
    run(main)
