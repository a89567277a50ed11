"""Who subscribes: how many, how far behind, and what they have taken and missed, by output and way."""

from __future__ import annotations

import threading
from collections import defaultdict
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Protocol


class Way(StrEnum):
    """How a subscriber is reached."""

    EVENTS = "events"
    """Server-sent events."""
    SOCKET = "socket"
    """A WebSocket."""
    FLIGHT = "flight"


class Reader(Protocol):
    """One who subscribes."""

    output: str
    way: Way
    taken: int
    missed: int

    @property
    def behind(self) -> int: ...


@dataclass
class Readership:
    """The subscribers of one output by one way."""

    subscribers: int = 0
    behind: int = 0
    """How many numbers of the log the slowest of them is behind the output."""
    taken: int = 0
    """Tuples that they have taken, with those that have left."""
    missed: int = 0
    """Numbers that they were told to have missed, with those that have left."""

    def add(self, reader: Reader) -> None:
        """Count what a reader has taken and missed."""
        self.taken += reader.taken
        self.missed += reader.missed


class Audience:
    """All subscribers, and what those that have left have taken and missed."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._readers: set[Reader] = set()
        self._gone: defaultdict[tuple[str, Way], Readership] = defaultdict(Readership)

    def join(self, reader: Reader) -> None:
        """Count a reader."""
        with self._lock:
            self._readers.add(reader)

    def leave(self, reader: Reader) -> None:
        """Count it no longer; what it has taken stays counted."""
        with self._lock:
            if reader in self._readers:
                self._readers.remove(reader)
                self._gone[reader.output, reader.way].add(reader)

    def seen(self) -> dict[tuple[str, Way], Readership]:
        """The subscribers by output and way, those included that have had some."""
        with self._lock:
            found = {key: replace(gone) for key, gone in self._gone.items()}
            for reader in self._readers:
                each = found.setdefault((reader.output, reader.way), Readership())
                each.add(reader)
                each.subscribers += 1
                each.behind = max(each.behind, reader.behind)
        return dict(sorted(found.items()))
