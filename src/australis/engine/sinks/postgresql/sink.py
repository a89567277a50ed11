"""The settings of a PostgreSQL sink, and its run: each table in a transaction with its position."""

from __future__ import annotations

import json
import time
import uuid
from dataclasses import dataclass
from urllib.parse import parse_qs, urlsplit

import pyarrow as pa
import pyarrow.compute as pc

from australis.algebra.schema import Schema
from australis.engine.addresses import Settings, filled_in, refuse_secrets
from australis.engine.sinks.consuming import Outlet, TableSink
from australis.engine.sinks.doors import DEFAULT_DOOR, DoorOptions, Patience
from australis.engine.sinks.postgresql.connection import Connection, Place
from australis.engine.sinks.postgresql.target import Target
from australis.engine.store import SEQ
from australis.errors import EngineError, Problem

_EXPECTED = "postgresql://USER@HOST/DATABASE?table=NAME"
_CONNECT_S = 10


@dataclass(frozen=True)
class PostgresqlSink:
    """A table of a PostgreSQL database for an output.

    The table `australis_positions` beside it says for each writer how far it has come; both change in one
    transaction, so each tuple is a row once. `writer` names the writer there; without one it has a number
    that the root keeps. Whoever starts last under a name is the writer: all before it can write no more.
    """

    output: str
    uri: str
    table: str
    schema: Schema
    create: bool = False
    writer: str = ""
    options: DoorOptions = DEFAULT_DOOR

    @property
    def consumer(self) -> str:
        return f"postgresql:{self.shown}"

    @property
    def shown(self) -> str:
        """The address as messages show it: without a user, and without settings of the driver."""
        parts = urlsplit(self.uri)
        host = parts.netloc.rpartition("@")[2] or "".join(parse_qs(parts.query).get("host", ["local"]))
        return f"{host}{parts.path}, table {self.table}"

    def check(self, position: str | None) -> None:
        """Refuse what cannot be written: no server, another table, a position that is none."""
        if position is not None:
            read_position(position, self.shown)
        for host in self._hosts():
            self.options.check_host(self.shown, host)
        with Connection(self.shown, self.resolved()) as connection:
            Target(connection, self.table, self.schema).check(may_be_missing=self.create)

    def _hosts(self) -> list[str]:
        """The hosts of the address; those that are folders are sockets of this machine."""
        parts = urlsplit(self.uri)
        named = [host.rpartition("@")[2].partition(":")[0] for host in parts.netloc.split(",")]
        named += [host for value in parse_qs(parts.query).get("host", []) for host in value.split(",")]
        return [host for host in named if host and not host.startswith("/")]

    def resolved(self) -> str:
        """The address with its secrets, for the driver alone."""
        uri = filled_in(self.uri, self.shown)
        if "connect_timeout=" not in uri:
            uri += f"{'&' if '?' in uri else '?'}connect_timeout={_CONNECT_S}"
        return uri

    def start(self, outlet: Outlet) -> RunningPostgresql:
        return RunningPostgresql(self, outlet)


class RunningPostgresql(TableSink):
    """A table of a database that is being written."""

    def __init__(self, sink: PostgresqlSink, outlet: Outlet) -> None:
        super().__init__(outlet, sink.output, sink.consumer)
        self._sink = sink
        self._connection: Connection | None = None
        self._target: Target | None = None
        self._patience = Patience(sink.options.patience_s, time.monotonic, self._ended)
        self._position = self._ensure_position(_new_origin)
        self._place: Place
        self._patience.until_done(self._claim)

    def _claim(self) -> None:
        """Become the writer of this name: a new epoch, in which no earlier one can write."""
        sink = self._sink
        origin, written = read_position(self._position, sink.shown)
        try:
            connection, target = self._open()
            if sink.create:
                target.create()
            target.check(may_be_missing=False)
            self._place = connection.claim(target.positions, sink.writer or origin, origin, written)
        except BaseException:
            self._drop()
            raise

    def _open(self) -> tuple[Connection, Target]:
        """The connection, made anew if the last one failed."""
        sink = self._sink
        if self._connection is None or self._target is None:
            for host in sink._hosts():
                sink.options.check_host(sink.shown, host)
            self._connection = Connection(sink.shown, sink.resolved())
            self._target = Target(self._connection, sink.table, sink.schema)
        return self._connection, self._target

    def _write(self, table: pa.Table) -> str:
        end = int(table[SEQ][-1].as_py()) + 1
        self._patience.until_done(lambda: self._attempt(table, end))
        self._position = _position_text(read_position(self._position, self._sink.shown)[0], end)
        return self._position

    def _attempt(self, table: pa.Table, end: int) -> None:
        """Write what the database does not have yet: the last attempt may have been whole after all."""
        try:
            connection, target = self._open()
            with connection.transaction():
                known = connection.lock(target.positions, self._place)
                rest = table.filter(pc.greater_equal(table[SEQ], known)) if known > 0 else table
                if rest.num_rows:
                    target.append(rest.select(self._sink.schema.names))
                    connection.advance(target.positions, self._place, end)
        except BaseException:
            self._drop()
            raise

    def _drop(self) -> None:
        if self._connection is not None:
            self._connection.close()
        self._connection = self._target = None

    def close(self) -> None:
        self._drop()


def _new_origin() -> str:
    """A number for this output of this root, which no other has."""
    return _position_text(uuid.uuid4().hex, 0)


def _position_text(origin: str, end: int) -> str:
    return json.dumps({"origin": origin, "end": end})


def read_position(position: str, where: str) -> tuple[str, int]:
    """The number of the writer in a position text, and that after the last tuple it has written."""
    try:
        known = json.loads(position)
        return str(known["origin"]), int(known["end"])
    except (ValueError, TypeError, KeyError):
        raise EngineError(Problem(where, f"the position {position!r} is none of a database")) from None


def parse_postgresql(output: str, text: str, schema: Schema, options: DoorOptions) -> PostgresqlSink:
    """The sink that an address names; settings that are not ours are the driver's.

    >>> from australis.algebra.schema import parse_schema
    >>> sink = parse_postgresql("alarms", "postgresql://db.example.org/plant?table=alarms&create=yes",
    ...                         parse_schema("n int"), DoorOptions())
    >>> sink.table, sink.create, sink.uri
    ('alarms', True, 'postgresql://db.example.org/plant')
    """
    refuse_secrets(text)
    uri, _, query = text.partition("?")
    given = Settings(f"postgresql sink of {output}", query)
    table, writer = given.text("table"), given.text("writer")
    if not table or "\0" in table:
        raise EngineError(Problem(f"postgresql sink of {output}", "no table is named", _EXPECTED))
    create = given.flag("create", False)
    said_s = given.seconds("patience", options.patience_s)
    patience_s = said_s if options.patience_s else 0.0
    rest = given.rest()
    return PostgresqlSink(
        output,
        f"{uri}?{rest}" if rest else uri,
        table,
        schema,
        create,
        writer,
        DoorOptions(patience_s, options.allows),
    )
