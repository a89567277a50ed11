"""The configuration of Structured Streaming: what it shares with ours, and the best found for each case.

`python -m benchmarks.engine --sweep` tries every candidate and uses the best of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

STATE = "spark.sql.streaming.stateStore"
_STORES = "org.apache.spark.sql.execution.streaming.state"

# From its own performance guide: changelogs of the state in RocksDB rather than copies of it at each commit,
# and no count of its rows, which would cost a read for each write.
OPTIONS: Mapping[str, str] = {
    f"{STATE}.providerClass": f"{_STORES}.RocksDBStateStoreProvider",
    f"{STATE}.rocksdb.changelogCheckpointing.enabled": "true",
    f"{STATE}.rocksdb.trackTotalNumberOfRows": "false",
    # The state of a join sorted by time (4), not a list for each key (2): half the work of the best with 2.
    "spark.sql.streaming.join.stateFormatVersion": "4",
    "spark.driver.memory": "4g",
    "spark.sql.streaming.metricsEnabled": "false",
}
# What a query with each store needs beside that. Both are durable: what changes is in files at each commit.
STORES: Mapping[str, Mapping[str, str]] = {
    "rocksdb": {
        f"{STATE}.providerClass": OPTIONS[f"{STATE}.providerClass"],
        "spark.sql.streaming.join.stateFormatVersion": "4",
    },
    "memory": {
        f"{STATE}.providerClass": f"{_STORES}.HDFSBackedStateStoreProvider",
        # The later formats are for RocksDB alone.
        "spark.sql.streaming.join.stateFormatVersion": "2",
    },
}


@dataclass(frozen=True)
class Tuning:
    """How one query is run: how many files a batch takes (None: all), its store, and how it writes."""

    files_per_batch: int | None
    store: str = "memory"
    way: str = "sink"
    query: str | None = None
    adaptive: bool = False

    def __str__(self) -> str:
        files = "all" if self.files_per_batch is None else str(self.files_per_batch)
        rest = [*([self.query] if self.query else []), *(["adaptive"] if self.adaptive else [])]
        return ", ".join([f"{files} files a batch", self.store, self.way, *rest])

    def options(self) -> dict[str, str]:
        """What the session needs when the query starts."""
        return {**STORES[self.store], "spark.sql.adaptive.enabled": str(self.adaptive).lower()}


# The best of a sweep, and those that were close: all of them run in turn, and the best counts. Beside them a
# batch for each file: so it commits as often as ours, which takes a file as a train.
EACH_FILE = 1
BEST: Mapping[str, tuple[Tuning, ...]] = {
    "filter_map": (Tuning(None), Tuning(EACH_FILE)),
    "keyed_average": (Tuning(None), Tuning(EACH_FILE), Tuning(None, "rocksdb")),
    "sliding_average": (Tuning(None), Tuning(EACH_FILE), Tuning(None, "rocksdb")),
    "dense_average": (Tuning(None), Tuning(EACH_FILE)),
    "dense_sliding": (Tuning(None), Tuning(EACH_FILE)),
    "band_join": (Tuning(None, "rocksdb"), Tuning(None, query="bucketed")),
    "fan_out": (
        Tuning(None, way="partitioned"),
        Tuning(EACH_FILE, way="partitioned"),
        Tuning(None, way="persist"),
    ),
}
FAN_OUT_WAYS = ("persist", "persist_threads", "partitioned", "queries")


def candidates(case: str) -> list[Tuning]:
    """What a sweep tries."""
    files: tuple[int | None, ...] = (1, 2, 5, None)
    if case == "filter_map":
        return [Tuning(count) for count in files]
    if case == "fan_out":
        tried = [Tuning(count, way=way) for way in FAN_OUT_WAYS for count in (1, None)]
        return [*tried, *(Tuning(None, "rocksdb", way) for way in FAN_OUT_WAYS[1:3])]
    plain = [Tuning(count, store) for store in STORES for count in files]
    if case == "band_join":
        return [*plain, *(Tuning(count, store, query="bucketed") for store in STORES for count in (1, None))]
    return [*plain, Tuning(None, adaptive=True)]
