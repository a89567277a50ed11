"""Makes a small root to be kept: `python -m tests.roots.make_root FOLDER`, with the version to be kept.

It uses nothing but what every version has: a node, pushes, a query, a consumer. What was pushed is in
`EVENTS`, so a test can work out what has to come of it.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pyarrow as pa

from australis import NetworkBuilder, Node, Order
from australis.algebra.network import Network

EVENTS = [[(k, 10 * step + k, 0.5 * step if k else None) for k in range(3)] for step in range(6)]
"""What is pushed before the root is kept, push by push: a key, an order value, a number."""
MORE = [[(k, 10 * step + k, 1.0 * step) for k in range(3)] for step in range(6, 9)]
"""What is pushed after it was opened again."""
NAMES = pa.table({"id": pa.array([0, 2], pa.int32()), "name": ["zero", "two"]})
HELD = 2
"""So many of the pushes wait when the node stops."""


def network() -> Network:
    """Windows that are open at the end, history with a key, a stored table, and tuples for the quarantine."""
    net = NetworkBuilder("kept")
    names = net.table("names", "id int, name string")
    stream = net.input("s", "k int, at long, v double not null").point("past", history="forever", key="k")
    order = Order("at", group_by=("k",))
    stream.aggregate({"n": "count(*)", "most": "max(v)"}, order, size=25, as_="windows").output("windows")
    stream.join(names, "left.k = right.id", left=order, as_="named").output("named")
    return net.build()


def query() -> Network:
    """An ad hoc query on history."""
    net = NetworkBuilder("asked")
    net.input("past", "k int, at long, v double not null").filter("k = 2").output("found")
    return net.build()


def batch(rows: list[tuple[int, int, float | None]]) -> pa.Table:
    """Tuples as they are pushed."""
    k, at, v = zip(*rows, strict=True)
    return pa.table(
        {"k": pa.array(k, pa.int32()), "at": pa.array(at, pa.int64()), "v": pa.array(v, pa.float64())}
    )


def main(folder: Path) -> None:
    with Node(folder, clock=lambda: 0, discipline="superbox") as node:
        node.deploy(network(), tables={"names": NAMES})
        node.consumer("reader", "named")
        for number, rows in enumerate(EVENTS):
            if number == 2:
                node.attach(query(), name="asked")
            if number == len(EVENTS) - HELD:
                node.drain()
                node.pause()
            node.push("s", batch(rows), now=number, position=("feed", str(number + 1)))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
