"""Boxes that move between two loaded nodes: for how long their output stands still, and what a slide saves.

A keyed average goes to a node in another process and back, again and again, while tuples come at a constant
rate. The output stays at the first node. A pause is the longest time without a result during a move, less
what is usual between two results.
"""

from __future__ import annotations

import multiprocessing as mp
import statistics
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from benchmarks.cluster.scene import folder
from benchmarks.saying import say, steps

import australis
from australis.algebra.network import Network
from australis.algebra.order import Order
from australis.cluster import Cluster
from australis.cluster.moves import OF_A_MOVE
from australis.engine import Node

MOVES, FEW, MANY = 50, 1_000, 1_000_000
EVERY_S = 0.02
SETTLE_S = 60.0
SLIDE_TUPLES = 200_000


def averages() -> Network:
    """An average over each two tuples of a key."""
    net = australis.NetworkBuilder("averages")
    stream = net.input("s", "k long not null, w long not null, v double")
    stream.aggregate({"mean": "avg(v)"}, Order("w", group_by=("k",)), 2, as_="averages").output("out")
    return net.build()


def filtering() -> Network:
    """A filter that lets a tenth through."""
    net = australis.NetworkBuilder("filtering")
    stream = net.input("s", "k long not null, w long not null, v double", source="bench/a/all")
    stream.filter("k % 10 = 0", as_="tenth").output("out")
    return net.build()


def passing(name: str) -> Network:
    """What a node runs that waits for boxes: its input can be read."""
    net = australis.NetworkBuilder(name)
    net.input(f"{name}_in", "k long not null, w long not null, v double").output("all")
    return net.build()


def batch(first: int, keys: int, number: int) -> pa.Table:
    """A tuple for each key."""
    count = np.arange(first, first + keys, dtype=np.int64)
    return pa.table({"k": count, "w": np.full(keys, number), "v": count / 7})


def _serve(place: Path, pipe: Connection) -> None:
    """Be the other node, and do what comes through the pipe."""
    with Node(place / "root-b", runner="light[1]") as node:
        node.deploy(passing("other"))
        with Cluster(node, place / "b", listen=("127.0.0.1", 0)) as cluster:
            pipe.send(cluster.listens)
            cluster.connect("bench/a", pipe.recv())
            while (asked := pipe.recv()) is not None:
                match asked:
                    case "move", box:
                        moved = cluster.move([box], "bench/a")
                        pipe.send(moved.stood_still_ms)
                    case "deploy", network:
                        node.change(network)
                        cluster.rearrange()
                        pipe.send(None)
                    case "settled":
                        pipe.send(not _relays(node))
                    case "received":
                        node.drain()
                        pipe.send((cluster.status().peers[0].received, node.read("out").num_rows))


def _relays(node: Node) -> list[str]:
    """Links that the node only passes on."""
    network = node.recorded()
    assert network is not None, "it runs one"
    inputs = {name for name, each in network.inputs.items() if each.source is not None}
    return [
        name
        for name, each in network.outputs.items()
        if OF_A_MOVE.fullmatch(name) and each.source.id in inputs
    ]


@contextmanager
def _two(network: Network) -> Iterator[tuple[Node, Cluster, Connection]]:
    """A node in this process, and the pipe to one in another."""
    here, there = mp.Pipe()
    with folder() as place, Node(place / "root-a", runner="light[1]") as node:
        node.deploy(network)
        process = mp.get_context("spawn").Process(target=_serve, args=(place, there))
        process.start()
        try:
            with Cluster(node, place / "a", listen=("127.0.0.1", 0)) as cluster:
                cluster.connect("bench/b", here.recv())
                here.send(cluster.listens)
                while not cluster.status().peers[0].is_connected:
                    time.sleep(0.01)
                yield node, cluster, here
                here.send(None)
                process.join(60)
        finally:
            process.kill()
            process.join()


