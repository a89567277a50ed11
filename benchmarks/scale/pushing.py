"""Pushes to a box with many open windows that have timeouts, beside the same windows without any.

A backlog of small pushes runs in one train. None of the timeouts is due, so they should cost nothing.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from statistics import median
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa
from benchmarks.scale.here import Here

from australis import NetworkBuilder, Node, Order
from australis.algebra.network import Network

WINDOWS = 100_000
PUSHES = 500
"""How many pushes of one tuple wait for each train."""
PASSES = 5


def measure() -> dict[str, float]:
    """The CPU milliseconds of a push of one tuple in a backlog; of one that comes alone, by the clock."""
    with filled("1 hour") as timed, filled(None) as untimed:
        # In turn, since the speed of the machine changes.
        backlogs = [(_backlog_ms(timed), _backlog_ms(untimed)) for _ in range(PASSES)]
        alone = [(_alone_ms(timed), _alone_ms(untimed)) for _ in range(10 * PASSES)]
    (push_ms, untimed_ms), (alone_ms, untimed_alone_ms) = (
        map(median, zip(*each, strict=True)) for each in (backlogs, alone)
    )
    return {
        "push_ms": push_ms,
        "push_untimed_ms": untimed_ms,
        "push_alone_ms": alone_ms,
        "push_untimed_alone_ms": untimed_alone_ms,
    }


def network(timeout: str | None) -> Network:
    """Averages by key, in windows that no tuple closes."""
    net = NetworkBuilder("windows")
    stream = net.input("s", "k long not null, at timestamp not null, v double not null")
    mean = stream.aggregate({"mean": "avg(v)"}, Order("at", 0, ("k",)), "1 day", timeout=timeout, as_="mean")
    mean.output("means")
    return net.build()


@contextmanager
def filled(timeout: str | None) -> Iterator[Node]:
    """A node with an open window for each key."""
    with TemporaryDirectory(prefix="bench-scale-") as folder, Node(folder, runner=Here()) as node:
        node.deploy(network(timeout))
        node.push("s", batch(np.arange(WINDOWS)))
        node.drain()
        yield node


def batch(keys: np.ndarray) -> pa.Table:
    times = pa.array(np.zeros(len(keys), np.int64), pa.timestamp("us", tz="UTC"))
    return pa.table({"k": pa.array(keys), "at": times, "v": pa.array(np.full(len(keys), 0.5))})


def _backlog_ms(node: Node) -> float:
    node.pause()
    for key in range(PUSHES):
        node.push("s", batch(np.array([key])))
    began = time.process_time()
    node.resume()
    node.drain()
    return (time.process_time() - began) * 1000 / PUSHES


def _alone_ms(node: Node) -> float:
    began = time.perf_counter()
    node.push("s", batch(np.array([1])))
    node.drain()
    return (time.perf_counter() - began) * 1000
