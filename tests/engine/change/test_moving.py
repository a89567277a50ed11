"""Outputs and connection points that a change puts elsewhere: what was not read goes along, or it is said."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa
from pyspark.sql import SparkSession
from tests.engine.change.fleet import SCHEMA, fleet, reports

from australis import Node
from australis.algebra.builder import NetworkBuilder
from australis.algebra.network import Network, Ref

FAST = [t for t in range(40) if t * 7 % 11 > 5]


def parted(even: str, odd: str) -> Network:
    """Two filters, each behind the output that is named; both stay for the connection points behind them."""
    net = NetworkBuilder("parted")
    numbers = net.input("n", "n long")
    numbers.filter("n % 2 = 0", as_="evens").point("at_evens").output(even)
    numbers.filter("n % 2 = 1", as_="odds").point("at_odds").output(odd)
    return net.build()


def mapped(expression: str) -> Network:
    net = NetworkBuilder("mapped")
    stream = net.input("n", "n long").map({"m": expression}, as_="made")
    stream.point("past", history="forever").output("out")
    return net.build()


def numbers(*given: int) -> pa.Table:
    return pa.table({"n": list(given)})


def read(node: Node, output: str, column: str) -> list[object]:
    found = list(node.subscribe(output, follow=False))
    return pa.concat_tables(found)[column].to_pylist() if found else []


def with_other_alarms(history: str | int = "forever") -> Network:
    """The alarms come from another box, beside the one that stays for the sake of its connection point."""
    net = fleet(history=history)
    other = replace(net.boxes["fast"], sources=(Ref("pos"),))
    alarms = replace(net.outputs["alarms"], source=Ref("other"))
    return replace(net, boxes={**net.boxes, "other": other}, outputs={**net.outputs, "alarms": alarms})


def test_what_waits_for_a_box_is_not_lost_to_an_output_that_leaves_it(spark: SparkSession) -> None:
    with Node() as node:
        node.deploy(fleet())
        node.push("pos", reports(range(20)))
        node.drain()
        node.pause()
        node.push("pos", reports(range(20, 30)))
        assert node.change(with_other_alarms()).lost == ()
        node.resume()
        node.push("pos", reports(range(30, 40)))
        node.drain()
        assert read(node, "alarms", "t") == FAST


def test_an_output_comes_back_to_its_box_with_what_is_unread(spark: SparkSession) -> None:
    with Node() as node:
        node.deploy(fleet(history=0))
        for times, network in ((range(20), with_other_alarms(0)), (range(20, 40), fleet(history=0))):
            node.push("pos", reports(times))
            node.drain()
            assert node.change(network).lost == ()
        assert read(node, "alarms", "t") == FAST


def test_outputs_that_change_places_take_along_what_is_unread(spark: SparkSession) -> None:
    with Node() as node:
        node.deploy(parted("a", "b"))
        node.push("n", numbers(1, 2, 3, 4))
        node.drain()
        assert read(node, "a", "n") == [2, 4]
        node.push("n", numbers(5, 6))
        node.drain()
        assert node.change(parted("b", "a")).lost == ()
        node.push("n", numbers(7, 8))
        node.drain()
        assert read(node, "a", "n") == [6, 7]
        assert read(node, "b", "n") == [1, 3, 5, 8]


def test_what_is_of_another_schema_is_said_to_be_lost_and_goes(spark: SparkSession) -> None:
    with Node() as node:
        node.deploy(mapped("n + 1"))
        node.push("n", numbers(1, 2, 3))
        node.drain()
        change = node.change(mapped("cast(n as string)"))
        assert change.lost == ("3 tuples of out that were not read", "the history of past, 3 tuples")
        node.push("n", numbers(4))
        node.drain()
        assert read(node, "out", "m") == ["4"]
        assert [row for table in node.history("past") for row in table["m"].to_pylist()] == ["4"]


def test_a_consumer_behind_another_schema_reads_on(spark: SparkSession) -> None:
    with Node() as node:
        node.deploy(mapped("n + 1"))
        node.push("n", numbers(1))
        assert read(node, "out", "m") == [2]
        node.change(mapped("cast(n as string)"))
        node.push("n", numbers(2))
        assert read(node, "out", "m") == ["2"]


def test_a_dry_run_says_how_much_history_goes(spark: SparkSession) -> None:
    net = NetworkBuilder("fleet")
    pos = net.input("pos", SCHEMA).point("reports", history=10)
    pos.filter("speed > 5.0", as_="fast").output("alarms")
    with Node() as node:
        node.deploy(fleet())
        for begin in range(0, 40, 10):
            node.push("pos", reports(range(begin, begin + 10)))
            node.drain()
        change = node.difference(net.build())
        assert change.points_altered == ("reports",)
        assert change.points_removed == ("quick",)
        assert "the history of reports, 30 tuples" in change.lost
        assert f"the history of quick, {len(FAST)} tuples" in change.lost
        assert "  ~ connection point reports: history" in change.lines()
        assert not node.difference(replace(fleet(), description="the same")).lost
