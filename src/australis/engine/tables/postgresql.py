"""PostgreSQL tables, read through ADBC: rows come as Arrow, by binary COPY."""

from __future__ import annotations

import importlib
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from australis.algebra.expr import Expr, Value
from australis.algebra.schema import Field, Schema
from australis.algebra.store import Store
from australis.algebra.types import DataType
from australis.engine.files import Batch, column_of, convert, fits, one_chunk
from australis.engine.tables.conditions import Column, condition
from australis.engine.tables.sqlite import quoted
from australis.engine.tables.stored import Stored, resolved
from australis.errors import EngineError, Problem

DRIVER = "adbc_driver_postgresql.dbapi"
CONNECT_S = 10
"""How long a server may take to accept a connection."""

_ARROW = {
    "int2": pa.int16(),
    "int4": pa.int32(),
    "int8": pa.int64(),
    "float4": pa.float32(),
    "float8": pa.float64(),
    "bool": pa.bool_(),
    "text": pa.string(),
    "varchar": pa.string(),
    "bpchar": pa.string(),
    "timestamptz": pa.timestamp("us", "UTC"),
    "timestamp": pa.timestamp("us"),
}
"""The driver's types that an attribute can be read from; `numeric` comes as text."""
_COMPARES = {
    "int": ("int2", "int4", "int8"),
    "long": ("int2", "int4", "int8"),
    "double": ("float4", "float8"),
    "string": ("text", "varchar"),
    "boolean": ("bool",),
    "timestamp": ("timestamptz",),
    "decimal": ("numeric",),
}
"""Types whose values it compares as we do: a `bpchar` loses its blanks, a time without a zone is local."""
_SQL_TYPES = {
    "int": "int8",
    "long": "int8",
    "double": "float8",
    "string": "text",
    "boolean": "bool",
    "timestamp": "timestamptz",
    "decimal": "numeric",
}
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_LEAST_US = -(10**18)
"""Earlier than all PostgreSQL times: only its `infinity` and `-infinity` are beyond."""
_NOISE = re.compile(r"^[A-Z_]+: (\[libpq\] )?")


