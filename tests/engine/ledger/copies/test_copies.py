"""Copies of the catalogue in the root: what they bring back, who may write, and what becomes of doubts."""

from __future__ import annotations

import errno
import json
import sqlite3
import threading
from pathlib import Path
from typing import Any

import pytest
from tests.engine.in_process import InProcess
from tests.engine.ledger.copies.places import URI, Place, counted, counting, kill, push
from tests.engine.ledger.held import contents

from australis import Node
from australis.engine.ledger import Ledger, RootTaken
from australis.engine.ledger.copies import copied_catalog
from australis.engine.ledger.copies.replay import TAKINGS
from australis.engine.observe import verify
from australis.engine.store.disk import Data
from australis.engine.store.objects import StoreError
from australis.errors import EngineError


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    return Place(tmp_path, monkeypatch)


def fail(name: str, data: Data) -> None:
    raise StoreError(errno.EIO, "the store does not answer")


def taking_of(node: Node) -> int:
    """The number of a node's first commit."""
    return int(json.loads(node._ledger.catalog.meta(TAKINGS) or "")[-1])


# --- loss of the disk


def test_a_catalogue_survives_the_loss_of_its_disk(place: Place) -> None:
    node = place.node()
    for number in range(5):
        push(node, number)
    before = counted(node)
    kill(node)
    place.lose()
    with place.opened() as again:
        assert counted(again) == before == [0, 2, 4, 6]
        assert again.position("feed") == "5"
        push(again, 5)
        assert counted(again) == [0, 2, 4, 6, 8]


def test_what_is_replayed_is_the_very_catalogue(place: Place) -> None:
    """Row by row and table by table, the counters and logs included."""
    node = place.node()
    for number in range(8):
        push(node, number)
    counted(node)
    node.pause()
    before = contents(node._ledger)
    kill(node)
    place.lose()
    with place.opened("other") as again:
        catalog = again._ledger.catalog
        # The new node has committed its epoch, deployed, and looked through the trash.
        kept = [name for name in before if name != "meta"]
        assert {name: catalog.rows(f"select * from {name}") for name in kept} == {
            name: before[name] for name in kept
        }


def test_a_disk_that_lacks_the_last_commits_is_brought_up_to_date(place: Place) -> None:
    with place.opened() as node:
        push(node, 0)
    with place.opened("other") as node:
        push(node, 1)
        push(node, 2)
    with place.opened() as node:
        assert counted(node) == [0, 2]


def test_a_catalogue_without_its_journal_or_with_damage_is_restored(place: Place) -> None:
    for wrong in ("no journal", "damage"):
        node = place.node()
        push(node, 0)
        node.drain()
        kill(node)
        file = place.folder / "here" / "catalog.db"
        if wrong == "damage":
            data = file.read_bytes()
            file.write_bytes(data[:4096] + b"\xff" * 4096 + data[8192:])
        else:
            (place.folder / "here" / "catalog.db-wal").unlink(missing_ok=True)
    with place.opened() as node:
        push(node, 1)
        assert counted(node) == [0]


def test_a_snapshot_replaces_commits_except_the_first_of_each_node(place: Place) -> None:
    takings: list[int] = []
    for number in range(3):
        node = place.node(f"machine {number}")
        push(node, number)
        node.drain()
        takings.append(taking_of(node))
        node._ledger.write_copy()
        kept = [name for name in place.copies() if name.endswith(".commit")]
        assert [int(name.removesuffix(".commit")) for name in kept] == takings
        assert len(place.copies()) == len(takings) + 1
        kill(node)
    with place.opened("last") as node:
        assert counted(node) == [0, 2]


