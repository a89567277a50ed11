"""Expiry: an hour of a stream in compressed time, and what the disk keeps of its last ten minutes."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from australis import Network, NetworkBuilder, Node
from australis.engine.spark import local_session

MINUTE_US = 60_000_000
KEPT_MINUTES, MINUTES = 10, 60
PUSHES_A_MINUTE = 6


def network() -> Network:
    net = NetworkBuilder("levels")
    levels = net.input("levels", "tank int not null, level double, note string")
    levels.point("recent", history=f"{KEPT_MINUTES} min", key="tank")
    levels.filter("level > 0.999", as_="high").output("alarms")
    return net.build()


def levels(number: int, rows: int) -> pa.Table:
    rng = np.random.default_rng(number)
    return pa.table(
        {
            "tank": pa.array(rng.integers(0, 5_000, rows), pa.int32()),
            "level": rng.random(rows),
            "note": pa.array(np.char.add("reading ", rng.integers(0, 1_000_000, rows).astype(str))),
        }
    )


class Clock:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.us = MINUTE_US

    def __call__(self) -> int:
        return self.us


def measure(quick: bool, say: Callable[[str], None]) -> dict[str, float]:
    """The most disk space used, relative to what the specified minutes take, once they have passed."""
    rows, clock, most, least = 1_000 if quick else 10_000, Clock(), 0, 1 << 62
    wanted = KEPT_MINUTES * PUSHES_A_MINUTE * rows
    local_session(light=True)
    with tempfile.TemporaryDirectory(prefix="bench-live-") as root, Node(root, clock=clock) as node:
        node.deploy(network())
        node.consumer("bench", "alarms")
        for number in range(MINUTES * PUSHES_A_MINUTE):
            clock.us += MINUTE_US // PUSHES_A_MINUTE
            node.push("levels", levels(number, rows))
            node.drain()
            if number > 2 * KEPT_MINUTES * PUSHES_A_MINUTE:
                kept = sum(table.num_rows for table in node.history("recent", columns=["tank"]))
                most, least = max(most, _on_disk(root)), min(least, kept)
        ideal = wanted * _bytes_of_a_tuple(root)
    say(f"{wanted:,} tuples specified, {least:,} kept at the least")
    say(f"{ideal / 1e6:.1f} MB for those specified, {most / 1e6:.1f} on the disk at the most")
    return {"expiry_disk_x": most / ideal, "expiry_kept_x": least / wanted}


def _on_disk(root: str) -> int:
    """All files of the root except the catalogue."""
    folders = [Path(root) / name for name in ("segments", "history")]
    return sum(_size(file) for folder in folders for file in folder.rglob("*.parquet"))


def _size(file: Path) -> int:
    """The bytes of a file; it may be deleted meanwhile."""
    try:
        return file.stat().st_size
    except FileNotFoundError:
        return 0


def _bytes_of_a_tuple(root: str) -> float:
    files = list((Path(root) / "history" / "recent").glob("*.parquet"))
    return sum(f.stat().st_size for f in files) / sum(pq.read_metadata(f).num_rows for f in files)
