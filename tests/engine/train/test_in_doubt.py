"""Commits that fail, and of which nobody can say for a while whether they count: decisions wait for that."""

from __future__ import annotations

from collections.abc import Callable, Iterator
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
from australis.errors import EngineError
from australis.plan.superboxes import Plan


class Noticed(InProcess):
    """Runs trains in this process, and does something after the next one."""

    def __init__(self) -> None:
        self.after_next: Callable[[], None] = lambda: None

    def prepare(self, root: Root, plan: Plan) -> RunTrain:
        return self._run

    def _run(self, waybill: Waybill) -> list[Manifest]:
        manifests = run(waybill)
        notice, self.after_next = self.after_next, lambda: None
        notice()
        return manifests


@pytest.fixture
def home(tmp_path: Path) -> UnsureHome:
    return UnsureHome(tmp_path)


@pytest.fixture
def runner() -> Noticed:
    return Noticed()


@pytest.fixture
def node(tmp_path: Path, home: UnsureHome, runner: Noticed) -> Iterator[Node]:
    with Node(tmp_path, runner=runner, catalog=home) as node:
        node.deploy(network())
        node.push("s", rows(0, 2))
        node.drain()
        yield node


def network(added: int = 0, *, filtered: bool = False) -> Network:
    net = NetworkBuilder("n")
    stream = net.input("s", "k long, t long").point("past", history=100)
    if filtered:
        stream = stream.filter("k >= 0", as_="some")
    stream = stream.map({"k": f"k + {added}", "t": "t"}, as_="map")
    stream.output("out")
    stream.aggregate({"n": "count(*)"}, Order("t"), size=4, as_="count").output("n")
    return net.build()


def query() -> Network:
    net = NetworkBuilder("q")
    net.input("past", "k long, t long").filter("k >= 0", as_="kept").output("kept")
    return net.build()


def rows(begin: int, end: int) -> pa.Table:
    return pa.table({"k": list(range(begin, end)), "t": list(range(begin, end))})


def found(node: Node, output: str = "out", column: str = "k") -> list[int]:
    values: list[int] = node.read(output)[column].to_pylist()
    return values


def leave_in_doubt(home: UnsureHome) -> None:
    """The next commit counts, says that it failed, and then the catalogue cannot be asked."""
    home.db.takes_effect, home.db.falls_silent = True, True


def answer_again(home: UnsureHome) -> None:
    home.db.falls_silent = home.db.is_silent = False


def wait_for_trouble(node: Node) -> None:
    """Wait until a train that wanted to begin after a change has met the silent catalogue."""
    node._ledger.guard.wait_until(lambda: node._deployed.state.error is not None)


def test_a_train_is_not_run_twice(node: Node, home: UnsureHome, runner: Noticed) -> None:
    node.pause()
    node.push("s", rows(2, 4))
    runner.after_next = lambda: leave_in_doubt(home)
    node.resume()
    with pytest.raises(EngineError, match=FSYNC):
        node.drain()
    answer_again(home)
    node.resume()
    node.drain()
    assert found(node) == [0, 1, 2, 3]
    check_mirror(node._ledger)


def test_a_train_of_the_old_queues_is_refused(node: Node, home: UnsureHome, runner: Noticed) -> None:
    """It was chosen before the doubt, and comes to its commit after another one of the same tuples."""
    node.pause()
    node.push("s", rows(2, 4))

    def overtake() -> None:
        state = node._deployed.state
        busy, state.busy = state.busy, {}
        assert node.step() is not None
        state.busy = busy

    runner.after_next = overtake
    assert node.step() is None
    assert found(node) == [0, 1, 2, 3]
    check_mirror(node._ledger)


def test_the_next_push_has_the_next_numbers(node: Node, home: UnsureHome) -> None:
    leave_in_doubt(home)
    with pytest.raises(EngineError, match=FSYNC):
        node.push("s", rows(2, 4))
    answer_again(home)
    node.resume()
    node.push("s", rows(4, 6))
    node.flush()
    node.drain()
    assert found(node) == [0, 1, 2, 3, 4, 5]


def test_the_next_change_begins_with_what_the_last_one_did(node: Node, home: UnsureHome) -> None:
    leave_in_doubt(home)
    with pytest.raises(EngineError, match=FSYNC):
        node.change(network(filtered=True))
    wait_for_trouble(node)
    answer_again(home)
    node.resume()
    changed = node.change(network(added=10, filtered=True))
    assert (changed.added, changed.altered) == ((), ("map",))
    node.push("s", rows(2, 9))
    node.drain()
    assert found(node, "n", "n") == [4, 4]
    check_mirror(node._ledger)


def test_a_query_that_is_attached_in_doubt_stays_attached(node: Node, home: UnsureHome) -> None:
    leave_in_doubt(home)
    with pytest.raises(EngineError, match=FSYNC):
        node.attach(query(), name="one")
    wait_for_trouble(node)
    answer_again(home)
    node.resume()
    node.attach(query(), name="two")
    node.drain()
    assert set(node.attached()) == {"one", "two"}
    assert found(node, "one") == found(node, "two") == [0, 1]


def test_a_consumer_is_told_what_a_later_start_finds(node: Node, home: UnsureHome) -> None:
    """It discards what it has beyond its position, so an acknowledgement that failed must not come back."""
    assert node.consumer("reader", "out") == (0, None)
    home.db.takes_effect = False
    with pytest.raises(EngineError, match=FSYNC):
        node.acknowledge("reader", "out", 3)
    commits = node._ledger.commits
    assert node.consumer("reader", "out") == (0, None)
    assert node._ledger.commits == commits + 1, "another commit is in the place of the one that failed"
    check_mirror(node._ledger)