def test_snapshots_are_written_beside_the_trains(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(copied_catalog, "SNAPSHOT_EVERY", 5)
    with place.opened() as node:
        for number in range(20):
            push(node, number)
            node.drain()
    assert len(place.copies()) < 20
    place.lose()
    with place.opened() as node:
        assert counted(node) == [2 * number for number in range(19)]


# --- two nodes


def test_a_node_whose_root_was_taken_writes_nothing_more(place: Place) -> None:
    old = place.node()
    push(old, 0)
    old.drain()
    with place.opened("other") as new:
        with pytest.raises(RootTaken, match=r"was taken over by process \d+ on .* the catalogue .*other"):
            push(old, 1)
        push(new, 1)
        with pytest.raises(RootTaken):
            push(old, 1)
        assert counted(new) == [0]
        old.stop(now=True)
        assert new.position("feed") == "2"


def test_the_fence_holds_after_the_commits_were_pruned(place: Place) -> None:
    """A node that slept through many commits must not find the name of its next one free."""
    old = place.node()
    push(old, 0)
    old.drain()
    with place.opened("other") as new:
        for number in range(1, 6):
            push(new, number)
        new.drain()
        new._ledger.write_copy()
        with pytest.raises(RootTaken):
            push(old, 1)
        old.stop(now=True)
        push(new, 6)
        assert counted(new) == [0, 2, 4, 6, 8, 10]


def test_a_node_takes_a_root_from_one_that_commits_all_the_time(place: Place) -> None:
    old, ended = place.node(), threading.Event()

    def work() -> None:
        for number in range(10_000):
            try:
                push(old, number)
            except RootTaken:
                break
        ended.set()

    worker = threading.Thread(target=work)
    worker.start()
    with place.opened("other") as new:
        assert ended.wait(60)
        worker.join()
        pushed = int(new.position("feed") or 0)
        push(new, pushed)
        assert counted(new) == [2 * number for number in range(pushed)]
        old.stop(now=True)


def test_of_two_nodes_that_open_a_new_root_one_has_it(place: Place) -> None:
    nodes: dict[str, Node] = {}

    def work(name: str) -> None:
        nodes[name] = Node(URI, catalog=place.folder / name, runner=InProcess())

    workers = [threading.Thread(target=work, args=(name,)) for name in ("a", "b")]
    for each in workers:
        each.start()
    for each in workers:
        each.join()
    commits = {}
    for name, node in nodes.items():
        try:
            node.deploy(counting())
            commits[name] = True
        except EngineError:
            commits[name] = False
    assert sum(commits.values()) == 1
    for node in nodes.values():
        node.stop(now=True)


# --- doubts


def store_and_fail(place: Place) -> None:
    """Let the next commit reach the store although it does not seem so."""

    def fault(name: str, data: Data) -> None:
        place.disk._store.put(name, bytes(data))
        raise StoreError(errno.EIO, "the store does not answer")

    place.disk.faults.append(fault)


def test_a_commit_that_the_store_got_counts_though_it_did_not_seem_so(place: Place) -> None:
    with place.opened() as node:
        node.pause()
        store_and_fail(place)
        push(node, 0)
        assert node.position("feed") == "1"
        node.resume()
        push(node, 1)
        assert counted(node) == [0]


def test_a_commit_in_doubt_is_completed_later(place: Place) -> None:
    with place.opened() as node:
        node.pause()
        place.disk.faults += [fail, fail]
        with pytest.raises(EngineError, match="the store does not answer"):
            push(node, 0)
        push(node, 1)
        assert node.position("feed") == "2"
        node.resume()
        assert counted(node) == [0]
        assert [row["t"] for row in node.read("n").to_pylist()] == [0]


def test_a_commit_that_reached_the_root_but_not_the_disk_is_found_at_the_restart(place: Place) -> None:
    node = place.node()
    node.pause()
    store_and_fail(place)
    place.disk.faults += [fail]
    with pytest.raises(EngineError, match="the store does not answer"):
        push(node, 0)
    kill(node)
    with place.opened() as again:
        assert again.position("feed") == "1"
        push(again, 1)
        assert counted(again) == [0]


class Unheard:
    """A connection whose next commit counts, is copied at once by another thread, and reports a failure."""

    def __init__(self, ledger: Ledger) -> None:
        self._db, self._ledger, self._is_heard = ledger._catalog._db, ledger, False

    def execute(self, query: str, *values: Any) -> sqlite3.Cursor:
        done = self._db.execute(query, *values)
        if query == "commit" and not self._is_heard:
            self._is_heard = True
            copying = threading.Thread(target=self._ledger.write_copy)
            copying.start()
            copying.join()
            raise sqlite3.OperationalError("disk I/O error")
        return done

    def __getattr__(self, name: str) -> Any:
        return getattr(self._db, name)


def test_a_commit_that_the_disk_has_is_not_looked_for_in_the_root(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A snapshot with it may have been written meanwhile, and its own copy deleted."""
    with place.opened() as node:
        node.pause()
        with monkeypatch.context() as patched:
            patched.setattr(node._ledger._catalog, "_db", Unheard(node._ledger))
            push(node, 0)
        assert place.copies()[-1].endswith(".snapshot"), "the copy of the commit is not deleted"
        node.resume()
        push(node, 1)
        assert counted(node) == [0]


# --- what is refused


def test_missing_commits_are_named(place: Place) -> None:
    node = place.node()
    push(node, 0)
    node.drain()
    kill(node)
    place.lose()
    place.disk.delete("catalog/000000000003.commit")
    with pytest.raises(EngineError, match=r"the copies of 1 commits .* are gone, from 3 on"):
        place.node()


def test_a_catalogue_that_is_ahead_of_the_root_is_refused(place: Place) -> None:
    node = place.node()
    push(node, 0)
    node.drain()
    kill(node)
    last = place.copies()[-1]
    place.disk.delete(f"catalog/{last}")
    with pytest.raises(EngineError, match="is older than its catalogue"):
        place.node()


def test_a_damaged_commit_is_named(place: Place) -> None:
    node = place.node()
    push(node, 0)
    node.drain()
    kill(node)
    place.lose()
    last = place.copies()[-1]
    place.disk.create(f"catalog/{last}", b"damage")
    with pytest.raises(EngineError, match=f"{last}.* is damaged"):
        place.node()


def test_a_store_without_conditional_put_is_refused(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(place.disk, "create_once", place.disk.create)
    with pytest.raises(EngineError, match="does not support conditional put"):
        place.node()


def test_a_root_that_was_never_copied_is_from_now_on(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(place.disk, "keeps_catalog", False)
    with place.opened() as node:
        push(node, 0)
    assert place.copies() == []
    monkeypatch.undo()
    place = Place(place.folder, monkeypatch)
    with place.opened() as node:
        push(node, 1)
    place.lose()
    with place.opened() as node:
        assert counted(node) == [0]


# --- verification


def test_a_root_is_verified_by_its_copies(place: Place) -> None:
    with place.opened() as node:
        push(node, 0)
        push(node, 1)
        node.drain()
    place.lose()
    found = verify(URI)
    assert (found.findings, found.is_closed, found.catalog) == ((), True, f"{URI}/catalog")
    assert found.tuples > 0
    last = place.copies()[-2]
    place.disk.delete(f"catalog/{last}")
    (finding,) = verify(URI).findings
    assert "the copies of 1 commits of its catalogue are gone" in str(finding)
