"""What an output keeps: each consumer sees each tuple once, and what nobody needs any more is deleted."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession
from tests.waiting import until

from australis import Node
from australis.algebra.builder import NetworkBuilder
from australis.algebra.network import Network
from australis.engine.store.root import SEGMENTS, STATES
from australis.errors import EngineError


def network(history: Any = None) -> Network:
    """Two filters, one behind the other, and between them perhaps a connection point."""
    net = NetworkBuilder("net")
    some = net.input("s", "x long").filter("x >= 0", as_="some")
    if history is not None:
        some.point("tap", history=history)
    some.filter("x < 1000", as_="less").output("out")
    return net.build()


def push(node: Node, *values: int, now: int | None = None) -> None:
    node.push("s", pa.table({"x": list(values)}), now=now)
    node.drain()


def values(tables: list[pa.Table]) -> list[int]:
    return [value for table in tables for value in table["x"].to_pylist()]


def segments(node: Node) -> set[str]:
    """The arcs of the files that there are."""
    return {name.split("/")[1].rsplit("-", 1)[0] for name in node.root.names(SEGMENTS)}


def test_without_follow_it_ends_with_what_was_there(spark: SparkSession, tmp_path: Path) -> None:
    """Also where tuples keep coming, so that the node is never at rest; the next time they are there."""
    with Node(tmp_path) as node:
        node.deploy(network())
        push(node, 1, 2)
        found = node.subscribe("out", follow=False)
        assert next(found)["x"].to_pylist() == [1, 2]
        push(node, 3)
        assert values(list(found)) == []
        assert values(list(node.subscribe("out", follow=False))) == [3]


def test_each_consumer_sees_each_tuple_once(spark: SparkSession, tmp_path: Path) -> None:
    seen: dict[str, list[int]] = {"one": [], "other": []}
    for begin in range(0, 9, 3):
        with Node(tmp_path) as node:
            node.deploy(network())
            node.consumer("other", "out")
            push(node, begin, begin + 1)
            push(node, begin + 2)
            for name in ["one"] if begin == 3 else ["one", "other"]:
                seen[name] += values(list(node.subscribe("out", consumer=name, follow=False, rows=2)))
    assert seen == {"one": list(range(9)), "other": list(range(9))}


def test_what_was_not_acknowledged_comes_again(spark: SparkSession, tmp_path: Path) -> None:
    with Node(tmp_path) as node:
        node.deploy(network())
        push(node, 1, 2)
        push(node, 3)
        stream = node.subscribe("out", rows=1)
        assert values([next(stream), next(stream)]) == [1, 2, 3]
    with Node(tmp_path) as node:
        node.deploy(network())
        assert values(list(node.subscribe("out", follow=False))) == [3]


def test_who_follows_ends_with_the_node(spark: SparkSession, tmp_path: Path) -> None:
    node = Node(tmp_path)
    node.deploy(network())
    seen: list[int] = []
    came = threading.Event()

    def follow() -> None:
        for table in node.subscribe("out"):
            seen.extend(values([table]))
            came.set()

    thread = threading.Thread(target=follow)
    thread.start()
    push(node, 1)
    came.wait()
    node.stop()
    thread.join()
    assert seen == [1]


def test_who_is_behind_when_the_node_stops_ends_too(spark: SparkSession, tmp_path: Path) -> None:
    node = Node(tmp_path)
    node.deploy(network())
    push(node, 1)
    push(node, 2)
    stream, fresh = node.subscribe("out", rows=1), node.subscribe("out", consumer="late")
    assert values([next(stream)]) == [1]
    node.stop()
    node.acknowledge("subscriber", "out", 3, "behind the end")
    assert (list(stream), list(fresh)) == ([], [])
    with Node(tmp_path) as node:
        node.deploy(network())
        assert values(list(node.subscribe("out", follow=False))) == [1, 2]


@pytest.mark.parametrize("kept", [True, False])
def test_subscribers_at_work_when_the_node_stops(spark: SparkSession, tmp_path: Path, kept: bool) -> None:
    node = Node(tmp_path if kept else None)
    node.deploy(network())
    for value in range(20):
        push(node, value)
    begun = threading.Event()
    for number in range(4):
        node.consumer(f"reader {number}", "out")

    def follow(name: str) -> list[int]:
        seen = []
        for table in node.subscribe("out", consumer=name, rows=1):
            seen += values([table])
            node.acknowledge(name, "out", table["#seq"][-1].as_py() + 1)
            begun.set()
        return seen

    with ThreadPoolExecutor(4) as pool:
        found = [pool.submit(follow, f"reader {number}") for number in range(4)]
        begun.wait()
        node.stop()
        for each in found:
            assert each.result() == list(range(len(each.result())))


def test_inner_queues_are_empty_when_all_has_gone_through(spark: SparkSession, tmp_path: Path) -> None:
    with Node(tmp_path, discipline="box") as node:
        node.deploy(network())
        push(node, 1, -2)
        push(node, 3)
        assert node.statistics().arcs == {"s": 0, "some": 0, "less": 2, "=quarantine": 0}
        until(lambda: segments(node) == {"less"})


def test_files_go_when_the_last_consumer_has_done_with_them(spark: SparkSession, tmp_path: Path) -> None:
    with Node(tmp_path) as node:
        node.deploy(network())
        node.consumer("slow", "out")
        push(node, 1, 2)
        assert values(list(node.subscribe("out", consumer="fast", follow=False))) == [1, 2]
        until(lambda: segments(node) == {"less"})
        assert values(list(node.subscribe("out", consumer="slow", follow=False))) == [1, 2]
        until(lambda: segments(node) == set())
        assert node.read("out").num_rows == 0


def test_nothing_waits_for_who_is_forgotten(spark: SparkSession, tmp_path: Path) -> None:
    with Node(tmp_path) as node:
        node.deploy(network())
        node.consumer("gone", "out")
        push(node, 1, 2)
        assert values(list(node.subscribe("out", consumer="here", follow=False))) == [1, 2]
        until(lambda: segments(node) == {"less"})
        node.forget("gone", "out")
        until(lambda: segments(node) == set())
        push(node, 3)
        assert values(list(node.subscribe("out", consumer="here", follow=False))) == [3]
        until(lambda: segments(node) == set())
    with Node(tmp_path) as node:
        node.deploy(network())
        node.forget("here", "out")
        push(node, 4)
        assert node.read("out")["x"].to_pylist() == [4], "an output that nobody reads keeps everything"


def test_who_is_not_known_cannot_be_forgotten(spark: SparkSession, tmp_path: Path) -> None:
    with Node(tmp_path) as node:
        node.deploy(network())
        with pytest.raises(EngineError, match="no consumer 'a' of the output 'out'; expected an output that"):
            node.forget("a", "out")
        for name in ("one", "other"):
            node.consumer(name, "out")
        node.consumer("a", "quarantine")
        with pytest.raises(
            EngineError, match="no consumer 'a' of the output 'out'; expected one of one, other"
        ):
            node.forget("a", "out")
        with pytest.raises(EngineError, match="there is no output 'nope'"):
            node.forget("one", "nope")


def test_nothing_goes_while_nobody_has_read_it(spark: SparkSession, tmp_path: Path) -> None:
    with Node(tmp_path) as node:
        node.deploy(network())
        for value in range(3):
            push(node, value)
        assert node.read("out")["x"].to_pylist() == [0, 1, 2]


@pytest.mark.parametrize(
    ("history", "kept"), [(0, 0), (2, 2), (3, 3), ("forever", 6), ("15 s", 4), ("1 hour", 6)]
)
@pytest.mark.parametrize("discipline", ["box", "superbox"])
def test_a_connection_point_keeps_its_history(
    spark: SparkSession, tmp_path: Path, discipline: str, history: Any, kept: int
) -> None:
    """Segments of two tuples each, ten seconds apart; history of a few tuples is in runs of one each."""
    now = 0
    with Node(tmp_path, discipline=discipline, clock=lambda: now) as node:
        node.deploy(network(history))
        for number in range(3):
            now = (number + 1) * 10_000_000
            push(node, number, number + 10)
        assert node.statistics().arcs["some"] == kept


def test_states_are_replaced(spark: SparkSession, tmp_path: Path) -> None:
    net = NetworkBuilder("net")
    net.input("s", "x long").tumble({"n": "count(*)"}, ("x",), as_="runs").output("out")
    with Node(tmp_path) as node:
        node.deploy(net.build())
        for value in range(4):
            push(node, value)
        until(lambda: len(list(node.root.names(STATES))) == 1)


def test_files_that_nobody_committed_are_swept(spark: SparkSession, tmp_path: Path) -> None:
    with Node(tmp_path) as node:
        node.deploy(network())
        push(node, 1)
    kept = set(node.root.names(SEGMENTS))
    for kind in (SEGMENTS, STATES):
        (tmp_path / kind / "orphan").write_bytes(b"half")
    with Node(tmp_path) as node:
        node.deploy(network())
        assert set(node.root.names(SEGMENTS)) == kept
        assert list(node.root.names(STATES)) == []


def test_an_output_that_is_not_there_is_named(spark: SparkSession, tmp_path: Path) -> None:
    with Node(tmp_path) as node:
        node.deploy(network())
        with pytest.raises(EngineError, match="there is no output 'nope'; expected one of out, quarantine"):
            node.read("nope")
        with pytest.raises(EngineError, match="no output 'nope'"):
            next(node.subscribe("nope"))
