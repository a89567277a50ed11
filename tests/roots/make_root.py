"""Makes a small root to be kept: `python -m tests.roots.make_root FOLDER JSON`, with the version to be kept.

It uses what every version has: a node, pushes, a query, a consumer, and drop boxes, wherever they are. What
was pushed is in `EVENTS`, so a test can work out what has to come of it; what the node said is in JSON.
"""

from __future__ import annotations

import importlib
import json
import sys
import time
from pathlib import Path
from typing import Any

import pyarrow as pa

from australis import NetworkBuilder, Node, Order
from australis.algebra.network import Network

EVENTS = [[(k, 10 * step + k, 0.5 * step if k else None) for k in range(3)] for step in range(6)]
"""What is pushed before the root is kept, push by push: a key, an order value, a number."""
MORE = [[(k, 10 * step + k, 1.0 * step) for k in range(3)] for step in range(6, 9)]
"""What is pushed after it was opened again."""
NAMES = pa.table({"id": pa.array([0, 2], pa.int32()), "name": ["zero", "two"]})
HELD = 2
"""How many of the pushes wait when the node stops."""
HISTORY = 64
"""More tuples than there are, in runs of a few."""
OUTPUTS = ("windows", "named", "quarantine", "asked")
COUNTED = ("received", "emitted", "late", "ignored", "rejected")
READER, NOTE = "reader", "the first table"


def network() -> Network:
    """Windows that are open at the end, history with a key, a stored table, and tuples for the quarantine."""
    net = NetworkBuilder("kept")
    names = net.table("names", "id int, name string")
    stream = net.input("s", "k int, at long, v double not null").point("past", history=HISTORY, key="k")
    order = Order("at", group_by=("k",))
    counted = {"n": "count(*)", "most": "max(v)"}
    stream.aggregate(counted, order, size=25, timeout="1 hour", as_="windows").output("windows")
    stream.join(names, "left.k = right.id", left=order, as_="named").output("named")
    return net.build()


def query() -> Network:
    """An ad hoc query on history."""
    net = NetworkBuilder("asked")
    net.input("past", "k int, at long, v double not null").filter("k = 2").output("found")
    return net.build()


def batch(rows: list[tuple[int, int, float | None]]) -> pa.Table:
    """Tuples in the form in which they are pushed."""
    k, at, v = zip(*rows, strict=True)
    return pa.table(
        {"k": pa.array(k, pa.int32()), "at": pa.array(at, pa.int64()), "v": pa.array(v, pa.float64())}
    )


def push(node: Node, number: int) -> None:
    """Push the tuples of a number, together with the progress so far."""
    node.push("s", batch((*EVENTS, *MORE)[number]), now=number, position=("feed", str(number + 1)))


def push_with_key(node: Node) -> Any:
    """Push the last of the events under a key, of which the receipt is kept from version 8 on."""
    key = importlib.import_module("australis.engine.ledger").Key("someone", "last", "event")
    number = len(EVENTS) - 1
    return node.admit("s", batch(EVENTS[number]), now=number, position=("feed", str(number + 1)), key=key)


# --- what is known of a root


def told(statistics: Any) -> dict[str, Any]:
    """What statistics of every version report."""
    return {
        "log_end": statistics.log_end,
        "boxes": {n: {c: getattr(box, c) for c in COUNTED} for n, box in statistics.boxes.items()},
        "outputs": {name: output.tuples for name, output in statistics.outputs.items()},
        "queues": {name: superbox.queue for name, superbox in statistics.superboxes.items()},
        "trains": {name: superbox.trains for name, superbox in statistics.superboxes.items()},
        "arcs": dict(statistics.arcs),
        "bytes": statistics.bytes,
        "shed": [
            [each.superbox, each.stream, each.share, each.since, each.arrived, each.shed]
            for each in statistics.dropboxes
        ],
    }


def listed(tables: list[pa.Table]) -> list[list[Any]]:
    """Tuples as JSON has them, with their numbers."""
    return [list(row.values()) for table in tables for row in table.drop_columns(["#ts"]).to_pylist()]


def known(node: Node) -> dict[str, Any]:
    """What a node reports about itself, without running trains."""
    return {
        "statistics": told(node.statistics()),
        "history": listed(list(node.history("past"))),
        "outputs": {name: listed([node.read(name)]) for name in OUTPUTS},
        "consumer": list(node.consumer(READER, "named")),
        "position": node.position("feed"),
        "attached": sorted(node.attached()),
    }


# --- making one


def _place_drop_box(node: Node) -> None:
    """A drop box at a gate that admits everything; it is withdrawn when the node ends."""
    shed = importlib.import_module("australis.policy.shed")
    shedder = shed if hasattr(shed, "Insert") else importlib.import_module("australis.policy.shedder")
    node._deployed.steering.dropboxes.obey([shedder.Insert("named", shed.DropBox.random(0.0))], 0)


def _read_some(node: Node) -> None:
    """A consumer has read the first table, and acknowledges it; more is there for it."""
    first = next(iter(node.subscribe("named", consumer=READER, follow=False, rows=1)))
    node.acknowledge(READER, "named", first["#seq"][-1].as_py() + 1, NOTE)


def _wait_for_runs(folder: Path, runs: int) -> None:
    """Wait until that much of history was gathered."""
    while len(list((folder / "history" / "past").glob("*.parquet"))) < runs:
        time.sleep(0.05)


def main(folder: Path, told_in: Path) -> None:
    forms = {"layered_from": 0, "split_from": 1, "runner": "light"}
    with Node(folder, clock=lambda: 0, discipline="superbox", **forms) as node:
        node.deploy(network(), tables={"names": NAMES})
        node.consumer(READER, "named")
        for number in range(len(EVENTS)):
            if number == 1:
                _place_drop_box(node)
            if number == 2:
                node.attach(query(), name="asked")
            if number < len(EVENTS) - HELD:
                push(node, number)
                node.drain()
        _read_some(node)
        # The last push that went through may still get more.
        _wait_for_runs(folder, len(EVENTS) - HELD - 1)
        node.pause()
        for number in range(len(EVENTS) - HELD, len(EVENTS) - 1):
            push(node, number)
        push_with_key(node)
        told_in.write_text(json.dumps(known(node), indent=1, sort_keys=True) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
