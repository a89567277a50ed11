"""Along what ascends every row comes once, also one that appears after greater ones, or beside equals."""

from __future__ import annotations

import importlib
import logging
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.engine.in_process import InProcess
from tests.engine.tables.made import streamed
from tests.engine.tables.server import Server

from australis import Node
from australis.algebra.network import Network
from australis.algebra.store import Store
from australis.engine.tables import ascending
from australis.engine.tables.reading import read

SALES = "id long not null, name string, power double"


@contextmanager
def database(path: Path) -> Iterator[sqlite3.Connection]:
    """A database of sales, whose writers do not keep readers waiting."""
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("pragma journal_mode = wal")
        db.execute("create table if not exists cars (id integer, name text, power real)")
        yield db


class Reader:
    """Reads a store again and again, from where the last position was."""

    def __init__(self, network: Network) -> None:
        self._network = network
        self.position: str | None = None
        self.rejected: list[str] = []

    def names(self) -> list[str]:
        found = read(self._network, "cars", self.position, None)
        if found.is_news:
            self.position = str(found.position[1])
        self.rejected += [row.reason for row in found.batch.rejected]
        names: list[str] = found.batch.table["name"].to_pylist()
        return names


def sales(folder: Path, schema: str = SALES, **options: str | int) -> Network:
    return streamed(Store(f"sqlite:///{folder}/a.db", "cars", **{"ascending": "id", **options}), schema)  # type: ignore[arg-type]


def test_a_row_of_a_transaction_that_ends_late_comes_once(tmp_path: Path) -> None:
    with database(tmp_path / "a.db") as db, database(tmp_path / "a.db") as slow:
        db.execute("insert into cars values (1, 'a', 1), (3, 'c', 1)")
        slow.execute("begin immediate")
        slow.execute("insert into cars values (2, 'b', 1), (4, 'd', 1)")
        reader = Reader(sales(tmp_path))
        assert reader.names() == ["a", "c"]
        slow.execute("commit")
        assert reader.names() == ["b", "d"]
        assert reader.names() == []


def test_rows_with_an_equal_value_come_once_each(tmp_path: Path) -> None:
    with database(tmp_path / "a.db") as db:
        db.execute("insert into cars values (1, 'a', 1), (1, 'a', 1)")
        reader = Reader(sales(tmp_path, overlap=0))
        assert reader.names() == ["a", "a"]
        db.execute("insert into cars values (1, 'b', 1), (1, 'a', 1), (1, null, 1)")
        assert reader.names() == ["b", "a", None], "two of the three that are alike were taken"
        assert reader.names() == []


def test_a_row_that_is_altered_does_not_come_again(tmp_path: Path) -> None:
    with database(tmp_path / "a.db") as db:
        db.execute("insert into cars values (1, 'a', 1), (2, 'b', 1), (2, 'c', 1)")
        reader = Reader(sales(tmp_path))
        assert reader.names() == ["a", "b", "c"]
        db.execute("update cars set name = 'x' where name = 'b'")
        assert reader.names() == []
        db.execute("insert into cars values (2, 'd', 2), (3, 'e', 2)")
        assert reader.names() == ["x", "d", "e"], "which of two is new cannot be told, and none may be lost"


def test_times_that_are_equal_come_once_each(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "a.db", isolation_level=None)) as db:
        db.execute("create table cars (at text, name text, power real)")
        db.execute("insert into cars values ('2026-01-01T00:00:05Z', 'a', 1)")
        network = sales(
            tmp_path, "at timestamp not null, name string, power double", ascending="at", overlap="2 s"
        )
        reader = Reader(network)
        assert reader.names() == ["a"]
        db.execute(
            "insert into cars values ('2026-01-01T00:00:05Z', 'b', 1), ('2026-01-01T00:00:03Z', 'c', 1)"
        )
        db.execute("insert into cars values ('2026-01-01T00:00:02Z', 'too late', 1)")
        assert reader.names() == ["c", "b"]
        assert reader.names() == []


def test_what_appears_before_the_overlap_is_not_read(tmp_path: Path) -> None:
    with database(tmp_path / "a.db") as db:
        db.execute("insert into cars values (100, 'a', 1)")
        reader = Reader(sales(tmp_path, overlap=10))
        assert reader.names() == ["a"]
        db.execute("insert into cars values (90, 'b', 1), (89, 'too late', 1)")
        assert reader.names() == ["b"]


def test_rows_that_do_not_fit_are_rejected_once(tmp_path: Path) -> None:
    with database(tmp_path / "a.db") as db:
        db.execute("insert into cars values (1, 'a', 'much')")
        reader = Reader(sales(tmp_path))
        assert (reader.names(), reader.names(), len(reader.rejected)) == ([], [], 1)
        db.execute("insert into cars values (2, 'b', 1), (3, 'c', 'more')")
        assert (reader.names(), reader.names(), len(reader.rejected)) == (["b"], [], 2)


