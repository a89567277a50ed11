"""The CPU time of a keyed network with a lookup in a stored table, with 16 tasks against one task."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from benchmarks.scale.tasks import TUPLES, medians

from australis import Network, NetworkBuilder, Order

ROWS = 50_000
"""More rows than there are keys in the stream."""


def network() -> Network:
    """Tuples meet the row of their key, and averages are taken by key in windows of a second."""
    net = NetworkBuilder("named")
    names = net.table("names", "id long not null, name string, weight double")
    stream = net.input("s", "k long not null, at timestamp not null, v double not null, w double not null")
    named = stream.join(names, "left.k = right.id", table="right", as_="named")
    weighed = {"mean": "avg(v * weight)", "n": "count(*)"}
    named.aggregate(weighed, Order("at", 0, ("k",)), "1 second", as_="means").output("means")
    return net.build()


def rows() -> pa.Table:
    ids = np.arange(ROWS)
    return pa.table({"id": ids, "name": [f"the name of {each}" for each in ids], "weight": ids / ROWS})


def measure() -> dict[str, float]:
    """The CPU time of a tuple, and its ratios."""
    many, one, one_partition = medians(network(), {"names": rows()})
    return {
        "tables_cpu_x": many / one,
        "tables_cpu_ns": 1e9 * many / TUPLES,
        "table_cpu_ns": 1e9 * one / TUPLES,
        "tables_cpu_one_partition_x": many / one_partition,
    }
