"""A link from an output of a node to an input of the same node.

It is what is left when a stream that went to another node and back goes there no more: like any link, it
delivers every tuple once, by the position that is committed with the tuples.
"""

from __future__ import annotations

import logging
from typing import Any

from australis.cluster.links.acknowledging import Acknowledger
from australis.cluster.links.link import Link, LinkedNode, LinkState, LinkStatus
from australis.engine.change import life
from australis.engine.deliver import Follower
from australis.engine.ingest import Busy
from australis.engine.store import SEQ
from australis.engine.threads import Thread, Threads
from australis.errors import AustralisError

_log = logging.getLogger(__name__)
_ROWS = 64 << 10
_BUSY_S, _AGAIN_S = 1.0, 1.0


class Loop:
    """One link within this node; its thread reads and pushes."""

    number = 0
    """It has none: nothing of it passes a connection."""

    def __init__(self, node: LinkedNode, link: Link, acknowledger: Acknowledger, threads: Threads) -> None:
        self._node, self.link, self._acknowledger, self._threads = node, link, acknowledger, threads
        self._consumer = f"link:{link.node}/{link.input}"
        self._changed: Any = threads.condition()
        self._follower: Follower | None = None
        self._is_ended = False
        self._state, self._problem = LinkState.ASKING, ""
        self._position = self._tuples = self._bytes = 0
        self._thread: Thread | None = None

    def start(self) -> None:
        """Begin to work."""
        self._thread = self._threads.start(self._work, f"australis-loop-{self.link.input}")

    def status(self) -> LinkStatus:
        """How it goes."""
        link = self.link
        return LinkStatus(
            link.input,
            link.source,
            link.weight,
            self._state,
            self._problem,
            self._position,
            self._tuples,
            self._bytes,
        )

    def end(self) -> None:
        """Read nothing more; a push that is under way is completed."""
        with self._changed:
            self._is_ended = True
            self._changed.notify_all()
            follower = self._follower
        if follower is not None:
            follower.close()

    def join(self, seconds: float) -> None:
        """Wait until it has ended."""
        if self._thread is not None:
            self._thread.join(seconds)

    def _work(self) -> None:
        while not self._is_ended:
            try:
                self._run()
            except AustralisError as error:
                self._state, self._problem = LinkState.WAITING, str(error)
                _log.info("%s waits: %s", self.link.input, error)
            except Exception as error:
                self._state, self._problem = LinkState.WAITING, str(error)
                _log.exception("the loop into %s failed in a way that nobody expected", self.link.input)
            with self._changed:
                if not self._is_ended:
                    self._changed.wait(_AGAIN_S)

    def _run(self) -> None:
        output = self.link.output
        number, note = self._node.consumer(self._consumer, output)
        if note is None:
            note = life(self._threads.now_us())
            self._node.acknowledge(self._consumer, output, number, note)
        source = f"link {self.link.source} {note}"
        known = self._node.position(source)
        self._position = number if known is None else int(known)
        with self._changed:
            if self._is_ended:
                return
            follower = self._follower = self._node.follow(output, self._position)
        if self._position > number:
            # It begins where another reader has ended, and what was before that may go.
            self._acknowledger.note(self._consumer, output, note, self._position)
        self._state, self._problem = LinkState.RUNNING, ""
        while (part := follower.next(_ROWS)) is not None:
            table = part.table.drop_columns([SEQ])
            if table.num_rows and not self._push(table, (source, part.end)):
                return
            self._position = part.end
            self._tuples += table.num_rows
            self._bytes += table.nbytes
            self._acknowledger.note(self._consumer, output, note, part.end)

    def _push(self, table: Any, position: tuple[str, int]) -> bool:
        """Push tuples once there is room; whether that came before the end."""
        while not self._is_ended:
            try:
                self._node.push(self.link.input, table, position=position, wait_s=_BUSY_S)
            except Busy:
                # Nothing but this loop waits meanwhile.
                continue
            return True
        return False
