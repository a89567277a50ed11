"""Files that nothing refers to any more: deleted once no reader that may still need them is at work."""

from __future__ import annotations

import itertools
import logging
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager

from australis.engine.store import HISTORY, PLANS, SEGMENTS, STATES, Root, Trash
from australis.engine.threads import SYSTEM, Threads

_log = logging.getLogger(__name__)


class Garbage:
    """Deletes files below a root. A reader takes a number first, and returns it when it has finished."""

    def __init__(self, root: Root, threads: Threads = SYSTEM) -> None:
        self._root, self.trash = root, Trash(root, threads.now_us)
        # A reader may be garbage collected, and so end, at any point: even inside here.
        self._lock = threads.lock()
        self._numbers = itertools.count()
        self._readers: set[int] = set()
        self._writers: set[int] = set()
        self._waiting: list[tuple[set[int], tuple[str, ...]]] = []
        self._listed: tuple[str, ...] = ()
        """Runs that expired last: another process may have just listed their folder."""

    # --- readers

    def enter(self) -> int:
        """Begin to read: files that are buried from now on stay until `leave`."""
        with self._lock:
            number = next(self._numbers)
            self._readers.add(number)
            return number

    def leave(self, number: int) -> None:
        """Stop reading, and delete files that no other reader needs."""
        with self._lock:
            self._readers.discard(number)
            free = [names for readers, names in self._waiting if not readers & self._readers]
            self._waiting = [each for each in self._waiting if each[0] & self._readers]
        self._delete(itertools.chain.from_iterable(free))

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Read inside the block."""
        number = self.enter()
        try:
            yield
        finally:
            self.leave(number)

    # --- writers

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Write files inside the block, and commit them: until then they are not orphans."""
        with self._lock:
            number = next(self._numbers)
            self._writers.add(number)
        try:
            yield
        finally:
            with self._lock:
                self._writers.discard(number)

    def at_work(self) -> frozenset[int]:
        """Who may have written files that are not yet committed: trains and maintenance read as well."""
        with self._lock:
            return frozenset(self._readers | self._writers)

    # --- files

    def pending(self) -> set[str]:
        """The files that are buried, but stay because somebody may still read them."""
        with self._lock:
            return {*self._listed, *(name for _, names in self._waiting for name in names)}

    def bury(self, names: Iterable[str]) -> None:
        """Delete files once the current readers finish; runs of history only when later ones are buried."""
        with self._lock:
            free = self._defer_runs(tuple(names))
            if free and self._readers:
                self._waiting.append((set(self._readers), free))
                return
        self._delete(free)

    def _defer_runs(self, names: tuple[str, ...]) -> tuple[str, ...]:
        runs = tuple(name for name in names if name.startswith(f"{HISTORY}/"))
        if not runs:
            return names
        listed, self._listed = self._listed, runs
        return (*listed, *(name for name in names if name not in runs))

    def sweep(self, known: Collection[str]) -> int:
        """Move to the trash what a node left uncommitted or undeleted; returns the number of files.

        Plans are deleted, since every start writes them again.
        """
        self._delete(list(self._root.names(PLANS)))
        return self.trash.take([name for name in self.names() if name not in known])

    def names(self) -> Iterator[str]:
        """All files that a catalogue should know."""
        for kind in (SEGMENTS, STATES, HISTORY):
            yield from self._root.names(kind)

    def _delete(self, names: Iterable[str]) -> None:
        """Delete files; one that cannot be deleted now is swept when the root is opened again."""
        for name, error in self._root.delete_all(names).items():
            _log.warning("%s cannot be deleted, and stays until the next start: %s", name, error)
