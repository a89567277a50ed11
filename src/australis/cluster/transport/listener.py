"""Listens for other nodes; each handshake has a thread of its own, and there are not many at a time."""

from __future__ import annotations

import errno
import logging
import socket
import threading
from collections.abc import Callable

from australis.engine.threads import Threads
from australis.errors import AustralisError, ClusterError, Problem

_log = logging.getLogger(__name__)
HANDSHAKES_MOST = 32


class Listener:
    """A socket that other nodes dial."""

    def __init__(
        self, place: tuple[str, int], taken: Callable[[socket.socket], None], threads: Threads
    ) -> None:
        self._taken, self._threads = taken, threads
        self._socket = _bound(place)
        self.place: tuple[str, int] = self._socket.getsockname()[:2]
        self._room = threading.BoundedSemaphore(HANDSHAKES_MOST)
        self._is_closed = False

    def start(self) -> None:
        """Begin to accept connections."""
        self._threads.start(self._accept, "australis-accept")

    def close(self) -> None:
        """Accept no more."""
        self._is_closed = True
        try:
            # On Linux this ends an `accept` that waits; closing alone does not.
            self._socket.shutdown(socket.SHUT_RDWR)
        except OSError as error:
            _log.debug("the listener was closed already: %s", error)
        self._socket.close()

    def _accept(self) -> None:
        while not self._is_closed:
            try:
                bare, _ = self._socket.accept()
            except OSError as error:
                if not self._is_closed:
                    _log.warning("a connection could not be accepted: %s", error)
                continue
            if not self._room.acquire(blocking=False):
                bare.close()
                continue
            self._threads.start(lambda bare=bare: self._take(bare), "australis-handshake")  # type: ignore[misc]

    def _take(self, bare: socket.socket) -> None:
        try:
            self._taken(bare)
        except (AustralisError, OSError) as error:
            bare.close()
            _log.warning("a connection is refused: %s", error)
        finally:
            self._room.release()


def _bound(place: tuple[str, int]) -> socket.socket:
    host, port = place
    try:
        return socket.create_server(place, family=socket.AF_INET6 if ":" in host else socket.AF_INET)
    except OSError as error:
        hint = "another port" if error.errno == errno.EADDRINUSE else "an address of this machine"
        what = f"cannot listen on {host}:{port}: {error.strerror}"
        raise ClusterError(Problem("listen", what, hint)) from error


def reached_at(place: tuple[str, int]) -> tuple[str, int]:
    """Where others reach a listener: at this machine's name, if it listens on all addresses.

    >>> reached_at(("127.0.0.1", 8402)), reached_at(("0.0.0.0", 8402)) == (socket.gethostname(), 8402)
    (('127.0.0.1', 8402), True)
    """
    host, port = place
    return (socket.gethostname() if host in ("", "0.0.0.0", "::") else host), port
