"""Commits acknowledgements of links: the newest of each, all that wait at a time."""

from __future__ import annotations

import logging
from typing import Any

from australis.cluster.links.link import LinkedNode
from australis.engine.threads import Thread, Threads
from australis.errors import AustralisError

_log = logging.getLogger(__name__)
_Key = tuple[str, str, str]


class Acknowledger:
    """A thread that records how far readers of links have come; whoever hears of that need not wait."""

    def __init__(self, node: LinkedNode, threads: Threads) -> None:
        self._node = node
        self._changed: Any = threads.condition()
        self._waiting: dict[_Key, int] = {}
        self._is_ended = False
        self._thread: Thread = threads.start(self._work, "australis-acknowledge")

    def note(self, consumer: str, output: str, incarnation: str, end: int) -> None:
        """A reader has everything before a number."""
        with self._changed:
            key = (consumer, output, incarnation)
            self._waiting[key] = max(end, self._waiting.get(key, 0))
            self._changed.notify_all()

    def close(self) -> None:
        """Commit what waits, and end."""
        with self._changed:
            self._is_ended = True
            self._changed.notify_all()
        self._thread.join(10.0)

    def _work(self) -> None:
        while found := self._next():
            for (consumer, output, incarnation), end in found.items():
                try:
                    self._node.acknowledge(consumer, output, end, incarnation)
                except AustralisError as error:
                    # The reader says again what it has when the link begins anew.
                    _log.warning("what %s has of %s is not noted: %s", consumer, output, error)
                except Exception:
                    _log.exception("what %s has of %s is not noted", consumer, output)

    def _next(self) -> dict[_Key, int]:
        """What waits, once there is something; nothing at the end."""
        with self._changed:
            while not self._waiting and not self._is_ended:
                self._changed.wait()
            found, self._waiting = self._waiting, {}
            return found
