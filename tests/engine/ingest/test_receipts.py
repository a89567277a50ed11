"""Pushes with a key: the outcome is kept with the tuples, and whoever pushes again gets the same answer."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.engine.in_process import InProcess

from australis import NetworkBuilder, Node
from australis.engine.files import Rejected
from australis.engine.ingest import Arrival, Busy, KeyReused
from australis.engine.ledger import Key, Receipt, transaction
from australis.engine.store.root import SEGMENTS
from australis.errors import EngineError

KEY = Key("me", "first", "digest")
DAY_US = 24 * 3_600_000_000


def opened(root: Path, *, disk: int | None = None) -> Node:
    net = NetworkBuilder("n")
    net.input("x", "k long").filter("k >= 0", as_="some").output("out")
    node = Node(root, runner=InProcess(), clock=lambda: 0, disk=disk)
    node.deploy(net.build())
    return node


@pytest.fixture
def node(tmp_path: Path) -> Iterator[Node]:
    with opened(tmp_path / "root") as node:
        yield node


def keys(node: Node) -> list[int]:
    node.drain()
    found: list[int] = node.read("out")["k"].to_pylist()
    return found


def test_a_push_with_a_known_key_stores_nothing_and_gets_the_same_answer(node: Node) -> None:
    bad = [Rejected("line 2 is no JSON", "{")]
    assert node.admit("x", [{"k": 1}, {"k": 2}], rejected=bad, key=KEY) == Receipt(2, 1, 3)
    node.push("x", [{"k": 3}])
    assert node.admit("x", [{"k": 1}, {"k": 2}], rejected=bad, key=KEY) == Receipt(2, 1, 3, True)
    assert node.push("x", [{"k": 1}, {"k": 2}], key=KEY) == 3
    assert keys(node) == [1, 2, 3]
    assert node.read("quarantine").num_rows == 1


def test_a_receipt_is_there_after_a_restart(tmp_path: Path) -> None:
    with opened(tmp_path) as node:
        known = node.admit("x", [{"k": 1}], key=KEY)
    with opened(tmp_path) as node:
        assert node.admit("x", [{"k": 1}], key=KEY) == Receipt(known.accepted, 0, known.end, True)
        assert keys(node) == [1]


def test_other_tuples_under_the_same_key_are_refused(node: Node) -> None:
    node.push("x", [{"k": 1}], key=KEY)
    with pytest.raises(
        KeyReused, match=r"^n\.x: something else was pushed under the key 'first'; expected a new"
    ):
        node.push("x", [{"k": 2}], key=Key("me", "first", "another"))
    node.push("x", [{"k": 3}], key=Key("you", "first", "another"))
    assert keys(node) == [1, 3], "every caller has keys of its own"


def test_one_that_comes_while_the_first_is_under_way_leaves_no_file(node: Node) -> None:
    node.pause()
    known = node.admit("x", [{"k": 1}], key=KEY)
    there = set(node.root.names(SEGMENTS))
    ingest = node._deployed.ingest
    # What a second thread does that has asked before the first one has committed.
    late = ingest.store("x", [{"k": 1}], 0)
    assert ingest.admit(Arrival("x", late, 0, key=KEY)) == Receipt(1, 0, known.end, True)
    assert set(node.root.names(SEGMENTS)) == there


def test_of_many_at_once_one_is_stored(node: Node) -> None:
    found: list[Receipt] = []
    begin = threading.Barrier(8)

    def push() -> None:
        begin.wait(60)
        found.append(node.admit("x", [{"k": 1}], key=KEY))

    threads = [threading.Thread(target=push) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert sorted(each.is_repeated for each in found) == [False, *[True] * 7]
    assert {each.end for each in found} == {2}
    assert keys(node) == [1]


def test_as_many_receipts_are_kept_as_that(node: Node, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transaction, "RECEIPTS_KEPT", 3)
    for number in range(5):
        node.push("x", [{"k": number}], key=Key("me", str(number), ""))
    assert [node.admit("x", [], key=Key("me", str(n), "")).is_repeated for n in (2, 3, 4)] == [True] * 3
    assert not node.admit("x", [], key=Key("me", "1", "")).is_repeated


def test_old_receipts_go_as_others_come(node: Node) -> None:
    for number in range(20):
        node.push("x", [{"k": number}], now=number, key=Key("me", str(number), ""))
    node.push("x", [{"k": 20}], now=DAY_US + 100, key=Key("me", "20", ""))
    catalog = node._ledger.catalog
    left = [number for number in range(21) if catalog.receipt("me", str(number))]
    assert left == [16, 17, 18, 19, 20], "some at a time"
    node.push("x", [{"k": 21}], now=DAY_US + 101, key=Key("me", "21", ""))
    assert [number for number in range(22) if catalog.receipt("me", str(number))] == [20, 21]


def test_who_does_not_want_to_wait_hears_after_how_long_to_try_again(tmp_path: Path) -> None:
    with opened(tmp_path, disk=1) as node:
        node.pause()
        node.push("x", [{"k": 1}])
        with pytest.raises(
            Busy, match=r"^n\.x: has no room for more tuples now: .* of a budget of 1"
        ) as found:
            node.push("x", [{"k": 2}], wait_s=0.01)
        assert found.value.retry_after_s >= 1
        with pytest.raises(EngineError, match="is paused before there is disk space"):
            node.push("x", [{"k": 2}])
