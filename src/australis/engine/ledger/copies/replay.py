"""Brings a catalogue on a local disk up to date from the copies in the root."""

from __future__ import annotations

import logging
import sqlite3
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from australis.engine.ledger.catalog import COMMITS
from australis.engine.ledger.copies.copies import Copies, Listed
from australis.engine.ledger.copies.records import CommitRecord
from australis.engine.store import FolderHome, Home, Root, unwritable
from australis.errors import EngineError, Problem

TOKEN, TAKINGS = "copied", "takings"
"""The keys in the catalogue of the last commit's token, and of the numbers of each node's first commit."""
_AT_ONCE = 256
_TRIES = 5
_log = logging.getLogger(__name__)


def restore(home: Home, copies: Copies, epoch: int) -> int | None:
    """Bring the catalogue of a root up to date; without a usable one, from the newest snapshot.

    `epoch` is the last one that the root knows of. There must be a snapshot; returns its commit if it was
    needed.
    """
    for _ in range(_TRIES):
        listed = copies.listed()
        assert listed.snapshot is not None, "a catalogue that was copied"
        try:
            is_usable = _is_usable(home, epoch, copies, listed)
            if not is_usable:
                _replace(home, copies.image(listed.snapshot))
            with closing(home.connect()) as db:
                _apply_rest(db, copies, listed)
            return None if is_usable else listed.snapshot.number
        except FileNotFoundError:
            # The node that has the root has written another snapshot, and deleted what that replaces.
            continue
        except OSError as error:
            raise EngineError(Problem(copies.root.uri, f"cannot be read: {error}")) from error
        except sqlite3.Error as error:
            raise EngineError(Problem(str(home), f"cannot be brought up to date: {error}")) from error
    raise _busy(copies)


def _busy(copies: Copies) -> EngineError:
    what = "another node writes it all the time"
    return EngineError(Problem(copies.root.uri, what, "one node on a root; stop the other"))


def has_copies(root: Root) -> bool:
    """Whether a root has copies of its catalogue."""
    return root.disk.keeps_catalog and Copies(root).listed().snapshot is not None


@contextmanager
def restored_catalog(root: Root) -> Iterator[Path]:
    """A temporary folder with the catalogue of a root, restored from the copies there."""
    with tempfile.TemporaryDirectory(prefix="australis-catalog-") as folder:
        restore(FolderHome(Path(folder)), Copies(root), 0)
        yield Path(folder)


def _replace(home: Home, image: bytes) -> None:
    try:
        home.replace(image)
    except OSError as error:
        raise unwritable(str(home), error) from error


def _is_usable(home: Home, epoch: int, copies: Copies, listed: Listed) -> bool:
    """Whether what is on the disk can be brought up to date: it is whole, and not too old."""
    if not home.has_catalog():
        return False
    lacks_journal = home.lacks_journal(epoch)
    try:
        with closing(home.connect()) as db:
            is_whole = db.execute("pragma quick_check(1)").fetchall() == [("ok",)]
            number = int(_meta(db, COMMITS) or 0)
    except sqlite3.Error as error:
        _log.warning("%s cannot be used: %s", home, error)
        return False
    _check_not_ahead(number, copies, listed)
    snapshot = listed.snapshot
    return is_whole and not lacks_journal and snapshot is not None and number >= snapshot.number


def _check_not_ahead(number: int, copies: Copies, listed: Listed) -> None:
    """Refuse a root that lacks commits which a catalogue has: they were in the root first."""
    if number > listed.last:
        what = f"is older than its catalogue: that has {number:,} commits, and the root {listed.last:,}"
        raise EngineError(Problem(copies.root.uri, what, "root and catalogue of the same time"))


def catch_up(db: sqlite3.Connection, copies: Copies) -> int:
    """Apply the few commits that another node has made meanwhile; returns the number of the last."""
    try:
        return _apply_rest(db, copies, copies.listed())
    except FileNotFoundError as error:
        raise _busy(copies) from error
    except OSError as error:
        raise EngineError(Problem(copies.root.uri, f"cannot be read: {error}")) from error


def _apply_rest(db: sqlite3.Connection, copies: Copies, listed: Listed) -> int:
    """Apply all commits that a catalogue lacks; returns the number of the last."""
    number, last = int(_meta(db, COMMITS) or 0), listed.last
    _check_not_ahead(number, copies, listed)
    lacking = [each for each in range(number + 1, last + 1) if each not in listed.commits]
    if lacking:
        what = f"the copies of {len(lacking):,} commits of its catalogue are gone, from {lacking[0]:,} on"
        raise EngineError(Problem(copies.root.uri, what, "the objects as they were; restore them"))
    for first in range(number + 1, last + 1, _AT_ONCE):
        apply(db, copies.read(range(first, min(first + _AT_ONCE, last + 1))))
    return last


def apply(db: sqlite3.Connection, records: Iterable[CommitRecord]) -> None:
    """Apply commits, all or none of them; those that the catalogue has are left out."""
    db.execute("begin immediate")
    try:
        for record in records:
            if int(_meta(db, COMMITS) or 0) < record.number:
                _apply(db, record)
        db.execute("commit")
    except BaseException:
        if db.in_transaction:
            db.execute("rollback")
        raise


def _apply(db: sqlite3.Connection, record: CommitRecord) -> None:
    if (_meta(db, TOKEN) or "") != record.after:
        what = f"is not the catalogue that commit {record.number:,} of the root was made on"
        raise EngineError(Problem(record.place, what, "the root's own catalogue, or an empty folder"))
    for query, rows in record.statements:
        for row in rows:
            db.execute(query, row).fetchall()


def _meta(db: sqlite3.Connection, key: str) -> str | None:
    if not db.execute("select 1 from sqlite_master where name = 'meta'").fetchone():
        return None
    found = db.execute("select value from meta where key = ?", (key,)).fetchone()
    return None if found is None else str(found[0])
