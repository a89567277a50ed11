"""The streams that both sides read: Parquet files of event time, one of 1,000 keys, and a value.

A tuple comes every millisecond of event time, in order, so that a key has one every second. The first file of
a stream is small: a query that has taken it is warm. The last file has one tuple of each key, an hour later:
it closes every window that has tuples, on all sides.
"""

from __future__ import annotations

import os
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

KEYS = 1_000
STEP_US = 1_000
START_US = 1_767_225_600_000_000
"""2026-01-01, the start of a window of any size used here: sizes divide a day."""
SCHEMA = "time timestamp not null, key long not null, value double not null"
FILES = 10
WARM_UP = 20_000
"""The tuples of the first file."""
ROW_GROUP = 250_000
AFTER_US = 3_600_000_000


def write_stream(directory: Path, tuples: int, seed: int) -> list[Path]:
    """A stream of some tuples after the warm-up, in `FILES` files between the first and the closing one."""
    directory.mkdir(parents=True, exist_ok=True)
    bounds = [0, *(WARM_UP + tuples * number // FILES for number in range(FILES + 1))]
    tables = [tuples_of(begin, end, seed) for begin, end in pairwise(bounds)]
    closed = closing(WARM_UP + tuples)
    return [_write(directory, number, table) for number, table in enumerate([*tables, closed])]


def tuples_of(begin: int, end: int, seed: int, step_us: int = STEP_US) -> pa.Table:
    """The tuples numbered from `begin` up to `end`, always the same."""
    random = np.random.default_rng((seed, begin))
    times = START_US + np.arange(begin, end) * step_us
    return table_of(times, random.integers(0, KEYS, end - begin), random.random(end - begin) * 100)


def closing(tuples: int, step_us: int = STEP_US) -> pa.Table:
    """One tuple of each key, after all others."""
    times = np.full(KEYS, START_US + tuples * step_us + AFTER_US)
    return table_of(times, np.arange(KEYS), np.zeros(KEYS))


def table_of(times: np.ndarray, keys: np.ndarray, values: np.ndarray) -> pa.Table:
    """The tuples of some columns; times are in microseconds."""
    stamp = pa.timestamp("us", "UTC")
    fields = [("time", stamp), ("key", pa.int64()), ("value", pa.float64())]
    schema = pa.schema([pa.field(name, kind, nullable=False) for name, kind in fields])
    columns = [pa.array(times).view(stamp), pa.array(keys), pa.array(values)]
    return pa.Table.from_arrays(columns, schema=schema)


def _write(directory: Path, number: int, table: pa.Table) -> Path:
    path = directory / f"{number:03d}.parquet"
    pq.write_table(table, path, compression="snappy", row_group_size=ROW_GROUP)
    # The file source takes files by age, which a file system's clock may not distinguish.
    os.utime(path, (1_000_000 + number, 1_000_000 + number))
    return path
