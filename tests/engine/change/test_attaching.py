"""Ad hoc queries: from the earliest tuple that is kept into the present, until they are detached."""

from __future__ import annotations

import os
import threading
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession
from tests.engine.change.fleet import SCHEMA, ask, fleet, reports, tuples, windows

from australis import Node
from australis.algebra.builder import NetworkBuilder
from australis.algebra.network import Network
from australis.engine.history import organisation as keeping
from australis.engine.store import runs
from australis.errors import EngineError, NetworkError


@pytest.mark.parametrize("way", ["fused", "spark"])
@pytest.mark.parametrize("discipline", ["box", "superbox"])
def test_a_window_that_comes_late_equals_the_one_from_the_start(
    spark: SparkSession, way: str, discipline: str
) -> None:
    with Node(way=way, discipline=discipline) as node:
        node.deploy(fleet())
        node.push("pos", reports(range(100)))
        node.drain()
        node.attach(windows(), name="late")
        node.push("pos", reports(range(100, 160)))
        node.flush()
        node.drain()
        assert tuples(node.read("late")) == tuples(node.read("means"))


def test_a_subscription_has_the_past_and_then_what_comes(spark: SparkSession) -> None:
    with Node() as node:
        node.deploy(fleet())
        node.push("pos", reports(range(9)))
        query = node.attach(ask())
        found: list[pa.Table] = []
        came = threading.Semaphore(0)

        def read() -> None:
            for table in query.subscribe():
                found.append(table)
                came.release()

        reader = threading.Thread(target=read)
        reader.start()
        came.acquire()
        node.push("pos", reports(range(9, 15)))
        came.acquire()
        query.detach()
        reader.join()
        assert pa.concat_tables(found)["t"].to_pylist() == [1, 4, 7, 10, 13]


def test_a_query_on_an_inner_arc(spark: SparkSession) -> None:
    with Node() as node:
        node.deploy(fleet())
        node.push("pos", reports(range(50)))
        node.drain()
        node.attach(ask("quick", "car = 2"), name="inner")
        node.push("pos", reports(range(50, 80)))
        node.drain()
        expected = [each for each in tuples(node.read("alarms")) if each["car"] == 2]
        assert tuples(node.read("inner")) == expected


def test_a_point_as_it_is(spark: SparkSession) -> None:
    net = NetworkBuilder("ask")
    net.input("quick", SCHEMA).output("all")
    with Node() as node:
        node.deploy(fleet())
        node.push("pos", reports(range(30)))
        node.attach(net.build(), name="all")
        node.drain()
        assert tuples(node.read("all")) == tuples(node.read("alarms"))


def test_several_outputs_have_the_name_of_the_query_before_theirs(spark: SparkSession) -> None:
    net = NetworkBuilder("ask")
    odd, even = net.input("reports", SCHEMA).route("t % 2 = 1", as_="parity")
    odd.output("odd")
    even.output("even")
    with Node() as node:
        node.deploy(fleet())
        query = node.attach(net.build(), name="by")
        node.push("pos", reports(range(4)))
        node.drain()
        assert query.outputs == ("by_odd", "by_even")
        assert pa.concat_tables(query.subscribe("odd", follow=False))["t"].to_pylist() == [1, 3]
        with pytest.raises(EngineError, match=r"has several outputs.*one of odd, even"):
            query.subscribe()


def test_what_is_attached_is_there_after_a_restart(spark: SparkSession, tmp_path: Path) -> None:
    with Node(tmp_path) as node:
        node.deploy(fleet())
        node.push("pos", reports(range(50)))
        node.attach(windows(), name="late")
        node.push("pos", reports(range(50, 75)))
    with Node(tmp_path) as node:
        node.deploy(fleet())
        node.push("pos", reports(range(75, 120)))
        node.drain()
        assert list(node.attached()) == ["late"]
        assert tuples(node.read("late")) == tuples(node.read("means"))
        node.detach("late")
    with Node(tmp_path) as node:
        node.deploy(fleet())
        assert node.attached() == {}


