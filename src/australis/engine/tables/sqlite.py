"""SQLite tables, read through Python's own driver.

SQLite types values, not columns: a column has an affinity, which says what its values mostly are. It must
suit the attribute; a row with a value that does not is one that does not fit. (The ADBC driver guesses the
types of a result from the first values that it sees.)
"""

from __future__ import annotations

import math
import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from urllib.parse import quote, unquote, urlsplit

import pyarrow as pa

from australis.algebra.expr import Expr, Value
from australis.algebra.schema import Schema
from australis.algebra.store import Store
from australis.algebra.types import DataType
from australis.engine.files import Batch
from australis.engine.tables.conditions import Column, condition
from australis.engine.tables.python_values import columns_of
from australis.engine.tables.stored import Stored, resolved

ROWS_AT_ONCE = 65_536
STEPS_BETWEEN_LOOKS = 10_000
"""The number of instructions after which SQLite asks whether to continue: a fraction of a millisecond."""
VALUES_MOST = 30_000
"""How many values are bound in one statement; SQLite accepts 32,766."""

_SUITS = {
    "int": ("integer", "numeric", ""),
    "long": ("integer", "numeric", ""),
    "double": ("real", "integer", "numeric", ""),
    "string": ("text", ""),
    "boolean": ("integer", "numeric", ""),
    "timestamp": ("text", "numeric", ""),
    "decimal": ("numeric", "text", "integer", "real", ""),
}
"""The affinities of columns that hold values of a type."""
_COMPARES = {
    "int": ("integer", "numeric"),
    "long": ("integer", "numeric"),
    "double": ("real",),
    "string": ("text",),
    "boolean": ("integer", "numeric"),
}
"""Types whose values SQLite compares as we do; without an affinity, 7 and '7' would differ there."""
_WHOLE = "CASE typeof({0}) WHEN 'real' THEN CAST({0} AS TEXT) ELSE {0} END"
_READ = {
    "int": _WHOLE,
    "long": _WHOLE,
    "double": "{0}",
    "string": "CASE typeof({0}) WHEN 'blob' THEN length({0}) ELSE {0} END",
    "boolean": _WHOLE,
    "timestamp": "CAST({0} AS TEXT)",
    "decimal": "CAST({0} AS TEXT)",
}
"""How a column is read. A value that Arrow would wrongly accept for the type is returned as one that it
rejects; types that SQLite does not have are read as in text files."""


