"""A read-only view of a root that a node may have open: nothing is locked, nothing is changed."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from australis.engine.ledger.catalog import NETWORK, Catalog
from australis.engine.ledger.record import Record
from australis.engine.ledger.schema import OLDEST, VERSION
from australis.engine.store import CATALOG, FolderHome
from australis.engine.threads import SYSTEM
from australis.errors import EngineError, Problem
from australis.plan.superboxes import Plan


class CatalogView(Catalog):
    """A catalogue as of one moment. Older versions can be read as well."""

    def __init__(self, path: Path, home: FolderHome | None = None) -> None:
        """Open the catalogue at a path; for a copy, `home` is where the original is."""
        self._home, self._lock = home or FolderHome(path.parent), SYSTEM.lock()
        with self._explained():
            self._db = _open(path)
        try:
            version = self.rows("pragma user_version")[0][0]
            if not OLDEST <= version <= VERSION:
                raise self._unknown(version)
        except BaseException:
            self.close()
            raise


def _open(path: Path) -> sqlite3.Connection:
    """Open a read-only connection inside a transaction, so that everything it reads is of one moment."""
    uri = f"{path.resolve().as_uri()}?mode=ro"
    try:
        return _begin(uri)
    except sqlite3.OperationalError:
        # In a folder without write access, SQLite reads only files that it may assume never to change.
        if path.with_name(f"{path.name}-wal").exists():
            raise
        return _begin(f"{uri}&immutable=1")


def _begin(uri: str) -> sqlite3.Connection:
    db = sqlite3.connect(uri, uri=True, isolation_level=None, check_same_thread=False)
    try:
        db.execute("begin")
        db.execute("select count(*) from meta").fetchone()
    except BaseException:
        db.close()
        raise
    return db


@contextmanager
def view_of(folder: Path) -> Iterator[CatalogView]:
    """The catalogue in a folder, which must have one, as it is now."""
    view = CatalogView(known_catalog(folder))
    try:
        yield view
    finally:
        view.close()


def known_catalog(folder: Path) -> Path:
    """The catalogue in a folder, which must have one."""
    path = folder / CATALOG
    if not path.is_file():
        what = "is not the root of a node" if folder.is_dir() else "there is no such folder"
        raise EngineError(Problem(str(folder), what, "a folder that `australis run --root` has made"))
    return path


def record_in(folder: Path, catalog: Catalog) -> Record:
    """What the root remembers about what runs on it."""
    record = catalog.meta(NETWORK)
    if record is None:
        raise EngineError(Problem(str(folder), "holds no network so far"))
    return Record.from_json(record)


def plan_in(folder: Path, catalog: Catalog) -> Plan:
    """The plan of the network in a catalogue."""
    return record_in(folder, catalog).plan


def known_record(folder: Path) -> Record:
    """What the root whose catalogue is in a folder remembers about what runs on it."""
    with view_of(folder) as view:
        return record_in(folder, view)
