"""A root that a process has to itself: locked, its catalogue checked, and without what nobody committed."""

from __future__ import annotations

from pathlib import Path

from australis.engine.history.runs import publish_rest
from australis.engine.ledger.catalog import CATALOG, Catalog
from australis.engine.ledger.garbage import Graveyard
from australis.engine.store.lock import RootLock
from australis.engine.store.root import Root, catalog_folder
from australis.errors import EngineError, Problem


class OpenRoot:
    """Holds a root until it is closed. `catalog` is the folder of the catalogue, if it is not in the root."""

    def __init__(self, root: Root, catalog: str | Path | None = None) -> None:
        self.root = root
        directory = catalog_folder(root, catalog)
        root.prepare()
        directory.mkdir(parents=True, exist_ok=True)
        self._lock = RootLock(directory)
        try:
            self.graveyard = Graveyard(root)
            self.graveyard.check(directory / CATALOG)
            self.catalog = Catalog(directory / CATALOG)
            self._check_same()
            known = self.catalog.names()
            publish_rest(root, known)
            self.graveyard.sweep(known)
        except BaseException:
            self._lock.close()
            raise

    def _check_same(self) -> None:
        """Refuse the catalogue of another root: it would take this one's files for orphans."""
        identity, known = self.root.identity(), self.catalog.meta("root")
        if known is None:
            with self.catalog.transaction() as transaction:
                transaction.set_meta("root", identity)
        elif known != identity:
            what = "is not the root that the catalogue belongs to"
            raise EngineError(Problem(self.root.uri, what, "a root and its own catalogue"))

    def close(self) -> None:
        """Let the root go."""
        self.catalog.close()
        self._lock.close()
