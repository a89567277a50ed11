"""The writing side of a link: follows an output, and sends what the reader has room for.

It is a consumer with a name, so that nothing is deleted before the reader has stored it. The consumer's own
note is the incarnation of the link: it is made once, and is another one if the output or the root are others.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from australis.algebra.network import QUARANTINE
from australis.algebra.quality import Quality
from australis.cluster.identity import NodeName
from australis.cluster.links.acknowledging import Acknowledger
from australis.cluster.links.link import LinkedNode
from australis.cluster.wire import Agree, Ask, Begin, Refusal, Refused, Said, Stored, Tuples, packed
from australis.engine.change import life
from australis.engine.deliver import Follower
from australis.engine.store import SEQ
from australis.engine.threads import Threads
from australis.errors import AustralisError

_log = logging.getLogger(__name__)
ROWS, BODY_BYTES = 64 << 10, 512 << 10
"""About how many tuples are read at a time, and how many bytes of them go into a message.

A message is of use once it is whole, so that those of a link with a small share must not be large."""
Send = Callable[[Said, Any, int], None]


@dataclass(frozen=True)
class WriterStatus:
    """How a link out of this node goes."""

    output: str
    reader: str
    """The node and the input that read it."""
    weight: float
    sent: int
    """The number before which everything was sent."""
    stored: int
    """The number before which the reader has everything."""
    bytes_waiting: int
    worth: Quality | None = None
    """The graphs by which the output is served, as inferred from those of the outputs behind it."""


class Writer:
    """Sends an output to one reader over one connection; it ends with the connection."""

    def __init__(
        self,
        node: LinkedNode,
        peer: NodeName,
        ask: Ask,
        send: Send,
        acknowledger: Acknowledger,
        threads: Threads,
    ) -> None:
        self._node, self._ask, self._send_now, self._acknowledger = node, ask, send, acknowledger
        self._threads, self.peer = threads, peer
        self.consumer = f"link:{peer}/{ask.input}"
        self._changed: Any = threads.condition()
        self._begin: Begin | None = None
        self._incarnation = ""
        self._flight: deque[tuple[int, int]] = deque()
        """The ends and sizes of what was sent and is not stored yet."""
        self._in_flight = 0
        self._sent = self._stored = 0
        self._follower: Follower | None = None
        self._is_over = False

    @property
    def output(self) -> str:
        """The output that it sends."""
        return self._ask.output

    def start(self) -> None:
        """Begin to work."""
        self._threads.start(self._work, f"australis-link-{self._ask.output}")

    def status(self) -> WriterStatus:
        """How it goes."""
        with self._changed:
            return WriterStatus(
                self._ask.output,
                f"{self.peer}/{self._ask.input}",
                self._ask.weight,
                self._sent,
                self._stored,
                self._in_flight,
            )

    def begin(self, said: Begin) -> None:
        """The reader says where to begin."""
        with self._changed:
            if self._begin is None:
                self._begin = said
                self._changed.notify_all()

    def stored(self, said: Stored) -> bool:
        """The reader has stored something; returns whether that can be."""
        with self._changed:
            if not self._stored <= said.end <= self._sent:
                return False
            self._stored = said.end
            while self._flight and self._flight[0][0] <= said.end:
                self._in_flight -= self._flight.popleft()[1]
            self._changed.notify_all()
        self._acknowledger.note(self.consumer, self._ask.output, self._incarnation, said.end)
        return True

    def end(self) -> None:
        """Send nothing more."""
        with self._changed:
            self._is_over = True
            self._changed.notify_all()
            follower = self._follower
        if follower is not None:
            follower.close()

    # --- its thread

    def _work(self) -> None:
        try:
            begin = self._agree()
            if begin is not None:
                self._send(begin)
        except Exception as error:
            if not self._is_over:
                is_known = isinstance(error, AustralisError)
                told = "%s gets nothing more of %s: %s"
                _log.warning(told, self.peer, self._ask.output, error, exc_info=not is_known)
                self._refuse(Refused.STOPPED, str(error))

    def _agree(self) -> Begin | None:
        """Offer the output as it is, and wait for the reader's answer; None if there is none."""
        output = self._ask.output
        number, note = self._node.consumer(self.consumer, output)
        if note is None:
            note = life(self._threads.now_us())
            self._node.acknowledge(self.consumer, output, number, note)
        schema = None if output == QUARANTINE else self._node.output_schema(output)
        if schema is None:
            self._refuse(Refused.NOT_OFFERED, f"there is no output {output!r}")
            return None
        self._incarnation, self._stored = note, number
        written = schema.arrow_with_ts.serialize().to_pybytes()
        self._send_now(Agree(self._ask.link, note, number, written), b"", 0)
        with self._changed:
            while self._begin is None and not self._is_over:
                self._changed.wait()
            begin = self._begin
        if self._is_over or begin is None:
            return None
        if begin.number < number:
            what = f"it had stored everything before {number:,}, and now has what is before {begin.number:,}"
            self._refuse(Refused.LOST, what)
            return None
        return begin

    def _send(self, begin: Begin) -> None:
        output, link = self._ask.output, self._ask.link
        if begin.number > self._stored:
            self._acknowledger.note(self.consumer, output, self._incarnation, begin.number)
        with self._changed:
            self._sent = self._stored = begin.number
            follower = self._follower = self._node.follow(output, begin.number)
            if self._is_over:
                return
        while self._has_room(begin.window) and (part := follower.next(ROWS)) is not None:
            if part.is_missed:
                _log.info("%s never gets %s from %d to %d", self.peer, output, part.begin, part.end)
            for table, end in pieces(part.table, part.end, BODY_BYTES):
                if not self._has_room(begin.window):
                    return
                body = packed(table.drop_columns([SEQ]))
                said = Tuples(link, self._sent, end, table.num_rows)
                self._sending(end, body.size)
                self._send_now(said, body, link)
        if not self._is_over:
            why = "it was removed" if follower.over == "removed" else "the node has stopped"
            self._refuse(Refused.STOPPED, f"{output}: {why}")

    def _has_room(self, window: int) -> bool:
        """Wait until the reader has room; whether there is still something to do."""
        with self._changed:
            while self._in_flight >= window and not self._is_over:
                self._changed.wait()
            return not self._is_over

    def _sending(self, end: int, size: int) -> None:
        with self._changed:
            self._sent = end
            self._flight.append((end, size))
            self._in_flight += size

    def _refuse(self, code: Refused, why: str) -> None:
        self._send_now(Refusal(self._ask.link, code, why[:2000]), b"", 0)


def pieces(table: pa.Table, end: int, size: int) -> Iterator[tuple[pa.Table, int]]:
    """A table, by number, in pieces of about so many bytes, with the number before which each has everything.

    Tuples of one number stay together.

    >>> table = pa.table({"#seq": [1, 2, 2, 2, 5]})
    >>> [(piece["#seq"].to_pylist(), end) for piece, end in pieces(table, 9, 16)]
    [([1, 2, 2, 2], 5), ([5], 9)]
    """
    rows = max(1, size * table.num_rows // max(1, table.nbytes))
    numbers, at = table[SEQ].to_numpy(), 0
    while len(numbers) - at > rows:
        next_at = int(np.searchsorted(numbers, numbers[at + rows - 1], side="right"))
        if next_at == len(numbers):
            break
        yield table.slice(at, next_at - at), int(numbers[next_at])
        at = next_at
    if at < len(numbers):
        yield table.slice(at), end
