"""Messages between two processes of one machine: JSON objects and Arrow tables over a Unix socket.

Received data is never executed: there is no pickle, and each kind of frame has a maximum length.
"""

from __future__ import annotations

import json
import select
import socket
import struct
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

import pyarrow as pa

from australis.errors import EngineError, Problem

Message = dict[str, Any]

OBJECT, TABLE = b"J", b"T"
OBJECT_MOST, TABLE_MOST = 64 << 20, 1 << 30
"""The most bytes in a frame."""
TABLE_ABOUT = 8 << 20
"""About how many bytes of tuples are sent at once."""
_HEAD = struct.Struct("!cQ")


class Channel:
    """A conversation over a connected socket; it ends with EOFError when the other side has gone.

    A peer that reads or sends nothing for `patience_s` in the middle of a frame counts as gone, too.
    """

    def __init__(self, connected: socket.socket, patience_s: float) -> None:
        connected.settimeout(patience_s)
        self._socket, self._sending = connected, threading.Lock()
        self.is_torn = False
        """Whether a frame was begun and not completed, as when Ctrl-C comes in between."""

    def send(self, message: Mapping[str, Any], *tables: pa.Table) -> None:
        """Send an object and its tables, with nothing from other threads in between."""
        frames = [(OBJECT, json.dumps(message).encode()), *((TABLE, encoded(table)) for table in tables)]
        with self._sending, _unless_gone():
            self.is_torn = True
            for kind, content in frames:
                self._socket.sendall(_HEAD.pack(kind, len(content)))
                self._socket.sendall(content)
            self.is_torn = False

    def receive(self, most: int = OBJECT_MOST) -> Message:
        """The next object."""
        try:
            found = json.loads(self._frame(OBJECT, most))
        except (ValueError, RecursionError) as error:
            raise EngineError(Problem("message", f"is no JSON: {error}", "a JSON object")) from None
        if not isinstance(found, dict):
            raise EngineError(Problem("message", f"is a {type(found).__name__}", "a JSON object"))
        return found

    def receive_table(self) -> pa.Table:
        """The next table."""
        content = self._frame(TABLE, TABLE_MOST)
        try:
            with pa.ipc.open_stream(content) as reader:
                return reader.read_all()
        except (pa.ArrowException, OSError) as error:
            raise EngineError(Problem("message", f"is no Arrow stream: {error}", "a table")) from None

    def wait(self, also: socket.socket | None = None, timeout_s: float | None = None) -> bool:
        """Wait for something to receive, including the end; False when `also` or the timeout came first."""
        return is_readable(self._socket, also, timeout_s)

    def hang_up(self) -> None:
        """End the conversation, also for threads that wait for the other side."""
        # The other side may have ended it already.
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Hang up, and close the socket."""
        self.hang_up()
        self._socket.close()

    def _frame(self, wanted: bytes, most: int) -> bytearray:
        self.is_torn = True
        kind, length = _HEAD.unpack(self._exactly(_HEAD.size))
        if kind != wanted or length > most:
            what = f"begins with {kind!r} and has {length:,} bytes"
            expected = f"{wanted!r}, and at most {most:,} bytes"
            raise Garbled(Problem("message", what, expected))
        content = self._exactly(length)
        self.is_torn = False
        return content

    def _exactly(self, length: int) -> bytearray:
        content = bytearray(length)
        rest = memoryview(content)
        with _unless_gone():
            while rest:
                taken = self._socket.recv_into(rest)
                if not taken:
                    raise EOFError("the other side has hung up")
                rest = rest[taken:]
        return content


def is_readable(
    wanted: socket.socket, also: socket.socket | None = None, timeout_s: float | None = None
) -> bool:
    """Wait until a socket has something to read or to accept; False when `also` or the timeout came first."""
    poll = select.poll()
    for each in (wanted, *(() if also is None else (also,))):
        poll.register(each, select.POLLIN)
    ready = {number for number, _ in poll.poll(None if timeout_s is None else timeout_s * 1000)}
    return wanted.fileno() in ready and (also is None or also.fileno() not in ready)


class Garbled(EngineError):
    """Bytes that are not a frame, after which nothing can be understood."""


@contextmanager
def _unless_gone() -> Iterator[None]:
    """Treat any socket error of a peer that is gone or hangs as the end of the conversation."""
    try:
        yield
    except OSError as error:
        raise EOFError(str(error)) from error


def encoded(table: pa.Table) -> bytes:
    """A table as an Arrow stream."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    content: bytes = sink.getvalue().to_pybytes()
    return content


def slices(table: pa.Table) -> Iterator[pa.Table]:
    """A table in parts small enough to send at once; an empty table is one part.

    >>> [part.num_rows for part in slices(pa.table({"x": range(2_000_000)}))]
    [1000000, 1000000]
    """
    parts = max(1, -(-table.nbytes // TABLE_ABOUT))
    rows = max(1, -(-table.num_rows // parts))
    for begin in range(0, max(table.num_rows, 1), rows):
        yield table.slice(begin, rows)
