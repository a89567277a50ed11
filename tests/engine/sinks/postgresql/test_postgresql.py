"""Outputs in tables of a real PostgreSQL server: each tuple once, whoever ends in between."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pyarrow as pa
import pytest
from tests.engine.sinks.shelf import SCHEMA, Shelf, tuples
from tests.engine.tables.server import Server

from australis.algebra.schema import Schema, parse_schema
from australis.engine.sinks import DoorOptions, parse_sink, write_out
from australis.engine.sinks.postgresql import PostgresqlSink
from australis.errors import EngineError, TryLater

_numbers = count()


class Database:
    """A table of its own on the shared server."""

    def __init__(self, server: Server) -> None:
        self.server, self.table = server, f"words_{next(_numbers)}"

    def address(self, *settings: str) -> str:
        return "&".join((f"{self.server.uri}&table={self.table}", *settings))

    def sink(self, *settings: str, schema: Schema = SCHEMA, patience_s: float = 0.0) -> PostgresqlSink:
        found = parse_sink("out", self.address(*settings), schema, door=DoorOptions(patience_s))
        assert isinstance(found, PostgresqlSink)
        return found

    def rows(self, what: str = "n, word, half", more: str = "ORDER BY n") -> list[tuple[object, ...]]:
        driver = pytest.importorskip("adbc_driver_postgresql.dbapi")
        with driver.connect(self.server.uri) as connection, connection.cursor() as cursor:
            cursor.execute(f"SELECT {what} FROM {self.table} {more}")
            return list(cursor.fetchall())


@pytest.fixture
def database(postgresql: Server) -> Database:
    postgresql.start()
    return Database(postgresql)


def wanted(table: pa.Table) -> list[tuple[object, ...]]:
    return [(row["n"], row["word"], row["half"]) for row in table.to_pylist()]


class _Dies(BaseException):
    """What a kill looks like from inside."""


class DyingShelf(Shelf):
    """Dies before the acknowledgement of some tuples, when they are in the database."""

    def __init__(self, folder: Path, table: pa.Table, deaths: Iterator[bool]) -> None:
        super().__init__(folder, table)
        self._deaths = deaths

    def acknowledge(self, consumer: str, output: str, seq: int, position: str | None = None) -> None:
        if seq and next(self._deaths):
            raise _Dies
        super().acknowledge(consumer, output, seq, position)


def test_an_output_becomes_a_table(database: Database, tmp_path: Path) -> None:
    table = tuples(100)
    shelf = Shelf(tmp_path, table)
    write_out(shelf, database.sink("create=yes"))
    assert database.rows() == wanted(table)
    write_out(shelf, database.sink("create=yes"))
    assert len(database.rows()) == 100, "a second run finds nothing new"


def test_a_kill_before_the_acknowledgement_writes_nothing_twice(database: Database, tmp_path: Path) -> None:
    table, deaths = tuples(200), 0
    shelf = DyingShelf(tmp_path, table, (number % 2 == 0 for number in count(1)))
    while True:
        try:
            write_out(shelf, database.sink("create=yes"))
            break
        except _Dies:
            deaths += 1
    assert deaths > 5
    assert database.rows() == wanted(table)


def test_a_server_that_ends_and_comes_again(database: Database, tmp_path: Path) -> None:
    table = tuples(200)
    shelf = Shelf(tmp_path, table)
    sink = database.sink("create=yes", patience_s=30.0)
    with sink.start(shelf) as running:
        for number, step in enumerate(
            running.steps(shelf.subscribe("out", consumer=sink.consumer), lambda t: None, is_last=True)
        ):
            if number in (1, 4):
                database.server.stop()
                database.server.start()
            step()
    assert number > 5
    assert database.rows() == wanted(table)


def test_without_patience_it_says_at_once_that_there_is_no_server(database: Database, tmp_path: Path) -> None:
    database.server.stop()
    try:
        with pytest.raises(TryLater, match=r"table words_\d+: cannot be reached: .*expected a server"):
            write_out(Shelf(tmp_path, tuples(9)), database.sink("create=yes"))
    finally:
        database.server.start()


def test_the_last_writer_of_a_name_fences_those_before(database: Database, tmp_path: Path) -> None:
    table = tuples(100)
    shelf = Shelf(tmp_path, table)
    sink = database.sink("create=yes")
    with sink.start(shelf) as old:
        steps = old.steps(shelf.subscribe("out", consumer=sink.consumer), lambda t: None, is_last=True)
        next(steps)()
        zombie = next(steps)
        with sink.start(shelf) as new:
            with pytest.raises(EngineError, match="another writer has taken over the name"):
                zombie()
            for step in new.steps(
                shelf.subscribe("out", consumer=sink.consumer), lambda t: None, is_last=True
            ):
                step()
    assert database.rows() == wanted(table)


def test_a_name_belongs_to_one_root(database: Database, tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    write_out(Shelf(tmp_path / "one", tuples(9)), database.sink("create=yes", "writer=mine"))
    with pytest.raises(EngineError, match=r"the writer 'mine' of .* is another root or output"):
        write_out(Shelf(tmp_path / "two", tuples(9)), database.sink("writer=mine"))
    write_out(Shelf(tmp_path / "two", tuples(9)), database.sink("writer=other"))
    assert len(database.rows()) == 18


def test_a_database_that_lost_what_was_acknowledged_is_refused(database: Database, tmp_path: Path) -> None:
    shelf = Shelf(tmp_path, tuples(50))
    write_out(shelf, database.sink("create=yes"))
    database.server.run("UPDATE australis_positions SET seq = 5")
    with pytest.raises(EngineError, match="has tuples before number 5, and those before 166 were written"):
        write_out(shelf, database.sink())


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ("n int8, word text", "has no column 'half', but n, word"),
        ("n int4, word text, half float8", "the column 'n' is int4, and not every long fits it"),
        ("n int8, word varchar(9), half float8", "the column 'word' is varchar, and not every string"),
        ("n int8, word text NOT NULL, half float8", "the column 'word' takes no NULL, and the attribute may"),
        ("n int8, word text, half float8, x int NOT NULL", "the column 'x' takes no NULL and has no default"),
    ],
)
def test_a_table_that_cannot_hold_it_is_refused(database: Database, columns: str, message: str) -> None:
    database.server.run(f"CREATE TABLE {database.table} ({columns})")
    with pytest.raises(EngineError, match=message.replace("(", r"\(")):
        database.sink().check(None)


def test_a_table_that_is_not_there_is_refused_unless_it_is_to_be_made(database: Database) -> None:
    with pytest.raises(EngineError, match="is not there; expected a table of that name, or create=yes"):
        database.sink().check(None)
    database.sink("create=yes").check(None)


def test_a_wider_table_with_columns_of_its_own(database: Database, tmp_path: Path) -> None:
    database.server.run(
        f"CREATE TABLE {database.table} (half float8, id bigserial, n int8 NOT NULL, word varchar,"
        " x text DEFAULT 'x')"
    )
    table = tuples(30)
    write_out(
        Shelf(tmp_path, table),
        database.sink(schema=parse_schema("n long not null, word string, half double")),
    )
    assert database.rows() == wanted(table)
    assert database.rows("DISTINCT x", "") == [("x",)]


def test_every_type_arrives(database: Database, tmp_path: Path) -> None:
    schema = parse_schema("i int, l long, d double, s string, b boolean, at timestamp, m decimal(12,3)")
    given = tuples(3)
    columns = {
        "i": pa.array([1, -(2**31), None], pa.int32()),
        "l": pa.array([2**62, -1, None]),
        "d": pa.array([1.5, float("-inf"), None]),
        "s": pa.array(["ü\n'", "", None]),
        "b": pa.array([True, False, None]),
        "at": pa.array([0, 1_700_000_000_123_456, None], pa.timestamp("us", "UTC")),
        "m": pa.array(["1.125", "-999999999.999", None]).cast(pa.decimal128(12, 3)),
    }
    table = pa.table({**columns, "#seq": given["#seq"], "#ts": given["#ts"]})
    write_out(Shelf(tmp_path, table), database.sink("create=yes", schema=schema))
    times = "(extract(epoch FROM at) * 1000000)::int8"
    found = database.rows(f"i, l, d, s, b, {times}, m::text", "ORDER BY i NULLS LAST")
    assert found == [
        (-(2**31), -1, float("-inf"), "", False, 1_700_000_000_123_456, "-999999999.999"),
        (1, 2**62, 1.5, "ü\n'", True, 0, "1.125"),
        (None,) * 7,
    ]


def test_what_no_text_of_the_database_can_hold_is_an_error_that_says_so(
    database: Database, tmp_path: Path
) -> None:
    table = tuples(3).set_column(1, "word", pa.array(["a\0b", "c", "d"]))
    with pytest.raises(EngineError, match=r"cannot be written: .*invalid byte sequence"):
        write_out(Shelf(tmp_path, table), database.sink("create=yes"))
    assert database.rows() == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("postgresql://host/db", "no table is named; expected postgresql://"),
        ("postgresql://me:geheim@host/db?table=a", "holds a password; expected"),
        ("postgresql://host/db?table=a&password=geheim", "holds a password; expected"),
        ("postgresql://host/db?table=a&create=maybe", "create is 'maybe'; expected yes or no"),
        ("postgresql://host/db?table=a&patience=long", "patience is 'long'; expected a length of time"),
    ],
)
def test_addresses_that_are_refused(text: str, message: str) -> None:
    with pytest.raises(EngineError, match=message) as refused:
        parse_sink("out", text, SCHEMA)
    assert "geheim" not in str(refused.value)


def test_a_secret_is_in_no_text(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("ge/heim\n")
    monkeypatch.setenv("AUSTRALIS_DB_FILE", str(tmp_path / "secret"))
    sink = parse_sink("out", "postgresql://me:${AUSTRALIS_DB}@host/db?table=a&sslmode=require", SCHEMA)
    assert isinstance(sink, PostgresqlSink)
    assert sink.consumer == "postgresql:host/db, table a"
    assert "ge" not in repr(sink)
    assert sink.resolved() == "postgresql://me:ge%2Fheim@host/db?sslmode=require&connect_timeout=10"


def test_hosts_that_are_not_allowed_are_not_reached() -> None:
    door = DoorOptions(allows=lambda host: host == "db.example.org")
    sink = parse_sink("out", "postgresql://db.example.org,10.0.0.1:5433/db?table=a", SCHEMA, door=door)
    with pytest.raises(EngineError, match=r"the host 10\.0\.0\.1 is not allowed"):
        sink.check(None)
