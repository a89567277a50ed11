"""A join of two streams by a key, on light nodes of two workers: one partition against two and four."""

from __future__ import annotations

import os
import time
from contextlib import ExitStack
from statistics import median

import numpy as np
import pyarrow as pa
from benchmarks.engine.processes import cpu_by_process
from benchmarks.scale.tasks import running

from australis import Network, NetworkBuilder, Node, Order

WORKERS, TUPLES, KEYS = 2, 1_000_000, 10_000
PARTITIONS = (1, 2, 4)
SECONDS = 100
"""How long a pass lasts in event time: a tuple has about one partner within half a second."""
WARM_PASSES, PASSES = 1, 5


def network() -> Network:
    """Pairs of the tuples of a key that are at most half a second apart."""
    net = NetworkBuilder("pairs")
    keyed = "k long not null, at timestamp not null"
    left, right = (net.input(name, f"{keyed}, {name} double not null") for name in ("a", "b"))
    by_key = Order("at", 0, ("k",))
    pairs = left.join(right, "left.k = right.k", size="0.5 s", left=by_key, right=by_key, as_="pairs")
    pairs.output("pairs")
    return net.build()


def batch(random: np.random.Generator, name: str, number: int) -> pa.Table:
    """The tuples of one stream in a pass."""
    length = SECONDS * 1_000_000
    times = number * length + np.arange(TUPLES) * length // TUPLES
    return pa.table(
        {
            "k": pa.array(random.integers(0, KEYS, TUPLES)),
            "at": pa.array(times, pa.timestamp("us", tz="UTC")),
            name: pa.array(random.random(TUPLES)),
        }
    )


def _spent(node: Node, tuples: dict[str, pa.Table]) -> tuple[float, float, float]:
    """The CPU time and the clock time of a pass, and the CPU time of its busiest worker.

    Both streams are pushed, then trains run.
    """
    node.pause()
    began, before = time.perf_counter(), cpu_by_process()
    for name, table in tuples.items():
        node.push(name, table)
    node.resume()
    node.drain()
    clock = time.perf_counter() - began
    spent = {process: now - before.get(process, 0) for process, now in cpu_by_process().items()}
    workers = [each for process, each in spent.items() if process != os.getpid()]
    return sum(spent.values()), clock, max(workers)


def measure() -> dict[str, float]:
    """The medians of what a pass takes; the nodes take their passes in turn.

    Where others use the machine, the clock tells little; the busiest worker is the longest part of a pass.
    """
    random = np.random.default_rng(1)
    found: dict[int, list[tuple[float, float, float]]] = {each: [] for each in PARTITIONS}
    with ExitStack() as stack:
        nodes = {each: stack.enter_context(running(network(), {}, WORKERS, each)) for each in PARTITIONS}
        for number in range(WARM_PASSES + PASSES):
            tuples = {name: batch(random, name, number) for name in ("a", "b")}
            for partitions, node in nodes.items():
                found[partitions].append(_spent(node, tuples))
    figures = {}
    for partitions, spent in found.items():
        medians = map(median, zip(*spent[WARM_PASSES:], strict=True))
        for name, each in zip(("cpu_s", "clock_s", "worker_cpu_s"), medians, strict=True):
            figures[f"join_{partitions}_{name}"] = each
    return figures
