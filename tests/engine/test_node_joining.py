"""Superboxes that are joined as they are needed: one train where several would do, and the same results."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
from pyspark.sql import SparkSession

from australis import Node
from australis.algebra.builder import NetworkBuilder
from australis.algebra.network import Network
from australis.algebra.order import Order
from australis.algebra.quality import Quality
from australis.engine.train.commit import Train
from australis.policy.shed.drop_boxes import DropBox
from australis.policy.shed.shedder import Insert

PATIENT = Quality(delay=((3600, 1), (7200, 0)), loss=((0, 0), (1, 1)))


def network() -> Network:
    """A shared filter, a count by key behind it, and two outputs of that."""
    net = NetworkBuilder("joined")
    some = net.input("s", "k long, t long").filter("k >= 0", as_="some")
    some.output("some", PATIENT)
    count = some.aggregate({"n": "count(*)"}, Order("t", group_by=("k",)), size=10, as_="count")
    count.filter("n > 1", as_="many").output("many", PATIENT)
    count.filter("n <= 1", as_="few").output("few", PATIENT)
    return net.build()


def rows(first: int, tuples: int) -> pa.Table:
    return pa.table({"k": [n % 3 for n in range(tuples)], "t": list(range(first, first + tuples))})


def trains_of(node: Node) -> list[Train]:
    heard: list[Train] = []
    node.on_train(heard.append)
    return heard


def outputs(node: Node) -> dict[str, list[tuple[object, ...]]]:
    found = {name: node.read(name) for name in ("some", "many", "few")}
    return {
        name: list(zip(*(column.to_pylist() for column in table.drop_columns(["#ts"]).columns), strict=True))
        for name, table in found.items()
    }


def test_who_knows_no_graphs_joins_nothing(spark: SparkSession, tmp_path: Path) -> None:
    with Node(tmp_path / "one", schedule="fifo") as node:
        node.deploy(network())
        heard = trains_of(node)
        node.push("s", rows(0, 40))
        node.drain()
        assert sorted(train.superbox for train in heard) == ["count", "few", "many", "some"]


def test_one_train_goes_through_all_branches(spark: SparkSession, tmp_path: Path) -> None:
    with Node(tmp_path / "one") as node, Node(tmp_path / "other", discipline="superbox") as whole:
        for each in (node, whole):
            each.deploy(network())
        assert len(node._deployed.ledger.plan.superboxes) == 4
        heard = trains_of(node)
        for each in (node, whole):
            for step in range(5):
                each.push("s", rows(step * 40, 40))
                each.drain()
            each.flush()
            each.drain()
        # A filter has nothing to do at the end of the streams.
        assert [train.superbox for train in heard] == [*["some>count>many>few"] * 5, "count>many>few"]
        assert outputs(node) == outputs(whole)
        counted, known = node.statistics(), whole.statistics()
        counters = {name: (box.received, box.emitted) for name, box in counted.boxes.items()}
        assert counters == {name: (box.received, box.emitted) for name, box in known.boxes.items()}


def test_superboxes_that_are_joined_can_part_and_meet_again(spark: SparkSession, tmp_path: Path) -> None:
    with Node(tmp_path / "root", shed=False) as node:
        node.deploy(network())
        heard = trains_of(node)
        node.push("s", rows(0, 40))
        node.drain()
        boxes = node._deployed.steering.dropboxes
        boxes.obey([Insert("many", DropBox.random(0.0))], 0)
        node.push("s", rows(40, 40))
        node.drain()
        assert "many" in {train.superbox for train in heard}, "a drop box stands at its gate"
    with Node(tmp_path / "root") as node:
        node.deploy(network())
        heard = trains_of(node)
        node.push("s", rows(80, 40))
        node.drain()
        node.flush()
        node.drain()
        assert "some>count>many>few" in {train.superbox for train in heard}
        found = outputs(node)
    with Node(tmp_path / "third", discipline="superbox") as whole:
        whole.deploy(network())
        for first in (0, 40, 80):
            whole.push("s", rows(first, 40))
        whole.flush()
        whole.drain()
        assert found == outputs(whole)
