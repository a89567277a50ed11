"""Who reads a folder of parts while it is written, by whatever tool, sees each tuple once, and for good."""

from __future__ import annotations

import random
import select
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

import duckdb
import pandas as pd
import pyarrow.dataset as ds
from pyspark.sql import SparkSession
from tests.engine.sinks.killed_often import TUPLES

ROOT = Path(__file__).parents[3]
Read = Callable[[Path], list[int]]


def by_arrow(folder: Path) -> list[int]:
    return ds.dataset(folder, format="parquet").to_table()["n"].to_pylist()  # type: ignore[no-any-return]


def by_pandas(folder: Path) -> list[int]:
    return list(pd.read_parquet(folder)["n"])


def by_duckdb(folder: Path) -> list[int]:
    return [number for (number,) in duckdb.sql(f"select n from '{folder}/*.parquet'").fetchall()]


def watch(folder: Path, writer: subprocess.Popen[str], reads: Iterable[Read]) -> int:
    """Read as long as the writer runs, between a kill and the next start, and at the end; counts kills."""
    assert writer.stdin is not None
    assert writer.stdout is not None
    seen, kills, is_over = set[int](), 0, False
    while not is_over:
        is_killed = bool(select.select([writer.stdout], [], [], 0)[0])
        for read in reads if any(folder.glob("*.parquet")) else ():
            found = read(folder)
            assert len(found) == len(set(found)), "a tuple was seen twice"
            assert seen <= set(found), "a tuple was seen before, and is gone"
            seen = set(found)
        if is_killed:
            is_over = not writer.stdout.readline()
        if is_killed and not is_over:
            kills += 1
            writer.stdin.write("\n")
            writer.stdin.flush()
    assert seen == set(range(TUPLES))
    return kills


def watched(place: Path, *reads: Read) -> None:
    seed = random.randrange(2**32)
    command = [sys.executable, "-m", "tests.engine.sinks.killed_often", str(place), str(seed)]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True, cwd=ROOT) as writer:
        kills = watch(place / "out.parquet", writer, reads)
        assert writer.communicate()[1] == ""
    assert kills > 3, f"seed {seed}"


def test_readers_see_each_tuple_once_while_the_writer_is_killed(tmp_path: Path) -> None:
    watched(tmp_path, by_arrow, by_pandas, by_duckdb)


def test_spark_sees_each_tuple_once_while_the_writer_is_killed(tmp_path: Path, spark: SparkSession) -> None:
    def by_spark(folder: Path) -> list[int]:
        return [row.n for row in spark.read.parquet(str(folder)).select("n").collect()]

    watched(tmp_path, by_spark)
