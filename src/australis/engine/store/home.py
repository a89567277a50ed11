"""Homes of catalogues: the folder in which the catalogue of a root is kept, and who holds it."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Protocol

from australis.engine.store.lock import RootLock
from australis.engine.store.root import Root, unwritable
from australis.errors import EngineError, Problem

CATALOG = "catalog.db"
"""The name of the catalogue's file."""


class Held(Protocol):
    """A lock that is held until it is closed."""

    def close(self) -> None: ...


class Home(Protocol):
    """Where the catalogue of a root is kept."""

    def connect(self) -> sqlite3.Connection:
        """A connection to the catalogue's database, which is made if it is not there."""

    def lock(self) -> Held:
        """Keep everybody else out; raises EngineError while somebody else is in."""

    def has_catalog(self) -> bool:
        """Whether there is a catalogue that is not empty."""


class FolderHome:
    """A folder of this machine: SQLite wants a local disk."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __str__(self) -> str:
        return str(self.folder / CATALOG)

    def connect(self) -> sqlite3.Connection:
        return sqlite3.connect(self.folder / CATALOG, isolation_level=None, check_same_thread=False)

    def lock(self) -> RootLock:
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise unwritable(str(self.folder), error) from error
        return RootLock(self.folder)

    def has_catalog(self) -> bool:
        path = self.folder / CATALOG
        return path.exists() and path.stat().st_size > 0


def home_of(root: Root, catalog: str | Path | Home | None) -> Home:
    """The home that the catalogue of a root has, or is to have."""
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
