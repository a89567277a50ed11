"""One link: how much it carries, beside a push in the same process, and how much later a tuple is there.

Both nodes are light, on one machine, and durable: a tuple counts when the reading node has it in its log. The
writing node is in a process of its own, and has all tuples before the reading one asks for them. Passes of
the link and of pushes alternate.
"""

from __future__ import annotations

import statistics
import threading
import time
from multiprocessing.connection import Connection
from typing import Any

import pyarrow as pa
from benchmarks.cluster.scene import BATCH, batch, folder, network, writer
from benchmarks.saying import say, steps

from australis.cluster import Cluster
from australis.engine import Node

TUPLES, PASSES, SINGLES = 10_000_000, 5, 300
_SETTLE = 20


class _Watched:
    """A node that notes when tuples that came over a link are durable."""

    def __init__(self, node: Node, wanted: int) -> None:
        self._node, self._wanted = node, wanted
        self.rows, self.all = 0, threading.Event()
        self.pushed: list[tuple[int, int]] = []
        self.one = threading.Semaphore(0)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._node, name)

    def push(self, name: str, table: pa.Table, **options: Any) -> int | None:
        found = self._node.push(name, table, **options)
        self.pushed.append((int(table["w"][-1].as_py()), time.monotonic_ns()))
        self.rows += table.num_rows
        self.one.release()
        if self.rows >= self._wanted:
            self.all.set()
        return found


def _backlog(node: Node, pipe: Connection, tuples: int) -> None:
    """Push everything before the other side may begin."""
    table = batch()
    for _ in range(tuples // BATCH):
        node.push("s0", table)
    node.drain()
    pipe.send("ready")
    pipe.recv()


def _singles(node: Node, pipe: Connection, count: int) -> None:
    """Push single tuples when asked to, each with its number; tell when its push has returned."""
    one = batch(1)
    for _ in range(count):
        number = pipe.recv()
        table = one.set_column(2, "w", pa.array([number]))
        node.push("s0", table)
        pipe.send(time.monotonic_ns())
    pipe.recv()


def _pushed(tuples: int) -> float:
    """Million tuples per second that are pushed in this process."""
    with folder() as place, Node(place / "root-b", runner="light") as node:
        node.deploy(network())
        table = batch()
        node.push("s0", table)
        began = time.perf_counter()
        for _ in range(tuples // BATCH):
            node.push("s0", table)
        return tuples / (time.perf_counter() - began) / 1e6


def _linked(tuples: int) -> float:
    """Million tuples per second that come over a link."""
    with (
        folder() as place,
        writer(place, _backlog, tuples) as (address, pipe),
        Node(place / "root-b", runner="light") as node,
    ):
        node.deploy(network())
        pipe.recv()
        watched = _Watched(node, tuples)
        with Cluster(watched, place / "b") as cluster:  # type: ignore[arg-type]
            cluster.connect("bench/a", address)
            while not cluster.status().peers[0].is_connected:
                time.sleep(0.01)
            began = time.perf_counter()
            cluster.link("s0", "bench/a/o0")
            watched.all.wait()
            seconds = time.perf_counter() - began
        return tuples / seconds / 1e6


def _delays(count: int) -> list[float]:
    """Milliseconds from the end of a push at one node until the tuple is durable at the other."""
    with (
        folder() as place,
        writer(place, _singles, count + _SETTLE) as (address, pipe),
        Node(place / "root-b", runner="light") as node,
    ):
        node.deploy(network())
        watched = _Watched(node, 1 << 60)
        with Cluster(watched, place / "b") as cluster:  # type: ignore[arg-type]
            cluster.connect("bench/a", address)
            cluster.link("s0", "bench/a/o0")
            found = []
            for number in range(count + _SETTLE):
                pipe.send(number)
                pushed = pipe.recv()
                watched.one.acquire()
                seen, stored = watched.pushed[-1]
                assert seen == number
                found.append((stored - pushed) / 1e6)
        return found[_SETTLE:]


def measure(tuples: int = TUPLES) -> dict[str, float]:
    """How much a link carries, how much of what a push does, and by how much it is later."""
    linked, pushed = [], []
    for _ in steps("link and push, in turn", range(PASSES)):
        linked.append(_linked(tuples))
        pushed.append(_pushed(tuples))
    delays = sorted(_delays(SINGLES))
    say(f"link, million tuples/s: {', '.join(f'{each:.2f}' for each in linked)}")
    say(f"push, million tuples/s: {', '.join(f'{each:.2f}' for each in pushed)}")
    say(f"delay, ms: median {statistics.median(delays):.1f}, p95 {delays[int(0.95 * len(delays))]:.1f}")
    return {
        "link_mtps": statistics.median(linked),
        "link_ms": statistics.median(delays),
        "link_x": statistics.median(linked) / statistics.median(pushed),
    }
