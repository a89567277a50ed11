"""Orphans go to the trash, when the root is opened and while a node runs; what somebody may commit stays."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow as pa
import pytest
from tests.engine.in_process import InProcess, run
from tests.engine.ledger.custody.roots import change_owner, files, network, opened, push, trash, values
from tests.engine.ledger.held import opened as ledger_of
from tests.engine.ledger.held import push as push_tuples
from tests.waiting import until

from australis import NetworkBuilder, Node, Order
from australis.engine.change import switch
from australis.engine.ingest import Arrival, Ingest
from australis.engine.ledger import Ledger
from australis.engine.maintain import upkeep
from australis.engine.store import GRACE_S, Root
from australis.engine.threads import SystemThreads
from australis.engine.train import attempts
from australis.engine.worker import Manifest, RunTrain, TrainFailed, Waybill
from australis.errors import EngineError, Problem
from australis.plan.superboxes import Plan

ORPHAN = "segments/orphan.parquet"


class Clock(SystemThreads):
    """Threads whose clock the test sets."""

    def __init__(self) -> None:
        self.now = 1_800_000_000_000_000

    def now_us(self) -> int:
        return self.now

    def wait(self, seconds: float) -> None:
        self.now += int(seconds * 1e6)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def ledger(tmp_path: Path, clock: Clock) -> Iterator[Ledger]:
    with ledger_of(tmp_path, threads=clock) as ledger:
        yield ledger


def leave(root: Path, name: str = ORPHAN, data: bytes = b"orphan") -> None:
    (root / name).write_bytes(data)


# --- when the root is opened


def test_orphans_go_to_the_trash_and_are_deleted_a_day_later(tmp_path: Path, clock: Clock) -> None:
    with ledger_of(tmp_path, threads=clock):
        leave(tmp_path)
    for seconds, kept in ((1, {ORPHAN}), (GRACE_S - 2, {ORPHAN}), (2, set())):
        clock.wait(seconds)
        with ledger_of(tmp_path, threads=clock) as ledger:
            assert not (tmp_path / ORPHAN).exists()
            assert trash(tmp_path) == kept
            assert ledger.waste_bytes == len(b"orphan") * len(kept)
    assert list((tmp_path / "trash").iterdir()) == []


def test_what_somebody_else_put_into_the_trash_stays(tmp_path: Path, clock: Clock) -> None:
    with ledger_of(tmp_path, threads=clock) as ledger:
        ledger.root.disk.make_folder("trash/mine")
        leave(tmp_path, "trash/mine/x")
        clock.wait(100 * GRACE_S)
        ledger.tidy()
        assert trash(tmp_path) == {"x"}


def test_the_trash_counts_for_the_disk_budget(tmp_path: Path) -> None:
    with opened(tmp_path) as node:
        push(node, 1)
        used = node.statistics().bytes
    leave(tmp_path, data=b"x" * 10_000)
    with Node(tmp_path, runner=InProcess(), disk=used + 9_000) as node:
        node.deploy(network())
        assert node.statistics().trash == 10_000
        assert node.statistics().held_back
        with pytest.raises(EngineError, match=r"are used of a budget of .*, 10,000 of them by the trash"):
            push(node, 2)


# --- while a node runs


def test_an_orphan_is_seen_and_later_moved(tmp_path: Path, ledger: Ledger) -> None:
    leave(tmp_path)
    assert ledger.tidy(), "there is something to look at again"
    assert (tmp_path / ORPHAN).exists()
    assert not ledger.tidy()
    assert trash(tmp_path) == {ORPHAN}
    assert ledger.waste_bytes == len(b"orphan")


def test_what_is_committed_meanwhile_stays(ledger: Ledger) -> None:
    made = push_tuples(ledger, 3)
    for _ in range(3):
        assert not ledger.tidy()
    assert ledger.root.exists(made.name)


@pytest.mark.parametrize("at_work", [Ledger.writing, Ledger.reading], ids=["a push", "a train"])
def test_a_file_stays_as_long_as_somebody_may_commit_it(
    tmp_path: Path, ledger: Ledger, at_work: Callable[[Ledger], Ledger]
) -> None:
    with at_work(ledger):  # type: ignore[attr-defined]
        leave(tmp_path)
        for _ in range(3):
            assert ledger.tidy()
        assert not trash(tmp_path)
    ledger.tidy()
    assert trash(tmp_path) == {ORPHAN}


def test_those_who_begin_later_do_not_keep_it(tmp_path: Path, ledger: Ledger) -> None:
    leave(tmp_path)
    ledger.tidy()
    with ledger.writing():
        ledger.tidy()
        assert trash(tmp_path) == {ORPHAN}


def test_a_task_that_writes_when_its_train_is_over_leaves_an_orphan(tmp_path: Path, ledger: Ledger) -> None:
    leave(tmp_path)
    ledger.tidy()
    leave(tmp_path, "segments/later.parquet")
    ledger.tidy()
    assert trash(tmp_path) == {ORPHAN}
    ledger.tidy()
    assert trash(tmp_path) == {ORPHAN, "segments/later.parquet"}


def test_nothing_is_moved_before_a_commit_has_succeeded(
    tmp_path: Path, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A commit that has failed may be found done by the next process, unless another one comes after it."""
    leave(tmp_path)
    ledger.tidy()

    def fail(self: Ledger) -> None:
        raise EngineError(Problem("catalog.db", "cannot be written"))

    with monkeypatch.context() as patch:
        patch.setattr(Ledger, "change", fail)
        with pytest.raises(EngineError):
            ledger.tidy()
    assert not trash(tmp_path)
    ledger.tidy()
    assert trash(tmp_path) == {ORPHAN}


