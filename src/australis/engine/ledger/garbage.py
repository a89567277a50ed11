"""Files that nothing refers to any more: deleted as soon as nobody who may still read them is at work."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from australis.engine.store.root import HISTORY, PLANS, SEGMENTS, STATES, Root
from australis.errors import EngineError, Problem


class Graveyard:
    """Deletes files below a root. Who reads some takes a number first, and gives it back."""

    def __init__(self, root: Root) -> None:
        self._root = root
        # Whoever reads may end anywhere, when nothing refers to it any more: also in here.
        self._lock = threading.RLock()
        self._numbers = itertools.count()
        self._readers: set[int] = set()
        self._waiting: list[tuple[set[int], tuple[str, ...]]] = []
        self._listed: tuple[str, ...] = ()
        """Runs that expired last: somebody in another process may have just listed their folder."""

    def check(self, catalog: Path) -> None:
        """Refuse a root whose catalogue is gone: without it all files would look as if nobody needed them."""
        has_catalog = catalog.exists() and catalog.stat().st_size > 0
        if not has_catalog and any(self._names()):
            what = "is gone, though there are segments or states that it knew"
            expected = "the catalogue as it was; restore it from a copy, or take another root"
            raise EngineError(Problem(str(catalog), what, expected))

    def _names(self) -> Iterator[str]:
        for kind in (SEGMENTS, STATES, HISTORY):
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
        """Delete files, once those are done who read now; runs of history when the next ones are buried."""
        with self._lock:
            free = self._without_listed(tuple(names))
            if self._readers:
                self._waiting.append((set(self._readers), free))
                return
        self._delete(free)

    def _without_listed(self, names: tuple[str, ...]) -> tuple[str, ...]:
        runs = tuple(name for name in names if name.startswith(f"{HISTORY}/"))
        if not runs:
            return names
        listed, self._listed = self._listed, runs
        return (*listed, *(name for name in names if name not in runs))

    def _delete(self, names: Iterable[str]) -> None:
        for name in names:
            self._root.delete(name)
