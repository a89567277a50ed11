"""Drop boxes on a node: what they shed is exact, known and visible, and they go when nobody needs them."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from pyspark.sql import SparkSession

from australis import Node
from australis.algebra.boxes import Drop, Filter
from australis.algebra.builder import NetworkBuilder
from australis.algebra.network import Network
from australis.algebra.order import Order
from australis.algebra.quality import Quality, ValueGraph
from australis.engine.deliver.fraction import DELIVERED
from australis.errors import EngineError
from australis.policy.shed.drop_boxes import DropBox
from australis.policy.shed.shedder import Command, Insert, Withdraw

SECOND = 1_000_000
TOLERANT = Quality(delay=((1, 1), (4, 0)), loss=((0, 0), (1, 1)))
STRICT = Quality(delay=((1, 1), (4, 0)), weight=5)


class Clock:
    """A clock that stands still until it is set."""

    def __init__(self) -> None:
        self.now = 1_000 * SECOND

    def __call__(self) -> int:
        return self.now


def forked() -> Network:
    """A shared filter, and behind it an output that may lose tuples, and one that may not."""
    net = NetworkBuilder("forked")
    some = net.input("s", "k long, v double").filter("v >= 0", as_="some")
    some.map({"k": "k", "twice": "2 * v + 1"}, as_="twice").output("tolerant", TOLERANT)
    some.map({"k": "k"}, as_="keys").output("strict", STRICT)
    return net.build()


def valued() -> Network:
    """An output whose tuples matter more the greater they are, behind a map that can be inverted."""
    net = NetworkBuilder("valued")
    graph = ValueGraph("w", points=((0, 0), (200, 1)))
    quality = Quality(delay=((1, 1), (4, 0)), loss=((0, 0), (1, 1)), value=graph)
    stream = net.input("s", "k long, v double").map({"k": "k", "w": "2 * v"}, as_="double")
    stream.output("out", quality)
    return net.build()


def counted() -> Network:
    """How often each key came, after which tuples may be shed: the end of the stream emits all at once."""
    net = NetworkBuilder("counted")
    stream = net.input("s", "k long, v double")
    counts = stream.aggregate({"n": "count(*)"}, Order("v", group_by=["k"]), size=1000, as_="count")
    counts.filter("n > 0", as_="some").output("tolerant", TOLERANT)
    return net.build()


def rows(tuples: int, first: int = 0) -> pa.Table:
    numbers = range(first, first + tuples)
    return pa.table({"k": list(numbers), "v": [float(n % 100) for n in numbers]})


def order(node: Node, *commands: Command) -> None:
    """Have drop boxes put up or taken down, as the shedder does."""
    node._deployed.steering.dropboxes.obey(commands, node._clock())


@pytest.fixture(params=["fused", "spark"])
def way(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def node(spark: SparkSession, tmp_path: Path, way: str) -> Iterator[Node]:
    with Node(tmp_path / "root", way=way, shed=False) as node:
        node.deploy(forked())
        yield node


def test_what_is_shed_is_known_exactly(node: Node) -> None:
    order(node, Insert("twice", DropBox.random(0.3)))
    node.push("s", rows(10_000))
    node.drain()
    (entry,) = node.shed()
    assert (entry.superbox, entry.share, entry.where, entry.until) == ("twice", 0.3, "", None)
    assert entry.arrived == 10_000
    assert entry.shed == 10_000 - node.read("tolerant").num_rows
    assert 2_700 < entry.shed < 3_300
    assert node.read("strict").num_rows == 10_000
    assert node.statistics().shed == {"tolerant": entry.shed}


def test_drop_boxes_are_part_of_the_network(node: Node) -> None:
    order(node, Insert("twice", DropBox.random(0.25)))
    network = node.network()
    box = network.boxes["drop_1"]
    assert isinstance(box.box, Drop)
    assert box.box.rate == 0.25
    assert [str(ref) for ref in network.boxes["twice"].sources] == ["drop_1"]
    assert [str(ref) for ref in network.boxes["keys"].sources] == ["some"]
    order(node, Withdraw("twice"))
    assert node.network() == forked()


def test_a_predicate_sheds_those_on_which_it_holds(node: Node) -> None:
    order(node, Insert("twice", DropBox(0.5, {"some": "v < 50"})))
    node.push("s", rows(1_000))
    node.drain()
    assert pc.min(node.read("tolerant")["twice"]).as_py() == 101.0
    (entry,) = node.shed()
    assert (entry.arrived, entry.shed, entry.where) == (1_000, 500, "v < 50")
    box = node.network().boxes["drop_1"].box
    assert box == Filter(("v < 50",))


def test_fractions_along_a_way_multiply(node: Node) -> None:
    order(node, Insert("some", DropBox.random(0.5)), Insert("twice", DropBox.random(0.5)))
    node.push("s", rows(20_000))
    node.drain()
    quality = node.quality().outputs
    assert quality["strict"].fraction == pytest.approx(node.read("strict").num_rows / 20_000)
    assert quality["tolerant"].fraction == pytest.approx(node.read("tolerant").num_rows / 20_000)
    assert quality["tolerant"].fraction == pytest.approx(0.25, abs=0.02)


def test_consumers_see_the_fraction_that_they_got(node: Node) -> None:
    node.push("s", rows(1_000))
    node.drain()
    order(node, Insert("some", DropBox.random(0.5)), Insert("twice", DropBox.random(0.5)))
    node.push("s", rows(1_000, first=1_000))
    node.drain()
    before, behind = node.subscribe("tolerant", follow=False, rows=1_000)
    assert before.num_rows == 1_000
    assert float(before.schema.metadata[DELIVERED]) == 1.0
    assert float(behind.schema.metadata[DELIVERED]) == pytest.approx(behind.num_rows / 1_000)


def test_a_share_of_what_a_flush_emits_is_shed(tmp_path: Path) -> None:
    with Node(tmp_path / "root", runner="light", discipline="box", shed=False) as node:
        node.deploy(counted())
        order(node, Insert("some", DropBox.random(0.3)))
        node.push("s", rows(3_000))
        node.flush()
        node.drain()
        (entry,) = node.shed()
        assert entry.arrived == 3_000
        assert entry.shed == pytest.approx(900, rel=0.15)
        assert node.read("tolerant").num_rows == 3_000 - entry.shed


def test_a_box_that_is_withdrawn_sheds_no_more(node: Node) -> None:
    order(node, Insert("twice", DropBox.random(1.0)))
    node.push("s", rows(100))
    node.drain()
    order(node, Withdraw("twice"))
    node.push("s", rows(100, first=100))
    node.drain()
    assert node.read("tolerant")["k"].to_pylist() == list(range(100, 200))
    (entry,) = node.shed()
    assert entry.until is not None
    assert (entry.arrived, entry.shed) == (100, 100)


def test_tasks_with_partitions_count_what_is_shed_once(spark: SparkSession, tmp_path: Path) -> None:
    net = NetworkBuilder("keyed")
    stream = net.input("s", "k long, v double")
    counted = stream.aggregate({"n": "count(*)"}, Order("v", slack=100, group_by=("k",)), size=1000)
    counted.output("n", TOLERANT)
    with Node(tmp_path / "root", partitions=2, shed=False) as node:
        node.deploy(net.build())
        (superbox,) = node._deployed.ledger.plan.superboxes
        order(node, Insert(superbox, DropBox.random(0.5)))
        table = pa.table({"k": [n % 7 for n in range(200_000)], "v": [n / 1000 for n in range(200_000)]})
        node.push("s", table)
        node.flush()
        node.drain()
        (entry,) = node.shed()
        assert entry.arrived == 200_000
        assert entry.arrived - entry.shed == pc.sum(node.read("n")["n"]).as_py()


def test_boxes_do_not_outlive_their_node(spark: SparkSession, tmp_path: Path) -> None:
    with Node(tmp_path / "root", shed=False) as node:
        node.deploy(forked())
        order(node, Insert("twice", DropBox.random(0.5)))
        node.push("s", rows(1_000))
        node.drain()
        before = node.shed()
    with Node(tmp_path / "root", shed=False) as node:
        node.deploy(forked())
        assert node.network() == forked()
        (entry,) = node.shed()
        assert entry.until is not None
        assert entry.shed == before[0].shed > 0


# --- by itself


def overloaded(node: Node, clock: Clock, tuples: int) -> None:
    """Let tuples wait for longer than the good zones of outputs last."""
    node.pause()
    for second in range(3):
        node.push("s", rows(tuples, first=second * tuples), now=clock.now)
        clock.now += SECOND
    while node.step() is not None:
        clock.now += SECOND // 10


def test_a_node_sheds_by_itself_and_leaves_nothing_behind(spark: SparkSession, tmp_path: Path) -> None:
    clock = Clock()
    with Node(tmp_path / "root", clock=clock, headroom=1e-6) as node:
        node.deploy(forked())
        overloaded(node, clock, 1_000)
        entries = node.shed()
        assert sum(entry.shed for entry in entries) > 0
        assert {entry.superbox for entry in entries} == {"twice"}, "only that branch may lose tuples"
        assert node.read("strict").num_rows == 3_000
        assert node.read("tolerant").num_rows == 3_000 - sum(entry.shed for entry in entries)
        clock.now += 60 * SECOND
        assert node.step() is None
        assert node.network() == forked()
        node.push("s", rows(10, first=5_000))
        node.resume()
        node.drain()
        assert node.read("tolerant")["k"].to_pylist()[-10:] == list(range(5_000, 5_010))


def test_a_node_at_rest_takes_its_drop_boxes_down(spark: SparkSession, tmp_path: Path) -> None:
    clock, gone = Clock(), threading.Event()
    with Node(tmp_path / "root", clock=clock, headroom=1e-6) as node:
        node.deploy(forked())
        overloaded(node, clock, 1_000)
        assert node.network() != forked()
        clock.now += 60 * SECOND
        node.resume()
        for _ in range(100):
            if node.network() == forked():
                break
            gone.wait(0.1)
        assert node.network() == forked()


def test_without_permission_nothing_is_shed(spark: SparkSession, tmp_path: Path) -> None:
    clock = Clock()
    with Node(tmp_path / "root", clock=clock, headroom=1e-6, shed=False) as node:
        node.deploy(forked())
        overloaded(node, clock, 1_000)
        assert node.shed() == []
        assert node.read("tolerant").num_rows == 3_000


def test_values_that_matter_least_go_first(spark: SparkSession, tmp_path: Path) -> None:
    clock = Clock()
    with Node(tmp_path / "root", clock=clock) as node:
        node.deploy(valued())
        node.pause()
        node.push("s", rows(5_000))
        box = node._deployed.steering.by_value("double", 0.4)
        assert box is not None
        order(node, Insert("double", box))
        node.resume()
        node.drain()
        (entry,) = node.shed()
        assert entry.shed == pytest.approx(2_000, abs=200)
        assert pc.min(node.read("out")["w"]).as_py() == pytest.approx(80, abs=8)
        assert node.quality().outputs["out"].values is not None


# --- room on disk


def test_ingest_waits_for_room_that_a_consumer_makes(spark: SparkSession, tmp_path: Path) -> None:
    with Node(tmp_path / "root", disk=1) as node:
        node.deploy(forked())
        for output in ("strict", "tolerant"):
            node.acknowledge("reader", output, 0)
        node.push("s", rows(1_000))
        pushed = threading.Thread(target=lambda: node.push("s", rows(1_000, first=1_000)))
        pushed.start()
        node.drain()
        assert pushed.is_alive()
        for output in ("strict", "tolerant"):
            for _ in node.subscribe(output, consumer="reader", follow=False):
                pass
        pushed.join(timeout=60)
        assert not pushed.is_alive()
        node.drain()


def test_waiting_for_room_in_vain_is_an_error(spark: SparkSession, tmp_path: Path) -> None:
    with Node(tmp_path / "root", disk=1) as node:
        node.deploy(forked())
        node.push("s", rows(1_000))
        node.drain()
        with pytest.raises(
            EngineError, match=r"disk budget exhausted: .* nothing is left to run; what tolerant, strict keep"
        ):
            node.push("s", rows(10))
        assert node.read("strict").num_rows == 1_000
