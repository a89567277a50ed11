"""A consumer of the quarantine, which all superboxes write, each as far as it has come."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest
from tests.engine.in_process import InProcess

from australis import Node
from australis.algebra.builder import NetworkBuilder
from australis.algebra.network import Network
from australis.algebra.order import Order

BAD = pa.table({"a": pa.array([None], pa.int64())})


def network() -> Network:
    net = NetworkBuilder("n")
    net.input("x", "a long not null").filter("a >= 0", as_="filter").output("out")
    high = net.input("y", "k long, t long").filter("k >= 100", as_="high")
    high.aggregate({"n": "count(*)"}, Order("t"), size=1, as_="count").output("n")
    return net.build()


@pytest.fixture
def node(tmp_path: Path) -> Iterator[Node]:
    with Node(tmp_path, runner=InProcess(), discipline="train") as node:
        node.deploy(network())
        node.pause()
        yield node


def push(node: Node, k: int, t: int) -> None:
    node.push("x", BAD)
    node.push("y", pa.table({"k": [k], "t": [t]}))


def run_only(node: Node, *superboxes: str) -> None:
    """Run all trains of some superboxes, as a scheduler may that puts the others off."""
    heads, state = node._ledger.queues.heads, node._deployed.state
    with state.change_of_plan():
        state.hold({name: head.seq for name, head in heads.items() if name not in superboxes})
        while node.step():
            pass


def delivered(node: Node) -> list[int]:
    tables = node.subscribe("quarantine", consumer="c", follow=False)
    return [number for table in tables for number in table["#seq"].to_pylist()]


def test_it_never_goes_back(node: Node) -> None:
    """The count was further while nothing concerned it, and is back at its head when something does."""
    push(node, 100, 1)
    run_only(node, "high", "count")
    push(node, 5, 2)
    run_only(node, "high")
    push(node, 200, 3)
    run_only(node, "filter")
    assert (delivered(node), node.consumer("c", "quarantine")[0]) == ([1, 5], 8)
    run_only(node, "high")
    assert node._ledger.queues.arc_end("=quarantine") < 8
    assert (delivered(node), node.consumer("c", "quarantine")[0]) == ([], 8)
    run_only(node, "count")
    assert (delivered(node), node.consumer("c", "quarantine")[0]) == ([9], 12)


def test_what_is_acknowledged_stays_acknowledged(node: Node) -> None:
    node.push("x", pa.table({"a": list(range(7))}))
    node.consumer("c", "out")
    for seq in (7, 3):
        node.acknowledge("c", "out", seq, f"up to {seq}")
    assert node.consumer("c", "out") == (7, "up to 7")
