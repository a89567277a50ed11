"""Tables that tests make, in the same shape in every kind of store."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from pathlib import Path

import pyarrow as pa

from australis.algebra.builder import NetworkBuilder
from australis.algebra.network import Network
from australis.algebra.order import Order
from australis.algebra.store import Store
from australis.engine.tables.sqlite import quoted

CARS = "id int not null, name string, power double"


def sqlite_table(path: Path, columns: str, rows: Iterable[Sequence[object]], table: str = "cars") -> str:
    """Make a table of a SQLite file anew; gives the URL of the file."""
    name, given = quoted(table), list(rows)
    db = sqlite3.connect(path)
    with db:
        db.execute(f"drop table if exists {name}")
        db.execute(f"create table {name} ({columns})")
        if given:
            db.executemany(f"insert into {name} values ({', '.join('?' * len(given[0]))})", given)
    db.close()
    return f"sqlite:///{path}"


def joined(store: Store, table: str = CARS, predicate: str = "left.car = right.id") -> Network:
    """A stream of trips, joined with a stored table."""
    net = NetworkBuilder("trips")
    cars = net.table("cars", table, store=store)
    trips = net.input("trips", "car int, at long")
    trips.join(cars, predicate, left=Order("at", slack=1_000), as_="with").output("found")
    return net.build()


def streamed(store: Store, schema: str = CARS) -> Network:
    """The rows of a store as a stream."""
    net = NetworkBuilder("fleet")
    net.input("cars", schema, store=store).filter("power > 0", as_="real").output("cars")
    return net.build()


def trips(*cars: int | None) -> pa.Table:
    """A trip of each of some cars."""
    return pa.table({"car": pa.array(cars, pa.int32()), "at": pa.array(range(len(cars)), pa.int64())})
