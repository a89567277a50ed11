"""A connection to PostgreSQL, what its errors mean, and the positions of writers."""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

import pyarrow as pa

from australis.errors import EngineError, Problem, TryLater

DRIVER = "adbc_driver_postgresql.dbapi"
_NOISE = re.compile(r"^[A-Z_]+: (\[libpq\] )?")
_PASSES = ("08", "40", "53", "55", "57", "58")
"""Classes of states that pass: connections, conflicts, a full server, locks, a stop, its system."""
_LASTS = ("08P01",)
"""Not among them: what does not follow the protocol will not do so the next time."""


@dataclass(frozen=True)
class Place:
    """The writer that we are: its name, and the epoch in which it writes."""

    writer: str
    epoch: int


class Connection:
    """A connection, whose errors are explained; a context manager that closes it."""

    def __init__(self, where: str, uri: str) -> None:
        self.where = where
        self._driver = _driver(where)
        with self._explained("cannot be reached"):
            self._connection = self._driver.connect(uri)

    def ask(self, sql: str, *values: object) -> list[tuple[Any, ...]]:
        """The rows that a statement gives."""
        with self._explained(), self._connection.cursor() as cursor:
            cursor.execute(sql, values or None)
            return list(cursor.fetchall()) if cursor.description else []

    def ingest(self, schema: str, table: str, rows: pa.Table) -> None:
        """Append rows by binary COPY."""
        with self._explained("cannot be written"), self._connection.cursor() as cursor:
            cursor.adbc_ingest(table, rows, mode="append", db_schema_name=schema)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All or nothing of what is done within."""
        try:
            yield
        except BaseException:
            # A connection that is lost has rolled back already.
            with suppress(self._driver.Error):
                self._connection.rollback()
            raise
        with self._explained("cannot be written"):
            self._connection.commit()

    # --- positions

    def claim(self, positions: str, writer: str, origin: str, written: int) -> Place:
        """Begin a new epoch of a writer, once a transaction of the last one is over."""
        with self.transaction():
            self.ask(
                f"INSERT INTO {positions} (writer, origin, epoch, seq) VALUES ($1, $2, 0, 0)"
                " ON CONFLICT (writer) DO NOTHING",
                writer,
                origin,
            )
            ((epoch, seq, owner),) = self.ask(
                f"UPDATE {positions} SET epoch = epoch + 1 WHERE writer = $1 RETURNING epoch, seq, origin",
                writer,
            )
            if owner != origin:
                what = f"the writer {writer!r} of {positions} is another root or output"
                raise EngineError(Problem(self.where, what, "another name as writer="))
            if seq < written:
                what = f"has tuples before number {seq:,}, and those before {written:,} were written"
                expected = "the database as it was left, or another writer= for the rest of the output"
                raise EngineError(Problem(self.where, what, expected))
        return Place(writer, int(epoch))

    def lock(self, positions: str, place: Place) -> int:
        """The number after the last tuple that is written; nobody else writes until the transaction ends."""
        # The driver reads by COPY, which takes no lock: a change that changes nothing does.
        sql = f"UPDATE {positions} SET seq = seq WHERE writer = $1 RETURNING epoch, seq"
        found = self.ask(sql, place.writer)
        if not found or found[0][0] != place.epoch:
            what = f"another writer has taken over the name {place.writer!r}"
            raise EngineError(Problem(self.where, what, "one node for an output, or a writer= for each"))
        return int(found[0][1])

    def advance(self, positions: str, place: Place, seq: int) -> None:
        """Note how far the writer has come."""
        self.ask(
            f"UPDATE {positions} SET seq = $1, written_at = now() WHERE writer = $2 RETURNING seq",
            seq,
            place.writer,
        )

    def close(self) -> None:
        # The server may have closed it already.
        with suppress(self._driver.Error):
            self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @contextmanager
    def _explained(self, what: str = "does not answer") -> Iterator[None]:
        try:
            yield
        except (self._driver.Error, pa.ArrowException, OSError) as error:
            state = getattr(error, "sqlstate", None) or ""
            lines = _NOISE.sub("", str(error)).strip().splitlines()
            said = f"{what}: {' '.join(lines[:2])}"
            is_lost = not state and isinstance(error, self._driver.OperationalError)
            if is_lost or (state.startswith(_PASSES) and state not in _LASTS):
                raise TryLater(Problem(self.where, said, "a server that answers")) from error
            raise EngineError(Problem(self.where, said)) from error


def _driver(where: str) -> Any:
    try:
        return importlib.import_module(DRIVER)
    except ModuleNotFoundError as error:
        expected = "the extra: pip install 'australis[postgresql]'"
        raise EngineError(
            Problem(where, "PostgreSQL needs a driver that is not installed", expected)
        ) from error


def quoted(name: str) -> str:
    """A name as SQL writes it.

    >>> print(quoted('the "b" of a'))
    "the ""b"" of a"
    """
    return '"' + name.replace('"', '""') + '"'
