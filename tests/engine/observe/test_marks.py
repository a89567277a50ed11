"""What statistics say of marks: how far inputs have come, and which of them holds a window open."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
from tests.engine.in_process import InProcess

from australis import Network, NetworkBuilder, Node, Order
from australis.algebra.progress import Progress
from australis.engine.observe import InputMarkStatistics, OrderMarkStatistics, look

BY_PROGRESS = Order("at", by="progress")


def merged() -> Network:
    """Two inputs, of which the second is moved by 100 before they are merged, counted and sorted."""
    net = NetworkBuilder("merged")
    left = net.input("left", "at long", progress=Progress("at", slack=5))
    right = net.input("right", "at long", progress=Progress("at"))
    later = right.map({"at": "at + 100L"}, as_="later")
    both = left.union(later, as_="both")
    counts = both.aggregate({"n": "count(*)"}, BY_PROGRESS, 10, align=True, as_="counts")
    counts.bsort(BY_PROGRESS, as_="sorted").output("out")
    return net.build()


def pushed(node: Node, name: str, *values: int) -> None:
    node.push(name, pa.table({"at": pa.array(values, pa.int64())}))


def orders(node: Node) -> list[tuple[str, str, object, str]]:
    node.drain()
    return [(each.box, each.side, each.mark, each.held_back_by) for each in node.statistics().orders]


def test_the_input_that_holds_a_window_open(tmp_path: Path) -> None:
    with Node(tmp_path, runner=InProcess()) as node:
        node.deploy(merged())
        pushed(node, "left", 300)
        assert orders(node) == [("counts", "", None, "right"), ("sorted", "", None, "right")]
        pushed(node, "right", 170)
        assert orders(node) == [("counts", "", 270, "right"), ("sorted", "", 270, "right")]
        pushed(node, "right", 209)
        assert orders(node) == [("counts", "", 295, "left"), ("sorted", "", 290, "left")]
        found = node.statistics()
        assert {name: (each.on, each.mark, each.behind_s) for name, each in found.marks.items()} == {
            "left": ("at", 295, None),
            "right": ("at", 209, None),
        }
        assert found.orders[0] == OrderMarkStatistics("counts", "", "at", 295, "left")
        assert found.marks["left"].quiet_since is not None
        assert found.marks["right"].quiet_since is not None
        assert found.marks["left"].quiet_since < found.marks["right"].quiet_since
        node.flush()
        assert orders(node)[0] == ("counts", "", None, "left")


def test_each_side_of_a_join_has_its_own_mark(tmp_path: Path) -> None:
    net = NetworkBuilder("pairs")
    left = net.input("l", "at timestamp, x decimal(4, 2)", progress=Progress("at", slack="2 s"))
    right = net.input("r", "x decimal(4, 2)", progress=Progress("x"))
    other = net.input("o", "at timestamp", progress=Progress("at"))
    left.join(other, "true", size="1 s", left=BY_PROGRESS, right=BY_PROGRESS, as_="near").output("near")
    right.bsort(Order("x", by="progress"), as_="sorted").output("sorted")
    with Node(tmp_path, runner=InProcess(), clock=lambda: 9_500_000) as node:
        node.deploy(net.build())
        moment = pa.array([5_250_000], pa.timestamp("us", "UTC"))
        node.push("l", pa.table({"at": moment, "x": pa.array([1], pa.decimal128(4, 2))}))
        node.push("r", pa.table({"x": pa.array([1], pa.decimal128(4, 2))}))
        assert sorted(orders(node)) == [
            ("near", "left", "1970-01-01T00:00:03.250000Z", "l"),
            ("near", "right", None, "o"),
            ("sorted", "", "1.00", "r"),
        ]
        marks = node.statistics().marks
        assert marks["l"] == InputMarkStatistics("at", "1970-01-01T00:00:03.250000Z", 6.25, 9_500_000)
        assert marks["o"] == InputMarkStatistics("at", None, None, 9_500_000)
    seen = look(tmp_path)
    assert seen.orders == node_orders(seen.as_dict()), "from outside, and as JSON"


def node_orders(found: dict[str, object]) -> tuple[OrderMarkStatistics, ...]:
    orders = json.loads(json.dumps(found))["orders"]
    return tuple(OrderMarkStatistics(**each) for each in orders)


def test_a_network_without_progress_has_no_marks(tmp_path: Path) -> None:
    net = NetworkBuilder("plain")
    net.input("s", "at long").aggregate({"n": "count(*)"}, Order("at"), 10, as_="n").output("out")
    with Node(tmp_path, runner=InProcess()) as node:
        node.deploy(net.build())
        found = node.statistics()
        assert (found.marks, found.orders) == ({}, ())
