"""Connections that come, go and replace each other; strangers who are refused."""

from __future__ import annotations

import logging
import socket
import ssl
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.cluster.identities import identity
from tests.cluster.proxy import Proxy
from tests.waiting import until

from australis.cluster.identity import Credentials, NodeName
from australis.cluster.transport import Connection, Peer, Peers
from australis.cluster.wire import HEAD, Ask, Close, Hello, Message, encoded
from australis.engine.threads import SYSTEM
from australis.errors import ClusterError


class Side:
    """A node's connections, and all that it hears."""

    def __init__(
        self,
        folder: Path,
        name: str,
        *,
        incarnation: int = 1,
        listens: bool = True,
        silent_s: float = 5.0,
        **options: Any,
    ) -> None:
        self.credentials = Credentials.load(identity(folder, name))
        self.heard: list[tuple[str, object]] = []
        self.changes: list[str] = []
        self.joined: list[Connection] = []
        said: dict[str, Any] = {
            "listen": ("127.0.0.1", 0) if listens else None,
            "joined": self._joined,
            "heard": self._hear,
            "left": lambda peer, connection: self.changes.append(f"-{peer.name}"),
            "threads": SYSTEM,
            "beat_s": silent_s / 5,
            "silent_s": silent_s,
        }
        self.peers = Peers(self.credentials, incarnation, **said | options)
        self.peers.start()

    def _joined(self, peer: Peer, connection: Connection) -> None:
        self.changes.append(f"+{peer.name}")
        self.joined.append(connection)

    def _hear(self, peer: Peer, connection: Connection, message: Message) -> None:
        self.heard.append((str(peer.name), message.said))

    @property
    def place(self) -> tuple[str, int]:
        assert self.peers.place is not None
        return self.peers.place

    def peer(self, name: str) -> Peer:
        return self.peers.peer(NodeName.parse(name))

    def is_connected(self, name: str) -> bool:
        return self.peer(name).connection is not None


@pytest.fixture
def a(tmp_path: Path) -> Iterator[Side]:
    side = Side(tmp_path, "lab/a")
    yield side
    side.peers.close()


@pytest.fixture
def b(tmp_path: Path) -> Iterator[Side]:
    side = Side(tmp_path, "lab/b")
    yield side
    side.peers.close()


def test_messages_go_both_ways_over_one_connection(a: Side, b: Side) -> None:
    b.peers.dial(a.credentials.name, a.place)
    until(lambda: a.is_connected("lab/b") and b.is_connected("lab/a"))
    a.peer("lab/b").send(Close(1))
    b.peer("lab/a").send(Close(2))
    until(lambda: (a.heard, b.heard) == ([("lab/b", Close(2))], [("lab/a", Close(1))]))


def test_when_both_dial_one_connection_stays(a: Side, b: Side) -> None:
    for _ in range(20):
        a.peers.dial(b.credentials.name, b.place)
        b.peers.dial(a.credentials.name, a.place)
        until(lambda: a.is_connected("lab/b") and b.is_connected("lab/a"))
        until(lambda: len(a.peers._open) == len(b.peers._open) == 1)
        one, other = a.peer("lab/b").connection, b.peer("lab/a").connection
        assert one is not None
        assert other is not None
        assert one.is_dialler != other.is_dialler, "both sides have kept the same one"
        one.close("next")
        until(lambda one=one, other=other: {one, other}.isdisjoint(a.peers._open | b.peers._open))


def test_a_connection_that_is_replaced_before_it_is_told_of_is_not_told_of(a: Side, b: Side) -> None:
    """Else what waits for an answer on it would wait for ever."""
    go_on = threading.Event()

    class Late(logging.Handler):
        times = 0

        def emit(self, record: logging.LogRecord) -> None:
            if record.getMessage() == "connected with lab/a":
                self.times += 1
                if self.times == 1:
                    go_on.wait(20)

    log, late = logging.getLogger("australis.cluster.transport.peers"), Late()
    level = log.level
    log.addHandler(late)
    log.setLevel(logging.INFO)
    try:
        b.peers.dial(a.credentials.name, a.place)
        until(lambda: late.times == 1)
        first = b.peer("lab/a").connection
        # The node with the smaller name has dialled as well: that connection stays.
        a.peers._dial(b.place, b.credentials.name)
        until(lambda: len(b.joined) == 1)
    finally:
        go_on.set()
        log.removeHandler(late)
        log.setLevel(level)
    until(lambda: len(b.peers._open) == 1)
    assert b.joined[-1] is b.peer("lab/a").connection is not first


