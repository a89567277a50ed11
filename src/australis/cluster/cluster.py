"""A node among others: its identity, its connections, and the links into and out of it."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from australis.cluster.identity import Credentials, NodeName
from australis.cluster.links import (
    WINDOW,
    Acknowledger,
    Link,
    LinkedNode,
    LinkStatus,
    Offers,
    Reader,
    Writer,
    WriterStatus,
)
from australis.cluster.transport import Connection, Peer, Peers, PeerStatus
from australis.cluster.wire import (
    LETTER_MOST,
    Agree,
    Ask,
    Begin,
    Close,
    Message,
    Post,
    Refusal,
    Refused,
    Stored,
    Tuples,
)
from australis.engine.threads import SYSTEM, Threads
from australis.errors import ClusterError, EngineError, Problem

_log = logging.getLogger(__name__)
WRITERS_MOST = 1000
"""How many links of one connection may read outputs of this node."""
Place = tuple[str, int]
Heard = Callable[[NodeName, bytes], None]


@dataclass(frozen=True)
class ClusterStatus:
    """How a node stands with others."""

    name: str
    listens: Place | None
    peers: Sequence[PeerStatus]
    links_in: Sequence[LinkStatus]
    links_out: Sequence[WriterStatus]
    refused: Mapping[str, int]
    """What was refused, and how often."""


class Cluster:
    """Connects a node with others; the node itself learns nothing of them.

    What another node sends is pushed into an input, what it reads is an output with one more consumer.
    """

    def __init__(
        self,
        node: LinkedNode,
        identity: Path | Credentials,
        *,
        listen: Place | None = None,
        offers: Mapping[str, Sequence[str]] | None = None,
        window: int = WINDOW,
        threads: Threads = SYSTEM,
    ) -> None:
        """`identity` is the folder of its key and certificate, `offers` patterns of nodes by output."""
        credentials = identity if isinstance(identity, Credentials) else Credentials.load(identity)
        self.name: NodeName = credentials.name
        self._node, self._window, self._threads = node, window, threads
        self._offers = Offers(self.name.participant, offers)
        self._lock = threads.lock()
        self._readers: dict[str, Reader] = {}
        self._numbers = count(1)
        self._by_number: dict[int, Reader] = {}
        self._writers: dict[tuple[Connection, int], Writer] = {}
        self._refused: dict[str, int] = {}
        self._topics: dict[str, Heard] = {}
        self._watchers: tuple[tuple[Callable[[NodeName], None], Callable[[NodeName], None]], ...] = ()
        self._acknowledger = Acknowledger(node, threads)
        self._peers = Peers(
            credentials,
            threads.now_us(),
            listen=listen,
            joined=self._join,
            heard=self._hear,
            left=self._leave,
            threads=threads,
        )
        self._peers.start()

    # --- by a user

    @property
    def listens(self) -> Place | None:
        """Where other nodes reach this one."""
        return self._peers.place

    def connect(self, name: str | NodeName, place: Place) -> None:
        """Keep a connection with a node from now on."""
        found = name if isinstance(name, NodeName) else NodeName.parse(name)
        if found == self.name:
            raise ClusterError(Problem(str(found), "is this node", "another one"))
        self._peers.dial(found, place)

    def link(self, name: str, source: str, *, weight: float = 1.0) -> None:
        """Read an output of another node, `PARTICIPANT/NODE/OUTPUT`, as an input of this one from now on."""
        link = Link.parse(name, source, weight)
        with self._lock:
            if name in self._readers:
                known = self._readers[name].link.source
                raise ClusterError(Problem(name, f"reads {known} already", "unlink() first"))
            reader = Reader(self._node, link, self._number, self._window, self._threads)
            self._readers[name] = reader
        reader.start()
        if (connection := self._peers.peer(link.node).connection) is not None:
            reader.joined(connection)

    def unlink(self, name: str) -> None:
        """Read nothing more into an input."""
        with self._lock:
            reader = self._readers.pop(name, None)
            if reader is None:
                known = ", ".join(self._readers) or "none here"
                raise ClusterError(Problem(name, "reads no output of another node", f"one of {known}"))
            self._by_number.pop(reader.number, None)
        reader.end()
        reader.join(10.0)

    def arrange(self, links: Mapping[str, tuple[str, float]]) -> None:
        """Have exactly these links: the source and the weight of each input."""
        wanted = {name: Link.parse(name, source, weight) for name, (source, weight) in links.items()}
        with self._lock:
            known = {name: reader.link for name, reader in self._readers.items()}
        for name, link in known.items():
            if wanted.get(name) != link:
                self.unlink(name)
        for name, link in wanted.items():
            if known.get(name) != link:
                self.link(name, link.source, weight=link.weight)

    def hear(self, topic: str, heard: Heard) -> None:
        """Give letters of a topic to a function, which must not wait: it runs where a connection is read."""
        with self._lock:
            self._topics[topic] = heard

    def post(self, node: NodeName, topic: str, data: bytes) -> bool:
        """Send a letter if there is a connection; whether there is one. It may be lost on its way."""
        if len(data) > LETTER_MOST:
            what = f"a letter of {len(data):,} bytes to {node}"
            raise ClusterError(Problem(topic, what, f"at most {LETTER_MOST:,}"))
        return self._peers.peer(node).send(Post(topic, data))

    def watch(self, joined: Callable[[NodeName], None], left: Callable[[NodeName], None]) -> None:
        """Be told of nodes whose connection comes or goes; the functions must not wait."""
        with self._lock:
            self._watchers = (*self._watchers, (joined, left))

    def status(self) -> ClusterStatus:
        """How the node stands with others."""
        with self._lock:
            readers, writers, refused = (
                [*self._readers.values()],
                [*self._writers.values()],
                {**self._refused},
            )
        if self._peers.refused:
            refused["connection"] = self._peers.refused
        return ClusterStatus(
            str(self.name),
            self.listens,
            [each.status() for each in self._peers.all()],
            [each.status() for each in readers],
            [each.status() for each in writers],
            refused,
        )

    def close(self) -> None:
        """End all links and connections; the node runs on."""
        with self._lock:
            readers = [*self._readers.values()]
        for each in readers:
            each.end()
        for each in readers:
            each.join(10.0)
        self._peers.close()
        self._acknowledger.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # --- connections

    def _number(self, reader: Reader) -> int:
        """A number for a link that is asked for; what still comes under its last one is refused."""
        with self._lock:
            number = next(self._numbers)
            self._by_number.pop(reader.number, None)
            self._by_number[number] = reader
        return number

    def _join(self, peer: Peer, connection: Connection) -> None:
        with self._lock:
            found = [each for each in self._readers.values() if each.link.node == peer.name]
        for each in found:
            each.joined(connection)
        for joined, _ in self._watchers:
            joined(peer.name)

    def _leave(self, peer: Peer, connection: Connection) -> None:
        with self._lock:
            readers = [each for each in self._readers.values() if each.link.node == peer.name]
            ended = [self._writers.pop(key) for key in [*self._writers] if key[0] is connection]
        for reader in readers:
            reader.left(connection)
        for writer in ended:
            writer.end()
        for _, gone in self._watchers:
            gone(peer.name)

    def _hear(self, peer: Peer, connection: Connection, message: Message) -> None:
        said: Any = message.said
        match said:
            case Ask():
                self._write(peer, connection, said)
            case Agree() | Tuples() | Refusal():
                with self._lock:
                    reader = self._by_number.get(said.link)
                if reader is None or reader.link.node != peer.name:
                    self._refuse("unknown_link")
                else:
                    reader.hear(connection, message)
            case Begin() | Stored() | Close():
                self._tell(connection, said)
            case Post():
                heard = self._topics.get(said.topic)
                if heard is None:
                    self._refuse("unknown_topic")
                else:
                    heard(peer.name, said.data)
            case _:
                self._refuse("unexpected")

    def _tell(self, connection: Connection, said: Begin | Stored | Close) -> None:
        """Pass on what a reader says to the writer of its link."""
        key = (connection, said.link)
        with self._lock:
            writer = self._writers.get(key)
            if isinstance(said, Close):
                self._writers.pop(key, None)
        if writer is None:
            # A link that has ended on this side; its reader did not know yet.
            self._refuse("ended_link")
            return
        match said:
            case Begin():
                writer.begin(said)
            case Stored():
                if not writer.stored(said):
                    self._refuse("stored_unsent")
            case Close():
                writer.end()
                connection.drop(said.link)

    def _write(self, peer: Peer, connection: Connection, ask: Ask) -> None:
        """Begin to send an output to who asks, if it may have it."""
        if not self._offers.has(ask.output, peer.name) or not self._has(ask.output):
            # Who may not read an output does not learn whether there is one.
            self._refuse("not_offered")
            why = f"there is no output {ask.output!r} that is offered to {peer.name}"
            connection.send(Refusal(ask.link, Refused.NOT_OFFERED, why))
            return
        key = (connection, ask.link)
        with self._lock:
            if sum(each is connection for each, _ in self._writers) >= WRITERS_MOST:
                connection.send(Refusal(ask.link, Refused.TOO_MANY, f"more than {WRITERS_MOST:,} links"))
                return
            if key in self._writers:
                self._refuse("link_twice")
                return
            writer = Writer(self._node, peer.name, ask, connection.send, self._acknowledger, self._threads)
            self._writers[key] = writer
        connection.weigh(ask.link, ask.weight)
        _log.info("%s reads %s", peer.name, ask.output)
        writer.start()

    def _has(self, output: str) -> bool:
        try:
            return self._node.has_output(output)
        except EngineError as error:
            # It has no network, or has stopped: what is asked for may come with the next one.
            _log.debug("nothing can be read here: %s", error)
            return False

    def _refuse(self, why: str) -> None:
        with self._lock:
            self._refused[why] = self._refused.get(why, 0) + 1
