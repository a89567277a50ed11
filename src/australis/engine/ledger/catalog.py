"""The catalogue: what is where, in SQLite. Only a ledger has a writable one."""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from australis.engine.ledger.log import (
    Head,
    LogEvent,
    LoggedMarks,
    MarkLog,
    Receipt,
    StateFile,
    mark_log,
)
from australis.engine.ledger.schema import OLDEST, TABLES, VERSION, migrations
from australis.engine.ledger.transaction import Database
from australis.engine.store import FolderHome, Home, Segment, unwritable
from australis.engine.threads import SYSTEM, Threads
from australis.errors import EngineError, Problem
from australis.kernels.marks import InputMark

COMMITS = "commits"
"""The key of the number of commits in the catalogue."""
NETWORK = "network"
"""The key of the network that the root holds."""
DISK = "disk"
"""The key of the disk budget of the node that has or last had the root; empty without one."""
CORES = "cores"
"""The key of the processors that this node may use."""
OPTIMISER = "optimiser"
"""The key of the optimiser's record of what it did."""
_log = logging.getLogger(__name__)
_UNWRITABLE = ("SQLITE_FULL", "SQLITE_READONLY", "SQLITE_IOERR", "SQLITE_CANTOPEN")


class Catalog:
    """The catalogue of a root, read-only."""

    _synchronous = "full"
    """Whether a commit waits for the disk."""

    def __init__(self, home: Home | Path, threads: Threads = SYSTEM) -> None:
        self._home = FolderHome(home) if isinstance(home, Path) else home
        self._threads, self._lock = threads, threads.lock()
        with self._explained():
            self._db = self._home.connect()
            self._db.execute("pragma journal_mode = wal")
            self._db.execute(f"pragma synchronous = {self._synchronous}")
        try:
            self._open()
        except BaseException:
            self._db.close()
            raise

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._db.close()

    def _open(self) -> None:
        """Check an existing catalogue, or create it, or migrate it to the current version."""
        found = self.rows("pragma quick_check(1)")
        if found != [("ok",)]:
            raise self._damaged(str(found[0][0]))
        version = self.rows("pragma user_version")[0][0]
        if version > VERSION or 0 < version < OLDEST:
            raise self._unknown(version)
        scripts = [TABLES] if version == 0 else list(migrations(version))
        if scripts:
            with self._explained():
                self._db.executescript(f"begin; {' '.join(scripts)} pragma user_version = {VERSION}; commit;")
        if version and scripts:
            _log.info("%s is migrated from version %d to %d", self._home, version, VERSION)

    def _unknown(self, version: int) -> EngineError:
        """The error for a catalogue made by another version of Australis."""
        expected = f"one from {OLDEST} to {VERSION}; open the root with the Australis that made it"
        return EngineError(Problem(str(self._home), f"has version {version}", expected))

    def _damaged(self, why: str) -> EngineError:
        return EngineError(
            Problem(str(self._home), f"is damaged: {why}", "the catalogue as it was; restore it from a copy")
        )

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Raise SQLite errors as ours, which name the file and what to do."""
        try:
            yield
        except sqlite3.OperationalError as error:
            # The name may say more, as in SQLITE_IOERR_WRITE; errors of Python's own module have none.
            name: str = getattr(error, "sqlite_errorname", "")
            if name.startswith(_UNWRITABLE):
                raise unwritable(str(self._home), OSError(name)) from error
            if not name:
                raise self._damaged(str(error)) from error
            raise EngineError(Problem(str(self._home), str(error))) from error
        except (sqlite3.IntegrityError, sqlite3.ProgrammingError) as error:
            raise EngineError(Problem(str(self._home), str(error))) from error
        except sqlite3.DatabaseError as error:
            raise self._damaged(str(error)) from error

    def rows(self, query: str, *values: Any) -> list[tuple[Any, ...]]:
        """The rows of a query."""
        with self._lock, self._explained():
            return self._db.execute(query, values).fetchall()

    # --- queries

    def meta(self, key: str) -> str | None:
        """A single value."""
        found = self.rows("select value from meta where key = ?", key)
        return found[0][0] if found else None

    def log_end(self) -> int:
        """The sequence number that the next event begins with."""
        return int(self.meta("log_end") or 0)

    def log_now(self) -> int:
        """The local time of the last event."""
        return int(self.meta("log_now") or 0)

    def events(self, lo: int, hi: int, most: int = -1) -> list[LogEvent]:
        """The events with a sequence number from `lo` up to `hi`, at most the first `most` of them."""
        # Events do not overlap, so only the last one that begins before `lo` can reach past it.
        since = "coalesce((select max(base) from event where base <= ?), 0)"
        query = f"select * from event where base >= {since} and base < ? and end > ? order by base limit ?"
        return [LogEvent(*row) for row in self.rows(query, lo, hi, lo, most)]

    def flushes(self, lo: int, hi: int) -> list[LogEvent]:
        """The ends of all streams with a sequence number from `lo` up to `hi`."""
        where = "kind = 'flush' and base >= ? and base < ? and end > ?"
        # An end has two numbers.
        found = self.rows(f"select * from event where {where} order by base", lo - 1, hi, lo)
        return [LogEvent(*row) for row in found]

    def loads(self, lo: int, hi: int) -> list[LogEvent]:
        """The versions of stored tables from `lo` up to `hi`."""
        found = self.rows(
            "select * from event where kind = 'load' and base >= ? and base < ? order by base", lo, hi
        )
        return [LogEvent(*row) for row in found]

    def latest(self, lo: int, hi: int) -> int:
        """The local time of the last event with a sequence number from `lo` up to `hi`; 0 without one."""
        query = "select now from event where base < ? and end > ? order by base desc limit 1"
        found = self.rows(query, hi, lo)
        return found[0][0] if found else 0

    def moments(self, lo: int, hi: int, step_us: int) -> list[tuple[int, int]]:
        """When the numbers from `lo` up to `hi` were logged: from which number on each time, rounded down.

        Time never goes back in the log, so events that have the same rounded time follow each other.
        """
        since = "coalesce((select max(base) from event where base <= ?), 0)"
        query = (
            "select min(base), now / ? * ? from event"
            f" where base >= {since} and base < ? group by now / ? order by 1"
        )
        return [(base, now) for base, now in self.rows(query, step_us, step_us, lo, hi, step_us)]

    def marks(self, maker: str, lo: int, hi: int) -> MarkLog:
        """The marks of a maker from `lo` up to `hi`, and the one that stood before them."""
        since = "coalesce((select max(base) from mark where maker = ? and base < ?), 0)"
        query = (
            "select until, before, last, causes, rises from mark"
            f" where maker = ? and base >= {since} and base < ? order by base"
        )
        return mark_log([LoggedMarks(*row) for row in self.rows(query, maker, maker, lo, hi)], lo, hi)

    def has_marks(self, maker: str, lo: int, hi: int) -> bool:
        """Whether a maker has raised its mark from `lo` up to `hi`, as far as its events tell."""
        # Events follow each other, so the last one before `hi` tells.
        query = "select until from mark where maker = ? and base < ? order by base desc limit 1"
        return any(until > lo for (until,) in self.rows(query, maker, hi))

    def promised(self) -> dict[str, InputMark]:
        """What every maker of marks has promised so far."""
        if not self.rows("select 1 from sqlite_master where name = 'progress'"):
            return {}
        found = self.rows("select maker, mark, quiet_since from progress")
        return {maker: InputMark(mark, quiet_since) for maker, mark, quiet_since in found}

    def head(self, superbox: str) -> Head:
        # A look at a root of an older version, which knew no marks, finds a column less.
        for _, seq, version, deadline, *more in self.rows("select * from superbox where id = ?", superbox):
            return Head(seq, version, deadline, any(more))
        return Head()

    def states(self, superbox: str) -> list[StateFile]:
        """The files of the current states of a superbox, for each box and partition from the lowest on."""
        what = "select box, partition, name, bytes from state"
        query = f"{what} where superbox = ? order by box, partition, place"
        return [StateFile(*row) for row in self.rows(query, superbox)]

    def segments(self, arc: str, lo: int = 0, hi: int = 1 << 62) -> list[Segment]:
        """The segments of an arc that may have a number from `lo` up to `hi`, by writer, part and number."""
        where = "where arc = ? and base < ? and end > ? order by writer, part, base"
        # A look at a root of an older version, which split no segments, finds a column less.
        return [Segment(*row) for row in self.rows(f"select * from segment {where}", arc, hi, lo)]

    def consumer(self, name: str, output: str) -> tuple[int, str | None] | None:
        """How far a consumer of an output has come, and its own note of it; None if it is unknown."""
        found = self.rows("select seq, position from consumer where name = ? and output = ?", name, output)
        return (found[0][0], found[0][1]) if found else None

    def position(self, source: str) -> str | None:
        """How far a source has come, in its own terms."""
        found = self.rows("select position from source where id = ?", source)
        return found[0][0] if found else None

    def receipt(self, caller: str, key: str) -> tuple[str, Receipt] | None:
        """The digest of what a caller has pushed under a key, and what came of it; None if it is unknown."""
        query = "select digest, accepted, rejected, end from receipt where caller = ? and key = ?"
        found = [
            (digest, Receipt(accepted, rejected, end, is_repeated=True))
            for digest, accepted, rejected, end in self.rows(query, caller, key)
        ]
        return found[0] if found else None

    def expired(self, arc: str) -> int:
        """The number before which tuples of an output's arc may have been deleted."""
        found = self.rows("select until from expired where arc = ?", arc)
        return found[0][0] if found else 0

    def state_bytes(self) -> dict[str, int]:
        """What the states of each box take on disk."""
        return dict(self.rows("select box, sum(bytes) from state group by box"))

    def names(self) -> set[str]:
        """All files that something refers to."""
        return {name for (name,) in self.rows("select name from segment union select name from state")}

    def consumers(self) -> dict[tuple[str, str], int]:
        """How far every consumer of every output has come."""
        found = self.rows("select name, output, seq from consumer")
        return {(name, output): seq for name, output, seq in found}


