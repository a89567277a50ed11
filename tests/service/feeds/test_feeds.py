"""Sources and sinks that run with a light node, across changes of its network, restarts and failures."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.engine.tables.server import Server

from australis import Network, NetworkBuilder, Node
from australis.errors import EngineError, ServiceError
from australis.service.feeds import Direction, Feeds, FeedState, FeedStatus
from australis.service.settings import FeedSettings


def network(threshold: int = 0, *, outputs: tuple[str, ...] = ("high",)) -> Network:
    net = NetworkBuilder("feeding")
    found = net.input("readings", "n int, v int").filter(f"v >= {threshold}")
    for name in outputs:
        found.output(name)
    return net.build()


class Eventually:
    """Waits for what is to be true after some train or some attempt."""

    def __init__(self) -> None:
        self._tick = threading.Event()

    def __call__(self, is_so: Callable[[], bool]) -> None:
        while not is_so():
            self._tick.wait(0.05)


eventually = Eventually()


def status_of(feeds: Feeds, name: str) -> FeedStatus:
    return next(each for each in feeds.statuses() if each.name == name)


@contextmanager
def fed(node: Node, inputs: dict[str, str], outputs: dict[str, str]) -> Iterator[Feeds]:
    feeds = Feeds(FeedSettings(inputs=inputs, outputs=outputs))
    try:
        feeds.arrange(node, node.recorded())
        yield feeds
    finally:
        feeds.close(30.0)


@pytest.fixture
def node(tmp_path: Path) -> Iterator[Node]:
    with Node(tmp_path / "root", runner="light[1]") as node:
        node.deploy(network())
        yield node


def lines(path: Path) -> list[str]:
    return path.read_text().splitlines()[1:] if path.exists() else []


def test_a_file_that_grows_is_fed_through_into_another(node: Node, tmp_path: Path) -> None:
    source, target = tmp_path / "readings.csv", tmp_path / "high.csv"
    source.write_text("n,v\n1,5\n2,6\n")
    with fed(node, {"readings": str(source)}, {"high": str(target)}) as feeds:
        eventually(lambda: len(lines(target)) == 2)
        with source.open("a") as file:
            file.write("3,7\n")
        eventually(lambda: len(lines(target)) == 3)
        brought, taken = status_of(feeds, "readings"), status_of(feeds, "high")
        assert (brought.state, brought.tuples, taken.state) == (FeedState.RUNNING, 3, FeedState.RUNNING)
        eventually(lambda: status_of(feeds, "high").tuples == 3)
        assert brought.position
        assert brought.per_s > 0
    with source.open("a") as file:
        file.write("4,8\n")
    with fed(node, {"readings": str(source)}, {"high": str(target)}):
        eventually(lambda: len(lines(target)) == 4)
    assert lines(target) == ["1,5", "2,6", "3,7", "4,8"]


def test_a_source_may_leave_out_the_weight_of_its_input(node: Node, tmp_path: Path) -> None:
    source, target = tmp_path / "readings.csv", tmp_path / "out.csv"
    source.write_text("n\n1\n2\n")
    net = NetworkBuilder("feeding")
    net.input("weighed", "n int, copies double not null", weight="copies").output("out")
    node.change(net.build())
    with fed(node, {"weighed": str(source)}, {"out": str(target)}):
        eventually(lambda: len(lines(target)) == 2)
    assert lines(target) == ["1,1", "2,1"]


def test_feeds_follow_the_network(node: Node, tmp_path: Path) -> None:
    source = tmp_path / "in"
    source.mkdir()
    (source / "1.csv").write_text("n,v\n1,5\n")
    outputs = {"high": str(tmp_path / "high.csv"), "low": str(tmp_path / "low.csv")}
    with fed(node, {"readings": str(source)}, outputs) as feeds:
        assert status_of(feeds, "low").state == FeedState.ABSENT
        eventually(lambda: len(lines(tmp_path / "high.csv")) == 1)
        node.change(network(outputs=("high", "low")))
        feeds.arrange(node, node.recorded())
        (source / "2.csv").write_text("n,v\n2,6\n")
        eventually(lambda: len(lines(tmp_path / "low.csv")) == 1)
        node.change(network(outputs=("low",)))
        feeds.arrange(node, node.recorded())
        assert status_of(feeds, "high").state == FeedState.ABSENT
        (source / "3.csv").write_text("n,v\n3,7\n")
        eventually(lambda: len(lines(tmp_path / "low.csv")) == 2)
    assert lines(tmp_path / "high.csv") == ["1,5", "2,6"]


def test_one_that_fails_stops_nobody_else_and_is_restarted(node: Node, tmp_path: Path) -> None:
    node.change(network(outputs=("high", "low")))
    source, target = tmp_path / "readings.csv", tmp_path / "low.csv"
    outputs = {"high": str(tmp_path / "nowhere" / "high.csv"), "low": str(target)}
    with fed(node, {"readings": str(source)}, outputs) as feeds:
        eventually(lambda: status_of(feeds, "high").state == FeedState.FAILED)
        eventually(lambda: status_of(feeds, "readings").state == FeedState.WAITING)
        assert "nowhere" in str(status_of(feeds, "high").problem)
        source.write_text("n,v\n1,5\n")
        eventually(lambda: len(lines(target)) == 1)
        (tmp_path / "nowhere").mkdir()
        feeds.restart(Direction.OUTPUT, "high")
        eventually(lambda: len(lines(tmp_path / "nowhere" / "high.csv")) == 1)
        eventually(lambda: status_of(feeds, "high").problem is None)
        assert status_of(feeds, "readings").restarts > 0


def test_one_that_is_paused_continues_where_it_was(node: Node, tmp_path: Path) -> None:
    source = tmp_path / "readings.csv"
    source.write_text("n,v\n1,5\n")
    target = tmp_path / "high.csv"
    with fed(node, {"readings": str(source)}, {"high": str(target)}) as feeds:
        eventually(lambda: len(lines(target)) == 1)
        assert feeds.pause(Direction.OUTPUT, "high").state == FeedState.PAUSED
        with source.open("a") as file:
            file.write("2,6\n")
        eventually(lambda: status_of(feeds, "readings").tuples == 2)
        feeds.arrange(node, node.recorded())
        assert status_of(feeds, "high").state == FeedState.PAUSED
        feeds.restart(Direction.OUTPUT, "high")
        eventually(lambda: len(lines(target)) == 2)
        with pytest.raises(ServiceError, match="is no feed of an input; expected one of readings"):
            feeds.pause(Direction.INPUT, "high")


def test_a_database_that_is_down_is_waited_for(node: Node, postgresql: Server, tmp_path: Path) -> None:
    source = tmp_path / "readings.csv"
    source.write_text("n,v\n1,5\n")
    postgresql.start()
    address = f"{postgresql.uri}&table=fed&create=yes"
    with fed(node, {"readings": str(source)}, {"high": address}) as feeds:
        eventually(lambda: status_of(feeds, "high").tuples == 1)
        postgresql.stop()
        with source.open("a") as file:
            file.write("2,6\n")
        eventually(lambda: status_of(feeds, "high").state == FeedState.WAITING)
        assert status_of(feeds, "readings").state == FeedState.RUNNING
        postgresql.start()
        eventually(lambda: status_of(feeds, "high").tuples == 2)
    assert node.read("high").num_rows == 0


@pytest.mark.parametrize(
    "address",
    [
        "https://user:plain@host/path",
        "https://host/path?token=plain",
        "https://host/path#form=array&secret=plain",
        "postgresql://host/db?table=t&password=plain",
    ],
)
def test_a_secret_is_refused_before_anybody_can_see_it(address: str) -> None:
    with pytest.raises(EngineError, match="the address holds a password") as found:
        Feeds(FeedSettings(outputs={"high": address}))
    assert "plain" not in str(found.value)