class PostgresqlStored(Stored):
    """A table or view of a PostgreSQL database."""

    def __init__(self, path: str, store: Store, schema: Schema, timezone: str) -> None:
        super().__init__(path, store, schema, timezone)
        self._driver = _driver(path)
        with self._explained():
            uri = _with_timeouts(resolved(store, path), store.timeout_us)
            self._connection = self._driver.connect(uri, autocommit=True)
        try:
            self._limit_statements()
            self._types = self._read_types()
        except BaseException:
            self.close()
            raise

    def size(self) -> int:
        """As the planner estimates it; a table that was never analysed is estimated by its pages."""
        sql = "SELECT reltuples::int8, pg_relation_size(oid) FROM pg_class WHERE oid = to_regclass($1)"
        found = self._ask(sql, (self._table,))
        rows, size = (column[0].as_py() for column in found.columns)
        return int(rows) if rows >= 0 and (rows or not size) else int(size) // 64

    def read(self, where: Expr | None = None) -> Batch:
        said = condition(where, self)
        clause = f" WHERE {said.sql}" if said else ""
        return self._batch(self._ask(f"{self._selected}{clause}", said.values if said else None))

    def looks_up(self, names: Sequence[str]) -> bool:
        return bool(names) and all(self.column(name) is not None for name in names)

    def lookup(self, keys: pa.Table) -> Batch:
        names = keys.column_names
        marks = [f"${place + 1}::{self._key_type(name)}[]" for place, name in enumerate(names)]
        columns = ", ".join(quoted(name) for name in names)
        if len(names) == 1:
            where = f"{columns} = ANY({marks[0]})"
        else:
            where = f"({columns}) IN (SELECT * FROM unnest({', '.join(marks)}))"
        lists = pa.record_batch([_as_list(keys[name].combine_chunks()) for name in names], names)
        return self._batch(self._ask(f"{self._selected} WHERE {where}", lists))

    def close(self) -> None:
        # The server may have closed the connection already.
        with suppress(self._driver.Error):
            self._connection.close()

    # --- as a dialect of conditions

    def column(self, name: str) -> Column | None:
        type_ = self.schema[name].type.name
        if self._types[name] not in _COMPARES[type_]:
            return None
        sql = quoted(name)
        return Column(sql, f'{sql} COLLATE "C"' if type_ == "string" else sql)

    def value(self, value: Value, type_: DataType) -> object | None:
        if isinstance(value, str) and "\0" in value:
            return None
        if type_.name == "timestamp" and isinstance(value, int):
            # The server is not asked about such a time; the rows that it sends are compared with it.
            with suppress(OverflowError):
                return _EPOCH + timedelta(microseconds=value)
            return None
        return str(value) if type_.is_decimal else value if type_.name in _SQL_TYPES else None

    def mark(self, place: int, type_: DataType) -> str:
        return f"${place + 1}::{_SQL_TYPES[type_.name]}"

    # --- inside

    @property
    def _table(self) -> str:
        return ".".join(quoted(part) for part in self.store.table.split(".", 1))

    @property
    def _selected(self) -> str:
        columns = (
            f"{quoted(field.name)}::text" if self._types[field.name] == "numeric" else quoted(field.name)
            for field in self.schema
        )
        return f"SELECT {', '.join(columns)} FROM {self._table}"

    def _key_type(self, name: str) -> str:
        """The type of a compared key; an index is used only if it is the column's own."""
        own = self._types[name]
        return own if own in ("numeric", "text", "varchar") else _SQL_TYPES[self.schema[name].type.name]

    def _read_types(self) -> dict[str, str]:
        """Read the type of every attribute's column; a missing column or another type is refused."""
        sql = (
            "SELECT a.attname::text, t.typname::text FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid"
            " WHERE a.attrelid = to_regclass($1) AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum"
        )
        names, types = (column.to_pylist() for column in self._ask(sql, (self._table,)).columns)
        if not names:
            raise self.trouble("is not there", "a table or view of that name, and the right to see it")
        found = dict(zip(names, types, strict=True))
        for field in self.schema:
            self._check(field, found)
        return {name: found[name] for name in self.schema.names}

    def _check(self, field: Field, found: Mapping[str, str]) -> None:
        if field.name not in found:
            raise self.trouble(f"has no column {field.name!r}, but {', '.join(found)}", str(self.schema))
        given = found[field.name]
        suits = field.type.is_decimal if given == "numeric" else given in _ARROW
        if not suits or (given in _ARROW and not fits(_ARROW[given], field.type)):
            what = f"has a column {field.name!r} of type {given}"
            raise self.trouble(what, f"what {field.type} can hold without loss; a view may convert it")

    def _limit_statements(self) -> None:
        """Let the server cancel what takes longer than the store allows."""
        if self.store.timeout_us is not None:
            limit_ms = math.ceil(self.store.timeout_us / 1000)
            with self._explained(), self._connection.cursor() as cursor:
                cursor.execute(f"SET statement_timeout = {limit_ms}")

    def _ask(self, sql: str, values: object) -> pa.Table:
        with self._explained(), self._connection.cursor() as cursor:
            cursor.execute(sql, values)
            return cursor.fetch_arrow_table()

    def _batch(self, found: pa.Table) -> Batch:
        columns: dict[str, pa.Array] = {}
        faults: dict[int, str] = {}
        for field, given in zip(self.schema, found.columns, strict=True):
            columns[field.name], bad = self._column(one_chunk(given), field)
            faults |= dict.fromkeys(bad, f"{field.name}: is no {field.type}")
        return self.fitting(columns, faults)

    def _column(self, given: pa.Array, field: Field) -> tuple[pa.Array, tuple[int, ...]]:
        if self._types[field.name] == "numeric":
            converted = convert(given, field.type, self.timezone)
            return converted.column, converted.bad_rows
        if not pa.types.is_timestamp(given.type):
            return column_of(given, field.type, self.timezone), ()
        endless = pc.less(given.cast(pa.int64()), _LEAST_US).fill_null(False)
        finite = pc.if_else(endless, pa.scalar(None, given.type), given)
        bad = tuple(pc.indices_nonzero(endless).to_pylist())
        return column_of(finite, field.type, self.timezone), bad

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except (self._driver.Error, pa.ArrowException, OSError) as error:
            what = _NOISE.sub("", str(error)).strip().splitlines()[0]
            raise self.trouble(f"cannot be read: {what}", "a server that answers, and its table") from error


def _driver(path: str) -> Any:
    try:
        return importlib.import_module(DRIVER)
    except ModuleNotFoundError as error:
        expected = "the extra: pip install 'australis[postgresql]'"
        raise EngineError(
            Problem(path, "PostgreSQL needs a driver that is not installed", expected)
        ) from error


def _with_timeouts(uri: str, timeout_us: int | None) -> str:
    """A URL with timeouts for the server's answer to a connection, and for the network."""
    given = {"connect_timeout": CONNECT_S}
    if timeout_us is not None:
        given["connect_timeout"] = min(CONNECT_S, math.ceil(timeout_us / 1e6))
        given["tcp_user_timeout"] = math.ceil(timeout_us / 1000)
    for name, value in given.items():
        if f"{name}=" not in uri:
            uri += f"{'&' if '?' in uri else '?'}{name}={value}"
    return uri


def _as_list(values: pa.Array) -> pa.Array:
    """Values as one list, of types that the driver binds; decimals as text."""
    if pa.types.is_decimal(values.type):
        values = values.cast(pa.string())
    offsets = pa.array([0, len(values)], pa.int32())
    return pa.ListArray.from_arrays(offsets, values)
