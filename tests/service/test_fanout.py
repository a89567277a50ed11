"""Many readers of one output: shared pieces, numbers of their own, and what they have missed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.engine.in_process import InProcess
from tests.waiting import until

from australis import NetworkBuilder, Node
from australis.engine.deliver import Over
from australis.service.fanout import Fanout, Piece, Readership, Subscriber, Way
from australis.service.fanout.fanout import CONSUMER
from australis.service.settings import OutputSettings


@pytest.fixture
def node(tmp_path: Path) -> Iterator[Node]:
    net = NetworkBuilder("n")
    net.input("x", "k long").filter("k >= 0", as_="some").output("out")
    with Node(tmp_path, runner=InProcess()) as node:
        node.deploy(net.build())
        yield node


@pytest.fixture
def fanout(node: Node) -> Iterator[Fanout]:
    fanout = Fanout(lambda: node, OutputSettings(keep_tuples=100, shared_bytes=1))
    yield fanout
    fanout.close()


def push(node: Node, *values: int) -> None:
    node.push("x", [{"k": value} for value in values])
    node.drain()


def read(subscriber: Subscriber, count: int) -> list[int]:
    found: list[int] = []
    while len(found) < count:
        piece = subscriber.next(5)
        assert piece is not None
        assert not piece.is_missed
        found += piece.table["k"].to_pylist()
    return found


def test_it_is_known_who_is_behind_and_what_was_missed(node: Node, fanout: Fanout) -> None:
    slow = fanout.subscribe(node, "out", way=Way.SOCKET)
    fast, gone = fanout.subscribe(node, "out"), fanout.subscribe(node, "out")
    push(node, *range(300))
    for reader in (fast, gone):
        assert read(reader, 300) == list(range(300))
    gone.close()
    ends = node.log_end
    assert fanout.audience.seen() == {
        ("out", Way.EVENTS): Readership(subscribers=1, behind=0, taken=600, missed=0),
        ("out", Way.SOCKET): Readership(subscribers=1, behind=ends - slow.seq, taken=0, missed=0),
    }
    begin = slow.seq
    push(node, 300)
    # What all of them share is the newest piece now, so that the older one is on the disk alone.
    assert read(fast, 1) == [300]
    fanout.let_go(node)
    piece = slow.next(60)
    assert piece is not None
    assert piece.is_missed
    slow.close()
    (_, left) = fanout.audience.seen().values()
    assert left == Readership(subscribers=0, behind=0, taken=0, missed=piece.end - begin)


def test_many_get_the_same_piece_encoded_once(node: Node, fanout: Fanout) -> None:
    readers = [fanout.subscribe(node, "out") for _ in range(5)]
    push(node, 1, 2)
    pieces = [reader.next(60) for reader in readers]
    assert len(set(map(id, pieces))) == 1
    assert pieces[0] is not None
    assert pieces[0].is_encoded
    assert [row["k"] for row in json.loads(pieces[0].json())] == [1, 2]


def test_one_that_falls_behind_reads_from_the_disk_and_loses_nothing(node: Node, fanout: Fanout) -> None:
    slow, fast = fanout.subscribe(node, "out"), fanout.subscribe(node, "out")
    for value in range(20):
        push(node, value)
        assert read(fast, 1) == [value]
    assert slow.is_behind, "the ring holds the last piece only"
    assert read(slow, 20) == list(range(20))
    push(node, 20)
    assert read(slow, 1) == read(fast, 1) == [20]


def test_one_that_falls_behind_the_window_is_told(node: Node, fanout: Fanout) -> None:
    slow = fanout.subscribe(node, "out")
    for value in range(20):
        push(node, *range(value * 10, value * 10 + 10))
    fanout.let_go(node)
    assert node.consumer(CONSUMER, "out")[0] > 0
    piece = slow.next(60)
    assert piece is not None
    assert piece.is_missed
    assert read(slow, 100) == list(range(100, 200))


def test_large_trains_come_in_pieces_with_whole_numbers(node: Node, fanout: Fanout) -> None:
    subscriber, late = fanout.subscribe(node, "out"), fanout.subscribe(node, "out", 0)
    push(node, *range(30_000))
    for each in (subscriber, late):
        assert read(each, 30_000) == list(range(30_000))


def test_the_end_of_the_node_is_told(node: Node, fanout: Fanout) -> None:
    subscriber = fanout.subscribe(node, "out")
    node.stop()
    assert subscriber.next(60) is None
    assert subscriber.over is Over.STOPPED


def test_windows_go_on_after_a_failure_of_the_disk(
    node: Node, fanout: Fanout, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*given: object) -> None:
        raise OSError("no space left on device")

    for value in range(20):
        push(node, *range(value * 10, value * 10 + 10))
    monkeypatch.setattr(node, "acknowledge", full)
    fanout.let_go(node)
    assert node.consumer(CONSUMER, "out")[0] == 0
    monkeypatch.undo()
    fanout.let_go(node)
    assert node.consumer(CONSUMER, "out")[0] > 0


def test_who_follows_an_output_that_cannot_be_read_is_told(node: Node, fanout: Fanout) -> None:
    """And who comes next follows it anew."""
    subscriber = fanout.subscribe(node, "out")

    def fails(*given: object, **more: object) -> None:
        raise OSError("nobody expected it")

    subscriber._channel._follower.next = fails  # type: ignore[assignment]
    push(node, 1)
    until(lambda: subscriber.over is Over.STOPPED, 20.0)
    again = fanout.subscribe(node, "out")
    push(node, 2)
    assert read(again, 1) == [2]


def test_what_comes_just_before_the_end_is_taken(node: Node, fanout: Fanout) -> None:
    subscriber = fanout.subscribe(node, "out")
    channel = subscriber._channel
    piece = channel.piece

    def late(seq: int) -> Piece | None:
        """Nothing so far; just after that the last tuples come, and nothing more."""
        channel.piece = piece  # type: ignore[method-assign]
        push(node, 1)
        until(lambda: channel.end == node.log_end)
        channel.close()
        until(lambda: channel.over is not None)
        return None

    channel.piece = late  # type: ignore[method-assign]
    assert read(subscriber, 1) == [1]
    assert subscriber.next(60) is None
