"""Connections to the virtual database: the used part of `sqlite3.Connection`, with failures."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from australis.sim.machine.lives import Life

if TYPE_CHECKING:
    from australis.sim.machine.database import Statement, VirtualHome

FULL = 2
"""The least `pragma synchronous` with which a commit is durable at once; also the default."""
_MESSAGES = {"SQLITE_FULL": "database or disk is full"}


class Rows:
    """The rows of a statement, fetched at once, so that a life that is over leaves no cursor open."""

    def __init__(self, cursor: sqlite3.Cursor) -> None:
        self.description, self.rowcount = cursor.description, cursor.rowcount
        self.lastrowid = cursor.lastrowid
        self._left = iter(cursor.fetchall())

    def __iter__(self) -> Iterator[Any]:
        return self._left

    def fetchone(self) -> Any:
        return next(self._left, None)

    def fetchall(self) -> list[Any]:
        return list(self._left)


class VirtualConnection:
    """A connection of one life.

    A statement outside of a transaction is a switch point; so is `commit`, before and after it takes effect.
    A commit that fails may still take effect: only reading shows it.
    """

    def __init__(self, home: VirtualHome, life: Life) -> None:
        self.life = life
        self.synchronous = FULL
        self._home, self._machine = home, home.machine
        self._is_closed = False

    @property
    def in_transaction(self) -> bool:
        """Whether a transaction is open."""
        self._machine.scheduler.check(self.life)
        return self._home.writer is self

    def execute(self, query: str, values: Sequence[Any] | Mapping[str, Any] = ()) -> Rows:
        """Run a statement."""
        word = query.split(None, 1)[0].strip(";").lower()
        self._enter(word)
        if word == "commit":
            return self._commit()
        if word == "rollback":
            return self._home.rollback(self)
        if word == "pragma" and "query_only" in query.lower():
            # All connections are one here: it would keep the others from writing, too.
            query = "pragma query_only"
        rows = self._run(lambda db: db.execute(query, values))
        if word == "pragma" and "synchronous" in query.lower():
            self.synchronous = self._home.synchronous()
        return rows

    def executemany(self, query: str, values: Iterable[Any]) -> Rows:
        """Run a statement for each of some values."""
        self._enter("executemany")
        return self._run(lambda db: db.executemany(query, values))

    def executescript(self, script: str) -> None:
        """Run statements that begin and commit their own transaction."""
        self._enter("executescript")
        failed = self._machine.fails("commit")
        if not failed or self._home.chance(0.5):
            self._home.run(self, lambda db: db.executescript(script))
            self._home.note_commit(self)
        if failed:
            raise _error("SQLITE_IOERR_FSYNC")
        self._pause("executed")

    def serialize(self) -> bytes:
        """The whole database as it is now."""
        self._enter("serialize")
        return self._home.image()

    def close(self) -> None:
        """Close the connection, once; an open transaction is rolled back."""
        if self.in_transaction:
            self._home.rollback(self)
        self._home.close(self)
        self._is_closed = True

    def _enter(self, word: str) -> None:
        """Refuse a closed connection; outside of a transaction, wait for those of other connections."""
        if self._is_closed:
            raise sqlite3.ProgrammingError("Cannot operate on a closed database.")
        if not self.in_transaction or word == "commit":
            self._pause(word)
            self._home.wait_turn(self)

    def _pause(self, word: str) -> None:
        self._machine.pause(f"sqlite {word}", self.life)

    def _run(self, statement: Statement) -> Rows:
        if self._machine.fails("statement"):
            self._fail_statement()
        return self._home.run(self, statement)

    def _fail_statement(self) -> NoReturn:
        """Fail; SQLite may roll back the transaction when a statement fails like this."""
        if not self.in_transaction:
            raise _error("SQLITE_IOERR_READ")
        if self._home.chance(0.5):
            self._home.rollback(self)
        raise _error("SQLITE_FULL" if self._home.chance(0.5) else "SQLITE_IOERR_WRITE")

    def _commit(self) -> Rows:
        if self.in_transaction and self._machine.fails("commit"):
            self._fail_commit()
        rows = self._home.commit(self)
        self._pause("committed")
        return rows

    def _fail_commit(self) -> NoReturn:
        """Fail without effect, perhaps in an open transaction; or fail although the commit takes effect."""
        home = self._home
        if home.chance(0.5):
            if home.chance(0.5):
                home.rollback(self)
            raise _error("SQLITE_FULL")
        if home.chance(self._machine.chances.doubt):
            home.leave_in_doubt(self)
        elif home.chance(0.5):
            home.commit(self)
        else:
            home.rollback(self)
        raise _error("SQLITE_IOERR_FSYNC")


def _error(name: str) -> sqlite3.OperationalError:
    error = sqlite3.OperationalError(_MESSAGES.get(name, "disk I/O error"))
    error.sqlite_errorname = name
    return error
