"""All other nodes that this one is, or wants to be, connected with: one connection for each."""

from __future__ import annotations

import logging
import socket
from collections.abc import Callable
from dataclasses import dataclass, field

from australis.cluster.identity import Credentials, NodeName
from australis.cluster.transport.connection import Connection
from australis.cluster.transport.listener import Listener
from australis.cluster.transport.secured import HANDSHAKE_S, Secured
from australis.cluster.wire import VERSION, Hello, Message, Said
from australis.engine.threads import Event, Thread, Threads
from australis.errors import AustralisError, ClusterError, Problem

_log = logging.getLogger(__name__)
BEAT_S, SILENT_S = 1.0, 5.0
"""How often a node shows that it is alive, and after how long without a sign a connection is ended."""
FIRST_S, LONGEST_S = 0.1, 5.0
"""The waits before a node is dialled again: the first, and the longest."""
IDLE_S = 60.0
"""After how long a connection that nobody wants to keep is ended by the side that has dialled."""
VISITS_MOST = 64
UNUSED = "it was not used"
Place = tuple[str, int]


@dataclass(frozen=True)
class PeerStatus:
    """How it stands with another node."""

    name: str
    address: str
    is_connected: bool
    problem: str
    """Why there is no connection."""
    round_trip_ms: float | None
    clock_ahead_ms: float | None
    sent: int
    received: int
    """Bytes on the present connection."""


@dataclass
class Peer:
    """Another node, and the connection with it if there is one."""

    name: NodeName
    place: Place | None = None
    connection: Connection | None = None
    incarnation: int = 0
    problem: str = "not connected yet"
    wanted: Event | None = field(default=None, repr=False)

    def send(self, said: Said) -> bool:
        """Send a control message if there is a connection; whether there is one."""
        if (connection := self.connection) is None:
            return False
        connection.send(said)
        return True

    def status(self) -> PeerStatus:
        """How it stands with it."""
        address = "" if self.place is None else f"{self.place[0]}:{self.place[1]}"
        found = self.connection
        if found is None:
            return PeerStatus(str(self.name), address, False, self.problem, None, None, 0, 0)
        trip, ahead = found.clock.round_trip_us, found.clock.ahead_us
        return PeerStatus(
            str(self.name),
            address,
            True,
            "",
            None if trip is None else trip / 1e3,
            None if ahead is None else ahead / 1e3,
            found.sent,
            found.received,
        )


