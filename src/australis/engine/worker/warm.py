"""Warms the kernels up with small batches, so that compiled loops are in memory before a fork."""

from __future__ import annotations

import pyarrow as pa

import australis.engine.worker.task  # noqa: F401  (what every worker needs is loaded with it)
from australis.algebra.builder import NetworkBuilder
from australis.algebra.network import Network
from australis.algebra.order import Order
from australis.kernels.arrays import partitions
from australis.kernels.run import PipelineRun


def warm_up() -> None:
    """Load the compiled loops that trains use most; others are loaded on first use."""
    run = PipelineRun(_network())
    rows = pa.table({"k": [1, 2, 1], "at": [1, 2, 3], "x": [1.0, 2.0, 3.0]})
    for name in ("left", "right"):
        partitions(rows, ["k"], 2)
        run.push(name, rows, 0)
    run.restore(run.snapshot())
    run.flush(0)


def _network() -> Network:
    net = NetworkBuilder("warm")
    left = (
        net.input("left", "k long, at long, x double").filter("x > 0").map({"k": "k", "at": "at", "x": "x"})
    )
    right = net.input("right", "k long, at long, x double")
    order = Order("at", slack=1, group_by=("k",))
    left.aggregate({"n": "count(*)", "mean": "avg(x)", "most": "max(x)"}, order, size=2).output("average")
    left.aggregate({"n": "count(*)"}, Order("at", group_by=("k",)), size=4, advance=2).output("sliding")
    left.bsort(order).output("sorted")
    left.join(right, "left.k = right.k", size=1, left=Order("at"), right=Order("at")).output("pairs")
    return net.build()
