"""The configuration of Structured Streaming: what it shares with ours, and the best found for each case.

`python -m benchmarks.engine --sweep` tries every candidate and uses the best of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
STATE = "spark.sql.streaming.stateStore"

# From its own performance guide: state in RocksDB, changelogs rather than copies of it at each commit, and no
# count of its rows, which would cost a read for each write.
OPTIONS: Mapping[str, str] = {
    f"{STATE}.providerClass": ROCKSDB,
    f"{STATE}.rocksdb.changelogCheckpointing.enabled": "true",
    f"{STATE}.rocksdb.trackTotalNumberOfRows": "false",
    # The state of a join sorted by time (4), not a list for each key (2): half the work of the best with 2.
    "spark.sql.streaming.join.stateFormatVersion": "4",
    "spark.driver.memory": "4g",
    "spark.sql.streaming.metricsEnabled": "false",
}


@dataclass(frozen=True)
class Tuning:
    """How one query is run: how many files a batch takes (None: all), and how it writes."""

    files_per_batch: int | None
    way: str = "sink"
    query: str | None = None
    adaptive: bool = False

    def __str__(self) -> str:
        files = "all" if self.files_per_batch is None else str(self.files_per_batch)
        rest = [self.way, *([self.query] if self.query else []), *(["adaptive"] if self.adaptive else [])]
        return f"{files} files a batch, {', '.join(rest)}"


# The best of a sweep, or those that were close; each is run again, and the best counts.
BEST: Mapping[str, tuple[Tuning, ...]] = {
    "filter_map": (Tuning(None),),
    "keyed_average": (Tuning(None),),
    "sliding_average": (Tuning(5),),
    "band_join": (Tuning(None),),
    "fan_out": (Tuning(None, "partitioned"), Tuning(None, "persist_threads")),
}
FAN_OUT_WAYS = ("persist", "persist_threads", "partitioned", "queries")


def candidates(case: str) -> list[Tuning]:
    """What a sweep tries."""
    if case == "fan_out":
        return [Tuning(files, way) for way in FAN_OUT_WAYS for files in (1, 5, None)]
    plain = [Tuning(files) for files in (1, 2, 5, None)]
    if case == "band_join":
        return [*plain, Tuning(1, query="bucketed"), Tuning(None, query="bucketed")]
    return [*plain, Tuning(None, adaptive=True)]
