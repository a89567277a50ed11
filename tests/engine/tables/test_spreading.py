"""Joins with stored tables in several partitions and tasks do what one does, with one copy of the table."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from threading import Event

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.conformance.engine_runs import several_tasks
from tests.engine.in_process import InProcess

from australis import Node
from australis.algebra.builder import NetworkBuilder, Stream
from australis.algebra.network import QUARANTINE, Network
from australis.algebra.order import Order
from australis.algebra.store import Pull, Store
from australis.engine.ledger import StateFile
from australis.engine.store import EVERY_PARTITION, Root, read_state
from australis.engine.worker import Manifest, RunTrain, TrainFailed, Waybill
from australis.errors import Problem
from australis.plan.superboxes import Plan

NAMES = "id int, name string not null"
TRIPS = "car int, driver string, at long"
BY_DRIVER = Order("at", slack=5, group_by=("driver",))
ORDERS = {"with an order": BY_DRIVER, "without": None}


class FourTasks(InProcess):
    """Runs up to four tasks."""

    tasks = 4


@pytest.fixture(autouse=True)
def many_tasks() -> Iterator[None]:
    with several_tasks(1):
        yield


def file_of(folder: Path, *names: str | None) -> Store:
    """A table with these names of cars 0, 1 and so on, in a file."""
    ids = pa.array(range(len(names)), pa.int32())
    pq.write_table(pa.table({"id": ids, "name": pa.array(names, pa.string())}), folder / "names.parquet")
    return Store(str(folder / "names.parquet"), pull=Pull.LOAD)


def network(store: Store | None, order: Order | None) -> Network:
    """Trips that are sorted and counted by driver, and between that meet the names of their cars."""
    net = NetworkBuilder("trips")
    names = net.table("names", NAMES, store=store)
    by_driver = net.input("trips", TRIPS).bsort(BY_DRIVER, as_="sorted")
    table = None if order else "right"
    named = by_driver.join(names, "left.car = right.id", left=order, table=table, how="left", as_="named")
    named.output("named")
    named.aggregate({"n": "count(name)"}, BY_DRIVER, size=10, as_="counted").output("counted")
    return net.build()


def trips(first: int, count: int = 60) -> pa.Table:
    numbers = range(first, first + count)
    return pa.table(
        {
            "car": pa.array([n % 4 for n in numbers], pa.int32()),
            "driver": [f"d{n * n % 13}" for n in numbers],
            "at": pa.array(numbers, pa.int64()),
        }
    )


def node(root: Path, partitions: int, discipline: str = "superbox") -> Node:
    return Node(root, runner=FourTasks(), partitions=partitions, discipline=discipline, clock=lambda: 0)


def states(node: Node) -> list[StateFile]:
    """The files of the join's state."""
    found = node._ledger.plan.superboxes
    return [each for name in found for each in node._ledger.catalog.states(name) if each.box == "named"]


def outputs(node: Node) -> dict[str, list[str]]:
    """All outputs; what several groups emit with one number has no order."""
    node.drain()
    found = {name: node.read(name).to_pylist() for name in (*node.network().outputs, QUARANTINE)}
    return {name: sorted(map(repr, rows)) for name, rows in found.items()}


def counters(node: Node) -> dict[str, tuple[int, int, int]]:
    found = node.statistics()
    inputs = {name: (each.received, 0, each.rejected) for name, each in found.inputs.items()}
    return inputs | {n: (each.received, each.emitted, each.rejected) for n, each in found.boxes.items()}


# --- versions


@pytest.mark.parametrize("order", ORDERS.values(), ids=list(ORDERS))
@pytest.mark.parametrize("discipline", ["train", "superbox"])
def test_a_version_reaches_every_partition_and_is_counted_once(
    tmp_path: Path, order: Order | None, discipline: str
) -> None:
    """Trains that cross two versions, with rows that do not fit, beside those of one partition."""

    def life(partitions: int) -> tuple[dict[str, list[str]], dict[str, tuple[int, int, int]]]:
        with node(tmp_path / f"by{partitions}", partitions, discipline) as running:
            running.deploy(network(file_of(tmp_path, "zero", None, "two"), order))
            running.pause()
            running.push("trips", trips(0), now=0)
            file_of(tmp_path, "null", None, None, "drei")
            running.refresh("names")
            running.push("trips", trips(60), now=0)
            running.flush(0)
            running.resume()
            return outputs(running), counters(running)

    expected = life(1)
    assert [len(expected[0][name]) for name in ("named", QUARANTINE)] == [120, 3]
    assert expected[1]["names"][2] == 3
    assert life(4) == expected


class Stalled(InProcess):
    """Runs no train to its end."""

    def __init__(self) -> None:
        self.is_over = Event()

    def prepare(self, root: Root, plan: Plan) -> RunTrain:
        def wait(waybill: Waybill) -> list[Manifest]:
            self.is_over.wait()
            raise TrainFailed(Problem(waybill.superbox, "stalled"))

        return wait

    def abandon(self, root: Root) -> None:
        self.is_over.set()


