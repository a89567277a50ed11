"""Stores: the identity of a stored data set that an input is decorated with (Aurora 2.1).

An input with a store has no source: it is a dangling connection point. Its rows are pushed through the
network as a stream or, where the input is a table, pulled by the joins that read it.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from urllib.parse import parse_qsl, quote, urlsplit

from australis.algebra.boxes import at
from australis.algebra.guards import guard_texts, shown
from australis.algebra.schema import Schema
from australis.algebra.spans import Span, microseconds, units
from australis.algebra.types import DataType
from australis.errors import AlgebraError, Problem

SECRET = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
"""The placeholder for the value of an environment variable, such as a password."""
_AT_EXPECTED = "a file such as 'cars.parquet', or 'sqlite:///cars.db' or 'postgresql://host/db' and a table"
_ASCENDING = ("int", "long", "timestamp")
_OVERLAP_NUMBER, _OVERLAP_TIME = 1_000, "1 min"
"""The overlap where none is said."""


class StoreKind(StrEnum):
    """What holds a data set."""

    FILE = "file"
    SQLITE = "sqlite"
    POSTGRESQL = "postgresql"


class Pull(StrEnum):
    """How a join reads a stored table."""

    BY_SIZE = ""
    """Whichever suits the table's size, decided once, when the network is deployed."""
    LOAD = "load"
    """All rows are read at once, and kept in the state of the join."""
    LOOKUP = "lookup"
    """The database is asked for the keys of the tuples that arrive."""


_KINDS = {
    "": StoreKind.FILE,
    "sqlite": StoreKind.SQLITE,
    "postgresql": StoreKind.POSTGRESQL,
    "postgres": StoreKind.POSTGRESQL,
}


@dataclass(frozen=True)
class Store:
    """A stored data set: a file, or a table or view of a database.

    It holds no password: `${AUSTRALIS_NAME}` stands for the environment variable of that name.

    >>> Store("postgresql://reader:${AUSTRALIS_CARS}@host/db", table="cars", refresh="10 min").kind.value
    'postgresql'
    >>> Store("postgresql://reader:geheim@host/db", table="cars")
    Traceback (most recent call last):
    australis.errors.AlgebraError: at: holds a password; expected ${AUSTRALIS_NAME} for an environment ...
    """

    at: str
    """A path, or the URL of a database."""
    table: str = ""
    """The table or view of the database; `schema.table` where it is in another schema."""
    pull: str = Pull.BY_SIZE
    """How joins read it, a `Pull`."""
    refresh: str = ""
    """How often it is read again; if empty, never on its own."""
    ascending: str = ""
    """For a stream: an attribute that grows, so that a repeated read returns only new rows."""
    overlap: Span = ""
    """How far before the greatest value seen a repeated read begins, for rows that appear late."""
    timeout: str = ""
    """How long a query of the database may take; if empty, as long as it takes."""

    def __post_init__(self) -> None:
        guard_texts(self, "at", "table", "pull", "refresh", "ascending", "timeout")
        problems = list(_problems(self))
        if problems:
            raise AlgebraError(problems)
        for name in ("refresh", "timeout"):
            if text := getattr(self, name):
                with at(name):
                    microseconds(text)

    def __str__(self) -> str:
        return f"{self.table} of {self.at}" if self.table else self.at

    @property
    def kind(self) -> StoreKind:
        return _KINDS[_scheme(self.at)]

    def overlap_along(self, type_: DataType) -> int:
        """The overlap in the units of what ascends: a number of values, or microseconds.

        >>> from australis.algebra.types import LONG, TIMESTAMP
        >>> Store("a.csv", ascending="id").overlap_along(LONG)
        1000
        >>> Store("a.csv", ascending="at", overlap="5 s").overlap_along(TIMESTAMP)
        5000000
        """
        usual = _OVERLAP_TIME if type_.name == "timestamp" else _OVERLAP_NUMBER
        return int(units(usual if self.overlap == "" else self.overlap, type_, zero=True))

    def located(self, folder: str) -> Store:
        """The same store, with a relative path resolved against a folder.

        What begins with an environment variable stays as it is: its value may be an absolute path.

        >>> Store("cars.csv").located("/data").at, Store("sqlite:///cars.db", "cars").located("/my data").at
        ('/data/cars.csv', 'sqlite:////my%20data/cars.db')
        """
        head, path, join_folder = _relative_path(self)
        if path is None:
            return self
        return replace(self, at=head + posixpath.normpath(posixpath.join(join_folder(folder), path)))

    @property
    def refresh_us(self) -> int | None:
        """The microseconds between two readings."""
        return microseconds(self.refresh) if self.refresh else None

    @property
    def timeout_us(self) -> int | None:
        """The microseconds that a query may take."""
        return microseconds(self.timeout) if self.timeout else None


