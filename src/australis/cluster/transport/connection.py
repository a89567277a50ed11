"""A connection to another node: a thread that reads and one that writes, until either side ends it."""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa

from australis.cluster.identity import NodeName
from australis.cluster.transport.clocks import ClockOffset
from australis.cluster.transport.fair_queue import FairQueue
from australis.cluster.transport.secured import Secured
from australis.cluster.wire import CONTROL, Assembly, Beat, Echo, Hello, Message, Said, encoded
from australis.engine.threads import Threads
from australis.errors import AustralisError

MESSAGE_MOST = 256 << 20
"""The longest message that is read."""

Heard = Callable[["Connection", Message], None]
Ended = Callable[["Connection"], None]


class Connection:
    """Sends and receives messages; all methods may be called from any thread."""

    def __init__(
        self, secured: Secured, *, is_dialler: bool, heard: Heard, ended: Ended, threads: Threads
    ) -> None:
        self._secured, self._heard, self._ended, self._threads = secured, heard, ended, threads
        self._queue = FairQueue(threads)
        self.peer: NodeName = secured.peer
        self.is_dialler = is_dialler
        """Whether this side made the connection."""
        self.hello: Hello | None = None
        """What the other side said first."""
        self.clock = ClockOffset()
        self.sent = self.received = 0
        """Bytes in each direction, without those of TLS."""
        self.problem = ""
        """Why it ended."""
        self._last_heard_ns = self._last_used_ns = threads.ticks_ns()
        self._end_lock = threads.lock()
        self._is_ended = False

    def start(self) -> None:
        """Begin to read and to write."""
        self._threads.start(self._write, f"australis-write-{self.peer}")
        self._threads.start(self._read, f"australis-read-{self.peer}")

    def send(self, said: Said, body: pa.Buffer | bytes = b"", stream: int = CONTROL) -> None:
        """Send a message, after those of its stream and by the stream's weight."""
        if not isinstance(said, Beat | Echo):
            self._last_used_ns = self._threads.ticks_ns()
        self._queue.put(stream, encoded(said, body))

    def weigh(self, stream: int, weight: float) -> None:
        """Give a stream its weight."""
        self._queue.weigh(stream, weight)

    def drop(self, stream: int) -> None:
        """Forget what waits on a stream."""
        self._queue.drop(stream)

    def beat(self) -> None:
        """Show the other side that this one is alive, and ask for its time."""
        self.send(Beat(self._threads.now_us()))

    @property
    def silent_s(self) -> float:
        """For how long nothing has come."""
        return (self._threads.ticks_ns() - self._last_heard_ns) / 1e9

    @property
    def idle_s(self) -> float:
        """For how long there was nothing but signs of life."""
        return (self._threads.ticks_ns() - self._last_used_ns) / 1e9

    def close(self, problem: str = "") -> None:
        """End it; messages that wait are lost."""
        with self._end_lock:
            if self._is_ended:
                return
            self._is_ended, self.problem = True, problem
        self._queue.close()
        self._secured.close()
        self._ended(self)

    # --- its threads

    def _write(self) -> None:
        try:
            while (frame := self._queue.take()) is not None:
                self._secured.send(*frame)
                self.sent += len(frame[0]) + len(frame[1])
        except OSError as error:
            self.close(f"the connection broke: {error}")

    def _read(self) -> None:
        assembly = Assembly(MESSAGE_MOST)
        try:
            while data := self._secured.receive():
                self.received += len(data)
                self._last_heard_ns = self._threads.ticks_ns()
                for message in assembly.feed(data):
                    self._take(message)
            self.close("the other side ended the connection")
        except OSError as error:
            self.close(f"the connection broke: {error}")
        except AustralisError as error:
            # Nothing that follows on this connection can be understood.
            self.close(str(error))

    def _take(self, message: Message) -> None:
        match message.said:
            case Beat(at):
                self.send(Echo(at, self._threads.now_us()))
            case Echo(beat, at):
                self.clock.heard(beat, at, self._threads.now_us())
            case _:
                self._last_used_ns = self._threads.ticks_ns()
                self._heard(self, message)
