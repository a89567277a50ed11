"""The reading side of a link: asks for an output, and pushes what comes into an input, exactly once.

The position of a push is the number before which everything has come, under a name with the link's
incarnation. It is committed with the tuples, so whatever is sent again after a crash or a lost connection is
known.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from australis.algebra.quality import Quality
from australis.algebra.schema import TS
from australis.cluster.links.link import (
    WEIGHT_LEAST,
    WEIGHT_MOST,
    Link,
    LinkedNode,
    LinkState,
    LinkStatus,
    boxes_of,
)
from australis.cluster.links.worths import differs_little
from australis.cluster.transport import MESSAGE_MOST, Connection
from australis.cluster.wire import (
    Agree,
    Ask,
    Begin,
    Close,
    Define,
    Message,
    Refusal,
    Stored,
    Tuples,
    Worth,
    unpacked,
)
from australis.engine.ingest import Busy, fitting
from australis.engine.threads import Thread, Threads
from australis.errors import AustralisError, ClusterError, Problem
from australis.policy.upstream import inferred

_log = logging.getLogger(__name__)
WINDOW = 32 << 20
"""How many bytes a link may have under way; a message more may come."""
PUSH_BYTES = 16 << 20
"""About how many bytes are pushed at a time: what has come meanwhile is pushed together."""
FIRST_S, LONGEST_S = 0.2, 10.0
"""The waits before a link is asked for again: the first, and the longest."""
_BUSY_S = 1.0


AGEING = 0.3
"""How far a new age of tuples is believed at once."""


class Reader:
    """One link into this node, over whatever connection there is; all but its thread may be any thread."""

    def __init__(
        self,
        node: LinkedNode,
        link: Link,
        numbers: Callable[[Reader], int],
        window: int,
        threads: Threads,
        refused: Callable[[Link, Refusal], None] = lambda link, refusal: None,
        grant: Callable[[Link], bytes] = lambda link: b"",
    ) -> None:
        """`numbers` gives the link a new number whenever it is asked for; `refused` is told of refusals.

        `grant` finds what lets this node define boxes at the other one.
        """
        self._refused, self._grant = refused, grant
        self._version = threads.now_us()
        self._node, self.link, self._window, self._threads = node, link, window, threads
        self._numbers, self.number = numbers, 0
        self._changed: Any = threads.condition()
        self._connection: Connection | None = None
        self._asked_on: Connection | None = None
        self._inbox: deque[Message] = deque()
        self._in_inbox = 0
        self._is_asked = self._is_ended = False
        self._wait_s = FIRST_S
        self._status = LinkStatus(
            link.input, link.source, link.weight, LinkState.ABSENT, before=boxes_of(link.before)
        )
        # Of the link as it was agreed on with the present connection:
        self._source = ""
        self._position = 0
        self._age_us: float | None = None
        """How old tuples were when they were stored, lately; None before the first."""
        self._told: Worth | None = None
        self._schema: pa.Schema | None = None
        self._thread: Thread | None = None

    def start(self) -> None:
        """Begin to work."""
        self._thread = self._threads.start(self._work, f"australis-link-{self.link.input}")

    def status(self) -> LinkStatus:
        """How it goes."""
        with self._changed:
            return self._status

    # --- what comes from outside

    def joined(self, connection: Connection) -> None:
        """There is a connection with the other node."""
        with self._changed:
            self._connection = connection
            self._empty()
            self._changed.notify_all()

    def left(self, connection: Connection) -> None:
        """A connection has ended; what has come on it is still pushed or comes again."""
        with self._changed:
            if self._connection is connection:
                self._connection = self._asked_on = None
                self._empty()
                self._set(LinkState.ABSENT)
                self._changed.notify_all()

    def hear(self, connection: Connection, message: Message) -> None:
        """A message of this link has come; raises if it cannot be meant."""
        with self._changed:
            if connection is not self._asked_on:
                # It was on its way when the link was closed.
                return
            if self._in_inbox > self._window + MESSAGE_MOST:
                raise ClusterError(Problem(self.link.source, "sends more than it was given room for"))
            self._inbox.append(message)
            self._in_inbox += len(message.body)
            self._changed.notify_all()

    def end(self) -> None:
        """Read nothing more; a push that is under way is completed."""
        with self._changed:
            self._is_ended = True
            if self._asked_on is not None and self._is_asked:
                self._asked_on.send(Close(self.number))
            self._changed.notify_all()

    def join(self, seconds: float) -> None:
        """Wait until it has ended."""
        if self._thread is not None:
            self._thread.join(seconds)

    def tell(self) -> None:
        """Tell the writer what its tuples are worth here, if that is something else than it was told."""
        with self._changed:
            connection, age_us = self._connection, self._age_us
            is_running = self._status.state is LinkState.RUNNING and connection is self._asked_on
        if connection is None or age_us is None or not is_running:
            return
        quality = inferred(self._node.behind(self.link.input, age_us / 1e6)) or Quality()
        weight = min(max(quality.weight, WEIGHT_LEAST), WEIGHT_MOST)
        said = Worth(self.number, quality.delay, quality.loss, weight, round(age_us))
        with self._changed:
            is_known = self._told is not None and differs_little(self._told, said)
            if is_known or connection is not self._asked_on:
                return
            self._told = said
        connection.send(said)

    # --- its thread

    def _work(self) -> None:
        while True:
            with self._changed:
                while not self._is_ended and not self._inbox and self._connection is self._asked_on:
                    self._changed.wait()
                if self._is_ended:
                    return
                connection, must_ask = self._connection, self._connection is not self._asked_on
                messages = [] if must_ask else self._next()
            if connection is None:
                continue
            try:
                if must_ask:
                    self._ask(connection)
                else:
                    self._handle(connection, messages)
            except Exception as error:
                if not isinstance(error, AustralisError):
                    _log.exception("the link from %s failed in a way that nobody expected", self.link.source)
                self._fail(connection, str(error))

    def _next(self) -> list[Message]:
        """The next message, or as many with tuples as are pushed together."""
        found, size = [self._inbox.popleft()], 0
        if isinstance(found[0].said, Tuples):
            size = len(found[0].body)
            while self._inbox and isinstance(self._inbox[0].said, Tuples) and size < PUSH_BYTES:
                found.append(self._inbox.popleft())
                size += len(found[-1].body)
        self._in_inbox -= size
        return found

    def _ask(self, connection: Connection) -> None:
        link, number = self.link, self._numbers(self)
        with self._changed:
            self._asked_on, self.number, self._schema, self._is_asked = connection, number, None, False
            self._told = None
            self._set(LinkState.ASKING)
        said: Ask | Define = Ask(number, link.output, link.input, link.weight)
        if link.before:
            piece, grant = link.before.encode(), self._grant(link)
            said = Define(number, link.output, link.input, link.weight, self._version, piece, grant)
        with self._changed:
            if self._is_ended or self._asked_on is not connection:
                # Whoever ends the link closes what was asked for by then, and nothing later.
                return
            self._is_asked = True
            connection.send(said)

    def _handle(self, connection: Connection, messages: Sequence[Message]) -> None:
        match messages[0].said:
            case Agree() as said:
                self._begin(connection, said)
            case Tuples():
                self._store(connection, messages)
            case Refusal(_, code, why) as said:
                self._refused(self.link, said)
                raise ClusterError(Problem(self.link.source, f"{why} ({code})"))

    def _begin(self, connection: Connection, said: Agree) -> None:
        """Compare what both sides know, and say from where on tuples are wanted."""
        self._schema = self._fitting(said)
        self._source = f"link {self.link.source} {said.incarnation}"
        known = self._node.position(self._source)
        self._position = said.begin if known is None else int(known)
        if known is None and said.begin:
            _log.warning("%s begins at %d: what was before it went elsewhere", self.link.source, said.begin)
        with self._changed:
            self._set(LinkState.RUNNING, position=self._position)
        connection.send(Begin(self.number, self._position, self._window))

    def _fitting(self, said: Agree) -> pa.Schema:
        """The schema of what will come, if it fits the input."""
        try:
            schema = pa.ipc.read_schema(pa.py_buffer(said.schema))
        except (pa.ArrowException, OSError, ValueError) as error:
            raise ClusterError(Problem(self.link.source, f"has a damaged schema: {error}")) from error
        network = self._node.recorded()
        if network is None or self.link.input not in network.inputs:
            raise ClusterError(Problem(self.link.input, "is no input of the network that runs here"))
        given = network.inputs[self.link.input]
        wanted = given.arriving.but_optional(*schema.names)
        fitting(f"{self.link.source} for {self.link.input}", schema.empty_table(), wanted)
        return schema

    def _store(self, connection: Connection, messages: Sequence[Message]) -> None:
        """Push tuples, and say so once they are durable."""
        if self._schema is None:
            raise ClusterError(Problem(self.link.source, "sent tuples before it agreed to"))
        end, tables = self._position, []
        for message in messages:
            said = message.said
            assert isinstance(said, Tuples)
            if not end == said.begin < said.end:
                what = f"sent tuples from {said.begin:,} to {said.end:,} after those before {end:,}"
                raise ClusterError(Problem(self.link.source, what))
            tables.append(unpacked(message.body, self._schema, said.rows))
            end = said.end
        table = pa.concat_tables(tables)
        if not self._push(table, end):
            return
        size = sum(len(each.body) for each in messages)
        self._note_age(table)
        with self._changed:
            self._position, self._wait_s = end, FIRST_S
            known = self._status
            self._set(
                LinkState.RUNNING,
                position=end,
                tuples=known.tuples + table.num_rows,
                bytes=known.bytes + size,
            )
        connection.send(Stored(self.number, end))

    def _note_age(self, table: pa.Table) -> None:
        if table.num_rows:
            arrived = np.asarray(table[TS].cast(pa.int64()))
            age_us = float(self._threads.now_us() - arrived.mean())
            known = self._age_us
            with self._changed:
                self._age_us = age_us if known is None else known + AGEING * (age_us - known)

    def _push(self, table: pa.Table, end: int) -> bool:
        """Push tuples once there is room; whether that came before the end."""
        while True:
            try:
                self._node.push(self.link.input, table, position=(self._source, end), wait_s=_BUSY_S)
                return True
            except Busy:
                # The writer waits meanwhile, and with it nothing but this link.
                if self._is_ended:
                    return False

    def _fail(self, connection: Connection, problem: str) -> None:
        """Close the link, and ask for it again after a while."""
        with self._changed:
            if self._asked_on is not connection or self._is_ended:
                return
            _log.warning("the link from %s is tried again: %s", self.link.source, problem)
            if self._is_asked:
                connection.send(Close(self.number))
            self._empty()
            self._set(LinkState.WAITING, problem=problem)
            until_ns = self._threads.ticks_ns() + int(self._wait_s * 1e9)
            while self._connection is connection:
                left_s = (until_ns - self._threads.ticks_ns()) / 1e9
                if left_s <= 0 or self._is_ended:
                    break
                self._changed.wait(left_s)
            self._asked_on, self._wait_s = None, min(2 * self._wait_s, LONGEST_S)
            self._empty()

    def _empty(self) -> None:
        self._inbox.clear()
        self._in_inbox = 0

    def _set(self, state: LinkState, **changes: Any) -> None:
        problem = changes.pop("problem", "" if state is LinkState.RUNNING else self._status.problem)
        self._status = replace(self._status, state=state, problem=problem, **changes)
