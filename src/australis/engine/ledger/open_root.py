"""Opens a root for this process alone: locks it, compares it with its catalogue, sweeps orphans."""

from __future__ import annotations

import logging
from pathlib import Path

from australis.engine.ledger.catalog import CatalogFile
from australis.engine.ledger.copies import CopiedCatalog, Copies, has_copies, restore
from australis.engine.ledger.custody import Housekeeping, Ownership, check_unopened, place_of
from australis.engine.ledger.garbage import Garbage
from australis.engine.ledger.ledger import Ledger
from australis.engine.store import Home, Owner, Root, hold, home_of, publish_rest, read_owner
from australis.engine.threads import SYSTEM, Threads
from australis.errors import EngineError, Problem

_log = logging.getLogger(__name__)


class OpenRoot:
    """Holds a root until it is closed. `catalog` is where the catalogue is, if it is not in the root."""

    def __init__(
        self, root: Root, catalog: str | Path | Home | None = None, threads: Threads = SYSTEM
    ) -> None:
        self.root, home = root, home_of(root, catalog)
        root.prepare()
        self._held = hold(root, home)
        self._catalog: CatalogFile | None = None
        self._ownership: Ownership | None = None
        try:
            self.ledger = self._open(home, threads)
        except BaseException:
            self.close()
            raise

    def _open(self, home: Home, threads: Threads) -> Ledger:
        root, garbage = self.root, Garbage(self.root, threads)
        owner = _make_ready(root, home, garbage)
        catalog = self._catalog = _open_catalog(root, home, threads)
        ledger = Ledger(root, catalog, garbage, threads)
        ownership = self._ownership = Ownership(ledger, home, owner)
        housekeeping = Housekeeping(ledger, garbage, ownership)
        runs, (moved, deleted) = publish_rest(root, catalog.names()), housekeeping.begin()
        ledger.tidy = housekeeping.step
        told = "%s is open: %d runs published, %d orphans moved to the trash, %d deleted there"
        _log.info(told, root.uri, runs, moved, deleted)
        return ledger

    def close(self) -> None:
        """Release the root, once."""
        ownership, self._ownership = self._ownership, None
        if ownership is not None:
            ownership.release()
        if self._catalog is not None:
            self._catalog.close()
        self._held.close()


def _make_ready(root: Root, home: Home, garbage: Garbage) -> Owner | None:
    """Bring the catalogue up to date if the root has copies of it, else refuse one that lacks anything."""
    if has_copies(root):
        owner = read_owner(root)
        commit = restore(home, Copies(root), 0 if owner is None else owner.epoch)
        if commit is not None:
            _log.warning("%s is restored from commit %d in the root", home, commit)
        return owner
    owner = check_unopened(root, home)
    _check_catalog(home, garbage)
    return owner


def _open_catalog(root: Root, home: Home, threads: Threads) -> CatalogFile:
    if not root.disk.keeps_catalog:
        return CatalogFile(home, threads)
    catalog = CopiedCatalog(home, Copies(root), place_of(home), threads)
    try:
        catalog.begin_copies()
    except BaseException:
        catalog.close()
        raise
    return catalog


def _check_catalog(home: Home, garbage: Garbage) -> None:
    """Refuse a root whose catalogue is gone: without it all files would look like orphans."""
    if not home.has_catalog() and any(garbage.names()):
        what = "is gone, though there are segments or states that it knew"
        expected = "the catalogue as it was; restore it from a copy, or take another root"
        raise EngineError(Problem(str(home), what, expected))
