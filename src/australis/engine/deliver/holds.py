"""Files that stay for a while, since somebody outside reads them at a time of its own."""

from __future__ import annotations

from australis.engine.ledger import Ledger, Queues
from australis.engine.threads import Threads


class Holds:
    """Keeps the files of some moments, each for a number of seconds."""

    def __init__(self, ledger: Ledger, threads: Threads) -> None:
        self._ledger, self._threads = ledger, threads
        self._changed = threads.condition()
        self._held: list[tuple[int, int]] = []
        """When each ends, on the clock for durations, and the number of its reader."""
        self._is_watched = False

    def take(self, seconds: float) -> Queues:
        """The queues of this moment, whose files stay for so long."""
        reader = self._ledger.enter()
        with self._changed:
            self._held.append((self._threads.ticks_ns() + int(seconds * 1e9), reader))
            if not self._is_watched:
                self._is_watched = True
                self._threads.start(self._watch, "australis-holds")
            self._changed.notify_all()
        return self._ledger.queues

    def close(self) -> None:
        """End all of them."""
        with self._changed:
            self._held = [(0, reader) for _, reader in self._held]
            self._changed.notify_all()

    def _watch(self) -> None:
        while True:
            with self._changed:
                if not self._held:
                    self._is_watched = False
                    return
                now = self._threads.ticks_ns()
                over = [reader for end, reader in self._held if end <= now]
                self._held = [each for each in self._held if each[0] > now]
                if not over:
                    self._changed.wait((min(self._held)[0] - now) / 1e9)
            for reader in over:
                self._ledger.leave(reader)
