"""Records of commits: the statements of a unit of work with their values, as one small object in the root."""

from __future__ import annotations

import base64
import json
import sqlite3
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from australis.errors import EngineError, Problem

Statement = tuple[str, list[Sequence[Any]]]
"""A statement, and the rows of values that it is run with."""
_BYTES = "base64"
_LEVEL = 1
"""Texts of statements repeat; more effort makes records hardly smaller."""


@dataclass(frozen=True)
class CommitRecord:
    """A commit as it is copied to the root.

    >>> record = CommitRecord(7, "b", "a", "process 1", "/catalog", [("delete from t where x = ?", [[b"y"]])])
    >>> CommitRecord.decode(record.encode(), "7.commit") == record
    True
    """

    number: int
    token: str
    """What this commit is told by from any other of its number."""
    after: str
    """The token of the commit before it."""
    process: str
    """The process that made it."""
    place: str
    """The folder of that process's catalogue."""
    statements: list[Statement]

    def encode(self) -> bytes:
        """The contents of its object, with a checksum."""
        return zlib.compress(json.dumps(asdict(self), default=_packed).encode(), _LEVEL)

    @classmethod
    def decode(cls, data: bytes, name: str) -> CommitRecord:
        """The record in an object; `name` is for the error if it is damaged."""
        try:
            given = json.loads(zlib.decompress(data), object_hook=_unpacked)
            statements = [(query, rows) for query, rows in given.pop("statements")]
            return cls(**given, statements=statements)
        except (zlib.error, ValueError, TypeError, KeyError) as error:
            raise EngineError(
                Problem(name, f"is damaged: {error}", "the object as it was; restore it from a copy")
            ) from error


def _packed(value: object) -> dict[str, str]:
    if not isinstance(value, bytes):
        raise TypeError(f"a value of a statement is a {type(value).__name__}")
    return {_BYTES: base64.b64encode(value).decode()}


def _unpacked(given: dict[str, Any]) -> Any:
    return base64.b64decode(given[_BYTES]) if given.keys() == {_BYTES} else given


class Recorder:
    """A connection that remembers the statements which change something."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        self.statements: list[Statement] = []

    def execute(self, query: str, values: Sequence[Any] = ()) -> sqlite3.Cursor:
        """Run a statement."""
        self._note(query, [values])
        return self._db.execute(query, values)

    def executemany(self, query: str, rows: Iterable[Sequence[Any]]) -> sqlite3.Cursor:
        """Run a statement with each of some rows of values."""
        every = list(rows)
        self._note(query, every)
        return self._db.executemany(query, every)

    def _note(self, query: str, rows: list[Sequence[Any]]) -> None:
        if rows and not query.lstrip().lower().startswith("select"):
            self.statements.append((query, rows))
