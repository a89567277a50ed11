"""What outputs received of a stream, from the files that each batch of a query took and wrote."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np
import pyarrow as pa
from benchmarks.qos.feed import Feed
from benchmarks.qos.judging import Pieces
from benchmarks.qos.scene import HOSTS, WINDOW_S
from benchmarks.qos.streams import PERIOD_S, START_US, Stream
from pyarrow import parquet


def taken(checkpoint: Path) -> dict[str, int]:
    """The batch that took each file."""
    found = {}
    for log in (checkpoint / "sources" / "0").glob("[0-9]*"):
        for line in log.read_text().splitlines()[1:]:
            entry = json.loads(line)
            found[entry["path"].rpartition("/")[2]] = int(entry["batchId"])
    return found


def batches(name: str, files: Mapping[str, int], committed: Mapping[int, float], feed: Feed) -> Pieces:
    """When the tuples of each file could be read, given which batch took it and when that could be read."""
    delivered = np.full(len(feed.stream.files), np.inf)
    places = {f"{path.parent.name}-{path.name}": number for number, path in enumerate(feed.stream.files)}
    for file, batch in files.items():
        if file in places and batch in committed:
            delivered[places[file]] = committed[batch]
    arrived = np.arange(len(delivered)) * PERIOD_S
    due = feed.stream.due[:, 2 if name == "alarms" else 1].astype(float)
    return Pieces(arrived, delivered, due, np.ones(len(delivered)))


def windows(written: Iterable[tuple[int, Path]], committed: Mapping[int, float], feed: Feed) -> Pieces:
    """When the results of each window could be read."""
    count = round(feed.stream.seconds / WINDOW_S) - 1
    begin_us = _first_us(feed.stream)
    tuples = dict.fromkeys(range(count), 0)
    found: list[tuple[int, float, int]] = []
    for batch, path in written:
        times = parquet.read_table(path, columns=["time"])["time"].cast(pa.timestamp("us", "UTC"))
        starts = (times.cast(pa.int64()).to_numpy() - begin_us) // (WINDOW_S * 1_000_000)
        for window, results in zip(*np.unique(starts, return_counts=True), strict=True):
            if int(window) in tuples and batch in committed:
                found.append((int(window), committed[batch], int(results)))
                tuples[int(window)] += int(results)
    found += [(window, np.inf, HOSTS - seen) for window, seen in tuples.items() if seen < HOSTS]
    numbers, delivered, results = (np.array(column, float) for column in zip(*found, strict=True))
    return Pieces(numbers * WINDOW_S, delivered, results, np.ones(len(numbers)))


def _first_us(stream: Stream) -> int:
    first = parquet.read_table(stream.files[0], columns=["time"])["time"][0]
    return int(first.value) - (int(first.value) - START_US) % 1_000_000
