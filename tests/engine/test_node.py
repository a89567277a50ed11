"""A node: what goes in comes out once, however it is paused, stepped, stopped and opened again."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from australis import Node
from australis.algebra.builder import NetworkBuilder
from australis.algebra.network import Network
from australis.algebra.order import Order
from australis.engine.train.commit import Train
from australis.errors import EngineError
from australis.kernels.run import PipelineRun

LONG_AGO = -(10**15)
"""What a clock says that makes no timeout due."""


def counting() -> Network:
    """Counts tuples by key in windows of 10, behind a filter."""
    net = NetworkBuilder("counting")
    some = net.input("s", "k long, t long").filter("k >= 0", as_="some")
    some.aggregate({"n": "count(*)"}, Order("t", group_by=("k",)), size=10, as_="count").output("n")
    some.output("some")
    return net.build()


def rows(times: range, keys: int = 3) -> pa.Table:
    return pa.table({"k": [t % keys for t in times], "t": list(times)})


def counts(table: pa.Table) -> list[tuple[int, int, int]]:
    """Key, window and count of each result."""
    return sorted(zip(*(table[name].to_pylist() for name in ("k", "t", "n")), strict=True))


def right(end: int, keys: int = 3) -> list[tuple[int, int, int]]:
    """What the kernels make of `rows(range(end))` and the end."""
    run = PipelineRun(counting())
    pushed, ended = run.push("s", rows(range(end), keys), 0), run.flush(0)
    return sorted([*counts(pushed["n"]), *counts(ended["n"])])


@pytest.fixture
def node(spark: SparkSession, tmp_path: Path) -> Iterator[Node]:
    with Node(tmp_path / "root") as node:
        node.deploy(counting())
        yield node


# --- life


def test_a_node_without_a_root_leaves_nothing(spark: SparkSession) -> None:
    with Node() as node:
        node.deploy(counting())
        node.push("s", rows(range(30)))
        node.flush()
        node.drain()
        assert counts(node.read("n")) == right(30)
        place = node.root.local
    assert place is not None
    assert not place.exists()


def test_to_stop_twice_is_to_stop(node: Node) -> None:
    node.stop()
    node.stop(now=True)
    with pytest.raises(EngineError, match="its node has stopped; expected another Node on this root"):
        node.read("n")


def test_it_goes_on_where_it_was(spark: SparkSession, tmp_path: Path) -> None:
    for begin in range(0, 40, 10):
        with Node(tmp_path) as node:
            node.deploy(counting())
            node.push("s", rows(range(begin, begin + 10)))
    with Node(tmp_path) as node:
        node.deploy(counting())
        node.flush()
        node.drain()
        assert counts(node.read("n")) == right(40)


def test_what_was_pushed_before_a_hasty_end_is_not_lost(spark: SparkSession, tmp_path: Path) -> None:
    with Node(tmp_path) as node:
        node.deploy(counting())
        node.push("s", rows(range(25)))
        node.stop(now=True)
    with Node(tmp_path) as node:
        node.deploy(counting())
        node.flush()
        node.drain()
        assert counts(node.read("n")) == right(25)


def test_a_drain_ends_when_another_thread_stops_the_node(node: Node) -> None:
    told, go_on, raised = threading.Event(), threading.Event(), []

    def hear(train: Train) -> None:
        told.set()
        go_on.wait()

    def drain() -> None:
        try:
            node.drain()
        except EngineError as error:
            raised.append(str(error))

    node.on_train(hear)  # a train of which not all were told is not over, so the drain waits
    node.push("s", rows(range(30)))
    told.wait()
    thread = threading.Thread(target=drain)
    thread.start()
    node._deployed.loop.end()
    thread.join()
    go_on.set()
    node.stop()
    assert len(raised) == 1
    assert "is stopped before all tuples are processed" in raised[0]


@pytest.mark.parametrize("name", ["with a space", "ünïcode", "a#b%20c"])
def test_any_directory_is_a_root(spark: SparkSession, tmp_path: Path, name: str) -> None:
    with Node(tmp_path / name) as node:
        node.deploy(counting())
        node.push("s", rows(range(3)))
        node.drain()
        assert node.read("some").num_rows == 3
    assert (tmp_path / name / "catalog.db").exists()


def test_a_root_may_be_a_uri_with_its_catalogue_elsewhere(spark: SparkSession, tmp_path: Path) -> None:
    for _ in range(2):
        with Node((tmp_path / "root").as_uri(), catalog=tmp_path / "catalog") as node:
            node.deploy(counting())
            node.push("s", rows(range(3)))
            node.drain()
            assert not (tmp_path / "root" / "catalog.db").exists()
            assert (tmp_path / "catalog" / "catalog.db").exists()
            total = node.read("some").num_rows
    assert total == 6


# --- how it goes


def test_a_paused_node_runs_single_steps(spark: SparkSession, tmp_path: Path) -> None:
    with Node(tmp_path, train=10) as node:
        node.deploy(counting())
        node.pause()
        node.push("s", rows(range(25)))
        with pytest.raises(EngineError, match=r"is paused.*resume\(\) first"):
            node.drain()
        trains = [node.step() for _ in range(4)]
        assert [train and train.received for train in trains] == [10, 10, 5, None]
        assert node.read("some").num_rows == 25
        node.push("s", rows(range(25, 40)))
        node.resume()
        node.flush()
        node.drain()
        assert counts(node.read("n")) == right(40)


def test_every_train_is_heard_of(node: Node) -> None:
    heard: list[Train] = []
    node.on_train(heard.append)
    node.push("s", rows(range(7)))
    node.drain()
    assert sum(train.received for train in heard) == 7


def test_who_listens_and_fails_stops_the_node(node: Node) -> None:

    def fail(train: Train) -> None:
        raise ZeroDivisionError

    node.on_train(fail)
    node.push("s", rows(range(7)))
    with pytest.raises(EngineError, match="ZeroDivisionError"):
        next(node.subscribe("n"))


def test_a_timeout_is_due_though_nothing_comes(spark: SparkSession, tmp_path: Path) -> None:
    net = NetworkBuilder("timed")
    net.input("s", "t long").aggregate({"n": "count(*)"}, Order("t"), size=10, timeout="5 ms").output("n")
    with Node(tmp_path) as node:
        node.deploy(net.build())
        node.push("s", pa.table({"t": [1, 2]}))
        table = next(node.subscribe("n"))
    assert table["n"].to_pylist() == [2]


def test_a_timeout_that_is_far_away_is_waited_for(spark: SparkSession, tmp_path: Path) -> None:
    net = NetworkBuilder("timed")
    stream = net.input("s", "t long")
    stream.aggregate({"n": "count(*)"}, Order("t"), size=10, timeout="200000000 hours").output("n")
    with Node(tmp_path) as node:
        node.deploy(net.build())
        for t in range(3):
            node.push("s", pa.table({"t": [t]}))
            node.drain()
        node.flush()
        node.drain()
        assert node.read("n")["n"].to_pylist() == [3]


@pytest.mark.parametrize(("before", "after"), [("box", "superbox"), ("superbox", "train")])
def test_timeouts_outlive_a_change_of_the_discipline(
    spark: SparkSession, tmp_path: Path, before: str, after: str
) -> None:
    net = NetworkBuilder("timed")
    some = net.input("s", "t long").filter("t > 0", as_="some")
    some.aggregate({"n": "count(*)"}, Order("t"), size=10, timeout="5 s", as_="n").output("n")
    with Node(tmp_path, discipline=before, clock=lambda: LONG_AGO) as node:
        node.deploy(net.build())
        node.push("s", pa.table({"t": [1, 2]}), now=0)
        node.drain()
    with Node(tmp_path, discipline=after, clock=lambda: LONG_AGO) as node:
        node.deploy(net.build())
        node.tick(now=6_000_000)
        node.drain()
        assert node.read("n")["n"].to_pylist() == [2]


def test_another_discipline_before_the_queues_are_empty_is_refused(
    spark: SparkSession, tmp_path: Path
) -> None:
    with Node(tmp_path, discipline="box") as node:
        node.deploy(counting())
        node.pause()
        node.push("s", rows(range(5)))
    with Node(tmp_path, discipline="superbox") as node, pytest.raises(EngineError, match="until the node is"):
        node.deploy(counting())
    with Node(tmp_path, discipline="box") as node:
        node.deploy(counting())
        node.drain()
        assert node.read("some").num_rows == 5


# --- what comes in


def test_a_batch_without_tuples_is_no_matter(node: Node) -> None:
    node.push("s", rows(range(0)))
    stamped = rows(range(0)).append_column("#ts", pa.array([], pa.timestamp("us", "UTC")))
    end = node.push("s", stamped)
    node.drain()
    assert node.push("s", rows(range(2))) == end + 3


def test_adopted_files_meet_pushed_tuples_of_one_key(spark: SparkSession, tmp_path: Path) -> None:
    """A file with narrower numbers than the schema: its keys are those of the schema all the same."""
    path = tmp_path / "in.parquet"
    narrow = pa.schema([("k", pa.int32()), ("t", pa.int32())])
    pq.write_table(rows(range(0, 20), 12).cast(narrow), path)
    with Node(tmp_path / "root", partitions=3) as node:
        node.deploy(counting())
        node.adopt("s", path)
        node.push("s", rows(range(20, 40), 12))
        node.flush()
        node.drain()
        assert counts(node.read("n")) == right(40, 12)
    assert path.exists()


@pytest.mark.parametrize("way", ["fused", "spark"])
def test_folders_may_have_any_name(spark: SparkSession, tmp_path: Path, way: str) -> None:
    folder = tmp_path / "a b%20c #1 [x] {y,z} ü*?"
    folder.mkdir()
    pq.write_table(rows(range(10)), folder / "in.parquet")
    with Node(folder / "root", way=way) as node:
        node.deploy(counting())
        node.adopt("s", folder / "in.parquet")
        node.push("s", rows(range(10, 20)))
        node.flush()
        node.drain()
        assert counts(node.read("n")) == right(20)


def test_a_file_may_be_adopted_again(spark: SparkSession, tmp_path: Path) -> None:
    path = tmp_path / "in.parquet"
    pq.write_table(rows(range(10)), path)
    with Node(tmp_path / "root", train=4) as node:
        node.deploy(counting())
        for _ in range(2):
            node.adopt("s", path)
            node.drain()
        assert node.read("some")["t"].to_pylist() == [*range(10), *range(10)]
        numbers = node.read("some")["#seq"].to_pylist()
        assert numbers == [*range(1, 11), *range(12, 22)]


@pytest.mark.parametrize("way", ["fused", "spark"])
def test_a_file_may_wait_more_than_once(spark: SparkSession, tmp_path: Path, way: str) -> None:
    """On two inputs, and twice on one of them: each time with numbers of its own, and truncated by itself."""
    net = NetworkBuilder("net")
    one, other = net.input("one", "k long, t long"), net.input("other", "k long, t long")
    one.filter("t < 6", as_="less").output("less")
    other.filter("t > 6", as_="more").output("more")
    path = tmp_path / "in.parquet"
    pq.write_table(rows(range(10)), path)
    with Node(tmp_path / "root", train=4, way=way) as node:
        node.deploy(net.build())
        node.pause()
        for name in ("one", "other", "one"):
            node.adopt(name, path)
        node.resume()
        node.drain()
        assert node.statistics().arcs["one"] == node.statistics().arcs["other"] == 0
        assert node.read("less")["t"].to_pylist() == [*range(6), *range(6)]
        assert node.read("less")["#seq"].to_pylist() == [*range(1, 7), *range(23, 29)]
        assert node.read("more")["t"].to_pylist() == [7, 8, 9]
    assert path.exists()
