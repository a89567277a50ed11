"""Changes while a node runs: what stays keeps its state, what goes is said, what fails does nothing."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession
from tests.engine.change.fleet import SCHEMA, fleet, reports, tuples

from australis import Node
from australis.algebra.builder import NetworkBuilder
from australis.algebra.network import Network, Output, Ref
from australis.algebra.order import Order
from australis.errors import EngineError, NetworkError


def undisturbed(*batches: range) -> list[dict[str, object]]:
    with Node() as node:
        node.deploy(fleet())
        for batch in batches:
            node.push("pos", reports(batch))
        node.drain()
        return tuples(node.read("means"))


def test_a_window_keeps_its_state_through_changes(spark: SparkSession) -> None:
    batches = (range(47), range(47, 95), range(95, 140))
    with Node() as node:
        node.deploy(fleet())
        node.push("pos", reports(batches[0]))
        change = node.change(fleet(least=2.0, extra=True))
        assert change.stateful == ("windows",)
        assert (change.added, change.altered, change.removed, change.lost) == (("cars",), ("fast",), (), ())
        node.push("pos", reports(batches[1]))
        node.change(fleet(least=7.0))
        node.push("pos", reports(batches[2]))
        node.drain()
        assert tuples(node.read("means")) == undisturbed(*batches)


def test_what_is_new_begins_with_the_next_tuple(spark: SparkSession) -> None:
    with Node() as node:
        node.deploy(fleet())
        node.push("pos", reports(range(30)))
        node.drain()
        node.change(fleet(extra=True))
        node.push("pos", reports(range(30, 35)))
        node.drain()
        assert node.read("cars")["car"].to_pylist() == [t % 3 for t in range(30, 35)]


def test_a_dry_run_says_what_is_lost_and_does_nothing(spark: SparkSession) -> None:
    with Node() as node:
        node.deploy(fleet())
        node.push("pos", reports(range(40)))
        node.drain()
        smaller = NetworkBuilder("fleet")
        smaller.input("pos", SCHEMA).filter("speed > 5.0", as_="fast").output("alarms")
        change = node.difference(smaller.build())
        read, fast = node.read("means").num_rows, node.read("alarms").num_rows
        assert change.removed == ("windows",)
        assert change.outputs_removed == ("means",)
        lost = [
            "the state of windows",
            f"{read} tuples of means that were not read",
            "the history of reports, 40 tuples",
            f"the history of quick, {fast} tuples",
        ]
        assert list(change.lost) == lost
        assert [line.strip() for line in change.lines()] == [
            "1 box continues",
            "- box windows",
            "- output means",
            "- connection point reports",
            "- connection point quick",
            *(f"! lost: {each}" for each in lost),
        ]
        assert set(node.statistics().outputs) == {"alarms", "means", "quarantine"}
        assert list(node.difference(fleet()).lines()) == ["nothing changes"]


def test_a_consumer_reads_on_though_another_box_feeds_its_output(spark: SparkSession) -> None:
    with Node() as node:
        node.deploy(fleet())
        node.push("pos", reports(range(20)))
        node.drain()
        unread = node.read("alarms")["t"].to_pylist()
        other = fleet()
        faster = replace(other.boxes["fast"], sources=(Ref("fast"),))
        outputs = {**other.outputs, "alarms": Output(Ref("again"))}
        node.change(replace(other, boxes={**other.boxes, "again": faster}, outputs=outputs))
        node.push("pos", reports(range(20, 40)))
        node.drain()
        found = pa.concat_tables(node.subscribe("alarms", follow=False))["t"].to_pylist()
        assert found == unread + [t for t in range(20, 40) if t * 7 % 11 > 5]


def test_another_input_comes_and_goes(spark: SparkSession) -> None:
    net = NetworkBuilder("fleet")
    net.input("other", "k long").filter("k > 1", as_="some").output("others")
    other = net.build()
    both = replace(
        fleet(),
        inputs={**fleet().inputs, **other.inputs},
        boxes={**fleet().boxes, **other.boxes},
        outputs={**fleet().outputs, **other.outputs},
    )
    with Node() as node:
        node.deploy(fleet())
        node.change(both)
        node.push("other", pa.table({"k": [1, 2, 3]}))
        node.drain()
        assert node.read("others")["k"].to_pylist() == [2, 3]
        node.change(fleet())
        with pytest.raises(EngineError, match="there is no input 'other'"):
            node.push("other", pa.table({"k": [1]}))


def test_a_stored_table_comes_with_its_rows(spark: SparkSession) -> None:
    net = NetworkBuilder("fleet")
    pos, owners = net.input("pos", SCHEMA), net.table("owners", "car long, name string")
    pos.join(owners, "left.car = right.car", left=Order("t"), as_="named").output("named")
    with Node() as node:
        node.deploy(fleet())
        node.push("pos", reports(range(10)))
        with pytest.raises(EngineError, match="owners: is a stored table without rows"):
            node.change(net.build())
        with pytest.raises(EngineError, match=r"fleet\.owners: has no column 'car'"):
            node.change(net.build(), tables={"owners": pa.table({"name": ["Ann"]})})
        assert "named" not in node.network().boxes
        node.change(net.build(), tables={"owners": pa.table({"car": [1], "name": ["Ann"]})})
        node.push("pos", reports(range(10, 16)))
        node.drain()
        assert node.read("named")["t"].to_pylist() == [10, 13]


def test_a_join_that_begins_anew_needs_the_rows_of_its_table_again(spark: SparkSession) -> None:
    def named(owner: str, *boxes: str) -> Network:
        net = NetworkBuilder("fleet")
        pos, owners = net.input("pos", SCHEMA), net.table("owners", "car long, name string")
        pos.filter("speed >= 0", as_="all").output("all")
        for box in boxes:
            where = f"left.car = right.car and right.name > '{owner}'"
            pos.join(owners, where, left=Order("t"), as_=box).output(f"by_{box}")
        return net.build()

    tables = {"owners": pa.table({"car": [1, 2], "name": ["Ann", "Bob"]})}
    with Node() as node:
        node.deploy(named("Al", "one"), tables=tables)
        node.push("pos", reports(range(3)))
        node.drain()
        for other in (named("Am", "one"), named("Al", "one", "two")):
            with pytest.raises(EngineError, match=r"fleet\.owners: .* rows are needed again"):
                node.change(other)
        node.change(named("Am", "one"), tables=tables)
        node.push("pos", reports(range(3, 6)))
        node.change(named("Am"))
        node.change(named("Am", "one"), tables=tables)
        node.push("pos", reports(range(6, 9)))
        node.drain()
        assert node.read("by_one")["t"].to_pylist() == [7, 8]


def test_an_input_of_another_schema_is_refused(spark: SparkSession) -> None:
    net = NetworkBuilder("fleet")
    net.input("pos", "t long, car long").filter("car = 1").output("alarms")
    with Node() as node:
        node.deploy(fleet())
        with pytest.raises(
            EngineError, match=r"inputs.pos.*but tuples of .* may wait.*or one of another name"
        ):
            node.change(net.build())


def test_a_change_that_breaks_a_query_is_refused(spark: SparkSession) -> None:
    net = NetworkBuilder("fleet")
    net.input("pos", SCHEMA).filter("speed > 1").output("alarms")
    ask = NetworkBuilder("ask")
    ask.input("reports", SCHEMA).filter("car = 1").output("found")
    with Node() as node:
        node.deploy(fleet())
        node.attach(ask.build(), name="one")
        with pytest.raises(NetworkError, match=r"one.inputs.reports: there is no connection point 'reports'"):
            node.change(net.build())
        node.push("pos", reports(range(9)))
        node.drain()
        assert node.read("one").num_rows == 3


def test_a_paused_node_with_tuples_on_their_way_says_so(spark: SparkSession) -> None:
    with Node(discipline="box") as node:
        node.deploy(fleet())
        node.pause()
        node.push("pos", reports(range(9)))
        node.step()
        with pytest.raises(EngineError, match="is paused before it could be changed; expected resume"):
            node.change(fleet(least=1.0, size=20))
        node.resume()
        node.change(fleet(least=1.0, size=20))


@pytest.mark.parametrize("partitions", [1, 3])
def test_a_restart_goes_on_with_the_network_of_the_change(
    spark: SparkSession, tmp_path: Path, partitions: int
) -> None:
    batches = (range(47), range(47, 95))
    with Node(tmp_path) as node:
        node.deploy(fleet())
        node.push("pos", reports(batches[0]))
        node.change(fleet(least=2.0))
    with Node(tmp_path, partitions=partitions) as node:
        with pytest.raises(EngineError, match=r"differs from the network .* that the root holds"):
            node.deploy(fleet())
        recorded = node.recorded()
        assert recorded == fleet(least=2.0)
        node.deploy(recorded)
        node.push("pos", reports(batches[1]))
        node.drain()
        assert tuples(node.read("means")) == undisturbed(*batches)


def test_states_are_parted_anew_where_a_change_spreads_them_by_other_keys(spark: SparkSession) -> None:
    """Windows by car and road are spread by both; with one by road beside them by road alone."""
    batches = (range(50), range(50, 90), range(90, 130))

    def network(by: tuple[str, ...] | None) -> Network:
        net = NetworkBuilder("fleet")
        some = net.input("pos", SCHEMA).filter("t >= 0", as_="some")
        fine = Order("t", group_by=("car", "speed"))
        some.aggregate({"n": "count(*)"}, fine, size=50, as_="fine").output("fine")
        if by is not None:
            some.aggregate({"n": "count(*)"}, Order("t", group_by=by), size=50, as_="other").output("other")
        return net.build()

    def found(*changes: Network) -> list[dict[str, object]]:
        with Node(partitions=3) as node:
            node.deploy(network(None))
            for batch, change in zip(batches, changes, strict=True):
                node.push("pos", reports(batch))
                node.change(change)
            node.flush()
            node.drain()
            kept = node.read("fine").drop_columns(["#ts", "#seq"])
            return sorted(kept.to_pylist(), key=str)

    plain = network(None)
    assert found(network(("car",)), network(("speed",)), network(())) == found(plain, plain, plain)