def test_a_position_without_an_overlap_goes_on_after_its_last_value(tmp_path: Path) -> None:
    """As positions were before there was one, and as they are when the attributes are others."""
    with database(tmp_path / "a.db") as db:
        db.execute("insert into cars values (1, 'a', 1), (2, 'b', 1)")
        reader = Reader(sales(tmp_path))
        reader.position = '{"last": 1}'
        assert reader.names() == ["b"]
        other = Reader(sales(tmp_path, f"{SALES}, rest long"))
        other.position = reader.position
        db.execute("alter table cars add column rest integer")
        db.execute("insert into cars values (3, 'c', 1, 7)")
        assert other.names() == ["c"]


def test_so_many_rows_are_known_again_and_no_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(ascending, "KNOWN_MOST", 10)
    with database(tmp_path / "a.db") as db, caplog.at_level(logging.WARNING):
        db.executemany("insert into cars values (?, ?, 1)", [(2 * n, f"{n}") for n in range(100)])
        reader = Reader(sales(tmp_path))
        assert len(reader.names()) == 100
        db.execute("insert into cars values (177, 'too late', 1), (181, 'late', 1)")
        assert reader.names() == ["late"]
    assert "the overlap has more than 10 rows" in caplog.text


@given(st.lists(st.lists(st.tuples(st.integers(0, 20), st.sampled_from("ab")), max_size=6), max_size=6))
def test_within_the_overlap_every_row_comes_once(
    tmp_path_factory: pytest.TempPathFactory, rounds: list[list[tuple[int, str]]]
) -> None:
    folder = tmp_path_factory.mktemp("rounds")
    with database(folder / "a.db") as db:
        reader = Reader(sales(folder, overlap=20))
        found = reader.names()
        for rows in rounds:
            db.executemany("insert into cars values (?, ?, 1)", rows)
            found += reader.names()
        assert sorted(found) == sorted(name for rows in rounds for _, name in rows)


def test_a_node_knows_again_after_a_restart_what_it_has_taken(tmp_path: Path) -> None:
    with database(tmp_path / "a.db") as db:
        db.execute("insert into cars values (1, 'a', 1), (3, 'c', 1)")
        with Node(tmp_path / "root", runner=InProcess()) as node:
            node.deploy(sales(tmp_path))
        db.execute("insert into cars values (2, 'b', 1)")
        with Node(tmp_path / "root", runner=InProcess()) as node:
            node.deploy(sales(tmp_path))
            ends = [node.refresh("cars") for _ in range(2)]
            node.drain()
            assert node.read("cars").sort_by("#seq")["name"].to_pylist() == ["a", "c", "b"]
            assert ends[0] == ends[1]


def test_serial_numbers_of_postgresql_that_are_committed_late_come_once(postgresql: Server) -> None:
    postgresql.run(
        "drop table if exists receipts",
        "create table receipts (id bigserial primary key, name text, power float8)",
    )
    driver = importlib.import_module("adbc_driver_postgresql.dbapi")
    insert = "insert into receipts (name, power) values ('{}', 1)"
    reader = Reader(streamed(Store(postgresql.uri, "receipts", ascending="id"), SALES))
    with driver.connect(postgresql.uri) as slow, slow.cursor() as cursor:
        cursor.execute(insert.format("late"))
        postgresql.run(insert.format("early"))
        assert reader.names() == ["early"]
        slow.commit()
        assert reader.names() == ["late"]
        assert reader.names() == []


def test_transactions_of_postgresql_that_begin_together_have_one_time(postgresql: Server) -> None:
    postgresql.run(
        "drop table if exists visits",
        "create table visits (at timestamptz default now(), name text, power float8)",
    )
    driver = importlib.import_module("adbc_driver_postgresql.dbapi")
    schema = "at timestamp not null, name string, power double"
    reader = Reader(streamed(Store(postgresql.uri, "visits", ascending="at"), schema))
    insert = "insert into visits (name, power) values ('{}', 1)"
    with driver.connect(postgresql.uri) as slow, slow.cursor() as cursor:
        cursor.execute(insert.format("one"))
        cursor.execute(insert.format("two"))
        postgresql.run(insert.format("early"))
        assert reader.names() == ["early"]
        slow.commit()
        assert sorted(reader.names()) == ["one", "two"]
        postgresql.run("insert into visits select at, 'again', 1 from visits where name = 'two'")
        assert reader.names() == ["again"]
