"""Files that nothing refers to any more: deleted as soon as nobody who may still read them is at work."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from australis.engine.storage.root import PLANS, SEGMENTS, STATES, Root
from australis.errors import EngineError, Problem


class Graveyard:
    """Deletes files below a root. Who reads some takes a number first, and gives it back."""

    def __init__(self, root: Root) -> None:
        self._root = root
        self._lock = threading.Lock()
        self._numbers = itertools.count()
        self._readers: set[int] = set()
        self._waiting: list[tuple[set[int], tuple[str, ...]]] = []

    def check(self, catalog: Path) -> None:
        """Refuse a root whose catalogue is gone: without it all files would look as if nobody needed them."""
        has_catalog = catalog.exists() and catalog.stat().st_size > 0
        if not has_catalog and any(self._names()):
            what = "is gone, though there are segments or states that it knew"
            expected = "the catalogue as it was; restore it from a copy, or take another root"
            raise EngineError(Problem(str(catalog), what, expected))

    def _names(self) -> Iterator[str]:
        for kind in (SEGMENTS, STATES):
            yield from self._root.names(kind)

    def sweep(self, known: Collection[str]) -> int:
        """Delete what a node left behind that ended before it could commit or delete it."""
        orphans = [name for name in self._names() if name not in known] + list(self._root.names(PLANS))
        for name in orphans:
            self._root.delete(name)
        return len(orphans)

    def enter(self) -> int:
        """Begin to read: files that are buried from now on stay until `leave`."""
        with self._lock:
            number = next(self._numbers)
            self._readers.add(number)
            return number

    def leave(self, number: int) -> None:
        """End to read."""
        with self._lock:
            self._readers.discard(number)
            free = [names for readers, names in self._waiting if not readers & self._readers]
            self._waiting = [each for each in self._waiting if each[0] & self._readers]
        self._delete(itertools.chain.from_iterable(free))

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Read inside."""
        number = self.enter()
        try:
            yield
        finally:
            self.leave(number)

    def bury(self, names: Iterable[str]) -> None:
        """Delete files, once those are done who read now."""
        with self._lock:
            if self._readers:
                self._waiting.append((set(self._readers), tuple(names)))
                return
        self._delete(names)

    def _delete(self, names: Iterable[str]) -> None:
        for name in names:
            self._root.delete(name)
