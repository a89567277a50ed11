"""Databases that take too long: the query is given up, and the last rows stay or the train waits."""

from __future__ import annotations

import socket
import sqlite3
from pathlib import Path

import pytest
from tests.engine.in_process import InProcess
from tests.engine.tables.made import CARS, joined, sqlite_table, streamed, trips
from tests.engine.tables.server import Server
from tests.waiting import until

from australis import Node
from australis.algebra.store import Store
from australis.engine.tables.opening import open_store
from australis.errors import EngineError

ENDLESS = "(with recursive n(x) as (select 1 union all select x + 1 from n) select max(x) from n)"
"""A query that SQLite never has done with."""
ROWS = [(1, "a", 10.0), (2, "b", 20.0)]


def viewed(path: Path, *, slow: bool) -> str:
    """A view of a table, which takes forever or no time; gives the URL of the file."""
    if not path.exists():
        sqlite_table(path, "id int, name text, power real", ROWS, "kept")
    db = sqlite3.connect(path)
    with db:
        db.execute("drop view if exists cars")
        db.execute(f"create view cars as select * from kept{f', {ENDLESS}' if slow else ''}")
    db.close()
    return f"sqlite:///{path}"


def test_the_last_rows_stay_where_a_refresh_takes_too_long(tmp_path: Path) -> None:
    store = Store(viewed(tmp_path / "cars.db", slow=False), "cars", "load", timeout="200 ms")
    with Node(tmp_path / "root", runner=InProcess()) as node:
        node.deploy(joined(store))
        viewed(tmp_path / "cars.db", slow=True)
        with pytest.raises(EngineError, match=r"^trips\.cars: cars of sqlite:.* took longer than 200 ms$"):
            node.refresh("cars")
        node.push("trips", trips(1, 2))
        node.drain()
        assert node.read("found")["name"].to_pylist() == ["a", "b"]
        assert "took longer than 200 ms" in node.statistics().tables["cars"].trouble


def test_a_train_waits_while_its_lookup_takes_too_long(tmp_path: Path) -> None:
    store = Store(viewed(tmp_path / "cars.db", slow=False), "cars", "lookup", timeout="200 ms")
    with Node(tmp_path / "root", runner=InProcess()) as node:
        node.deploy(joined(store))
        viewed(tmp_path / "cars.db", slow=True)
        node.push("trips", trips(1, 2))
        until(lambda: bool(node.statistics().tables["cars"].trouble))
        assert "took longer than 200 ms" in node.statistics().tables["cars"].trouble
        viewed(tmp_path / "cars.db", slow=False)
        node.drain()
        assert node.read("found")["name"].to_pylist() == ["a", "b"]


def test_what_is_quick_enough_is_read(tmp_path: Path) -> None:
    store = Store(viewed(tmp_path / "cars.db", slow=False), "cars", timeout="1 min")
    with open_store(streamed(store), "cars") as stored:
        assert stored.read().table["id"].to_pylist() == [1, 2]


def test_a_server_that_accepts_and_never_answers() -> None:
    pytest.importorskip("adbc_driver_postgresql")
    with socket.create_server(("127.0.0.1", 0)) as silent:
        host, port = silent.getsockname()
        store = Store(f"postgresql://me@{host}:{port}/db", "cars", timeout="1 s")
        with pytest.raises(EngineError, match=r"^fleet\.cars: cars of postgresql:.*timeout expired"):
            open_store(streamed(store), "cars")


def test_a_statement_that_takes_too_long_is_ended_by_the_server(postgresql: Server) -> None:
    postgresql.run(
        "create or replace view sleeping as"
        " select 1 as id, 'a'::text as name, 1::float8 as power from pg_sleep(600)"
    )
    store = Store(postgresql.uri, "sleeping", timeout="300 ms")
    with (
        open_store(streamed(store, CARS), "cars") as stored,
        pytest.raises(EngineError, match=r"cannot be read: .*statement timeout"),
    ):
        stored.read()