@pytest.mark.parametrize("order", ORDERS.values(), ids=list(ORDERS))
def test_rows_that_do_not_fit_are_reported_by_one_task(tmp_path: Path, order: Order | None) -> None:
    """A first train with tuples loads the table in each of its tasks."""
    given = pa.table({"id": pa.array([0, 1, 2], pa.int32()), "name": ["zero", None, "two"]})
    made = network(None, order)
    first = Node(tmp_path, runner=Stalled(), partitions=4, discipline="train", clock=lambda: 0)
    first.deploy(made, tables={"names": given})
    first.push("trips", trips(0), now=0)
    first.stop(now=True)
    with node(tmp_path, 4, "train") as running:
        running.deploy(made)
        running.flush(0)
        found = outputs(running)
        assert (len(found["named"]), len(found[QUARANTINE]), counters(running)["names"][2]) == (60, 1, 1)
        assert running._ledger.catalog.rows("select max(tasks) from train where superbox = 'named'") == [(4,)]


def test_a_lookup_by_rows_meets_the_version_of_its_number(tmp_path: Path) -> None:
    net = NetworkBuilder("trips")
    names = net.table("names", NAMES, store=file_of(tmp_path, "zero", "one"))
    net.input("trips", TRIPS).join(names, "left.car = right.id", table="right", as_="named").output("named")
    with node(tmp_path / "root", 2) as running:
        running.deploy(net.build())
        running.pause()
        running.push("trips", trips(0, 40), now=0)
        file_of(tmp_path, "null")
        running.refresh("names")
        running.push("trips", trips(40, 40), now=0)
        running.resume()
        running.drain()
        found = running.read("named")["name"].to_pylist()
        assert found == ["zero", "one"] * 10 + ["null"] * 10
        assert running._ledger.catalog.rows("select max(tasks) from train") == [(4,)]
        assert [each.partition for each in states(running)] == [EVERY_PARTITION]


# --- files


def test_a_table_is_in_one_file_that_only_a_new_version_replaces(tmp_path: Path) -> None:
    with node(tmp_path / "root", 4) as running:
        running.deploy(network(file_of(tmp_path, *map(str, range(1_000))), BY_DRIVER))
        found = []
        for step in range(2):
            running.push("trips", trips(60 * step), now=0)
            running.drain()
            found.append({each.partition: each for each in states(running)})
        before, after = found
        assert sorted(before) == sorted(after) == [EVERY_PARTITION, 0, 1, 2, 3]
        assert before[EVERY_PARTITION] == after[EVERY_PARTITION]
        assert {before[each].name for each in range(4)}.isdisjoint(after[each].name for each in range(4))
        assert max(after[each].bytes for each in range(4)) < after[EVERY_PARTITION].bytes / 4
        file_of(tmp_path, "new")
        running.refresh("names")
        running.drain()
        (shared,) = (each for each in states(running) if each.partition == EVERY_PARTITION)
        assert read_state(running._ledger.root, shared.name)["right"]["name"].to_pylist() == ["new"]


def test_a_lookup_without_an_order_writes_only_its_table(tmp_path: Path) -> None:
    with node(tmp_path / "root", 4) as running:
        running.deploy(network(file_of(tmp_path, "zero"), None))
        running.push("trips", trips(0), now=0)
        running.drain()
        before = states(running)
        running.push("trips", trips(60), now=0)
        running.drain()
        assert states(running) == before
        assert [each.partition for each in before] == [EVERY_PARTITION]


# --- restarts


@pytest.mark.parametrize("order", ORDERS.values(), ids=list(ORDERS))
def test_a_root_with_other_partitions_has_its_table(tmp_path: Path, order: Order | None) -> None:
    def lives(root: Path, *partitions: int) -> dict[str, list[str]]:
        store = file_of(tmp_path, "zero", "one")
        for number, count in enumerate(partitions):
            with node(root, count) as running:
                running.deploy(network(store, order))
                running.push("trips", trips(60 * number), now=0)
                running.drain()
                found = outputs(running)
        return found

    expected = lives(tmp_path / "one", 1, 1, 1)
    assert lives(tmp_path / "other", 3, 1, 2) == expected


@pytest.mark.parametrize("order", ORDERS.values(), ids=list(ORDERS))
def test_a_query_that_has_not_begun_loads_its_table_with_other_partitions(
    tmp_path: Path, order: Order | None
) -> None:
    net = NetworkBuilder("trips")
    net.table("names", NAMES, store=file_of(tmp_path, "zero", "one"))
    net.input("trips", TRIPS).point("past", history="forever").filter("car > 0").output("all")
    ask = NetworkBuilder("ask")
    asked: Stream = ask.input("past", TRIPS)
    names, table = ask.table("names", NAMES), None if order else "right"
    asked.join(names, "left.car = right.id", left=order, table=table, as_="named").output("found")
    with node(tmp_path / "root", 2) as running:
        running.deploy(net.build())
        running.push("trips", trips(0, 8), now=0)
        running.drain()
        running.pause()
        running.attach(ask.build(), name="asked")
    with node(tmp_path / "root", 3) as running:
        running.deploy(net.build())
        running.drain()
        assert sorted(running.read("asked")["name"].to_pylist()) == ["one", "one", "zero", "zero"]