class _Watch:
    """Pushes at a constant rate, and notes when results come."""

    def __init__(self, node: Node) -> None:
        self._node, self._ended = node, threading.Event()
        self.at: list[float] = []
        self.pushed = self.results = 0
        self._threads = [threading.Thread(target=each) for each in (self._push, self._watch)]

    def __enter__(self) -> _Watch:
        for each in self._threads:
            each.start()
        return self

    def __exit__(self, *_: Any) -> None:
        self._ended.set()
        for each in self._threads:
            each.join()

    def _push(self) -> None:
        due = time.monotonic()
        while not self._ended.is_set():
            self.pushed += 1
            self._node.push("s", batch(0, FEW, self.pushed))
            due += EVERY_S
            self._ended.wait(max(0.0, due - time.monotonic()))

    def _watch(self) -> None:
        follower = self._node.follow("out")
        while not self._ended.is_set():
            part = follower.next(wait_s=0.1)
            if part is not None and part.table.num_rows:
                self.results += part.table.num_rows
                self.at.append(time.monotonic())

    def longest_ms(self, begin: float) -> float:
        """The longest time without a result since a moment."""
        found = [at for at in self.at if at >= begin]
        return 1e3 * max((later - at for at, later in pairwise(found)), default=0.0)


def _settle(node: Node, pipe: Connection) -> None:
    """Wait until no node is only in the way."""
    until = time.monotonic() + SETTLE_S
    while time.monotonic() < until:
        pipe.send(("settled",))
        if pipe.recv() and not _relays(node):
            return
        time.sleep(0.05)
    raise TimeoutError("streams still pass nodes that have no use for them")


def _pauses(groups: int, moves: int) -> tuple[list[float], list[float]]:
    """How long the output stood still in each move, and the box itself; in milliseconds."""
    pauses, still = [], []
    with _two(averages()) as (node, cluster, pipe):
        for first in range(0, groups, 100_000):
            node.push("s", batch(first, min(100_000, groups - first), 0))
        node.drain()
        with _Watch(node) as watch:
            time.sleep(1.0)
            usual = watch.longest_ms(watch.at[-1] - 0.7) if len(watch.at) > 5 else 2 * 1e3 * EVERY_S
            for number in steps(f"moves of {groups:,} groups", range(moves)):
                begin = time.monotonic()
                if number % 2 == 0:
                    still.append(cluster.move(["averages"], "bench/b").stood_still_ms or 0.0)
                else:
                    pipe.send(("move", "averages"))
                    still.append(pipe.recv() or 0.0)
                seen = len(watch.at)
                while len(watch.at) < seen + 3:
                    time.sleep(0.01)
                pauses.append(max(0.0, watch.longest_ms(begin - 0.2) - usual))
                _settle(node, pipe)
        node.drain()
        _settle(node, pipe)
        wanted, until = (watch.pushed - 1) // 2 * FEW, time.monotonic() + SETTLE_S
        while (rows := node.read("out").num_rows) < wanted and time.monotonic() < until:
            time.sleep(0.05)
        assert rows >= wanted, f"{wanted - rows} results of {wanted} are missing"
    return pauses, still


def _bytes() -> tuple[float, float]:
    """The bytes that cross the link for each tuple pushed, with the filter behind it and before it."""
    with _two(passing("s")) as (node, _, pipe):
        pipe.send(("deploy", filtering()))
        pipe.recv()
        figures, pushed = [], 0
        for is_slid in (False, True):
            if is_slid:
                pipe.send(("move", "tenth"))
                pipe.recv()
                _settle(node, pipe)
            pipe.send(("received",))
            before, _ = pipe.recv()
            for number in range(SLIDE_TUPLES // 10_000):
                node.push("s_in", batch(0, 10_000, number))
            pushed += SLIDE_TUPLES
            until, rows = time.monotonic() + SETTLE_S, 0
            while rows < pushed // 10 and time.monotonic() < until:
                time.sleep(0.1)
                pipe.send(("received",))
                after, rows = pipe.recv()
            assert rows == pushed // 10, f"{rows} of {pushed // 10} tuples came"
            figures.append((after - before) / SLIDE_TUPLES)
    return figures[0], figures[1]


def measure(moves: int = MOVES) -> dict[str, float]:
    """Pauses with few and with many groups, and what a filter saves that slides upstream."""
    few, still = _pauses(FEW, moves)
    many, much = _pauses(MANY, max(4, moves // 5))
    after, before = _bytes()
    for name, found, stood in (("few", few, still), ("many", many, much)):
        tenths = statistics.quantiles(found, n=10)
        say(
            f"{name} groups: output paused {statistics.median(found):.0f} ms"
            f" ({tenths[0]:.0f} to {tenths[-1]:.0f}), the box stood still {statistics.median(stood):.0f} ms"
        )
    say(f"bytes for each tuple: {after:.1f} with the filter behind the link, {before:.1f} with it before")
    return {
        "move_ms": statistics.median(few),
        "move_state_ms": statistics.median(many),
        "slide_bytes_x": before / after,
    }