def test_detaching_leaves_nothing_behind(spark: SparkSession, tmp_path: Path) -> None:
    with Node(tmp_path) as node:
        node.deploy(fleet(history=0))
        node.push("pos", reports(range(50)))
        for output in ("alarms", "means"):
            list(node.subscribe(output, follow=False))
        node.drain()
        before = node.statistics()
        files = sorted(path.name for path in tmp_path.rglob("*.parquet"))
        with node.attach(windows(), name="late") as query:
            node.push("pos", reports(range(50, 60)))
            list(query.subscribe(follow=False))
        for output in ("alarms", "means"):
            list(node.subscribe(output, follow=False))
        after = node.statistics()
        assert after.superboxes.keys() == before.superboxes.keys()
        assert after.arcs.keys() == before.arcs.keys()
        assert not [name for name in _files(tmp_path) if "late" in name], files


def _files(root: Path) -> list[str]:
    return [path.name for path in root.rglob("*") if path.is_file()]


def test_history_begins_where_it_is_kept(spark: SparkSession) -> None:
    with Node() as node:
        node.deploy(fleet(history=10))
        for begin in range(0, 50, 5):
            node.push("pos", reports(range(begin, begin + 5)))
            node.drain()
            for output in ("alarms", "means"):
                list(node.subscribe(output, follow=False))
        node.attach(ask(condition="true"), name="kept")
        node.drain()
        assert node.read("kept")["t"].to_pylist() == list(range(40, 50))


def test_tuples_that_do_not_fit_are_quarantined_once(spark: SparkSession) -> None:
    net = NetworkBuilder("strict")
    net.input("pos", "t long not null, car long").point("reports", history="forever").filter("t > 0").output(
        "o"
    )
    query = NetworkBuilder("ask")
    query.input("reports", "t long not null, car long").filter("t > 1").output("found")
    with Node() as node:
        node.deploy(net.build())
        node.push("pos", pa.table({"t": [1, None, 3], "car": [1, 2, 3]}))
        node.attach(query.build())
        node.drain()
        assert node.read("quarantine").num_rows == 1
        assert node.read("query")["t"].to_pylist() == [3]


@pytest.mark.parametrize(
    ("query", "told"),
    [
        (ask("nowhere"), "there is no connection point 'nowhere'; expected one of reports, quick"),
        (ask("windows"), "'windows' is an arc, but no connection point"),
    ],
)
def test_what_cannot_be_attached_changes_nothing(spark: SparkSession, query: object, told: str) -> None:
    with Node() as node:
        node.deploy(fleet())
        with pytest.raises(NetworkError, match=told):
            node.attach(query)  # type: ignore[arg-type]
        assert node.attached() == {}
        node.push("pos", reports(range(30)))
        node.drain()


def test_another_schema_is_refused(spark: SparkSession) -> None:
    net = NetworkBuilder("ask")
    net.input("reports", "t int, car long, speed double").filter("car = 1").output("found")
    with Node() as node:
        node.deploy(fleet())
        with pytest.raises(NetworkError, match=r"is \(t int.*but the connection point has \(t long"):
            node.attach(net.build())


def test_names_that_are_taken_are_refused(spark: SparkSession) -> None:
    with Node() as node:
        node.deploy(fleet())
        node.attach(ask(), name="one")
        with pytest.raises(EngineError, match="one: is attached already; so far there are one"):
            node.attach(ask(), name="one")
        with pytest.raises(NetworkError, match="the network already has boxes or an input under 'fast'"):
            node.attach(ask(), name="fast")
        with pytest.raises(NetworkError, match="the network already has an output of this name"):
            node.attach(ask(), name="alarms")
        with pytest.raises(EngineError, match="no query 'two' is attached; attached: one"):
            node.detach("two")