def test_a_connection_that_is_cut_is_made_again(a: Side, b: Side) -> None:
    proxy = Proxy(a.place)
    try:
        b.peers.dial(a.credentials.name, proxy.place)
        for times in range(1, 4):
            until(lambda times=times: a.changes.count("+lab/b") == times and a.is_connected("lab/b"))
            proxy.cut()
            until(lambda times=times: a.changes.count("-lab/b") == times)
    finally:
        proxy.close()


def test_a_node_that_falls_silent_counts_as_gone(tmp_path: Path) -> None:
    a, b = Side(tmp_path, "lab/a", silent_s=1.0), Side(tmp_path, "lab/b", silent_s=1.0)
    proxy = Proxy(a.place)
    try:
        b.peers.dial(a.credentials.name, proxy.place)
        until(lambda: a.is_connected("lab/b") and b.is_connected("lab/a"))
        proxy.hold()
        until(lambda: not a.is_connected("lab/b") and not b.is_connected("lab/a"))
        # The side that notices first may still tell the other one.
        problems = a.peer("lab/b").problem + b.peer("lab/a").problem
        assert "nothing was heard for 1 s" in problems
        proxy.release()
        until(lambda: a.is_connected("lab/b"))
    finally:
        proxy.close()
        a.peers.close()
        b.peers.close()


def test_clocks_are_compared(a: Side, b: Side) -> None:
    b.peers.dial(a.credentials.name, a.place)
    until(lambda: b.is_connected("lab/a"))
    connection = b.peer("lab/a").connection
    assert connection is not None
    connection.beat()
    until(lambda: connection.clock.ahead_us is not None)
    status = b.peer("lab/a").status()
    assert status.round_trip_ms is not None
    assert status.clock_ahead_ms is not None
    assert abs(status.clock_ahead_ms) <= status.round_trip_ms / 2 + 0.001, "it is the same clock"


def test_the_node_at_an_address_must_be_the_one_that_is_meant(a: Side, b: Side) -> None:
    b.peers.dial(NodeName("lab", "c"), a.place)
    until(lambda: "the node there is lab/a" in b.peer("lab/c").problem)
    assert a.changes == []


def test_a_later_life_replaces_an_earlier_one_and_not_the_other_way(tmp_path: Path, a: Side) -> None:
    late = Side(tmp_path, "lab/b", incarnation=7, listens=False)
    early = Side(tmp_path, "lab/b", incarnation=6, listens=False)
    later = Side(tmp_path, "lab/b", incarnation=8, listens=False)
    try:
        late.peers.dial(a.credentials.name, a.place)
        until(lambda: a.is_connected("lab/b"))
        early.peers.dial(a.credentials.name, a.place)
        until(lambda: a.peers.refused > 0)
        connection = a.peer("lab/b").connection
        assert connection is not None
        assert connection.hello == Hello(1, 7, is_dialler=True)
        later.peers.dial(a.credentials.name, a.place)
        until(lambda: a.peer("lab/b").incarnation == 8 and a.is_connected("lab/b"))
    finally:
        for each in (late, early, later):
            each.peers.close()


# --- strangers


def dialled(side: Side, context: ssl.SSLContext) -> ssl.SSLSocket:
    bare = socket.create_connection(side.place)
    bare.settimeout(10)
    try:
        return context.wrap_socket(bare)
    except BaseException:
        bare.close()
        raise


def said(*messages: Any) -> bytes:
    parts = [b"".join(map(bytes, encoded(each))) for each in messages]
    return b"".join(HEAD.pack(0, 1, len(part)) + part for part in parts)


def ended(secured: ssl.SSLSocket) -> bool:
    """Whether the other side ends a connection."""
    try:
        while secured.recv(1 << 16):
            pass
    except (ssl.SSLError, ConnectionError):
        # It was ended without a farewell.
        return True
    return True


def test_who_has_no_certificate_is_refused(a: Side) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    with dialled(a, context) as secured:
        assert ended(secured)
    until(lambda: a.peers.refused == 1)
    assert a.changes == []