class Peers:
    """Dials, accepts and replaces connections, and reports those that come and go.

    Both nodes of a pair may dial. If two connections are made, the one that the smaller name dialled stays.
    """

    def __init__(
        self,
        credentials: Credentials,
        incarnation: int,
        *,
        listen: Place | None,
        joined: Callable[[Peer, Connection], None],
        heard: Callable[[Peer, Connection, Message], None],
        left: Callable[[Peer, Connection], None],
        threads: Threads,
        beat_s: float = BEAT_S,
        silent_s: float = SILENT_S,
        idle_s: float = IDLE_S,
        is_busy: Callable[[Connection], bool] = lambda connection: False,
    ) -> None:
        """`is_busy` tells whether a connection is needed though nothing passes."""
        self._credentials, self._incarnation, self._threads = credentials, incarnation, threads
        self._joined, self._heard, self._left = joined, heard, left
        self._beat_s, self._silent_s, self._idle_s = beat_s, silent_s, idle_s
        self._is_busy = is_busy
        self._visits: set[Place] = set()
        self._lock, self._telling = threads.lock(), threads.lock()
        self._peers: dict[NodeName, Peer] = {}
        self._open: set[Connection] = set()
        self._ended = threads.event()
        self._listener = None if listen is None else Listener(listen, self._accept, threads)
        self._workers: list[Thread] = []
        self.refused = 0
        """Connections that were refused."""

    @property
    def place(self) -> Place | None:
        """Where this node listens."""
        return None if self._listener is None else self._listener.place

    def start(self) -> None:
        """Begin to listen, and to beat."""
        if self._listener is not None:
            self._listener.start()
        self._workers.append(self._threads.start(self._beat, "australis-beat"))

    def dial(self, name: NodeName, place: Place) -> Peer:
        """Keep a connection with a node at an address from now on, or at another one than before."""
        with self._lock:
            peer = self._peer(name)
            peer.place = place
            if (wanted := peer.wanted) is None:
                wanted = peer.wanted = self._threads.event()
                worker = self._threads.start(lambda: self._keep(peer, wanted), f"australis-dial-{name}")
                self._workers.append(worker)
            wanted.set()
        return peer

    def visit(self, place: Place, name: NodeName | None = None) -> None:
        """Connect once with a node at an address; without a name, with whoever is there.

        The connection is not kept if it is idle.
        """
        with self._lock:
            is_connected = name is not None and self._peer(name).connection is not None
            if is_connected or place in self._visits or len(self._visits) >= VISITS_MOST:
                return
            self._visits.add(place)
        self._threads.start(lambda: self._visit(place, name), f"australis-visit-{place[0]}:{place[1]}")

    def release(self, name: NodeName) -> None:
        """Keep a connection with a node no longer than it is used."""
        with self._lock:
            peer = self._peer(name)
            wanted, peer.wanted = peer.wanted, None
        if wanted is not None:
            wanted.set()

    def peer(self, name: NodeName) -> Peer:
        """A node by its name, whether or not it is connected."""
        with self._lock:
            return self._peer(name)

    def all(self) -> list[Peer]:
        """All nodes that are known, by name."""
        with self._lock:
            return [self._peers[name] for name in sorted(self._peers)]

    def close(self) -> None:
        """End all connections, and make no more."""
        self._ended.set()
        if self._listener is not None:
            self._listener.close()
        with self._lock:
            found = [*self._open]
            for peer in self._peers.values():
                if peer.wanted is not None:
                    peer.wanted.set()
        for each in found:
            each.close("this node has stopped")
        for worker in self._workers:
            worker.join(HANDSHAKE_S)

    def _peer(self, name: NodeName) -> Peer:
        return self._peers.setdefault(name, Peer(name))

    # --- making connections

    def _keep(self, peer: Peer, wanted: Event) -> None:
        """Dial a node whenever it is not connected, until it is wanted no more."""
        wait_s = FIRST_S
        while True:
            wanted.clear()
            # Looked at after that: whoever ends this sets the event last.
            if self._ended.is_set() or peer.wanted is not wanted:
                return
            if peer.connection is not None:
                # Set when it ends.
                wanted.wait()
                wait_s = FIRST_S
                continue
            try:
                assert peer.place is not None
                self._dial(peer.place, peer.name)
                # Set when it is welcome, or ends before.
                wanted.wait(HANDSHAKE_S)
            except (AustralisError, OSError) as error:
                peer.problem = str(error)
                _log.debug("%s is not reached: %s", peer.name, error)
            if peer.connection is None:
                self._ended.wait(wait_s)
                wait_s = min(2 * wait_s, LONGEST_S)

    def _visit(self, place: Place, name: NodeName | None) -> None:
        try:
            self._dial(place, name)
        except (AustralisError, OSError) as error:
            _log.debug("nobody is met at %s:%d: %s", *place, error)
            if name is not None:
                self.peer(name).problem = str(error)
        finally:
            with self._lock:
                self._visits.discard(place)

    def _dial(self, place: Place, name: NodeName | None) -> None:
        # Other nodes say where they are, and that may be no place at all.
        host, port = place
        if not 0 < port < 1 << 16:
            raise ClusterError(Problem(str(name or ""), f"{host}:{port} is no address", "a node there"))
        try:
            bare = socket.create_connection(place, HANDSHAKE_S)
        except (OSError, ValueError) as error:
            raise ClusterError(Problem(str(name or ""), f"{host}:{port}: {error}", "a node there")) from error
        try:
            secured = Secured(bare, self._credentials, self._threads, dials=True)
            if name is not None and secured.peer != name:
                what = f"the node there is {secured.peer}"
                raise ClusterError(Problem(str(name), what, "its address"))
        except BaseException:
            bare.close()
            raise
        if name is None and self.peer(secured.peer).connection is not None:
            # It is known under another address, and connected.
            secured.close()
            return
        self._begin(secured, is_dialler=True)

    def _accept(self, bare: socket.socket) -> None:
        try:
            secured = Secured(bare, self._credentials, self._threads, dials=False)
        except BaseException:
            self.refused += 1
            raise
        self._begin(secured, is_dialler=False)

    def _begin(self, secured: Secured, *, is_dialler: bool) -> None:
        connection = Connection(
            secured, is_dialler=is_dialler, heard=self._hear, ended=self._end, threads=self._threads
        )
        with self._lock:
            if self._ended.is_set() or secured.peer == self._credentials.name:
                secured.close()
                return
            self._open.add(connection)
        connection.send(Hello(VERSION, self._incarnation, is_dialler))
        connection.start()

    # --- what they say

    def _hear(self, connection: Connection, message: Message) -> None:
        said = message.said
        if connection.hello is None:
            if not isinstance(said, Hello):
                raise ClusterError(Problem(str(connection.peer), "did not begin with a hello"))
            self._welcome(connection, said)
            return
        if isinstance(said, Hello):
            raise ClusterError(Problem(str(connection.peer), "said hello twice"))
        peer = self.peer(connection.peer)
        if peer.connection is connection:
            self._heard(peer, connection, message)

    def _welcome(self, connection: Connection, hello: Hello) -> None:
        name = connection.peer
        if hello.version != VERSION:
            what = f"speaks version {hello.version} of the protocol"
            raise ClusterError(Problem(str(name), what, f"version {VERSION}"))
        if hello.is_dialler == connection.is_dialler:
            raise ClusterError(Problem(str(name), "does not know which side has dialled"))
        connection.hello = hello
        with self._lock:
            peer = self._peer(name)
            known = peer.connection
            if hello.incarnation < peer.incarnation:
                self.refused += 1
                what = "is an earlier life of a node that was heard later"
                raise ClusterError(Problem(str(name), what, "the node that runs now"))
            is_same = known is not None and hello.incarnation == peer.incarnation
            if known is not None and is_same and self._is_better(known, connection):
                raise ClusterError(Problem(str(name), "is connected already"))
            peer.incarnation, peer.connection, peer.problem = hello.incarnation, connection, ""
            if peer.wanted is not None:
                peer.wanted.set()
        if known is not None:
            known.close("another connection with the node has replaced it")
        _log.info("connected with %s", name)
        with self._telling:
            # One that was replaced meanwhile is told of no more: what came of it would wait on it for ever.
            if peer.connection is connection:
                self._joined(peer, connection)
                if self.peer(name).connection is None:
                    # It has ended meanwhile, and that was told before all had heard of it.
                    self._left(peer, connection)

    def _is_better(self, known: Connection, other: Connection) -> bool:
        """Whether a connection stays when there is another one: both sides must decide alike."""
        if known.is_dialler == other.is_dialler:
            return False
        return known.is_dialler == (self._credentials.name < known.peer)

    def _end(self, connection: Connection) -> None:
        with self._lock:
            self._open.discard(connection)
            peer = self._peer(connection.peer)
            was_used = peer.connection is connection
            if was_used:
                peer.connection = None
            if was_used or peer.connection is None:
                peer.problem = connection.problem
            wanted = peer.wanted
        if was_used:
            _log.info("no longer connected with %s: %s", connection.peer, connection.problem)
            self._left(peer, connection)
        if wanted is not None:
            wanted.set()

    def _beat(self) -> None:
        """Beat on all connections, and end those that are silent, until the end."""
        while not self._ended.wait(self._beat_s):
            with self._lock:
                found = [*self._open]
            for each in found:
                if each.silent_s > self._silent_s:
                    each.close(f"nothing was heard for {self._silent_s:g} s")
                elif self._is_over(each):
                    each.close(UNUSED)
                else:
                    each.beat()

    def _is_over(self, connection: Connection) -> bool:
        """Whether nobody needs a connection; the side that has dialled decides, so that not both do."""
        if not connection.is_dialler or connection.idle_s < self._idle_s:
            return False
        return self.peer(connection.peer).wanted is None and not self._is_busy(connection)
