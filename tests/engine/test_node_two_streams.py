"""Boxes of two streams in several partitions and tasks do what they do in one."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow as pa
import pytest
from tests.conformance.engine_runs import older_roots, several_tasks
from tests.engine.in_process import InProcess

from australis import Node
from australis.algebra.builder import NetworkBuilder, Stream
from australis.algebra.network import Network
from australis.algebra.order import Order
from australis.algebra.progress import Progress

EQUAL = "left.car = right.id"
ORDERS = {
    "by slack": (Order("at", 5, ("car",)), Order("at", 5, ("id",))),
    "by progress": (Order("at", by="progress"), Order("at", 0, ("id",), "progress")),
}
Sides = tuple[Order, Order]
Box = Callable[[Stream, Stream, Sides], Stream]
TUPLES = 120


def joined(how: str) -> Box:
    return lambda cars, calls, sides: cars.join(calls, EQUAL, size=2, left=sides[0], right=sides[1], how=how)


BOXES: dict[str, Box] = {
    **{f"{how} join": joined(how) for how in ("inner", "left", "right", "full", "semi", "anti")},
    "as-of join": lambda cars, calls, sides: cars.asof(calls, EQUAL, left=sides[0], right=sides[1]),
    "resample": lambda cars, calls, sides: cars.resample(
        calls, {"n": "count(*)"}, 3, left=sides[0], right=sides[1], predicate=EQUAL
    ),
}


class FourTasks(InProcess):
    """Runs up to four tasks."""

    tasks = 4


@pytest.fixture(autouse=True)
def many_tasks() -> Iterator[None]:
    with several_tasks(1):
        yield


def network(box: Box, sides: Sides) -> Network:
    """Cars, sorted by car, and calls of the same cars."""
    net = NetworkBuilder("two")
    cars = net.input("cars", "car int, at long, x int", progress=Progress("at", 4))
    calls = net.input("calls", "id int, at long, y int", progress=Progress("at", 4))
    by_car = cars.bsort(Order("at", 3, ("car",)), as_="sorted")
    # A BSort has no marks that a join by progress could go by.
    box(cars if sides[0].by_progress else by_car, calls, sides).output("met")
    by_car.output("sorted")
    return net.build()


def tuples(names: tuple[str, str], first: int, count: int = TUPLES) -> pa.Table:
    """Tuples of 13 keys and NULL, a little out of order; the two streams have other keys at the same time."""
    numbers = range(first, first + count)
    keys = [None if n % 17 == 0 else (n * n + len(names[0])) % 13 for n in numbers]
    at = [n // 4 - (n % 3) for n in numbers]
    return pa.table(
        {
            names[0]: pa.array(keys, pa.int32()),
            "at": pa.array(at, pa.int64()),
            names[1]: pa.array(numbers, pa.int32()),
        }
    )


def push(node: Node, first: int) -> None:
    """Tuples of both streams, in several events."""
    for begin in range(first, first + TUPLES, 40):
        node.push("cars", tuples(("car", "x"), begin, 40), now=0)
        node.push("calls", tuples(("id", "y"), begin, 40), now=0)


def opened(root: Path, partitions: int) -> Node:
    return Node(root, runner=FourTasks(), partitions=partitions, clock=lambda: 0)


def results(node: Node) -> list[str]:
    """What the box has emitted; what several groups emit with one number has no order."""
    node.drain()
    return sorted(map(repr, node.read("met").to_pylist()))


def partitions_of(node: Node) -> set[int]:
    """The partitions of the states of the box."""
    found = node._ledger.plan.superboxes
    boxes = set(node.network().boxes) - {"sorted"}
    return {
        each.partition for name in found for each in node._ledger.catalog.states(name) if each.box in boxes
    }


def life(root: Path, whole: Network, partitions: int) -> list[str]:
    with opened(root, partitions) as node:
        node.deploy(whole)
        push(node, 0)
        push(node, TUPLES)
        node.flush(0)
        return results(node)


@pytest.mark.parametrize("sides", ORDERS.values(), ids=list(ORDERS))
@pytest.mark.parametrize("box", BOXES.values(), ids=list(BOXES))
def test_several_tasks_do_what_one_does(tmp_path: Path, box: Box, sides: Sides) -> None:
    whole = network(box, sides)
    expected = life(tmp_path / "one", whole, 1)
    assert len(expected) > 10
    assert life(tmp_path / "four", whole, 4) == expected
    with opened(tmp_path / "four", 4) as node:
        node.deploy(whole)
        assert partitions_of(node) == {0, 1, 2, 3}
        assert node._ledger.catalog.rows("select max(tasks) from train") == [(4,)]


@pytest.mark.parametrize(("sides", "waits"), [("by slack", True), ("by progress", False)])
@pytest.mark.parametrize("box", BOXES.values(), ids=list(BOXES))
def test_a_root_of_one_partition_continues(tmp_path: Path, box: Box, sides: str, waits: bool) -> None:
    """Older roots had the states of these boxes, and of all connected with them, in one partition."""
    whole, root = network(box, ORDERS[sides]), tmp_path / "root"
    with older_roots(), opened(root, 4) as node:
        node.deploy(whole)
        push(node, 0)
        node.drain()
        assert partitions_of(node) == {0}
        node.pause()
        push(node, TUPLES)
        if not waits:
            node.resume()
            node.drain()
    # So they did not say that it was otherwise.
    with sqlite3.connect(root / "catalog.db") as db:
        cut = "update meta set value = replace(value, '\"spreads_joins\": false, ', '') where value like ?"
        assert db.execute(cut, ("%spreads_joins%",)).rowcount == 1
    with opened(root, 4) as node:
        node.deploy(whole)
        assert partitions_of(node) == {0, 1, 2, 3}
        node.flush(0)
        found = results(node)
    assert found == life(tmp_path / "whole", whole, 1)


@pytest.mark.parametrize("box", BOXES.values(), ids=list(BOXES))
def test_a_root_is_opened_with_other_partitions(tmp_path: Path, box: Box) -> None:
    whole, root = network(box, ORDERS["by slack"]), tmp_path / "root"
    with opened(root, 3) as node:
        node.deploy(whole)
        push(node, 0)
        node.drain()
    with opened(root, 1) as node:
        node.deploy(whole)
        push(node, TUPLES)
        node.drain()
        assert partitions_of(node) == {0}
    with opened(root, 2) as node:
        node.deploy(whole)
        node.flush(0)
        found = results(node)
    assert found == life(tmp_path / "whole", whole, 1)
