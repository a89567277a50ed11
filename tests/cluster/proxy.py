"""A proxy between two nodes, which can be cut, held up and slowed down."""

from __future__ import annotations

import socket
import threading
import time
from contextlib import suppress


class Proxy:
    """Passes on the bytes of connections to a place; `bytes_per_s` limits those of each direction."""

    def __init__(self, place: tuple[str, int], bytes_per_s: float | None = None) -> None:
        self._place, self._rate = place, bytes_per_s
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.place: tuple[str, int] = self._listener.getsockname()
        self._sockets: set[socket.socket] = set()
        self._lock = threading.Lock()
        self._open = threading.Event()
        self._open.set()
        self.passed = 0
        """Bytes in both directions."""
        threading.Thread(target=self._accept, daemon=True).start()

    def cut(self) -> None:
        """End all connections; new ones are passed on."""
        with self._lock:
            found, self._sockets = self._sockets, set()
        for each in found:
            with suppress(OSError):  # it has gone already
                each.shutdown(socket.SHUT_RDWR)
            each.close()

    def hold(self) -> None:
        """Pass nothing on, and end nothing: a network that is partitioned."""
        self._open.clear()

    def release(self) -> None:
        """Pass on again what comes."""
        self._open.set()

    def close(self) -> None:
        with suppress(OSError):  # it was never used
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._open.set()
        self.cut()

    def _accept(self) -> None:
        while True:
            try:
                near, _ = self._listener.accept()
            except OSError:
                # The proxy was closed.
                return
            try:
                far = socket.create_connection(self._place)
            except OSError:
                # Nobody listens behind it.
                near.close()
                continue
            for each in (near, far):
                each.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 64 << 10)
            with self._lock:
                # From here on another thread may close them.
                self._sockets |= {near, far}
            for one, other in ((near, far), (far, near)):
                threading.Thread(target=self._pass, args=(one, other), daemon=True).start()

    def _pass(self, one: socket.socket, other: socket.socket) -> None:
        due = time.monotonic()
        with suppress(OSError):  # either side has ended
            while data := one.recv(16 << 10):
                self._open.wait()
                if self._rate is not None:
                    # A link of this speed is what is tested: the time that the bytes take is its.
                    due = max(due, time.monotonic()) + len(data) / self._rate
                    time.sleep(max(0.0, due - time.monotonic()))
                other.sendall(data)
                self.passed += len(data)
        for each in (one, other):
            with suppress(OSError):  # it has gone already
                each.shutdown(socket.SHUT_RDWR)
