"""What happens just between two steps of another thread: nobody waits for ever, or for what has gone."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.cluster.transport.test_peers import Side
from tests.waiting import until

from australis.cluster.identity import NodeName
from australis.cluster.transport import Connection, Peer
from australis.engine.threads import Event, SystemThreads, Thread

LIMIT_S = 20.0
A, B = NodeName("lab", "a"), NodeName("lab", "b")


class Hooked(threading.Event):
    """An event that lets something happen just before it is cleared."""

    before: Callable[[], None] = staticmethod(lambda: None)

    def clear(self) -> None:
        self.before()
        super().clear()


class HookedThreads(SystemThreads):
    """Threads whose events are hooked, and which may be started later."""

    def __init__(self) -> None:
        self.held: list[Callable[[], None]] | None = None
        self.dialling = list[Thread]()

    def event(self) -> Event:
        return Hooked()

    def start(self, target: Callable[[], None], name: str) -> Thread:
        if self.held is not None:
            self.held.append(target)
            return super().start(lambda: None, name)
        started = super().start(target, name)
        if name.startswith("australis-dial"):
            self.dialling.append(started)
        return started


@pytest.fixture
def threads() -> HookedThreads:
    return HookedThreads()


@pytest.fixture
def a(tmp_path: Path) -> Iterator[Side]:
    side = Side(tmp_path, "lab/a")
    yield side
    side.peers.close()


@pytest.fixture
def b(tmp_path: Path, threads: HookedThreads) -> Iterator[Side]:
    side = Side(tmp_path, "lab/b", threads=threads)
    yield side
    side.peers.close()


def test_who_is_released_just_before_it_waits_waits_no_more(a: Side, b: Side, threads: HookedThreads) -> None:
    wanted = b.peers.dial(A, a.place).wanted
    until(lambda: b.is_connected("lab/a"))
    assert isinstance(wanted, Hooked)
    wanted.before = lambda: b.peers.release(A)  # type: ignore[method-assign]
    wanted.set()
    (dialling,) = threads.dialling
    dialling.join(LIMIT_S)
    assert not dialling.is_alive()
    assert b.is_connected("lab/a")


def test_who_is_released_before_its_thread_begins_is_not_dialled(
    a: Side, b: Side, threads: HookedThreads
) -> None:
    """Nor does it take the place of the thread of who is wanted again."""
    threads.held = held = []
    b.peers.dial(A, a.place)
    b.peers.release(A)
    again = b.peers.dial(A, a.place).wanted
    assert again is not None
    again.clear()
    threads.held = None
    first = threads.start(held[0], "first")
    first.join(LIMIT_S)
    assert not first.is_alive()
    assert not b.is_connected("lab/a")
    threads.start(held[1], "australis-dial-again")
    until(lambda: b.is_connected("lab/a"))


@pytest.mark.parametrize("place", [("no..host", 7), ("127.0.0.1", 70_000)])
def test_what_is_no_place_is_dialled_until_there_is_another(a: Side, b: Side, place: tuple[str, int]) -> None:
    peer = b.peers.dial(A, place)
    until(lambda: place[0] in peer.problem)
    b.peers.dial(A, a.place)
    until(lambda: b.is_connected("lab/a"))


def test_a_connection_that_ends_while_it_is_told_of_is_told_to_have_ended(tmp_path: Path, a: Side) -> None:
    told: list[str] = []
    ended, all_told = threading.Event(), threading.Event()

    def joined(peer: Peer, connection: Connection) -> None:
        threading.Thread(target=connection.close, daemon=True).start()
        assert ended.wait(LIMIT_S)
        told.append("joined")

    def left(peer: Peer, connection: Connection) -> None:
        told.append("left")
        ended.set()
        if "joined" in told:
            all_told.set()

    side = Side(tmp_path, "lab/b", joined=joined, left=left)
    try:
        side.peers.visit(a.place, A)
        assert all_told.wait(LIMIT_S)
        assert told == ["left", "joined", "left"]
    finally:
        side.peers.close()
