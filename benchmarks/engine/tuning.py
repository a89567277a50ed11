"""The configuration of Structured Streaming: what it shares with ours, and what was found best for each case.

`python -m benchmarks.engine --sweep` tries every candidate and takes the best of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
STATE = "spark.sql.streaming.stateStore"

# Of its own guide to performance: state in RocksDB, its changes rather than copies of it at each commit, and
# no count of its rows, which would cost a read for each write.
OPTIONS: Mapping[str, str] = {
    f"{STATE}.providerClass": ROCKSDB,
    f"{STATE}.rocksdb.changelogCheckpointing.enabled": "true",
    f"{STATE}.rocksdb.trackTotalNumberOfRows": "false",
    "spark.driver.memory": "4g",
    "spark.sql.streaming.metricsEnabled": "false",
}


@dataclass(frozen=True)
class Tuning:
    """How one query is run: how many files a batch takes (None: all), and by which way it writes."""

    files_per_batch: int | None
    way: str = "sink"
    query: str | None = None
    adaptive: bool = False

    def __str__(self) -> str:
        files = "all" if self.files_per_batch is None else str(self.files_per_batch)
        return f"{files} files a batch, {self.way}{', adaptive' if self.adaptive else ''}"


BEST: Mapping[str, Tuning] = {
    "filter_map": Tuning(None),
    "keyed_average": Tuning(None),
    "sliding_average": Tuning(None),
    "band_join": Tuning(None),
    "fan_out": Tuning(None, "persist"),
}
FAN_OUT_WAYS = ("persist", "persist_threads", "partitioned", "queries")


def candidates(case: str) -> list[Tuning]:
    """What a sweep tries."""
    if case == "fan_out":
        return [Tuning(files, way) for way in FAN_OUT_WAYS for files in (1, 5, None)]
    plain = [Tuning(files) for files in (1, 2, 5, None)]
    return [*plain, *(Tuning(files, adaptive=True) for files in (1, None))]
