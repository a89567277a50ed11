"""A keyed box that is too much for one core, split over two nodes of one core each.

The box hashes each tuple several times before it sums, so it is nearly all that there is to do. Tuples wait
at the first node before the clock starts; it stops when all results are at the output, which stays there.
Each node has a core of its own. Runs on one node and on two alternate.
"""

from __future__ import annotations

import multiprocessing as mp
import os
import statistics
import time
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from pathlib import Path

import numpy as np
import pyarrow as pa
from benchmarks.cluster.scene import folder
from benchmarks.saying import say, steps

import australis
from australis.algebra.network import Network
from australis.algebra.order import Order
from australis.cluster import Cluster
from australis.engine import Node

PASSES, TUPLES, KEYS, HASHES = 3, 400_000, 1_000, 12
SIZE = 50
_BATCH = 20_000
WAIT_S = 300.0


def network() -> Network:
    """Sums of expensive values, by key."""
    hashed = " + ".join(f"length(sha2(line || '{number}', 256))" for number in range(HASHES))
    net = australis.NetworkBuilder("hashing")
    stream = net.input("s", "k long not null, w long not null, line string not null")
    sums = stream.aggregate({"total": f"sum({hashed})"}, Order("w", group_by=("k",)), SIZE, as_="sums")
    sums.output("out")
    return net.build()


def waiting() -> Network:
    """What a node runs that waits for boxes."""
    net = australis.NetworkBuilder("waiting")
    net.input("none", "x int").output("nothing")
    return net.build()


def batch(number: int) -> pa.Table:
    """Tuples of all keys, later than those of the batch before."""
    count = np.arange(number * _BATCH, (number + 1) * _BATCH, dtype=np.int64)
    lines = pa.array([f"request {each % 997} of user {each % 8191}" for each in count.tolist()])
    return pa.table({"k": count % KEYS, "w": count // KEYS, "line": lines})


def _pin(core: int) -> None:
    """Run this process, and those that it starts, on one core."""
    os.sched_setaffinity(0, {sorted(os.sched_getaffinity(0))[core]})


def _serve(place: Path, pipe: Connection) -> None:
    _pin(-1)
    with (
        Node(place / "root-b", runner="light[1]") as node,
        Cluster(node, place / "b", listen=("127.0.0.1", 0)) as cluster,
    ):
        node.deploy(waiting())
        pipe.send(cluster.listens)
        cluster.connect("bench/a", pipe.recv())
        pipe.recv()


def _lead(place: Path, over_two: bool, tuples: int, pipe: Connection) -> None:
    """Be the first node: push everything, then let it run; tell how long it took."""
    _pin(0)
    address = pipe.recv()
    with (
        Node(place / "root-a", runner="light[1]") as node,
        Cluster(node, place / "a", listen=("127.0.0.1", 0)) as cluster,
    ):
        node.deploy(network())
        cluster.connect("bench/b", address)
        pipe.send(cluster.listens)
        # Kernels are compiled, and the copy is at its place, before the clock starts.
        node.push("s", batch(0))
        node.drain()
        if over_two:
            node.split("sums", 2)
            cluster.move(["sums_2"], "bench/b")
        node.push("s", batch(1))
        _wait(node, 1)
        node.pause()
        batches = 1 + tuples // _BATCH
        for number in range(2, 1 + batches):
            node.push("s", batch(number))
        begin = time.perf_counter()
        node.resume()
        _wait(node, batches)
        pipe.send(time.perf_counter() - begin)


def _wait(node: Node, last: int) -> None:
    """Wait until the windows that a batch has closed are at the output."""
    closed = ((last + 1) * _BATCH // KEYS - 1) // SIZE * KEYS
    until = time.monotonic() + WAIT_S
    while node.kept("out").rows < closed:
        if time.monotonic() > until:
            raise TimeoutError(f"{node.kept('out').rows} of {closed} results came")
        time.sleep(0.01)


@contextmanager
def _pair(place: Path, over_two: bool, tuples: int) -> Iterator[Connection]:
    context = mp.get_context("spawn")
    one, other = mp.Pipe(), mp.Pipe()
    processes = [
        context.Process(target=_serve, args=(place, other[1])),
        context.Process(target=_lead, args=(place, over_two, tuples, one[1])),
    ]
    for each in processes:
        each.start()
    for _, theirs in (one, other):
        # So that a node that fails ends the wait for it.
        theirs.close()
    try:
        one[0].send(other[0].recv())
        other[0].send(one[0].recv())
        yield one[0]
        other[0].send("end")
    finally:
        for each in processes:
            each.join(30)
            each.kill()


def _seconds(over_two: bool, tuples: int) -> float:
    with folder() as place, _pair(place, over_two, tuples) as pipe:
        found: float = pipe.recv()
        return found


def measure(tuples: int = TUPLES) -> dict[str, float]:
    """How much more two nodes deliver than one."""
    alone, both = [], []
    for _ in steps("one node and two, in turn", range(PASSES)):
        alone.append(_seconds(False, tuples))
        both.append(_seconds(True, tuples))
    say(f"one node, s: {', '.join(f'{each:.2f}' for each in alone)}")
    say(f"two nodes, s: {', '.join(f'{each:.2f}' for each in both)}")
    return {"split_x": statistics.median(alone) / statistics.median(both)}