def _relative_path(store: Store) -> tuple[str, str | None, Callable[[str], str]]:
    """The prefix of a store's relative path, that path, and the function that writes a folder before it."""
    if store.kind is StoreKind.POSTGRESQL:
        return "", None, str
    is_file = store.kind is StoreKind.FILE
    head = "" if is_file else "sqlite:///"
    if not store.at.startswith(head):
        return head, None, str
    path = store.at.removeprefix(head)
    is_relative = path and not path.startswith("/") and not SECRET.match(path)
    return head, path if is_relative else None, str if is_file else quote


def _scheme(place: str) -> str:
    return urlsplit(place).scheme if "://" in place else ""


def _problems(store: Store) -> Iterator[Problem]:
    if not store.at or "\0" in store.at or _scheme(store.at) not in _KINDS:
        yield Problem("at", f"is {shown(store.at)}", _AT_EXPECTED)
        return
    if _holds_password(store.at):
        expected = (
            "${AUSTRALIS_NAME} for an environment variable, or a file of the driver's own such as ~/.pgpass"
        )
        yield Problem("at", "holds a password", expected)
    is_file = store.kind is StoreKind.FILE
    if is_file and store.table:
        yield Problem("table", f"is {store.table!r}, but {store.at} is a file", "none for a file")
    if is_file and store.timeout:
        yield Problem("timeout", f"is {store.timeout!r}, but {store.at} is a file", "none for a file")
    if not is_file and (not store.table or "\0" in store.table):
        yield Problem("table", f"is {shown(store.table)}", "the name of a table or view of the database")
    if store.pull not in list(Pull):
        yield Problem("pull", f"is {shown(store.pull)}", "'load', 'lookup', or nothing to choose by size")
    elif is_file and store.pull == Pull.LOOKUP:
        yield Problem("pull", "a file has no index to look up by", "'load', or a table of a database")


def _holds_password(place: str) -> bool:
    if "://" not in place:
        return False
    parts = urlsplit(place)
    given = [parts.password, *(value for key, value in parse_qsl(parts.query) if "password" in key.lower())]
    return any(each and not SECRET.fullmatch(each) for each in given)


def store_problems(store: Store, schema: Schema, *, table: bool) -> Iterator[Problem]:
    """The problems of a store for a given input."""
    if not table and store.pull:
        yield Problem("pull", f"is {str(store.pull)!r}, but a stream is pushed", "table: true")
    if not store.ascending:
        if store.overlap != "":
            yield Problem(
                "overlap", f"is {shown(store.overlap)}, but nothing ascends", "ascending: an attribute"
            )
        return
    if table:
        yield Problem("ascending", f"is {store.ascending!r}, but a table is read whole", "a stream")
    elif store.ascending not in schema:
        names = ", ".join(schema.names)
        yield Problem("ascending", f"unknown attribute {store.ascending!r}", f"one of {names}")
    elif (field := schema[store.ascending]).nullable or field.type.name not in _ASCENDING:
        expected = f"{', '.join(_ASCENDING)} not null"
        yield Problem("ascending", f"{store.ascending!r} is {field.type_text}", expected)
    else:
        yield from _overlap_problems(store, field.type)


def _overlap_problems(store: Store, type_: DataType) -> Iterator[Problem]:
    try:
        store.overlap_along(type_)
    except AlgebraError as error:
        yield from (problem.under("overlap") for problem in error.problems)