class CatalogReader(Catalog):
    """The catalogue on a separate connection, which sees it as of one moment, from `begin` on."""

    def __init__(self, home: Home, threads: Threads) -> None:
        self._home, self._threads, self._lock = home, threads, threads.lock()
        with self._explained():
            self._db = home.connect()
            self._db.execute("pragma query_only = on")

    def begin(self) -> None:
        """Read what is committed now, and nothing that is committed later."""
        self.rows("begin")
        self.meta("")

    def image(self) -> bytes:
        """The whole database as it is now, as the contents of its file."""
        with self._lock, self._explained():
            return self._db.serialize()


class CatalogFile(Catalog):
    """The catalogue as its ledger has it: it can be changed."""

    @contextmanager
    def reader(self) -> Iterator[CatalogReader]:
        """Another connection, to read from."""
        reader = CatalogReader(self._home, self._threads)
        try:
            yield reader
        finally:
            reader.close()

    @property
    def is_copy_due(self) -> bool:
        """Whether the whole catalogue is to be copied to the root."""
        return False

    def write_copy(self) -> None:
        """Copy the whole catalogue to the root."""

    def settle(self) -> None:
        """Complete a commit that failed half-way, if there can be one."""

    def catch_up(self) -> int:
        """Read what another node has committed meanwhile; returns the number of the last commit."""
        return int(self.meta(COMMITS) or 0)

    @contextmanager
    def transaction(self) -> Iterator[Database]:
        """Changes that become visible atomically at the end."""
        with self._lock, self._explained():
            self._db.execute("begin immediate")
            try:
                yield self._db
                self._db.execute("commit")
            except BaseException:
                if self._db.in_transaction:
                    self._db.execute("rollback")
                raise