def test_what_is_deleted_when_its_readers_are_done_is_no_orphan(ledger: Ledger) -> None:
    made = push_tuples(ledger, 3)
    with ledger.reading():
        with ledger.change() as change:
            change.drop_segments([made])
        for _ in range(3):
            ledger.tidy()
        assert ledger.root.exists(made.name)
    assert not ledger.root.exists(made.name)


# --- who is at work


def tidy_often(node: Node) -> None:
    for _ in range(3):
        node._ledger.tidy()


def test_what_a_push_has_written_is_no_orphan(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    append = Ingest.append
    with opened(tmp_path) as node:

        def append_later(self: Ingest, arrival: Arrival) -> int:
            tidy_often(node)
            return append(self, arrival)

        monkeypatch.setattr(Ingest, "append", append_later)
        push(node, 5)
        assert values(node) == [5]
        assert not trash(tmp_path)


def test_the_rows_of_a_table_that_a_change_brings_are_no_orphans(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    net = NetworkBuilder("small")
    known = net.table("known", "id long")
    stream = net.input("s", "k long")
    stream.filter("k >= 0", as_="all").output("out")
    stream.join(known, "left.k = right.id", left=Order("k"), as_="both").output("both")
    with opened(tmp_path) as node:
        monkeypatch.setattr(
            switch, "crash_point", lambda point: tidy_often(node) if point == "change.prepared" else None
        )
        node.change(net.build(), tables={"known": pa.table({"id": [5]})})
        push(node, 5)
        assert node.read("both")["id"].to_pylist() == [5]
        assert not trash(tmp_path)


# --- trains that fail


class Unheard(InProcess):
    """Runs each train, but nobody hears of the first times."""

    def __init__(self, times: int) -> None:
        self.left = times

    def prepare(self, root: Root, plan: Plan) -> RunTrain:
        return self._run

    def _run(self, waybill: Waybill) -> list[Manifest]:
        found = run(waybill)
        if self.left:
            self.left -= 1
            raise TrainFailed(Problem("task", "was lost"))
        return found


def test_what_a_failed_attempt_has_written_goes_while_the_node_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(upkeep, "TIDY_EVERY_S", 0.01)
    with Node(tmp_path, runner=Unheard(attempts.TRIES - 1)) as node:
        node.deploy(network())
        push(node, 5)
        until(lambda: len(trash(tmp_path)) == attempts.TRIES - 1)
        assert values(node) == [5]
        until(lambda: node.statistics().trash > 0)
        assert all(name.startswith("segments/") for name in trash(tmp_path))
        assert files(tmp_path) == node._ledger.catalog.names()


def test_what_a_failed_train_has_written_goes_though_the_node_stands_still(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(upkeep, "TIDY_EVERY_S", 0.01)
    with Node(tmp_path, runner=Unheard(attempts.TRIES)) as node:
        node.deploy(network())
        with pytest.raises(EngineError, match="was lost"):
            push(node, 5)
        until(lambda: len(trash(tmp_path)) == attempts.TRIES)
        node.resume()
        node.drain()
        assert values(node) == [5]


def test_a_root_that_another_node_has_taken_stops_the_trains(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(upkeep, "TIDY_EVERY_S", 0.01)
    with opened(tmp_path) as node:
        change_owner(tmp_path, epoch=9)
        node.push("s", pa.table({"k": [1]}))
        until(lambda: node._deployed.state.is_halted)
        with pytest.raises(EngineError, match="was taken over by"):
            node.check()
