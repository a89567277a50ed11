"""One query for several outputs: `foreachBatch` writes one after another, so each file is read once.

Within a batch the most important output comes first. Windows are merged by hand: a batch groups its tuples,
and what its groups add to the open windows is written with the batch, so that it could be recovered. Or they
are left to a query of their own, as Spark has them.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from pathlib import Path

import pandas as pd
import pyarrow as pa
from benchmarks.qos.feed import Feed
from benchmarks.qos.judging import Pieces
from benchmarks.qos.scene import SHOP, SIZES, WINDOW, WINDOWED
from benchmarks.qos.separate import COLUMNS, QUERIES, SeparateQueries
from benchmarks.qos.taken import batches, taken, windows
from pyarrow import parquet
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

PARTS = {
    "bytes": "sum(bytes)",
    "tuples": "count(bytes)",
    "most": "max(bytes)",
    "failed": "sum(failed)",
    "item": "max(item)",
}
"""What a batch adds to a window; a mean is made of a sum and a number of tuples."""
MERGED = {"bytes": "sum", "tuples": "sum", "most": "max", "failed": "sum", "item": "max"}
PARTIAL, STATE = "partial", "one"


class Windows:
    """The windows that are open."""

    def __init__(self) -> None:
        self._open = pd.DataFrame()

    def add(self, batch: DataFrame) -> tuple[pa.Table, pa.Table]:
        """What a batch adds, and the results of the windows that its last tuples close."""
        sizes = batch.selectExpr(*(f"{text} AS {name}" for name, text in SIZES.items()))
        computed = [F.expr(text).alias(name) for name, text in PARTS.items()]
        grouped = sizes.groupBy(F.window("time", WINDOW), "host").agg(*computed)
        added = grouped.selectExpr("window.start AS time", "host", *PARTS).toArrow()
        parts = pd.concat([self._open, added.to_pandas()]) if len(self._open) else added.to_pandas()
        merged = parts.groupby(["time", "host"], as_index=False).agg(MERGED)
        is_open = merged["time"] >= merged["time"].max()
        self._open, closed = merged[is_open], merged[~is_open]
        results = closed.assign(bytes=closed["bytes"] / closed["tuples"]).drop(columns="tuples")
        return added, pa.Table.from_pandas(results, preserve_index=False)


class OneQuery:
    """The query, which writes the outputs of a batch one after another, and notes when each could be read."""

    def __init__(self, spark: SparkSession, root: Path, names: Iterable[str] = QUERIES) -> None:
        self._root, self._names, self._windows = root, tuple(names), Windows()
        self._written: dict[str, dict[int, float]] = {name: {} for name in QUERIES}
        self._results: dict[int, Path] = {}
        """The results of windows that each batch wrote."""
        for name in (PARTIAL, WINDOWED) if WINDOWED in self._names else ():
            (root / "out" / name).mkdir(parents=True)
        shop = spark.readStream.schema(COLUMNS).parquet(str(root / "in")).filter(SHOP)
        writer = shop.writeStream.foreachBatch(self._write)
        self._query = writer.option("checkpointLocation", str(root / "state" / STATE)).start()

    def _write(self, batch: DataFrame, number: int) -> None:
        batch.persist()
        try:
            for name in self._names:
                if name == WINDOWED:
                    self._write_windows(batch, number)
                else:
                    found = QUERIES[name](batch)
                    found.write.mode("overwrite").parquet(str(self._out(name, number)))
                self._written[name][number] = time.time()
        finally:
            batch.unpersist()

    def _write_windows(self, batch: DataFrame, number: int) -> None:
        added, results = self._windows.add(batch)
        parquet.write_table(added, self._out(PARTIAL, number))
        self._results[number] = self._out(WINDOWED, number)
        parquet.write_table(results, self._results[number])

    def _out(self, name: str, number: int) -> Path:
        return self._root / "out" / name / f"{number}.parquet"

    def drain(self) -> None:
        self._query.processAllAvailable()

    def stop(self) -> None:
        self._query.stop()

    def pieces(self, name: str, feed: Feed) -> Pieces:
        """What an output received."""
        committed = {batch: at - feed.begin for batch, at in self._written[name].items()}
        if name == WINDOWED:
            return windows(self._results.items(), committed, feed)
        return batches(name, taken(self._root / "state" / STATE), committed, feed)


class TwoQueries:
    """One query for all outputs without state, and one for the windows."""

    def __init__(self, spark: SparkSession, root: Path) -> None:
        self._one = OneQuery(spark, root, [name for name in QUERIES if name != WINDOWED])
        self._windows = SeparateQueries(spark, root, [WINDOWED])

    def drain(self) -> None:
        self._one.drain()
        self._windows.drain()

    def stop(self) -> None:
        self._one.stop()
        self._windows.stop()

    def pieces(self, name: str, feed: Feed) -> Pieces:
        """What an output received."""
        return (self._windows if name == WINDOWED else self._one).pieces(name, feed)
