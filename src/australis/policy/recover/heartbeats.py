"""Heartbeats: which server has been silent for too long (section 6.3)."""

from __future__ import annotations

from collections.abc import Iterable


class Heartbeats:
    """Monitors some servers downstream; heartbeats of other servers are ignored.

    >>> beats = Heartbeats(["s2", "s3"], timeout_s=2.0)
    >>> beats.heard("s2", 1.5)
    >>> beats.silent(3.0), beats.silent(3.1)
    (['s3'], [])
    """

    def __init__(self, servers: Iterable[str], timeout_s: float, now: float = 0.0) -> None:
        self._timeout_s = timeout_s
        self._heard = dict.fromkeys(servers, now)
        self._failed: set[str] = set()

    def heard(self, server: str, now: float) -> None:
        """A server is alive, or alive again."""
        if server in self._heard:
            self._heard[server] = now
            self._failed.discard(server)

    def silent(self, now: float) -> list[str]:
        """The servers that must have failed, each reported once until it is heard again."""
        found = [
            server
            for server, heard in self._heard.items()
            if now - heard > self._timeout_s and server not in self._failed
        ]
        self._failed.update(found)
        return found

    def awaited(self, server: str, now: float) -> None:
        """A server was restarted, and has time to send its first heartbeat."""
        self.heard(server, now)
