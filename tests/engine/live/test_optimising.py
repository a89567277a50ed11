"""The optimiser while a node runs: what comes out is the same, and the order of boxes follows the stream."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession
from tests.engine.live.fleet import tuples

from australis import Node
from australis.algebra.builder import NetworkBuilder
from australis.algebra.network import Network
from australis.algebra.order import Order
from australis.errors import EngineError

SCHEMA = "t long not null, k long not null, a double, b double, text string"


def chain() -> Network:
    """Two costly filters, of which either may be the one that lets little through."""
    net = NetworkBuilder("chain")
    stream = net.input("s", SCHEMA)
    first = stream.filter("length(upper(text || text)) > 0 and a < 0.1", as_="by_a")
    second = first.filter("length(upper(text || text)) > 0 and b < 0.1", as_="by_b")
    second.aggregate({"n": "count(*)"}, Order("t", group_by=("k",)), size=1000, as_="windows").output("out")
    return net.build()


def batch(begin: int, rows: int, *, a: float, b: float) -> pa.Table:
    times = range(begin, begin + rows)
    return pa.table(
        {
            "t": list(times),
            "k": [t % 5 for t in times],
            "a": [a * (t % 10) / 10 for t in times],
            "b": [b * (t % 7) / 7 for t in times],
            "text": [f"tuple {t}" for t in times],
        }
    )


def batches() -> list[pa.Table]:
    """First nearly all pass the first filter; then nearly all pass the second one."""
    flip = [batch(n * 4000, 4000, a=0.1, b=5.0) for n in range(4)]
    return [*flip, *(batch(n * 4000, 4000, a=5.0, b=0.1) for n in range(4, 8))]


def test_the_order_follows_the_stream_and_nothing_else_changes(spark: SparkSession) -> None:
    orders = []
    with Node(optimise=True) as node, Node() as plain:
        node.deploy(chain())
        plain.deploy(chain())
        for each in batches():
            for one in (node, plain):
                one.push("s", each)
                one.drain()
            node.optimise()
            orders.append([box for box in node.network().order if box.startswith("by_")])
        for one in (node, plain):
            one.flush()
            one.drain()
        assert tuples(node.read("out")) == tuples(plain.read("out"))
    assert ["by_b", "by_a"] in orders[:4]
    assert orders[-1] == ["by_a", "by_b"]


def test_boxes_that_were_joined_are_taken_apart_when_the_stream_changes(spark: SparkSession) -> None:
    """What each of them lets through could not be seen otherwise."""
    net, forms = NetworkBuilder("chain"), []
    first = net.input("s", SCHEMA).filter("length(upper(text || text)) > 0 and a < 0.1", as_="by_a")
    second = first.filter("length(upper(text || text)) > 0 and b < 0.1", as_="by_b")
    second.filter("t % 3 = 0", as_="by_t").output("out")
    with Node(optimise=True) as node:
        node.deploy(net.build())
        for number in range(9):
            node.push("s", batch(number * 6000, 6000, a=0.125 if number < 4 else 5.0, b=0.11))
            node.drain()
            node.optimise()
            forms.append([box for box in node.network().order if box.startswith("by_")])
    assert ["by_t", "by_b"] in forms[:4]
    assert set(forms[-1]) == {"by_a", "by_b", "by_t"}


def test_filters_are_sorted_though_attributes_are_left_behind_between_them(spark: SparkSession) -> None:
    net = NetworkBuilder("wide")
    dear = net.input("s", SCHEMA).filter("length(upper(text || text)) > 0", as_="dear")
    dear.filter("a < 0.1", as_="cheap").map({"t": "t", "k": "k"}, as_="shown").output("out")
    with Node(optimise=True) as node, Node() as plain:
        for one in (node, plain):
            one.deploy(net.build())
        for number in range(3):
            for one in (node, plain):
                one.push("s", batch(number * 4000, 4000, a=5.0, b=1.0))
                one.drain()
            node.optimise()
        order = [box for box in node.network().order if box in ("cheap", "dear")]
        assert tuples(node.read("out")) == tuples(plain.read("out"))
    assert order == ["cheap", "dear"]


def test_a_restart_goes_on_with_what_was_rewritten(spark: SparkSession, tmp_path: Path) -> None:
    with Node(tmp_path, optimise=True) as node:
        node.deploy(chain())
        node.push("s", batches()[0])
        node.drain()
        node.optimise()
        order = node.network().order
    with Node(tmp_path) as node:
        node.deploy(chain())
        assert node.network().order == order
        with pytest.raises(EngineError, match="does not optimise"):
            node.optimise()
