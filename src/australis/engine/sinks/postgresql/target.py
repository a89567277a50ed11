"""The table that is written: made if that is wanted, its columns checked, rows cast to their types."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa

from australis.algebra.schema import Field, Schema
from australis.algebra.types import DataType
from australis.engine.sinks.postgresql.connection import Connection, quoted
from australis.errors import EngineError, Problem

POSITIONS = "australis_positions"
"""The table, in the schema of the one that is written, that says how far writers have come."""
_MADE = {
    "int": "integer",
    "long": "bigint",
    "double": "double precision",
    "string": "text",
    "boolean": "boolean",
    "timestamp": "timestamp with time zone",
}
_FITTING: dict[str, dict[str, pa.DataType]] = {
    "int": {"int4": pa.int32(), "int8": pa.int64(), "float8": pa.float64()},
    "long": {"int8": pa.int64()},
    "double": {"float8": pa.float64()},
    "string": {"text": pa.string(), "varchar": pa.string()},
    "boolean": {"bool": pa.bool_()},
    "timestamp": {"timestamptz": pa.timestamp("us", "UTC")},
}
"""The column types that hold all values of an attribute's, and what is sent to them."""
_COLUMNS = """
SELECT a.attname::text, t.typname::text, a.atttypmod::int8, a.attnotnull,
       (a.atthasdef OR a.attidentity <> '' OR a.attgenerated <> '')
FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid
WHERE a.attrelid = to_regclass($1) AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum
"""


class Target:
    """The table of an output, and that of the positions beside it."""

    def __init__(self, connection: Connection, name: str, schema: Schema) -> None:
        self._connection, self._schema = connection, schema
        folder, _, self._table = name.rpartition(".")
        self._folder = folder or str(connection.ask("SELECT current_schema()::text")[0][0])
        self._types: dict[str, pa.DataType] = {}

    @property
    def positions(self) -> str:
        """The table of the positions, as SQL writes it."""
        return f"{quoted(self._folder)}.{quoted(POSITIONS)}"

    @property
    def _whole(self) -> str:
        return f"{quoted(self._folder)}.{quoted(self._table)}"

    def create(self) -> None:
        """Make the table, unless it is there."""
        columns = ", ".join(f"{quoted(field.name)} {_sql_type(field)}" for field in self._schema)
        with self._connection.transaction():
            self._lock()
            self._connection.ask(f"CREATE TABLE IF NOT EXISTS {self._whole} ({columns})")

    def _create_positions(self) -> None:
        with self._connection.transaction():
            self._lock()
            self._connection.ask(
                f"CREATE TABLE IF NOT EXISTS {self.positions} (writer text PRIMARY KEY, origin text NOT NULL,"
                " epoch bigint NOT NULL, seq bigint NOT NULL, written_at timestamp with time zone)"
            )

    def _lock(self) -> None:
        """Let one at a time make tables: two that make the same one at once would both fail."""
        self._connection.ask("SELECT pg_advisory_xact_lock(hashtext($1))::text", POSITIONS)

    def check(self, *, may_be_missing: bool) -> None:
        """Refuse a table that cannot hold the output's tuples; else make the one for the positions."""
        with self._connection.transaction():
            found = self._connection.ask(_COLUMNS, self._whole)
        if not found:
            if may_be_missing:
                return
            expected = "a table of that name, or create=yes in the address"
            raise EngineError(Problem(self._connection.where, "is not there", expected))
        problem = next(self._problems(found), None)
        if problem is not None:
            raise EngineError(problem)
        if not may_be_missing:
            self._create_positions()

    def _problems(self, found: list[tuple[str, str, int, bool, bool]]) -> Iterator[Problem]:
        columns = {name: (kind, modifier, is_full, own) for name, kind, modifier, is_full, own in found}
        where = self._connection.where
        for field in self._schema:
            if field.name not in columns:
                what = f"has no column {field.name!r}, but {', '.join(columns)}"
                yield Problem(where, what, str(self._schema))
                continue
            given, modifier, is_full, _ = columns[field.name]
            sent = _sent(field.type, given, modifier)
            if sent is None:
                what = f"the column {field.name!r} is {given}, and not every {field.type} fits it"
                yield Problem(where, what, _sql_type(field))
                continue
            if is_full and field.nullable:
                what = f"the column {field.name!r} takes no NULL, and the attribute may be NULL"
                yield Problem(
                    where, what, f"{field.name} not null in the network, or a column that takes NULL"
                )
            self._types[field.name] = sent
        for name, (_, _, is_full, has_value) in columns.items():
            if is_full and not has_value and name not in self._schema:
                yield Problem(where, f"the column {name!r} takes no NULL and has no default", "a default")

    def append(self, rows: pa.Table) -> None:
        """Append rows, cast to the types of the columns."""
        if not self._types:
            self.check(may_be_missing=False)
        schema = pa.schema([(name, self._types[name]) for name in rows.column_names])
        self._connection.ingest(self._folder, self._table, rows.cast(schema))


def _sql_type(field: Field) -> str:
    given = field.type
    name = f"numeric({given.precision},{given.scale})" if given.is_decimal else _MADE[given.name]
    return name if field.nullable else f"{name} NOT NULL"


def _sent(given: DataType, column: str, modifier: int) -> pa.DataType | None:
    """What is sent to a column for an attribute, if it holds all of its values."""
    if not given.is_decimal:
        is_bounded = column == "varchar" and modifier >= 0
        return None if is_bounded else _FITTING[given.name].get(column)
    if column != "numeric":
        return None
    if modifier >= 0:
        # As PostgreSQL packs it: the precision above, the scale in the lowest 11 bits, after a header of 4.
        precision, scale = (modifier - 4) >> 16, (modifier - 4) & 0x7FF
        if scale < given.scale or precision - scale < given.precision - given.scale:
            return None
    return given.arrow
