"""Streams that both sides read: a Parquet file for each tenth of a second, sized by the rate.

Lines are drawn from a fixed pool, times follow the clock; all files are written before anything is measured,
along with what is due to the outputs for each batch.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from benchmarks.qos.scene import HOSTS

PERIOD_S = 0.1
START_US = 1_767_225_600_000_000
"""2026-01-01; streams begin at whole seconds of it, so that windows begin with batches."""
LINES, POOL = 2_000, 200_000
DUE = "due.npy"


@dataclass(frozen=True)
class Stream:
    """The files of a stream, batch by batch, and what is due for each."""

    files: tuple[Path, ...]
    due: np.ndarray
    """For each batch: its tuples, those that pass the filter, failed ones, and the place of the last
    host's first tuple, after which all windows before the batch are closed."""

    @property
    def seconds(self) -> float:
        return len(self.files) * PERIOD_S

    @property
    def tuples(self) -> int:
        return int(self.due[:, 0].sum())


@dataclass(frozen=True)
class _Pool:
    """Lines to draw from: dictionary codes, hosts, and the outputs that want each."""

    lines: pa.Array
    codes: np.ndarray
    hosts: np.ndarray
    shop: np.ndarray
    failed: np.ndarray


@cache
def _pool() -> _Pool:
    chance = np.random.default_rng(7)
    hosts = np.arange(LINES) % HOSTS
    status = chance.choice([200, 302, 404, 500, 503], LINES, p=[0.8, 0.08, 0.07, 0.03, 0.02])
    shop = chance.random(LINES) < 0.95
    lines = [
        _line(chance, *each) for each in zip(hosts.tolist(), status.tolist(), shop.tolist(), strict=True)
    ]
    codes = chance.integers(0, LINES, POOL, dtype=np.int32)
    return _Pool(pa.array(lines), codes, hosts[codes], shop[codes], (shop & (status >= 500))[codes])


def _line(chance: np.random.Generator, host: int, status: int, shop: bool) -> str:
    item, user, size = (int(chance.integers(10, most)) for most in (100_000, 10_000, 90_000))
    page = f"/shop/item/{item}" if shop else "/alive/now/item/0"
    session = f"{chance.integers(1 << 40):010x}"
    return f"host-{host:03d} GET {page}?user=u{user}&session={session} {status} {size}"


def write_stream(folder: Path, sizes: Sequence[int], begin_s: int) -> Stream:
    """A stream whose batches have some numbers of tuples, from a whole second of event time on."""
    folder.mkdir(parents=True)
    chance = np.random.default_rng(begin_s)
    due = np.array([_write(folder, number, size, begin_s, chance) for number, size in enumerate(sizes)])
    np.save(folder / DUE, due)
    return read_stream(folder)


def read_stream(folder: Path) -> Stream:
    """A stream that was written before."""
    return Stream(tuple(sorted(folder.glob("*.parquet"))), np.load(folder / DUE))


def _write(folder: Path, number: int, size: int, begin_s: int, chance: np.random.Generator) -> list[int]:
    pool = _pool()
    places = (chance.integers(POOL) + np.arange(size)) % POOL
    period_us = int(PERIOD_S * 1e6)
    first_us = START_US + begin_s * 1_000_000 + number * period_us
    times = first_us + np.arange(size) * period_us // max(size, 1)
    lines = pa.DictionaryArray.from_arrays(pa.array(pool.codes[places]), pool.lines)
    columns = [pa.array(times).view(pa.timestamp("us", "UTC")), pa.array(pool.hosts[places]), lines]
    table = pa.Table.from_arrays(columns, names=["time", "host", "line"])
    table = table.set_column(2, "line", table["line"].cast(pa.string()))
    path = folder / f"{number:05d}.parquet"
    pq.write_table(table, path, compression="snappy")
    # Spark's file source takes files by age, which a file system's clock may not distinguish.
    os.utime(path, (1_000_000 + begin_s * 10 + number, 1_000_000 + begin_s * 10 + number))
    shop = pool.shop[places]
    return [size, int(shop.sum()), int(pool.failed[places].sum()), _all_hosts(pool.hosts[places], shop)]


def _all_hosts(hosts: np.ndarray, shop: np.ndarray) -> int:
    """The tuples until each host has had one that passes the filter."""
    _, first = np.unique(hosts[shop], return_index=True)
    return int(np.flatnonzero(shop)[first].max()) + 1 if len(first) else 0
