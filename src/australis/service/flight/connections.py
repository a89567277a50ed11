"""Ends connections of clients that take nothing: gRPC in Python cannot end a call that waits to send."""

from __future__ import annotations

import os
import socket
import threading
import time
from urllib.parse import unquote


def cut(port: int, peer: str | None = None) -> int:
    """Shut down the connections that were accepted on a port, of one peer or of all; returns how many."""
    count = 0
    for number in map(int, os.listdir("/dev/fd")):
        try:
            connection = socket.socket(fileno=os.dup(number))
        except OSError:
            continue  # it is no socket, or was closed meanwhile
        with connection:
            count += _cut(connection, port, peer)
    return count


def _cut(connection: socket.socket, port: int, peer: str | None) -> bool:
    try:
        other = connection.getpeername()
        if connection.getsockname()[1] != port or (peer is not None and not _is(peer, other)):
            return False
        connection.shutdown(socket.SHUT_RDWR)
    except (OSError, IndexError):
        return False  # it listens, or is not of the Internet, or was closed meanwhile
    return True


def _is(peer: str, address: tuple[str, int]) -> bool:
    """Whether gRPC's text for a peer is an address.

    >>> _is("ipv4:127.0.0.1:4242", ("127.0.0.1", 4242)), _is("ipv6:%5B::1%5D:4242", ("::1", 4242))
    (True, True)
    """
    host, _, port = unquote(peer).partition(":")[2].rpartition(":")
    return (host.strip("[]"), port) == (address[0], str(address[1]))


class Patience:
    """Watches calls that send, and ends the connections of those whose clients take nothing for too long."""

    def __init__(self, limit_s: float) -> None:
        self._limit_s = limit_s
        self._lock, self._sending = threading.Lock(), dict[object, tuple[str, float]]()
        self._ended = threading.Event()

    def begin(self, call: object, peer: str) -> None:
        """A call begins to send a batch."""
        with self._lock:
            self._sending[call] = (peer, time.monotonic())

    def end(self, call: object) -> None:
        """It is sent, or the call is over."""
        with self._lock:
            self._sending.pop(call, None)

    def watch(self, port: int) -> None:
        """Watch until `close`, in a thread of its own."""
        while not self._ended.wait(self._limit_s / 4):
            now = time.monotonic()
            with self._lock:
                late = {peer for peer, since in self._sending.values() if now - since > self._limit_s}
            for peer in late:
                cut(port, peer)

    def close(self) -> None:
        """Watch no more."""
        self._ended.set()
