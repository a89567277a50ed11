"""Places boxes of this node at others, and those of others here: what connections carry of both."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Protocol

from australis.cluster.catalogue import Kind
from australis.cluster.directory import Directory
from australis.cluster.grants import (
    WATCH_S,
    WITHDRAWALS,
    Granter,
    GuestNode,
    HeldGrant,
    PieceRefused,
    PieceStatus,
    Signed,
    Wallet,
)
from australis.cluster.identity import Credentials, NodeName
from australis.cluster.links import Link
from australis.cluster.transport import Connection, Peer
from australis.cluster.wire import KEPT_MOST, Ask, Define, Keep, Post, Refusal, Refused
from australis.engine.threads import Threads

__all__ = ["WATCH_S", "Among", "Granting"]


class Among(Protocol):
    """What the pieces of a node need of its connections and links."""

    def peers(self) -> list[Peer]: ...

    def pieces_at(self, node: NodeName) -> set[str]: ...

    def begin_writing(
        self, peer: Peer, connection: Connection, ask: Ask, is_wanted: Callable[[], bool]
    ) -> None: ...


class Granting:
    """Pieces of others at this node, and those that this node wants elsewhere."""

    def __init__(
        self,
        credentials: Credentials,
        node: GuestNode,
        among: Among,
        refuse: Callable[[str], None],
        grants: Sequence[Path],
        threads: Threads,
        watch_s: float = WATCH_S,
        directory: Directory | None = None,
    ) -> None:
        """`grants` are the files, or folders of them, of what this node may do elsewhere.

        `refuse` counts what was refused.
        """
        self._name, self._among, self._directory = credentials.name, among, directory
        self._refuse = refuse
        self._wallet = Wallet(grants, credentials.authorities, threads.now_us)
        self._lock = threads.lock()
        self._waiting: set[tuple[Connection, int]] = set()
        """The links for which a piece is placed now."""
        self._announced: set[str] = set()
        self._is_arranged = False
        """Whether it is known which pieces are wanted elsewhere."""
        self._granter = Granter(
            self._name, credentials.authorities, node, threads, told=self._announce, watch_s=watch_s
        )

    def close(self) -> None:
        """Place nothing more; what runs here stays in the root."""
        self._granter.close()

    # --- elsewhere

    def grant(self, link: Link) -> bytes:
        """What lets this node define the boxes of a link."""
        return self._wallet.find(self._name, link.node, link.output, link.before)

    def begin_arranging(self) -> None:
        """Say nothing of what is wanted until all links are drawn: a piece that changes is wanted still."""
        self._is_arranged = False

    def arranged(self) -> None:
        """All links are drawn."""
        self._is_arranged = True
        self.keep_all()

    def keep_all(self) -> None:
        """Tell all nodes which pieces are wanted there."""
        for peer in self._among.peers():
            self.keep(peer)

    def keep(self, peer: Peer) -> None:
        """Say which pieces are wanted at a node: it ends others that this node had there."""
        if self._is_arranged:
            peer.send(Keep(tuple(sorted(self._among.pieces_at(peer.name))[:KEPT_MOST])))

    def held(self) -> list[HeldGrant]:
        """The grants of this node."""
        return self._wallet.held()

    # --- here

    def joined(self, peer: Peer) -> None:
        """There is a connection with a node: pass on what the participant's nodes should know."""
        if peer.name.participant == self._name.participant:
            for letter in self._granter.letters():
                peer.send(Post(WITHDRAWALS, letter))

    def left(self, connection: Connection) -> None:
        """A connection has ended."""
        with self._lock:
            self._waiting = {key for key in self._waiting if key[0] is not connection}

    def closed(self, connection: Connection, link: int) -> bool:
        """A reader wants nothing more of a link; whether its piece was being placed."""
        with self._lock:
            was_waiting = (connection, link) in self._waiting
            self._waiting.discard((connection, link))
        return was_waiting

    def withdraw(self, withdrawal: Signed) -> None:
        """Heed the withdrawal of a grant, and let the other nodes of the participant know."""
        self._granter.withdraw(withdrawal)
        for peer in self._among.peers():
            self.joined(peer)

    def hear(self, sender: NodeName, letter: bytes) -> None:
        """Withdrawals have come."""
        if not self._granter.hear(sender, letter):
            self._refuse("withdrawals")

    def kept(self, peer: Peer, connection: Connection, said: Keep) -> None:
        """A node says which of its pieces it wants."""
        if not self._granter.keep(peer.name, said, lambda: peer.connection is connection):
            self._refuse("too_many")

    def is_for(self, output: str, node: NodeName) -> bool:
        """Whether a node may ask for an output, as far as it is that of a piece."""
        return node.participant == self._name.participant or not self._granter.is_piece(output)

    def define(self, peer: Peer, connection: Connection, said: Define) -> None:
        """Run the boxes that a reader wants, and begin to send it what they emit."""
        key = (connection, said.link)
        with self._lock:
            is_twice = key in self._waiting
            self._waiting.add(key)
        if is_twice:
            self._refuse("link_twice")
            return

        def is_wanted() -> bool:
            return key in self._waiting and peer.connection is connection

        def was_wanted() -> bool:
            with self._lock:
                found = is_wanted()
                self._waiting.discard(key)
            return found

        def answer(output: str, refused: PieceRefused | None) -> None:
            if refused is None:
                # Asked where links begin and end: one that is closed just now has nothing that could end.
                ask = Ask(said.link, output, said.input, said.weight)
                self._among.begin_writing(peer, connection, ask, was_wanted)
            elif was_wanted():
                self._refuse(f"piece_{refused.code}")
                connection.send(Refusal(said.link, refused.code, str(refused)[:2000]))

        if not self._granter.define(peer.name, said, answer, is_wanted):
            answer("", PieceRefused(Refused.TOO_MANY, "too many pieces are asked for"))

    def statuses(self) -> list[PieceStatus]:
        """How the pieces of others go that run here."""
        return self._granter.status()

    def _announce(self, pieces: Mapping[str, str]) -> None:
        """Let the participant's nodes know of the pieces that run here."""
        if self._directory is None:
            return
        wanted = {f"{self._name.participant}/{name}": detail for name, detail in pieces.items()}
        for gone in self._announced - {*wanted}:
            self._directory.withdraw(gone)
        for name in wanted.keys() - self._announced:
            self._directory.announce(name, Kind.PIECE, wanted[name])
        self._announced = {*wanted}
