"""The links by which other nodes read outputs of this one."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace

from australis.cluster.identity import NodeName
from australis.cluster.links import Acknowledger, LinkedNode, Worths, Writer, WriterStatus
from australis.cluster.transport import Connection, Peer
from australis.cluster.wire import Ask, Begin, Close, Refusal, Refused, Stored, Worth
from australis.engine.threads import Threads
from australis.errors import EngineError

_log = logging.getLogger(__name__)
WRITERS_MOST = 1000
"""How many links of one connection may read outputs of this node."""
_Key = tuple[Connection, int]


class Writing:
    """Begins and ends such links, and passes on what their readers say."""

    def __init__(
        self,
        name: NodeName,
        node: LinkedNode,
        may_read: Callable[[str, NodeName], bool],
        moved: Callable[[str], str],
        worths: Worths,
        acknowledger: Acknowledger,
        refuse: Callable[[str], None],
        threads: Threads,
    ) -> None:
        """`moved` says to which node an output has gone from here; `refuse` counts what was refused."""
        self._name, self._node, self._may_read, self._moved = name, node, may_read, moved
        self._worths, self._acknowledger, self._refuse = worths, acknowledger, refuse
        self._threads, self._lock = threads, threads.lock()
        self._writers: dict[_Key, Writer] = {}

    # --- beginning

    def ask(self, peer: Peer, connection: Connection, ask: Ask) -> None:
        """Begin to send an output to a node that asks for it, if it may have it."""
        may_read = self._may_read(ask.output, peer.name)
        if may_read and (moved := self._moved(ask.output)):
            what = f"{ask.output!r} is at {moved} now"
            connection.send(Refusal(ask.link, Refused.MOVED, what, moved))
            return
        if not may_read or not self.has(ask.output):
            # A node that may not read an output does not learn whether there is one.
            self._refuse("not_offered")
            why = f"there is no output {ask.output!r} that is offered to {peer.name}"
            connection.send(Refusal(ask.link, Refused.NOT_OFFERED, why))
            return
        self.begin(peer, connection, ask)

    def begin(
        self,
        peer: Peer,
        connection: Connection,
        ask: Ask,
        is_wanted: Callable[[], bool] = lambda: True,
    ) -> None:
        """Send an output to a node that may have it, if that is still wanted."""
        key = (connection, ask.link)
        with self._lock:
            if not is_wanted() or peer.connection is not connection:
                return
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

    # --- what readers say

    def hear(self, connection: Connection, said: Begin | Stored | Close) -> None:
        """Pass on what a reader says to the writer of its link."""
        key = (connection, said.link)
        with self._lock:
            writer = self._writers.pop(key, None) if isinstance(said, Close) else self._writers.get(key)
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
                self._end(writer)
                connection.drop(said.link)

    def weigh(self, connection: Connection, said: Worth) -> None:
        """Note what the tuples of a link are worth to its reader, if that is a node of this participant."""
        with self._lock:
            writer = self._writers.get((connection, said.link))
        if writer is None:
            self._refuse("ended_link")
        elif writer.peer.participant != self._name.participant:
            # What a stranger says its tuples are worth would be at the cost of others.
            self._refuse("foreign_worth")
        elif not self._worths.note(writer, writer.output, said, connection.clock.ahead_us or 0):
            self._refuse("no_graph")

    # --- connections

    def joined(self, connection: Connection) -> None:
        """End the links of connections that another one of the same node replaces."""
        self._end_all(lambda each: each.peer == connection.peer and each is not connection)

    def left(self, connection: Connection) -> None:
        """End the links of a connection that has ended."""
        self._end_all(lambda each: each is connection)

    def is_busy(self, connection: Connection) -> bool:
        """Whether a link needs a connection."""
        with self._lock:
            return any(each is connection for each, _ in self._writers)

    def has_link(self, connection: Connection, number: int) -> bool:
        """Whether there is such a link."""
        with self._lock:
            return (connection, number) in self._writers

    def has(self, output: str) -> bool:
        """Whether this node has an output now."""
        try:
            return self._node.has_output(output)
        except EngineError as error:
            # It has no network, or has stopped: what is asked for may come with the next one.
            _log.debug("nothing can be read here: %s", error)
            return False

    def statuses(self) -> list[WriterStatus]:
        """How the links go, and what they are worth to their readers."""
        with self._lock:
            writers, worths = [*self._writers.values()], self._worths.given
        return [replace(each.status(), worth=worths.get(each.output)) for each in writers]

    def _end_all(self, is_over: Callable[[Connection], bool]) -> None:
        with self._lock:
            ended = [self._writers.pop(key) for key in [*self._writers] if is_over(key[0])]
        for writer in ended:
            self._end(writer)

    def _end(self, writer: Writer) -> None:
        self._worths.drop(writer)
        writer.end()
