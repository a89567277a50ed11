"""Housekeeping while a node runs: moves orphans to the trash, deletes old trash, marks the root.

A failed train leaves files, and those of its tasks that nobody waits for may still write more. Writers of
files that a later commit names are registered with the garbage while they work. So a file unknown to the
catalogue is an orphan once every writer that was at work when the file was seen has finished, and a commit
has succeeded since: a commit that failed before that can no longer take effect.
"""

from __future__ import annotations

import logging

from australis.engine.ledger.custody.ownership import Ownership
from australis.engine.ledger.garbage import Garbage
from australis.engine.ledger.ledger import Ledger
from australis.engine.store import HISTORY, staged

TRASH_BYTES = "trash"
"""The key of the size of the trash in the catalogue."""
_log = logging.getLogger(__name__)


class Housekeeping:
    """Keeps a root in order, step by step."""

    def __init__(self, ledger: Ledger, garbage: Garbage, ownership: Ownership) -> None:
        self._ledger, self._garbage, self._ownership = ledger, garbage, ownership
        self._unknown: frozenset[str] = frozenset()
        """Files that the catalogue did not know at the last look."""
        self._at_work: frozenset[int] = frozenset()
        """The writers at work then, which may yet commit some of them."""
        self._missing: frozenset[str] = frozenset()
        """Files that the catalogue names but that were missing when the root was opened."""

    def begin(self) -> tuple[int, int]:
        """Sweep what the last node has left; returns how many files were moved to the trash, and deleted."""
        self._missing = self._not_there()
        moved = 0 if self._missing else self._garbage.sweep(self._known())
        expired = self._garbage.trash.expire()
        size, known = self._garbage.trash.bytes(), int(self._ledger.catalog.meta(TRASH_BYTES) or 0)
        if size != known:
            self._note_trash(size)
        self._ledger.waste_bytes = size
        return moved, expired

    def step(self) -> bool:
        """Look once; returns whether unknown files are left that need a second look."""
        self._ownership.mark()
        if not self._lacks_files() and not self._at_work & self._garbage.at_work():
            if self._unknown:
                self._sweep()
            self._look()
        if self._garbage.trash.expire():
            self._note_trash(self._garbage.trash.bytes())
        return bool(self._unknown)

    def _not_there(self) -> frozenset[str]:
        """The files that the catalogue names and the root has not; adopted ones are elsewhere.

        As long as there are such, no file is taken for an orphan: the catalogue may be that of a copy.
        """
        there = set(self._garbage.names())
        named = (name for name in self._ledger.catalog.names() if "://" not in name)
        missing = frozenset(name for name in named if name not in there and staged(name) not in there)
        if missing:
            told = "%d files that the catalogue names are missing, such as %s: nothing is moved to the trash"
            _log.warning(told, len(missing), min(missing))
        return missing

    def _lacks_files(self) -> bool:
        """Whether files are still missing that were missing when the root was opened, and are still named."""
        if self._missing:
            named, root = self._ledger.catalog.names(), self._ledger.root
            self._missing = frozenset(n for n in self._missing if n in named and not root.exists(n))
        return bool(self._missing)

    def _sweep(self) -> None:
        """Move to the trash what nobody can commit any more."""
        self._ownership.check()
        # This commit succeeds, or nothing is moved.
        self._note_trash(self._garbage.trash.bytes())
        moved = self._garbage.trash.take(sorted(self._unknown - self._known()))
        if moved:
            _log.info("%d orphans are moved to the trash", moved)
            self._note_trash(self._garbage.trash.bytes())

    def _look(self) -> None:
        """Note which files are unknown, then who is at work: in this order, since writers register first."""
        found = set(self._garbage.names())
        self._unknown = frozenset(found - self._known())
        self._at_work = self._garbage.at_work()

    def _known(self) -> set[str]:
        """The files that are not orphans: a committed run may still have its staged name."""
        names = self._ledger.catalog.names()
        first = (staged(name) for name in names if name.startswith(f"{HISTORY}/"))
        return {*names, *first, *self._garbage.pending()}

    def _note_trash(self, size: int) -> None:
        """Commit the size of the trash, for the disk budget and for statistics."""

        def follow() -> None:
            self._ledger.waste_bytes = size

        with self._ledger.change() as change:
            change.set_meta(TRASH_BYTES, str(size))
            change.follow(follow)