def test_who_speaks_no_tls_is_refused(a: Side) -> None:
    with socket.create_connection(a.place) as bare:
        bare.settimeout(10)
        bare.sendall(b"GET / HTTP/1.1\r\n\r\n")
        while bare.recv(1 << 10):
            pass
    until(lambda: a.peers.refused == 1)


@pytest.mark.parametrize(
    "data",
    [
        said(Ask(1, "o", "i", 1.0)),
        said(Hello(1, 1, is_dialler=True), Hello(1, 1, is_dialler=True)),
        said(Hello(2, 1, is_dialler=True)),
        said(Hello(1, 1, is_dialler=False)),
        HEAD.pack(0, 1, 1 << 31),
        said(Hello(1, 1, is_dialler=True)) + HEAD.pack(9, 3, 7),
        b"\0" * 100,
    ],
)
def test_what_is_not_the_protocol_ends_the_connection(tmp_path: Path, a: Side, data: bytes) -> None:
    context = Credentials.load(identity(tmp_path, "lab/b")).dialling
    with dialled(a, context) as secured:
        secured.sendall(data)
        assert ended(secured)
    until(lambda: not a.is_connected("lab/b") and not a.peers._open)


def test_a_node_does_not_connect_with_itself(tmp_path: Path, a: Side) -> None:
    with dialled(a, a.credentials.dialling) as secured:
        assert ended(secured)
    assert a.changes == []


def test_an_address_that_is_taken_is_refused(tmp_path: Path, a: Side) -> None:
    with pytest.raises(ClusterError, match="Address already in use"):
        Peers(
            a.credentials,
            1,
            listen=a.place,
            joined=lambda *given: None,
            heard=lambda *given: None,
            left=lambda *given: None,
            threads=SYSTEM,
        )


def test_nothing_runs_after_the_end(tmp_path: Path) -> None:
    before = set(threading.enumerate())
    one, other = Side(tmp_path, "lab/c"), Side(tmp_path, "lab/d")
    one.peers.dial(other.credentials.name, other.place)
    until(lambda: one.is_connected("lab/d"))
    one.peers.close()
    other.peers.close()
    until(lambda: not [t for t in set(threading.enumerate()) - before if t.name.startswith("australis")])


def test_whoever_is_at_an_address_is_met_and_left_once_the_connection_is_idle(tmp_path: Path) -> None:
    one, other = Side(tmp_path, "lab/a", silent_s=1.0, idle_s=0.5), Side(tmp_path, "lab/b", silent_s=1.0)
    try:
        one.peers.visit(other.place)
        until(lambda: one.changes == ["+lab/b"])
        until(lambda: one.changes == ["+lab/b", "-lab/b"])
        assert one.peer("lab/b").problem == "it was not used"
    finally:
        one.peers.close()
        other.peers.close()


def test_a_connection_that_is_kept_or_busy_does_not_end_for_being_idle(tmp_path: Path) -> None:
    busy: list[str] = []
    one = Side(
        tmp_path, "lab/a", silent_s=1.0, idle_s=0.1, is_busy=lambda connection: bool(busy.append("")) or True
    )
    other = Side(tmp_path, "lab/b", silent_s=1.0)
    try:
        one.peers.visit(other.place, other.credentials.name)
        until(lambda: len(busy) > 3)
        assert one.is_connected("lab/b")
        one.peers.dial(other.credentials.name, other.place)
        busy.clear()
        # Nobody asks whether a connection that is kept is busy.
        one.peers.release(other.credentials.name)
        until(lambda: len(busy) > 3)
        assert one.changes == ["+lab/b"]
    finally:
        one.peers.close()
        other.peers.close()


def test_a_visit_to_a_node_that_is_connected_leaves_the_connection(tmp_path: Path) -> None:
    one, other = Side(tmp_path, "lab/a"), Side(tmp_path, "lab/b")
    try:
        one.peers.dial(other.credentials.name, other.place)
        until(lambda: one.is_connected("lab/b") and other.is_connected("lab/a"))
        connection = one.peer("lab/b").connection
        one.peers.visit(other.place)
        until(lambda: not one.peers._visits)
        assert one.peers._open == {connection}
        assert one.changes == ["+lab/b"]
    finally:
        one.peers.close()
        other.peers.close()
