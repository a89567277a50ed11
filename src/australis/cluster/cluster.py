"""A node among others: its identity, its connections, and the links into and out of it."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import count
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol, Self

from australis.cluster.announcing import Announcing
from australis.cluster.catalogue import Kind
from australis.cluster.directory import Directory, Findings, MemberStatus, Where
from australis.cluster.following import Following
from australis.cluster.granting import Granting
from australis.cluster.grants import (
    WATCH_S,
    WITHDRAWALS,
    GuestNode,
    HeldGrant,
    PieceStatus,
    Signed,
    definition_of,
)
from australis.cluster.identity import Credentials, NodeName
from australis.cluster.links import (
    WINDOW,
    Acknowledger,
    Link,
    LinkedNode,
    LinkStatus,
    Loop,
    NamedLink,
    Offers,
    Reader,
    Worths,
    WriterStatus,
)
from australis.cluster.membership import Pace
from australis.cluster.moves import LIMIT_S, TOPIC, Moved, MoveStatus, Moving, MovingNode
from australis.cluster.transport import IDLE_S, Connection, Peer, Peers, PeerStatus, reached_at
from australis.cluster.wire import (
    LETTER_MOST,
    Agree,
    Ask,
    Begin,
    Chunk,
    Close,
    Define,
    Fetch,
    Keep,
    Message,
    Post,
    Refusal,
    Stored,
    Tuples,
    Worth,
)
from australis.cluster.writing import Writing
from australis.engine.threads import SYSTEM, Threads
from australis.errors import ClusterError, Problem

_log = logging.getLogger(__name__)
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
    moves: Sequence[MoveStatus] = ()
    """Boxes that go, or went, from this node to others."""
    pieces: Sequence[PieceStatus] = ()
    """The pieces of other nodes that run here."""
    grants: Sequence[HeldGrant] = ()
    """The grants that this node holds."""


class NodeAmongOthers(LinkedNode, MovingNode, GuestNode, Protocol):
    """The part of a node that others have to do with."""


class Cluster:
    """Connects a node with others; the node itself learns nothing of them.

    What another node sends is pushed into an input, what it reads is an output with one more consumer.
    """

    def __init__(
        self,
        node: NodeAmongOthers,
        identity: Path | Credentials,
        *,
        listen: Place | None = None,
        offers: Mapping[str, Sequence[str]] | None = None,
        grants: Sequence[Path] = (),
        watch_s: float = WATCH_S,
        window: int = WINDOW,
        seeds: Sequence[Place] = (),
        advertise: Place | None = None,
        pace: Pace | None = None,
        idle_s: float = IDLE_S,
        redrawn: Callable[[], None] | None = None,
        threads: Threads = SYSTEM,
    ) -> None:
        """`identity` is the folder of its key and certificate, `offers` patterns of nodes by output.

        `grants` are files, or folders of them, by which others let this node put boxes behind their outputs.
        `redrawn` is called when boxes have come or gone: whoever draws the links draws them anew. By itself,
        it reads all inputs from where the network says.

        A node that listens has a directory: it learns of all nodes from one of `seeds`, and they reach it at
        `advertise` if that is another address than it listens on.
        """
        credentials = identity if isinstance(identity, Credentials) else Credentials.load(identity)
        self.name: NodeName = credentials.name
        self._node, self._window, self._threads = node, window, threads
        self._offers = Offers(self.name.participant, offers)
        self._lock = threads.lock()
        self._arranging = threads.lock()
        self._readers: dict[str, Reader | Loop] = {}
        self._named: dict[str, NamedLink] = {}
        self._kept: set[NodeName] = set()
        self._numbers = count(1)
        self._by_number: dict[int, Reader] = {}
        self._refused: dict[str, int] = {}
        self._topics: dict[str, Heard] = {}
        self._watchers: tuple[tuple[Callable[[NodeName], None], Callable[[NodeName], None]], ...] = ()
        self._is_closed = False
        # First, before any thread is started: its address may be taken.
        self._peers = Peers(
            credentials,
            threads.now_us(),
            listen=listen,
            joined=self._join,
            heard=self._hear,
            left=self._leave,
            threads=threads,
            idle_s=idle_s,
            is_busy=self._is_busy,
        )
        self._acknowledger = Acknowledger(node, threads)
        redrawn = redrawn or self.rearrange
        self._moving = Moving(self.name, node, self, self._next_number, redrawn, self._refuse, threads)
        self._worths = Worths(node, self._linked, threads)
        self._idle_s = idle_s
        self._directory = self._new_directory(credentials, advertise, seeds, pace)
        self._writing = Writing(
            self.name,
            node,
            self._may_read,
            self._moved,
            self._worths,
            self._acknowledger,
            self._refuse,
            threads,
        )
        self._granting = Granting(
            credentials, node, self, self._refuse, grants, threads, watch_s, self._directory
        )
        self._topics[WITHDRAWALS] = self._granting.hear
        self._peers.start()
        self._worths.start()
        self._following: Following | None = None
        if self._directory is not None:
            self._directory.start()
            self._following = Following(
                self._directory, self, Announcing(node, self._directory, self._offers).refresh, threads
            )
            self._following.poke()

    def _new_directory(
        self, credentials: Credentials, advertise: Place | None, seeds: Sequence[Place], pace: Pace | None
    ) -> Directory | None:
        """The directory of a node that listens."""
        if self._peers.place is None:
            return None
        place = advertise or reached_at(self._peers.place)
        found = Directory(credentials, place, self, self._threads, seeds=seeds, pace=pace, changed=self._poke)
        self._topics |= {topic: partial(found.hear, topic) for topic in found.topics}
        return found

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
        self._kept.add(found)
        self._peers.dial(found, place)

    def visit(self, place: Place, name: NodeName | None = None) -> None:
        """Connect with a node, or with whoever is at an address, for as long as the connection is used."""
        self._peers.visit(place, name)

    def link(self, name: str, source: str, *, weight: float = 1.0) -> None:
        """Read a stream of another node as an input of this one from now on.

        `source` is `PARTICIPANT/NODE/OUTPUT`, or `PARTICIPANT/NAME` for a stream that is found by its name
        and followed when it moves.
        """
        link = self._parsed(name, source, weight)
        if isinstance(link, Link):
            self._draw(link)
            return
        with self._lock:
            self._check_free(name)
            self._named[name] = link
        self._follower.add(link)

    def unlink(self, name: str) -> None:
        """Read nothing more into an input."""
        with self._lock:
            was_named = self._named.pop(name, None) is not None
        if was_named:
            self._follower.drop(name)
        with self._lock:
            if name not in self._readers:
                if was_named:
                    return
                known = ", ".join({*self._readers, *self._named}) or "none here"
                raise ClusterError(Problem(name, "reads no output of another node", f"one of {known}"))
        self.remove(name)

    def arrange(self, links: Mapping[str, tuple[str, float]]) -> None:
        """Have exactly these links: the source and the weight of each input."""
        wanted = {name: self._parsed(name, source, weight) for name, (source, weight) in links.items()}
        with self._arranging:
            if self._is_closed:
                # Boxes that come or go while it closes change no links.
                return
            self._granting.begin_arranging()
            with self._lock:
                known = {name: reader.link for name, reader in self._readers.items()} | self._named
            for name, link in known.items():
                if wanted.get(name) != link:
                    self.unlink(name)
            for name, link in wanted.items():
                if known.get(name) != link:
                    self.link(name, link.source, weight=link.weight)
            self._granting.arranged()

    def _parsed(self, name: str, source: str, weight: float) -> Link | NamedLink:
        """A link, with what the network wants done before its tuples cross over."""
        network = self._node.recorded()
        has_input = network is not None and name in network.inputs
        before = definition_of(network, name) if network is not None and has_input else ""
        link = Link.parse(name, source, weight, before)
        if before and isinstance(link, Link) and link.node == self.name:
            what = f"has boxes before {source}, which is here"
            raise ClusterError(Problem(name, what, "these boxes in the network, or another node"))
        return link

    # --- pieces: boxes of this node at others, and of others here

    def withdraw_grant(self, withdrawal: Signed) -> None:
        """Heed the withdrawal of a grant of this participant, and let its other nodes know."""
        self._granting.withdraw(withdrawal)

    def peers(self) -> list[Peer]:
        """All nodes that are known to connections."""
        return self._peers.all()

    def pieces_at(self, node: NodeName) -> set[str]:
        """The inputs whose boxes should run at a node."""
        with self._lock:
            drawn = [each.link for each in self._readers.values()]
            # A stream that is not found yet may have its boxes where it was.
            lost = [each for name, each in self._named.items() if name not in self._readers]
        found = {each.input for each in drawn if each.before and each.node == node}
        return found | {each.input for each in lost if each.before and each.participant == node.participant}

    # --- moves

    def move(self, boxes: Collection[str], to: str | NodeName, limit_s: float = LIMIT_S) -> Moved:
        """Let boxes run at another node of this participant from now on, with their states.

        Inputs, outputs and all that is around the boxes stay here, with links to the boxes and back.
        """
        return self._moving.move(boxes, to if isinstance(to, NodeName) else NodeName.parse(to), limit_s)

    def ask(self, node: NodeName, said: Fetch) -> bool:
        """Ask another node for a part of what a move has; whether there is a connection."""
        return self._peers.peer(node).send(said)

    def reaches(self, node: NodeName) -> bool:
        """Whether there is a connection with a node, or it is this one."""
        return node == self.name or self._peers.peer(node).connection is not None

    def answer(self, node: NodeName, said: Chunk, body: bytes) -> None:
        """Send a part, beside what links send."""
        connection = self._peers.peer(node).connection
        if connection is not None:
            connection.send(said, body, said.link)
            connection.drop(said.link)

    def rearrange(self) -> None:
        """Read all inputs from where the network of the node says."""
        with self._arranging:
            network = self._node.recorded()
            inputs = {} if network is None else network.inputs
            with self._lock:
                weights = {name: each.link.weight for name, each in self._readers.items()}
            sources = {name: each.source for name, each in inputs.items() if each.source is not None}
            self.arrange({name: (source, weights.get(name, 1.0)) for name, source in sources.items()})

    # --- names

    def members(self) -> list[MemberStatus]:
        """All nodes that are known, and which of them are alive."""
        return self._known.members()

    def where(self, name: str) -> Where:
        """The nodes that have what a name, `PARTICIPANT/NAME`, stands for."""
        return self._known.where(name)

    def find(self, pattern: str) -> Findings:
        """The names that match a pattern: those of this participant, and those that others make public."""
        return self._known.find(pattern)

    def announce(self, name: str, kind: Kind, detail: str = "", *, is_public: bool = False) -> None:
        """This node has something under a name; the outputs of its network are announced without that."""
        self._known.announce(name, kind, detail, is_public=is_public)

    def withdraw(self, name: str, moved: NodeName | None = None) -> None:
        """This node has something no more; whoever asks for it here is sent on to where it has moved."""
        self._known.withdraw(name, "" if moved is None else str(moved))

    @property
    def directory(self) -> Directory:
        """What the node knows of nodes and names."""
        return self._known

    @property
    def _known(self) -> Directory:
        if self._directory is None:
            raise ClusterError(Problem(str(self.name), "has no directory", "a node that listens"))
        return self._directory

    @property
    def _follower(self) -> Following:
        if self._following is None:
            raise ClusterError(Problem(str(self.name), "follows no names", "a node that listens"))
        return self._following

    # --- links from known nodes

    def draw(self, link: Link, place: Place) -> None:
        """Read an output of a node whose address is known."""
        self._begin(link)
        # After that: whoever removes a link releases a node that no other link reads from.
        self._peers.dial(link.node, place)
        if link.before:
            # Where it was before, it is wanted no more.
            self._granting.keep_all()

    def drawn(self, name: str) -> Link | None:
        """The link into an input, if there is one."""
        with self._lock:
            reader = self._readers.get(name)
        return None if reader is None else reader.link

    def remove(self, name: str) -> None:
        """End a link."""
        with self._lock:
            reader = self._readers.pop(name, None)
            if reader is None:
                return
            self._by_number.pop(reader.number, None)
        reader.end()
        reader.join(10.0)
        node = reader.link.node
        with self._lock:
            # Another link may have been drawn meanwhile.
            is_last = all(each.link.node != node for each in self._readers.values())
            if is_last and node not in (self.name, *self._kept):
                self._peers.release(node)
        if reader.link.before:
            self._granting.keep(self._peers.peer(node))

    def _draw(self, link: Link) -> None:
        with self._lock:
            self._check_free(link.input)
            self._begin(link)

    def _check_free(self, name: str) -> None:
        known = self._readers[name].link.source if name in self._readers else ""
        if known or name in self._named:
            what = f"reads {known or self._named[name].source} already"
            raise ClusterError(Problem(name, what, "unlink() first"))

    def _begin(self, link: Link) -> None:
        if link.node == self.name:
            with self._lock:
                loop = self._readers[link.input] = Loop(self._node, link, self._acknowledger, self._threads)
            loop.start()
            return
        with self._lock:
            reader = Reader(
                self._node, link, self._number, self._window, self._threads, self._lost, self._granting.grant
            )
            self._readers[link.input] = reader
        reader.start()
        connection = None
        while (found := self._peers.peer(link.node).connection) is not connection and found is not None:
            # Again if another one has replaced it meanwhile.
            connection = found
            reader.joined(connection)

    def _lost(self, link: Link, refusal: Refusal) -> None:
        if self._following is not None:
            self._following.refused(link, refusal)

    # --- letters

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

    def neighbours(self) -> list[NodeName]:
        """The nodes of this participant with which there is a connection."""
        found = (each.name for each in self._peers.all() if each.connection is not None)
        return sorted(name for name in found if name.participant == self.name.participant)

    def refuse(self, why: str) -> None:
        """Count what was refused to another node."""
        self._refuse(why)

    def status(self) -> ClusterStatus:
        """How the node stands with others."""
        with self._lock:
            readers, refused = [*self._readers.values()], {**self._refused}
        waiting = self._following.waiting() if self._following is not None else []
        if self._directory is not None:
            refused |= self._directory.refused()
        if self._peers.refused:
            refused["connection"] = self._peers.refused
        return ClusterStatus(
            str(self.name),
            self.listens,
            [each.status() for each in self._peers.all()],
            [*(each.status() for each in readers), *waiting],
            self._writing.statuses(),
            refused,
            self._moving.statuses(),
            self._granting.statuses(),
            self._granting.held(),
        )

    def close(self) -> None:
        """End all links and connections; the node runs on."""
        with self._arranging:
            self._is_closed = True
        self._moving.close()
        if self._following is not None:
            self._following.close()
        if self._directory is not None:
            self._directory.close()
        with self._lock:
            readers = [*self._readers.values()]
        for each in readers:
            each.end()
        for each in readers:
            each.join(10.0)
        self._worths.close()
        self._peers.close()
        self._granting.close()
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
            number = self._next_number()
            self._by_number.pop(reader.number, None)
            self._by_number[number] = reader
        return number

    def _next_number(self) -> int:
        with self._lock:
            return next(self._numbers)

    def _join(self, peer: Peer, connection: Connection) -> None:
        with self._lock:
            found = self._remote(peer)
        self._writing.joined(connection)
        self._granting.keep(peer)
        for each in found:
            each.joined(connection)
        self._granting.joined(peer)
        if self._directory is not None:
            self._directory.joined(peer.name)
        self._moving.joined(peer.name)
        for joined, _ in self._watchers:
            joined(peer.name)

    def _remote(self, peer: Peer) -> list[Reader]:
        """The links that read from a node."""
        known = self._readers.values()
        return [each for each in known if isinstance(each, Reader) and each.link.node == peer.name]

    def _leave(self, peer: Peer, connection: Connection) -> None:
        with self._lock:
            readers = self._remote(peer)
        self._granting.left(connection)
        for reader in readers:
            reader.left(connection)
        self._writing.left(connection)
        if self._directory is not None and connection.idle_s < self._idle_s / 2:
            # Nobody ends a connection that was just used, unless something is wrong.
            self._directory.left(peer.name)
        for _, gone in self._watchers:
            gone(peer.name)

    def _hear(self, peer: Peer, connection: Connection, message: Message) -> None:
        said: Any = message.said
        match said:
            case Ask():
                self._writing.ask(peer, connection, said)
            case Define():
                self._define(peer, connection, said)
            case Keep():
                self._granting.kept(peer, connection, said)
            case Agree() | Tuples() | Refusal():
                with self._lock:
                    reader = self._by_number.get(said.link)
                if reader is None or reader.link.node != peer.name:
                    self._refuse("unknown_link")
                else:
                    reader.hear(connection, message)
            case Begin() | Stored():
                self._writing.hear(connection, said)
            case Close():
                # While its piece is placed, nothing is written yet.
                if not self._granting.closed(connection, said.link):
                    self._writing.hear(connection, said)
            case Fetch():
                self._moving.fetched(peer.name, said)
            case Chunk():
                if not self._moving.part(peer.name, said, message.body):
                    self._refuse("unwanted_part")
            case Post() if said.topic == TOPIC:
                if not self._moving.hear(peer.name, said.data):
                    self._refuse("move")
            case Worth():
                self._writing.weigh(connection, said)
            case Post():
                heard = self._topics.get(said.topic)
                if heard is None:
                    self._refuse("unknown_topic")
                else:
                    heard(peer.name, said.data)
            case _:
                self._refuse("unexpected")

    def _linked(self) -> list[Reader]:
        """The links from other nodes."""
        with self._lock:
            return [each for each in self._readers.values() if isinstance(each, Reader)]

    def _define(self, peer: Peer, connection: Connection, said: Define) -> None:
        """Place boxes of a node before it reads an output."""
        if self._writing.has_link(connection, said.link):
            self._refuse("link_twice")
        else:
            self._granting.define(peer, connection, said)

    def begin_writing(
        self, peer: Peer, connection: Connection, ask: Ask, is_wanted: Callable[[], bool]
    ) -> None:
        """Send an output to a node that may have it, if that is still wanted."""
        self._writing.begin(peer, connection, ask, is_wanted)

    def _may_read(self, output: str, node: NodeName) -> bool:
        return self._offers.has(output, node) and self._granting.is_for(output, node)

    def _is_busy(self, connection: Connection) -> bool:
        """Whether a link needs a connection."""
        with self._lock:
            is_read = any(each.link.node == connection.peer for each in self._readers.values())
        return is_read or self._writing.is_busy(connection)

    # --- the directory

    def _poke(self) -> None:
        if self._following is not None:
            self._following.poke()

    def _moved(self, output: str) -> str:
        """The node to which an output has gone from here, if it has."""
        if self._directory is None or self._writing.has(output):
            return ""
        return self._directory.moved(f"{self.name.participant}/{output}")

    def _refuse(self, why: str) -> None:
        with self._lock:
            self._refused[why] = self._refused.get(why, 0) + 1
