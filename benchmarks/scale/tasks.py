"""The CPU time of one keyed network with 16 tasks against one task, on light nodes, over the same tuples.

All processes count: the node, which logs the tuples and writes them split, and the workers of its trains.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from statistics import median
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa
from benchmarks.engine.processes import cpu_seconds

from australis import Network, NetworkBuilder, Node, Order

TASKS, TUPLES, KEYS = 16, 2_000_000, 10_000
WARM_PASSES, PASSES = 2, 7


def network() -> Network:
    """A filter, and averages by key in windows of a second: the tuples of a train."""
    net = NetworkBuilder("keys")
    stream = net.input("s", "k long not null, at timestamp not null, v double not null, w double not null")
    some = stream.filter("v > 0.01", as_="some")
    means = some.aggregate(
        {"mean": "avg(v)", "n": "count(*)"}, Order("at", 0, ("k",)), "1 second", as_="means"
    )
    means.output("means")
    return net.build()


def batch(random: np.random.Generator, second: int) -> pa.Table:
    """The tuples of a second."""
    times = second * 1_000_000 + np.arange(TUPLES) * 1_000_000 // TUPLES
    return pa.table(
        {
            "k": pa.array(random.integers(0, KEYS, TUPLES)),
            "at": pa.array(times, pa.timestamp("us", tz="UTC")),
            "v": pa.array(random.random(TUPLES)),
            "w": pa.array(random.random(TUPLES)),
        }
    )


Tables = Mapping[str, pa.Table]


@contextmanager
def running(deployed: Network, tables: Tables, tasks: int, partitions: int) -> Iterator[Node]:
    """A node with some tasks, in a folder of its own."""
    with (
        TemporaryDirectory(prefix="australis-tasks-") as root,
        Node(root, runner=f"light[{tasks}]", partitions=partitions) as node,
    ):
        node.deploy(deployed, tables=tables)
        yield node


def _cpu_s(node: Node, tuples: pa.Table) -> float:
    began = cpu_seconds()
    node.push("s", tuples)
    node.drain()
    return cpu_seconds() - began


def medians(deployed: Network, tables: Tables) -> tuple[float, float, float]:
    """The CPU seconds of a pass with many tasks, with one task and as many partitions, and with one of both.

    The nodes take their passes in turn.
    """
    cases = ((TASKS, TASKS), (1, TASKS), (1, 1))
    random, found = np.random.default_rng(1), [[], [], []]
    with ExitStack() as stack:
        nodes = [stack.enter_context(running(deployed, tables, *case)) for case in cases]
        for second in range(WARM_PASSES + PASSES):
            tuples = batch(random, second)
            for node, spent in zip(nodes, found, strict=True):
                spent += [_cpu_s(node, tuples)]
    many, one, one_partition = (median(spent[WARM_PASSES:]) for spent in found)
    return many, one, one_partition


def measure() -> dict[str, float]:
    """The CPU time of a tuple, and its ratios."""
    many, one, one_partition = medians(network(), {})
    return {
        "tasks_cpu_x": many / one,
        "tasks_cpu_ns": 1e9 * many / TUPLES,
        "task_cpu_ns": 1e9 * one / TUPLES,
        "tasks_cpu_one_partition_x": many / one_partition,
    }
