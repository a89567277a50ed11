"""The optimiser while a node runs: what comes out is the same, and the order of boxes follows the stream."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from pyspark.sql import SparkSession
from tests.engine.change.fleet import tuples

from australis import Node
from australis.algebra.builder import NetworkBuilder
from australis.algebra.network import Network, Ref
from australis.algebra.order import Order
from australis.errors import EngineError
from australis.policy import adapt

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
    # Later ones may be joined again: by what they then cost.
    assert {"by_a", "by_b", "by_t"} in [set(form) for form in forms[4:]]


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


def test_what_was_not_read_of_an_output_stays_where_its_box_becomes_another(spark: SparkSession) -> None:
    """Two filters become one with both streams of theirs, so both outputs are at other arcs."""
    net = NetworkBuilder("chain")
    stream = net.input("s", SCHEMA)
    first, rest = stream.route("k = 1", as_="ones")
    first.output("one")
    rest.filter("k = 2", as_="twos").output("two")
    costly = stream.filter("length(upper(text || text)) > 0 and a < 0.1", as_="by_a")
    costly.filter("length(upper(text || text)) > 0 and b < 0.1", as_="by_b").output("out")
    with Node(optimise=True) as node:
        node.deploy(net.build())
        for each in batches()[:3]:
            node.push("s", each)
            node.drain()
            node.optimise()
        assert "ones" not in node.network().boxes
        assert node.read("one")["t"].to_pylist() == [t for t in range(12_000) if t % 5 == 1]
        assert node.read("two")["t"].to_pylist() == [t for t in range(12_000) if t % 5 == 2]


@pytest.mark.parametrize("discipline", ["box", "superbox"])
def test_an_output_behind_filters_that_change_places_keeps_what_was_not_read(
    spark: SparkSession, discipline: str
) -> None:
    network = chain()
    outputs = {"out": replace(network.outputs["out"], source=Ref("by_b"))}
    boxes = {name: node for name, node in network.boxes.items() if name != "windows"}
    with Node(optimise=True, discipline=discipline) as node:
        node.deploy(replace(network, boxes=boxes, outputs=outputs))
        order = node.network().order
        for each in batches()[:3]:
            node.push("s", each)
            node.drain()
            node.optimise()
        assert node.network().order != order
        expected = pa.concat_tables(batches()[:3]).filter((pc.field("a") < 0.1) & (pc.field("b") < 0.1))
        assert node.read("out")["t"].to_pylist() == expected["t"].to_pylist()


def test_a_network_that_somebody_puts_in_its_place_is_not_taken_back(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A rewrite of the network before is on trial when a change comes; whatever is tried is found dearer."""
    monkeypatch.setattr(adapt, "TUPLES_JUDGED", 1_000)
    monkeypatch.setattr(adapt, "LOSS_MOST", -1.0)
    other = NetworkBuilder("chain")
    other.input("s", SCHEMA).map({"t": "t", "long": "length(text)"}, as_="long").output("out")
    with Node(optimise=True) as node:
        node.deploy(chain())
        node.push("s", batches()[0])
        node.drain()
        assert node.optimise()
        node.change(other.build())
        for each in batches()[1:5]:
            node.push("s", each)
            node.drain()
            node.optimise()
        assert node.network().order == ("long",)


def rewritten(*, extra: bool) -> Network:
    """Two windows that become one, and a sort that reads less; with `extra` another output."""
    net = NetworkBuilder("rewritten")
    stream = net.input("s", "t int not null, k int not null, text string")
    by_k = Order("t", group_by=("k",))
    for name in ("one", "two"):
        stream.aggregate({"n": "count(*)"}, by_k, size=70, as_=name).output(f"by_{name}")
    stream.bsort(Order("t", slack=9), as_="sorted").map({"t": "t", "k": "k"}, as_="less").output("in_order")
    if extra:
        stream.filter("k = 1", as_="ones").map({"t": "t"}, as_="times").output("ones")
    return net.build()


def test_a_change_keeps_the_state_of_boxes_that_were_rewritten(spark: SparkSession) -> None:
    def found(*changes: bool) -> dict[str, list[dict[str, object]]]:
        with Node(optimise=True) as node:
            node.deploy(rewritten(extra=False))
            assert set(node.network().boxes) == {"one", "s_narrow", "sorted"}
            for number in range(4):
                times = pa.array(range(50 * number, 50 * number + 50), pa.int32())
                keys, texts = pc.bit_wise_and(times, 3), times.cast(pa.string())
                node.push("s", pa.table({"t": times, "k": keys, "text": texts}))
                node.drain()
                for extra in changes:
                    node.change(rewritten(extra=extra))
            node.drain()
            return {name: tuples(node.read(name)) for name in ("by_one", "by_two", "in_order")}

    assert found(True, False) == found()
