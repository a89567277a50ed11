"""The switch: only what it replaces waits for it, and what fails in it leaves all as it was."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pyarrow as pa
import pytest
from tests.engine.in_process import InProcess, run
from tests.engine.ledger.held import FSYNC, UnsureHome, check_mirror

from australis import Node
from australis.algebra.builder import NetworkBuilder
from australis.algebra.network import Network
from australis.algebra.order import Order
from australis.engine.store.root import Root
from australis.engine.worker.waybill import Manifest, RunTrain, Waybill
from australis.errors import EngineError, Problem
from australis.plan.superboxes import Plan

SECONDS_MOST = 60


def network(least: int = 0) -> Network:
    """Two streams that have nothing to do with each other; `quick` may let fewer tuples through."""
    net = NetworkBuilder("two")
    slow = net.input("a", "k long, t long").filter("k >= 0", as_="slow")
    slow.output("all")
    slow.aggregate({"n": "count(*)"}, Order("t"), size=2, as_="count").output("n")
    net.input("b", "k long").filter(f"k >= {least}", as_="quick").output("some")
    return net.build()


class Gated(InProcess):
    """Runs trains in this process, those of one superbox when they may; may refuse to take another plan."""

    def __init__(self, closed: str = "") -> None:
        self._closed = closed
        self.began, self.may_go_on = threading.Event(), threading.Event()
        self.refuses = False
        self.on_prepare: Callable[[], None] = lambda: None

    def prepare(self, root: Root, plan: Plan) -> RunTrain:
        self.on_prepare()
        if self.refuses:
            raise EngineError(Problem("runner", "takes no other plan"))
        return self._run

    def _run(self, waybill: Waybill) -> list[Manifest]:
        if waybill.superbox == self._closed:
            self.began.set()
            assert self.may_go_on.wait(SECONDS_MOST)
        return run(waybill)


def pairs(count: int) -> pa.Table:
    return pa.table({"k": list(range(count)), "t": list(range(count))})


def ks(*values: int) -> pa.Table:
    return pa.table({"k": list(values)})


def found(node: Node, output: str = "some") -> list[int]:
    column: list[int] = node.read(output)["k"].to_pylist()
    return column


def fed(*, by_map: bool, least: int = 0) -> Network:
    """A count, fed by a map or by the input itself, and a filter beside it."""
    net = NetworkBuilder("fed")
    stream = net.input("s", "k long, t long")
    counted = stream.map({"k": "k", "t": "t"}, as_="map") if by_map else stream
    counted.aggregate({"n": "count(*)"}, Order("t"), size=2, as_="count").output("n")
    stream.filter(f"k >= {least}", as_="beside").output("some")
    return net.build()


def test_what_goes_but_feeds_what_stays_comes_to_the_same_number_first(tmp_path: Path) -> None:
    """The filter is ahead, the count has to come to its number, and the map that feeds it is taken away."""
    runner = Gated("map")
    with Node(tmp_path, runner=runner, discipline="train", train=3) as node, ThreadPoolExecutor() as pool:
        node.deploy(fed(by_map=True))
        node.push("s", pairs(20))
        assert runner.began.wait(SECONDS_MOST)
        node._ledger.guard.wait_until(lambda: node._ledger.queues.positions["beside"] == 21)
        changing = pool.submit(node.change, fed(by_map=False, least=5))
        node._ledger.guard.wait_until(lambda: node._deployed.state.changing > 0)
        runner.may_go_on.set()
        assert changing.result(SECONDS_MOST).removed == ("map",)
        node.flush()
        node.drain()
        assert node.read("n")["n"].to_pylist() == [2] * 10


def test_what_a_change_leaves_alone_does_not_wait_for_it_nor_it_for_that(tmp_path: Path) -> None:
    runner = Gated("slow")
    with Node(tmp_path, runner=runner, discipline="train") as node, ThreadPoolExecutor() as pool:
        node.deploy(network())
        node.push("a", pairs(5))
        assert runner.began.wait(SECONDS_MOST)
        try:
            change = pool.submit(node.change, network(least=2)).result(SECONDS_MOST)
            assert change.held == ("quick",)
            node.push("b", ks(1, 2, 3))
            assert next(node.subscribe("some"))["k"].to_pylist() == [2, 3]
            assert found(node, "all") == [], "its train began before, and is not over"
        finally:
            runner.may_go_on.set()
        node.drain()
        assert found(node, "all") == [0, 1, 2, 3, 4]
        assert node.read("n")["n"].to_pylist() == [2, 2]
        check_mirror(node._ledger)


def test_a_change_waits_for_the_trains_of_what_it_replaces(tmp_path: Path) -> None:
    runner = Gated("quick")
    with Node(tmp_path, runner=runner, discipline="train") as node, ThreadPoolExecutor() as pool:
        node.deploy(network())
        node.push("b", ks(1, 2, 3))
        assert runner.began.wait(SECONDS_MOST)
        change = pool.submit(node.change, network(least=2))
        node._ledger.guard.wait_until(lambda: node._deployed.state.changing > 0)
        assert not change.done()
        runner.may_go_on.set()
        change.result(SECONDS_MOST)
        node.push("b", ks(1, 2, 3))
        node.drain()
        assert found(node) == [1, 2, 3, 2, 3]


@pytest.fixture
def runner() -> Gated:
    return Gated()


@pytest.fixture
def home(tmp_path: Path) -> UnsureHome:
    return UnsureHome(tmp_path)


@pytest.fixture
def node(tmp_path: Path, runner: Gated, home: UnsureHome) -> Iterator[Node]:
    """A node through which two tuples went."""
    with Node(tmp_path, runner=runner, catalog=home) as node:
        node.deploy(network())
        node.push("b", ks(1, 2))
        node.drain()
        yield node


def check_goes_on(node: Node, least: int) -> None:
    """A node runs a network of the form that it says, nothing is held, and it can be changed."""
    state = node._deployed.state
    assert (state.held, state.changing) == ({}, 0)
    assert node.recorded() == network(least)
    node.push("b", ks(0, 3, 9))
    node.drain()
    assert found(node) == [1, 2, *(k for k in (0, 3, 9) if k >= least)]
    check_mirror(node._ledger)
    node.change(network(least=9))
    node.push("b", ks(0, 3, 9))
    node.drain()
    assert found(node)[-2:] == [9, 9]


def test_a_plan_that_the_runner_does_not_take_changes_nothing(node: Node, runner: Gated) -> None:
    queues, runner.refuses = node._ledger.queues, True
    with pytest.raises(EngineError, match="takes no other plan"):
        node.change(network(least=2))
    assert node._ledger.queues is queues
    runner.refuses = False
    check_goes_on(node, least=0)


def test_a_change_that_cannot_be_committed_changes_nothing(node: Node, home: UnsureHome) -> None:
    queues, home.db.takes_effect = node._ledger.queues, False
    with pytest.raises(EngineError, match=FSYNC):
        node.change(network(least=2))
    assert node._ledger.queues is queues
    check_goes_on(node, least=0)


def test_a_change_that_was_committed_though_it_did_not_look_so_counts(node: Node, home: UnsureHome) -> None:
    home.db.takes_effect = True
    node.change(network(least=2))
    check_goes_on(node, least=2)


def test_all_follows_a_change_that_was_interrupted_when_it_was_committed(
    node: Node, home: UnsureHome
) -> None:
    home.db.takes_effect, home.db.error = True, KeyboardInterrupt()
    with pytest.raises(KeyboardInterrupt):
        node.change(network(least=2))
    check_goes_on(node, least=2)


def test_all_follows_a_change_of_which_the_next_one_finds_out(node: Node, home: UnsureHome) -> None:
    """The catalogue does not answer at first when it is asked whether the commit took effect."""
    home.db.takes_effect, home.db.falls_silent = True, True
    with pytest.raises(EngineError, match=FSYNC):
        node.change(network(least=2))
    # A worker wants to go on, and cannot.
    node._ledger.guard.wait_until(lambda: node._deployed.state.error is not None)
    home.db.is_silent = False
    node.resume()
    check_goes_on(node, least=2)


def test_a_train_of_what_was_replaced_in_doubt_does_not_happen(
    node: Node, runner: Gated, home: UnsureHome
) -> None:
    """None begins before it is known whether the change was committed; then the new boxes get the tuples."""

    def push_one() -> None:
        node.push("b", ks(1, 8))
        home.db.takes_effect, home.db.falls_silent = True, True

    runner.on_prepare = push_one
    with pytest.raises(EngineError, match=FSYNC):
        node.change(network(least=2))
    # A worker wants to go on, and cannot.
    node._ledger.guard.wait_until(lambda: node._deployed.state.error is not None)
    home.db.is_silent = False
    runner.on_prepare = lambda: None
    node.resume()
    node.drain()
    assert found(node) == [1, 2, 8]
    check_mirror(node._ledger)


def test_a_paused_node_is_changed_where_nothing_has_to_be_drained(node: Node) -> None:
    node.pause()
    node.change(network(least=2))
    node.resume()
    check_goes_on(node, least=2)


def test_a_node_that_stops_says_so_to_who_waits_for_a_change(tmp_path: Path) -> None:
    runner = Gated("quick")
    with Node(tmp_path, runner=runner, discipline="train") as node, ThreadPoolExecutor() as pool:
        node.deploy(network())
        node.push("b", ks(1))
        assert runner.began.wait(SECONDS_MOST)
        change = pool.submit(node.change, network(least=2))
        state = node._deployed.state
        node._ledger.guard.wait_until(lambda: state.changing > 0)
        node._deployed.loop.end()
        told = change.exception(SECONDS_MOST)
        assert str(told) == "two: is stopped before it could be changed"
        assert (state.held, state.changing) == ({}, 0)
        runner.may_go_on.set()
    with Node(tmp_path, runner=InProcess(), discipline="train") as node:
        node.deploy(network())
        node.drain()
        assert found(node) == [1]
