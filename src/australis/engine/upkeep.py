"""Upkeep: what is done for arcs beside the trains, for few files, and for history in order."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Iterable

from australis.engine.compaction import Compaction
from australis.engine.ground import Ground
from australis.engine.history.gathering import Gathering


class Upkeep:
    """Tends arcs, each of them by one thread at a time: two would undo each other's work."""

    def __init__(self, ground: Ground) -> None:
        self._gathering, self._compaction = Gathering(ground), Compaction(ground)
        self._tended: defaultdict[str, threading.Lock] = defaultdict(threading.Lock)

    def tend(self, arcs: Iterable[str]) -> None:
        """Do what is worth it for arcs that a train has read or written."""
        for arc in dict.fromkeys(arcs):
            if self._tended[arc].acquire(blocking=False):
                try:
                    while self._gathering.gather(arc):
                        pass
                    self._compaction.compact([arc])
                finally:
                    self._tended[arc].release()