def test_outputs_of_queries_do_not_take_each_others_names(spark: SparkSession) -> None:
    """The output `b` of the query `a` is called `a_b`, as a query may be."""
    net = NetworkBuilder("two")
    stream = net.input("reports", SCHEMA)
    stream.filter("car = 1", as_="one").output("b")
    stream.filter("car = 2", as_="two").output("c")
    with Node() as node:
        node.deploy(fleet())
        node.attach(net.build(), name="a")
        with pytest.raises(
            NetworkError, match=r"a_b\.outputs\.a_b: the query a already has an output of this name"
        ):
            node.attach(ask(), name="a_b")
        node.attach(ask(), name="a_d")
        node.push("pos", reports(range(9)))
        node.drain()
        assert node.read("a_b")["car"].to_pylist() == [1, 1, 1]


def test_who_reads_a_query_does_not_read_another_one_of_its_name(spark: SparkSession) -> None:
    with Node() as node:
        node.deploy(fleet())
        node.push("pos", reports(range(30)))
        reading = node.attach(ask(), name="asked").subscribe()
        assert next(reading)["t"].to_pylist() == list(range(1, 30, 3))
        node.detach("asked")
        again = node.attach(ask(condition="car = 2"), name="asked")
        assert next(again.subscribe())["t"].to_pylist() == list(range(2, 30, 3))
        node.push("pos", reports(range(30, 40)))
        node.drain()
        assert list(reading) == []
        assert pa.concat_tables(again.subscribe(follow=False))["t"].to_pylist() == list(range(2, 40, 3))


def test_what_was_counted_of_a_query_goes_with_it(spark: SparkSession) -> None:
    with Node() as node:
        node.deploy(fleet())
        node.push("pos", reports(range(30)))
        for _ in range(2):
            node.attach(ask(), name="asked")
            node.drain()
            assert node.statistics().boxes["asked.asked"].received == 30
            node.detach("asked")


def keyed() -> Network:
    """The fleet, whose reports are kept by car."""
    network = fleet()
    reports = replace(network.connection_points["reports"], key="car")
    return replace(network, connection_points={**network.connection_points, "reports": reports})


def test_a_query_runs_in_the_form_that_reads_least(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A filter behind a map, as it was drawn, would not be looked up."""
    monkeypatch.setattr(keeping, "RUN_ROWS_MOST", 60)
    monkeypatch.setattr(runs, "GROUP_ROWS", 10)
    net = NetworkBuilder("ask")
    stream = net.input("reports", SCHEMA).map({"car": "car", "knots": "speed * 1.944"}, as_="knots")
    stream.filter("car = 1", as_="one").output("found")
    with Node() as node:
        node.deploy(keyed())
        for begin in range(0, 120, 10):
            node.push("pos", reports(range(begin, begin + 10)))
            node.drain()
        node.attach(net.build(), name="asked")
        node.drain()
        assert node.read("asked").num_rows == 40
        assert node.statistics().boxes["asked.one"].received < 100
        assert node.attached()["asked"] == net.build()


def test_a_query_on_history_that_is_damaged_stops_nobody_else(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keeping, "RUN_ROWS_MOST", 20)
    with Node(tmp_path) as node:
        node.deploy(keyed())
        for begin in range(0, 60, 10):
            node.push("pos", reports(range(begin, begin + 10)))
            node.drain()
        run = next(tmp_path.glob("history/reports/*.parquet"))
        os.truncate(run, run.stat().st_size // 2)
        for condition in ("car = 1", "speed > 1"):
            asked = node.attach(ask(condition=condition), name="asked")
            with pytest.raises(EngineError, match=f"{run.name}: is damaged"):
                list(asked.subscribe(follow=False))
            node.push("pos", reports(range(60, 70)))
            node.drain()
            asked.detach()
        node.check()
        assert node.read("alarms").num_rows == len([t for t in range(60) if t * 7 % 11 > 5]) + 2 * len(
            [t for t in range(60, 70) if t * 7 % 11 > 5]
        )
