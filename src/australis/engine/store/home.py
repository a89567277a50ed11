"""Homes of catalogues: the folder in which the catalogue of a root is kept, and its lock."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Protocol

from australis.engine.store.lock import RootLock, make_private
from australis.engine.store.root import PRIVATE_FILE, PRIVATE_FOLDER, Root, unwritable
from australis.errors import EngineError, Problem

CATALOG = "catalog.db"
"""The name of the catalogue's file."""
CLOSED = "closed"
"""The key in the catalogue of the last epoch that ended in order."""


class Held(Protocol):
    """A lock that is held until it is closed."""

    def close(self) -> None: ...


class Home(Protocol):
    """Where the catalogue of a root is kept."""

    def connect(self) -> sqlite3.Connection:
        """A connection to the catalogue's database, which is created if necessary."""

    def lock(self) -> Held:
        """Keep everybody else out; raises EngineError while somebody else holds the lock."""

    def has_catalog(self) -> bool:
        """Whether there is a catalogue that is not empty."""

    def lacks_journal(self, epoch: int) -> bool:
        """Whether commits may be missing: there is no journal, and the catalogue was not closed in an epoch.

        Call it before the first connection.
        """

    def replace(self, image: bytes) -> None:
        """Put another database in the place of the catalogue, or make it; nobody may have it open."""


class FolderHome:
    """A folder of this machine: SQLite needs a local disk."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __str__(self) -> str:
        return str(self.folder / CATALOG)

    def connect(self) -> sqlite3.Connection:
        path = self.folder / CATALOG
        _make_private(path)
        return sqlite3.connect(path, isolation_level=None, check_same_thread=False)

    def lock(self) -> RootLock:
        try:
            self.folder.mkdir(PRIVATE_FOLDER, parents=True, exist_ok=True)
        except OSError as error:
            raise unwritable(str(self.folder), error) from error
        return RootLock(self.folder)

    def has_catalog(self) -> bool:
        path = self.folder / CATALOG
        return path.exists() and path.stat().st_size > 0

    def lacks_journal(self, epoch: int) -> bool:
        path = self.folder / CATALOG
        if path.with_name(f"{CATALOG}-wal").exists():
            return False
        # Nobody has it open, and there is no journal, so the file is all there is.
        uri = f"{path.resolve().as_uri()}?mode=ro&immutable=1"
        try:
            with closing(sqlite3.connect(uri, uri=True)) as db:
                if not db.execute("select 1 from sqlite_master where name = 'meta'").fetchone():
                    # Even the tables are only in the journal.
                    return True
                found = db.execute("select value from meta where key = ?", (CLOSED,)).fetchone()
        except sqlite3.Error:
            # It is damaged, which is reported when it is opened.
            return False
        return found is None or found[0] != str(epoch)

    def replace(self, image: bytes) -> None:
        path, fresh = self.folder / CATALOG, self.folder / f"{CATALOG}.new"
        descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, PRIVATE_FILE)
        with open(descriptor, "wb") as file:
            file.write(image)
            file.flush()
            os.fsync(descriptor)
        # The old one goes before its journal: without it, it might be neither old nor new.
        for old in (path, *(path.with_name(f"{CATALOG}-{end}") for end in ("wal", "shm"))):
            old.unlink(missing_ok=True)
        fresh.rename(path)


def hold(root: Root, home: Home) -> Held:
    """Keep everybody else out of a root and its catalogue, wherever each of them is."""
    held = home.lock()
    if root.local is None or (isinstance(home, FolderHome) and home.folder.samefile(root.local)):
        return held
    try:
        return _Both(held, RootLock(root.local))
    except BaseException:
        held.close()
        raise


class _Both:
    """Two locks that are held together."""

    def __init__(self, *held: Held) -> None:
        self._held = held

    def close(self) -> None:
        for each in self._held:
            each.close()


def _make_private(path: Path) -> None:
    """Let nobody else read a catalogue, even one that does not exist yet.

    An existing one is not opened: closing it would drop this process's SQLite locks.
    """
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL, PRIVATE_FILE))
    except FileExistsError:
        # That is the usual case; an older one may be open to others.
        make_private(path)
    except OSError:
        # SQLite will report what is wrong.
        return


def home_of(root: Root, catalog: str | Path | Home | None) -> Home:
    """The home of a root's catalogue, existing or not."""
    if catalog is None or isinstance(catalog, str | Path):
        return FolderHome(catalog_folder(root, catalog))
    return catalog


def catalog_folder(root: Root, catalog: str | Path | None) -> Path:
    """The folder of a root's catalogue."""
    directory = root.local if catalog is None else Path(catalog)
    if directory is None:
        expected = "catalog=DIRECTORY on a local disk, since SQLite needs one"
        raise EngineError(Problem(root.uri, "cannot hold the catalogue", expected))
    return directory
