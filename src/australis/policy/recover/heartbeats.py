"""Heartbeats: which server has been silent for too long (section 6.3)."""

from __future__ import annotations

from collections.abc import Iterable


class Heartbeats:
    """Monitors some servers downstream; heartbeats of other servers are ignored.

    >>> beats = Heartbeats(["s2", "s3"], timeout_us=2_000_000)
    >>> beats.heard("s2", 1_500_000)
    >>> beats.silent(3_000_000), beats.silent(3_100_000)
    (['s3'], [])
    """

    def __init__(self, servers: Iterable[str], timeout_us: float) -> None:
        self._timeout_us = timeout_us
        self.heard_at = dict.fromkeys(servers, 0)
        self.failed: set[str] = set()

    def begin(self, now: int) -> None:
        """Watch from now on: nobody is to blame for what was not heard before."""
        self.heard_at = dict.fromkeys(self.heard_at, now)
        self.failed.clear()

    def heard(self, server: str, now: int) -> None:
        """A server is alive, or was restarted and has time to send its first heartbeat."""
        if server in self.heard_at:
            self.heard_at[server] = now
            self.failed.discard(server)

    def silent(self, now: int) -> list[str]:
        """The servers that must have failed, each reported once until it is heard again."""
        found = [
            server
            for server, heard in self.heard_at.items()
            if now - heard > self._timeout_us and server not in self.failed
        ]
        self.failed.update(found)
        return found
