"""Views: computed when there is time, kept for those who come later, and never in the way."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession
from tests.engine.change.fleet import SCHEMA, reports, tuples
from tests.engine.in_process import InProcess

from australis import Node
from australis.algebra.builder import NetworkBuilder
from australis.algebra.form.form import from_json, to_json
from australis.algebra.network import Network
from australis.algebra.order import Order
from australis.errors import AlgebraError
from australis.plan.superboxes import Discipline, plan

COUNTED = {"n": "count(*)"}


def viewed(importance: float, history: str | int = "forever", least: int = 0, size: int = 10) -> Network:
    """An output, and a view behind a box that both need."""
    net = NetworkBuilder("viewed")
    some = net.input("pos", SCHEMA).point("reports", history=history).filter(f"speed >= {least}", as_="some")
    some.output("all")
    windows = some.aggregate(COUNTED, Order("t", group_by=("car",)), size=size, as_="windows")
    windows.view("counts", importance=importance)
    return net.build()


def ask() -> Network:
    net = NetworkBuilder("ask")
    net.input("counts", "t long, car long, n long").output("found")
    return net.build()


@pytest.mark.parametrize("discipline", list(Discipline))
def test_a_view_is_a_superbox_of_its_own(discipline: Discipline) -> None:
    made = plan(viewed(2.0), discipline)
    assert made.views == {"windows": 2.0}
    with_query = plan(viewed(2.0), discipline)
    assert with_query.superboxes["windows"] == made.superboxes["windows"]


def test_a_view_may_be_the_first_superbox_of_a_plan(tmp_path: Path) -> None:
    net = NetworkBuilder("n")
    stream = net.input("s", "k long")
    stream.output("out")
    stream.map({"k": "k + 1"}, as_="more").view("more", importance=1.0)
    with Node(tmp_path, runner=InProcess()) as node:
        node.deploy(net.build())
        node.push("s", pa.table({"k": [1]}))
        node.drain()
        assert next(iter(node._ledger.plan.superboxes)) == "more"
        assert node.read("out")["k"].to_pylist() == [1]


def test_a_view_is_computed_when_nothing_else_waits(spark: SparkSession) -> None:
    with Node() as node:
        node.deploy(viewed(1.0))
        node.push("pos", reports(range(100)))
        node.pause()
        node.resume()
        node.drain()
        assert node.statistics().arcs["windows"] > 0


def test_what_is_needed_goes_before_a_view(spark: SparkSession) -> None:
    with Node(in_flight=1) as node:
        node.deploy(viewed(5.0))
        node.pause()
        node.push("pos", reports(range(50)))
        node.push("pos", reports(range(50, 100)))
        taken = []
        while (train := node.step()) is not None:
            taken.append(train.superbox)
        assert taken == ["some", "windows"]


def test_a_view_of_no_importance_is_computed_when_somebody_asks(spark: SparkSession) -> None:
    with Node() as node:
        node.deploy(viewed(0.0))
        node.push("pos", reports(range(60)))
        node.drain()
        assert node.statistics().arcs["windows"] == 0
        node.attach(ask(), name="asked")
        node.push("pos", reports(range(60, 100)))
        node.drain()
        with Node() as other:
            other.deploy(viewed(1.0))
            other.push("pos", reports(range(60)))
            other.attach(ask(), name="asked")
            other.push("pos", reports(range(60, 100)))
            other.drain()
            found, expected = (tuples(each.read("asked")) for each in (node, other))
        assert found[-3:] == expected[-3:]


def test_a_view_does_not_keep_what_history_lets_go(spark: SparkSession) -> None:
    with Node() as node:
        node.deploy(viewed(0.0, history=20))
        for begin in range(0, 200, 10):
            node.push("pos", reports(range(begin, begin + 10)))
            node.drain()
            list(node.subscribe("all", follow=False))
        assert node.statistics().arcs["pos"] <= 30


@pytest.mark.parametrize("importance", [0.0, 1.0])
def test_a_change_does_not_wait_for_time_to_compute_a_view(spark: SparkSession, importance: float) -> None:
    """A view that is not computed stays behind; one that is, is not behind all others for the time being."""
    with Node(in_flight=1) as node:
        node.deploy(viewed(importance))
        node.pause()
        node.push("pos", reports(range(50)))
        train = node.step()
        assert train is not None
        assert train.superbox == "some"
        node.push("pos", reports(range(50, 60)))
        node.resume()
        node.change(viewed(importance, least=1, size=20))
        node.attach(ask(), name="asked")
        node.push("pos", reports(range(60, 100)))
        node.drain()
        assert node.read("asked").num_rows > 0


def timed() -> Network:
    """A view with windows that time alone closes."""
    net = NetworkBuilder("timed")
    pos = net.input("pos", SCHEMA)
    pos.filter("speed >= 0", as_="some").output("all")
    order = Order("t", group_by=("car",))
    pos.aggregate(COUNTED, order, size=10, timeout="1 s", as_="windows").view("counts", importance=1.0)
    return net.build()


def test_a_view_that_is_behind_still_knows_when_each_tuple_came(spark: SparkSession) -> None:
    def found(*, behind: bool) -> list[dict[str, object]]:
        with Node(in_flight=1, clock=lambda: 0) as node:
            node.deploy(timed())
            node.pause()
            for number in range(4):
                node.push("pos", reports(range(13 * number, 13 * number + 1)), now=2_000_000 * number)
                while not behind and node.step() is not None:
                    pass
            while node.step() is not None:
                pass
            return tuples(pa.concat_tables(node.history("counts")))

    assert found(behind=True) == found(behind=False)


def test_the_quarantine_does_not_wait_for_a_view_that_is_not_computed(spark: SparkSession) -> None:
    net = NetworkBuilder("strict")
    stream = net.input("n", "n long not null").point("past", history="forever")
    stream.filter("n > 1", as_="some").output("out")
    stream.map({"m": "n + 1"}, as_="more").view("later", importance=0)
    with Node() as node:
        node.deploy(net.build())
        node.push("n", pa.table({"n": [1, None, 3]}))
        node.drain()
        assert node.read("quarantine").num_rows == 1
        assert next(node.subscribe("quarantine")).num_rows == 1


def test_the_form_has_the_importance() -> None:
    assert from_json(to_json(viewed(2.5))) == viewed(2.5)
    with pytest.raises(AlgebraError, match="importance: is -1; expected a number, 0 or more"):
        viewed(-1)
