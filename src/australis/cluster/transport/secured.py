"""A TLS connection that one thread reads while another writes.

OpenSSL allows one call at a time for each connection, and a thread that waits for bytes would hold it. So TLS
runs between buffers, under a lock, and only its encrypted bytes go through the socket.
"""

from __future__ import annotations

import contextlib
import socket
import ssl
from typing import Any

from australis.cluster.identity import Credentials, NodeName, peer_of
from australis.engine.threads import Threads
from australis.errors import ClusterError, Problem

HANDSHAKE_S = 10.0
READ_BYTES = 256 << 10
_SOCKET_BYTES = 256 << 10
"""What the kernel may hold of what is sent: a control message waits for no more than that."""


class Secured:
    """One side of a connection whose other side has proved its name."""

    def __init__(
        self, bare: socket.socket, credentials: Credentials, threads: Threads, *, dials: bool
    ) -> None:
        """Take over a socket, and shake hands; raises if the other side shows no good certificate."""
        self._socket, self._lock = bare, threads.lock()
        self._arrived, self._leaving = ssl.MemoryBIO(), ssl.MemoryBIO()
        context = credentials.dialling if dials else credentials.listening
        self._tls = context.wrap_bio(self._arrived, self._leaving, server_side=not dials)
        bare.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        bare.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _SOCKET_BYTES)
        bare.settimeout(HANDSHAKE_S)
        self.peer: NodeName = self._shake_hands()
        bare.settimeout(None)

    def _shake_hands(self) -> NodeName:
        try:
            while True:
                try:
                    self._tls.do_handshake()
                    break
                except ssl.SSLWantReadError:
                    # It is the other side's turn.
                    self._flush()
                    self._fill()
            self._flush()
        except ssl.SSLError as error:
            self._say_why()
            why = getattr(error, "verify_message", "") or error.reason or str(error)
            raise ClusterError(
                Problem("", f"no secure connection: {why}", "a certificate that is trusted")
            ) from error
        except EOFError:
            what = "the other side ended the connection before it was secure"
            raise ClusterError(Problem("", what, "a node that trusts this one's authority")) from None
        return peer_of(self._tls.getpeercert())

    def _say_why(self) -> None:
        """Send the alert that tells the other side what was wrong."""
        try:
            self._flush()
        except OSError:
            # It has gone already, and nobody needs to be told.
            return

    def _flush(self) -> None:
        if data := self._leaving.read():
            self._socket.sendall(data)

    def _fill(self) -> None:
        data = self._socket.recv(READ_BYTES)
        if not data:
            raise EOFError
        self._arrived.write(data)

    def send(self, head: bytes, content: memoryview) -> None:
        """Send some bytes; for one thread only."""
        with self._lock:
            self._tls.write(head)
            if content:
                self._tls.write(content)
            data = self._leaving.read()
        self._socket.sendall(data)

    def receive(self) -> bytes:
        """The next bytes; none at the end. For one thread only."""
        while True:
            with self._lock:
                try:
                    return self._tls.read(READ_BYTES)
                except ssl.SSLWantReadError:
                    # Nothing is complete yet: more must come from the socket, outside the lock.
                    pass
                except ssl.SSLZeroReturnError:
                    # The other side has said farewell.
                    return b""
            data: Any = self._socket.recv(READ_BYTES)
            if not data:
                return b""
            with self._lock:
                self._arrived.write(data)

    def close(self) -> None:
        """End both directions, whatever waits in them."""
        with contextlib.suppress(OSError):  # the other side was first
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
