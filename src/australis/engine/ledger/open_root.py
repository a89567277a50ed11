"""Opening a root that a process then has to itself: held, its catalogue checked, orphans swept."""

from __future__ import annotations

import logging
from pathlib import Path

from australis.engine.ledger.catalog import CatalogFile
from australis.engine.ledger.garbage import Garbage
from australis.engine.ledger.ledger import Ledger
from australis.engine.store import Home, Root, home_of, publish_rest
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
        self._held = home.lock()
        try:
            garbage = Garbage(root, threads)
            _check_catalog(home, garbage)
            self._catalog = CatalogFile(home, threads)
            self.ledger = Ledger(root, self._catalog, garbage, threads)
            self._check_same()
            known = self._catalog.names()
            runs, orphans = publish_rest(root, known), garbage.sweep(known)
            _log.info("%s is open: %d runs published, %d orphans deleted", root.uri, runs, orphans)
        except BaseException:
            self._held.close()
            raise

    def _check_same(self) -> None:
        """Refuse the catalogue of another root: it would take this one's files for orphans."""
        identity, known = self.root.identity(), self._catalog.meta("root")
        if known is None:
            self.root.keep_identity()
            with self.ledger.change() as change:
                change.set_meta("root", identity)
        elif known != identity:
            what = "is not the root that the catalogue belongs to"
            raise EngineError(Problem(self.root.uri, what, "a root and its own catalogue"))

    def close(self) -> None:
        """Let the root go."""
        self._catalog.close()
        self._held.close()


def _check_catalog(home: Home, garbage: Garbage) -> None:
    """Refuse a root whose catalogue is gone: without it all files would look as if nobody needed them."""
    if not home.has_catalog() and any(garbage.names()):
        what = "is gone, though there are segments or states that it knew"
        expected = "the catalogue as it was; restore it from a copy, or take another root"
        raise EngineError(Problem(str(home), what, expected))
