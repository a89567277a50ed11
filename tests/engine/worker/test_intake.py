"""What a task reads: of wide tuples only what is needed, and all of one that has to be shown."""

from __future__ import annotations

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from australis import Node
from australis.algebra.builder import NetworkBuilder
from australis.algebra.network import Network
from australis.algebra.order import Order
from australis.engine.worker.intake import narrowed
from australis.plan.superboxes import Discipline, plan

WIDE = "at timestamp not null, k int, a double, b string not null, c string"


def read(network: Network) -> list[tuple[str, ...]]:
    """The attributes that each superbox reads of its streams, if not all."""
    found = [(each, narrowed(each)) for each in plan(network, Discipline.BRANCH).superboxes.values()]
    return [
        narrow.inputs[name].schema.names
        for each, narrow in found
        if narrow is not None
        for name in each.streams
    ]


def few(more: str = "") -> Network:
    net = NetworkBuilder("wide")
    net.input("s", WIDE).filter("a > 1" + more, as_="few").map({"k": "k"}, as_="keys").output("out")
    return net.build()


def test_what_is_needed_and_what_must_not_be_null() -> None:
    assert read(few()) == [("at", "k", "a", "b")]
    assert read(few(" and c is null")) == []


@pytest.mark.parametrize("box", ["filter", "sort", "windows"])
def test_what_is_needed_whole(box: str) -> None:
    """By whoever reads the output, by a box that keeps tuples, and by one that may have to show them."""
    net = NetworkBuilder("wide")
    stream = net.input("s", WIDE)
    match box:
        case "filter":
            stream.filter("a > 1").output("out")
        case "sort":
            stream.bsort(Order("at", slack=2)).map({"k": "k"}).output("out")
        case "windows":
            stream.aggregate({"n": "count(*)"}, Order("k"), size=10).output("out")
    assert read(net.build()) == []


def test_windows_need_what_they_read() -> None:
    net = NetworkBuilder("wide")
    order = Order("at", group_by=("k",))
    net.input("s", WIDE).aggregate({"n": "max(c)"}, order, size="1 second").output("out")
    assert read(net.build()) == [("at", "k", "b", "c")]


def test_a_tuple_that_is_none_is_shown_whole(spark: SparkSession) -> None:
    """Also where a column is missing in it that no box reads."""
    with Node() as node:
        node.deploy(few())
        rows = {"k": [1, 2, 3], "a": [5.0, 5.0, 0.0], "b": ["x", None, "z"], "c": ["one", "two", "three"]}
        times = pa.array([1, 2, 3], pa.timestamp("us", "UTC"))
        node.push("s", pa.table({"at": times, **rows}))
        node.drain()
        assert node.read("out")["k"].to_pylist() == [1]
        (shown,) = node.read("quarantine").to_pylist()
        assert shown["path"] == "wide.s"
        assert "two" in shown["tuple"]