class SqliteStored(Stored):
    """A table or view of a SQLite file, which is never written."""

    def __init__(self, path: str, store: Store, schema: Schema, timezone: str) -> None:
        super().__init__(path, store, schema, timezone)
        self._ends_at = math.inf
        with self._explained():
            place = urlsplit(resolved(store, path))
            file = unquote(place.netloc + place.path)[1:]
            self._db = sqlite3.connect(
                f"file:{quote(file)}?mode=ro", uri=True, isolation_level=None, check_same_thread=False
            )
        if store.timeout:
            self._db.set_progress_handler(self._is_late, STEPS_BETWEEN_LOOKS)
        try:
            self._affinities = self._read_affinities()
        except BaseException:
            self.close()
            raise

    def size(self) -> int:
        with self._explained():
            ((found,),) = self._db.execute(f"SELECT count(*) FROM {self._table}").fetchall()
        return int(found)

    def read(self, where: Expr | None = None) -> Batch:
        said = condition(where, self)
        clause = f" WHERE {said.sql}" if said else ""
        return self._batch(self._rows(f"{self._selected}{clause}", said.values if said else ()))

    def looks_up(self, names: Sequence[str]) -> bool:
        return bool(names) and all(self.column(name) is not None for name in names)

    def lookup(self, keys: pa.Table) -> Batch:
        names = keys.column_names
        columns = ", ".join(quoted(name) for name in names)
        most = VALUES_MOST // len(names)
        found: list[tuple[object, ...]] = []
        for start in range(0, keys.num_rows, most):
            part = keys.slice(start, most)
            row = f"({', '.join('?' * len(names))})"
            sql = f"{self._selected} WHERE ({columns}) IN (VALUES {', '.join([row] * part.num_rows)})"
            values = zip(*(part[name].to_pylist() for name in names), strict=True)
            found += chain.from_iterable(self._rows(sql, tuple(chain.from_iterable(values))))
        return self._batch(iter([found]))

    def close(self) -> None:
        self._db.close()

    # --- as a dialect of conditions

    def column(self, name: str) -> Column | None:
        type_ = self.schema[name].type.name
        if self._affinities[name] not in _COMPARES.get(type_, ()):
            return None
        sql = quoted(name)
        return Column(sql, f"{sql} COLLATE BINARY" if type_ == "string" else sql)

    def value(self, value: Value, type_: DataType) -> object | None:
        if type_.name not in _COMPARES or (isinstance(value, int) and abs(value) >= 1 << 63):
            return None
        return int(value) if isinstance(value, bool) else value

    def mark(self, place: int, type_: DataType) -> str:
        return "?"

    # --- inside

    @property
    def _table(self) -> str:
        return ".".join(quoted(part) for part in self.store.table.split(".", 1))

    @property
    def _selected(self) -> str:
        columns = (_READ[field.type.name].format(quoted(field.name)) for field in self.schema)
        return f"SELECT {', '.join(columns)} FROM {self._table}"

    def _read_affinities(self) -> dict[str, str]:
        """Read the affinity of every attribute's column; a missing column or another type is refused."""
        *of, table = self.store.table.split(".", 1)
        with self._explained():
            query = "SELECT name, type FROM pragma_table_xinfo(?, ?)"
            found = dict(self._db.execute(query, (table, of[0] if of else None)).fetchall())
        if not found:
            raise self.trouble("is not there", "a table or view of that name")
        for field in self.schema:
            if field.name not in found:
                raise self.trouble(f"has no column {field.name!r}, but {', '.join(found)}", str(self.schema))
            if affinity(found[field.name]) not in _SUITS[field.type.name]:
                what = f"has a column {field.name!r} of type {found[field.name]}"
                raise self.trouble(what, f"values of {field.type}")
        return {name: affinity(found[name]) for name in self.schema.names}

    def _rows(self, sql: str, values: Sequence[object]) -> Iterator[list[tuple[object, ...]]]:
        with self._explained():
            cursor = self._db.execute(sql, values)
            while rows := cursor.fetchmany(ROWS_AT_ONCE):
                yield rows

    def _batch(self, chunks: Iterator[list[tuple[object, ...]]]) -> Batch:
        made = [self._converted(rows) for rows in chunks if rows]
        empty = self.schema.arrow.empty_table()
        table = pa.concat_tables([empty, *(batch.table for batch in made)])
        return Batch(table, tuple(row for batch in made for row in batch.rejected))

    def _converted(self, rows: list[tuple[object, ...]]) -> Batch:
        columns, faults = columns_of(rows, self.schema, self.timezone)
        return self.fitting(columns, faults)

    def _is_late(self) -> bool:
        """Whether SQLite has to cancel the running query; it asks periodically."""
        return time.monotonic() > self._ends_at

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Limit the time of a query to what the store allows, and raise its errors as the store's."""
        if self.store.timeout_us is not None:
            self._ends_at = time.monotonic() + self.store.timeout_us / 1e6
        try:
            yield
        except sqlite3.Error as error:
            why = f"took longer than {self.store.timeout}" if self._is_late() else f"cannot be read: {error}"
            raise self.trouble(why) from error


def quoted(name: str) -> str:
    """A name quoted for SQL.

    >>> quoted('a "b"')
    '"a ""b"\""'
    """
    return '"' + name.replace('"', '""') + '"'


def affinity(declared: str) -> str:
    """The affinity of a column by its declared type, in SQLite's own order of rules; "" is none.

    >>> affinity("VARCHAR(20)"), affinity("BIGINT"), affinity("DECIMAL(10,2)"), affinity("")
    ('text', 'integer', 'numeric', '')
    """
    text = declared.upper()
    if "INT" in text:
        return "integer"
    if any(word in text for word in ("CHAR", "CLOB", "TEXT")):
        return "text"
    if "BLOB" in text or not text:
        return ""
    return "real" if any(word in text for word in ("REAL", "FLOA", "DOUB")) else "numeric"
