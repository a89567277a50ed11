"""Stores: what is refused, and how they are written."""

from __future__ import annotations

import pytest

from australis.algebra.builder import NetworkBuilder
from australis.algebra.form.form import dumps, from_json, loads, to_json
from australis.algebra.network import Input, Network
from australis.algebra.order import Order
from australis.algebra.schema import parse_schema
from australis.algebra.store import Pull, Store, StoreKind
from australis.errors import AlgebraError, FormError, NetworkError


def network(
    table: Store | str, stream: Store | str = "cars.csv", predicate: str = "left.id = right.id"
) -> Network:
    net = NetworkBuilder("n")
    cars = net.table("cars", "id int, name string", store=table)
    net.input("more", "id int not null, t long", store=stream).join(cars, predicate, left=Order("t")).output(
        "found"
    )
    return net.build()


@pytest.mark.parametrize(
    ("at", "kind"),
    [
        ("cars.parquet", StoreKind.FILE),
        ("./cars.csv.gz", StoreKind.FILE),
        ("sqlite:///cars.db", StoreKind.SQLITE),
        ("postgresql://host/db", StoreKind.POSTGRESQL),
        ("postgres://host/db", StoreKind.POSTGRESQL),
    ],
)
def test_the_place_determines_the_kind(at: str, kind: StoreKind) -> None:
    assert Store(at, "" if kind is StoreKind.FILE else "cars").kind is kind


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"at": ""}, "at: is ''; expected a file"),
        ({"at": "mysql://host/db", "table": "cars"}, "at: is 'mysql://host/db'"),
        ({"at": "cars.csv", "table": "cars"}, "table: is 'cars', but cars.csv is a file"),
        ({"at": "sqlite:///cars.db"}, "table: is ''; expected the name of a table"),
        ({"at": "cars.csv", "pull": "lookup"}, "pull: a file has no index"),
        ({"at": "cars.csv", "pull": "often"}, "pull: is 'often'; expected 'load', 'lookup'"),
        ({"at": "cars.csv", "refresh": "soon"}, "refresh: 'soon' is not a length of time"),
        ({"at": "cars.csv", "refresh": "0 s"}, "refresh: '0 s' is not a whole, positive"),
        ({"at": "cars.csv", "timeout": "1 s"}, "timeout: is '1 s', but cars.csv is a file"),
        (
            {"at": "sqlite:///c.db", "table": "cars", "timeout": "soon"},
            "timeout: 'soon' is not a length of time",
        ),
        ({"at": "postgresql://me:geheim@host/db", "table": "cars"}, "at: holds a password"),
        ({"at": "postgresql://host/db?password=geheim", "table": "cars"}, "at: holds a password"),
        ({"at": "postgresql://host/db?sslpassword=geheim", "table": "cars"}, "at: holds a password"),
        ({"at": 7}, "at: is 7; expected a text"),
    ],
)
def test_a_bad_store_is_refused_by_its_field(fields: dict[str, str], said: str) -> None:
    with pytest.raises(AlgebraError, match="^" + said.replace("(", r"\(")) as found:
        Store(**fields)
    assert "geheim" not in str(found.value)


def test_a_variable_may_stand_for_a_password() -> None:
    for at in (
        "postgresql://me:${CARS_PASSWORD}@host/db",
        "postgresql://host/db?user=me&password=${CARS_PASSWORD}",
    ):
        store = Store(at, "cars")
        assert (store.at, store.kind) == (at, StoreKind.POSTGRESQL)


@pytest.mark.parametrize(
    ("store", "table", "said"),
    [
        (Store("cars.csv", pull="load"), False, "store.pull: is 'load', but a stream is pushed"),
        (Store("cars.csv", ascending="id"), True, "store.ascending: is 'id', but a table is read whole"),
        (
            Store("cars.csv", ascending="no"),
            False,
            "store.ascending: unknown attribute 'no'; expected one of",
        ),
        (
            Store("cars.csv", ascending="name"),
            False,
            "store.ascending: 'name' is string not null; expected int",
        ),
        (
            Store("cars.csv", ascending="n"),
            False,
            "store.ascending: 'n' is int; expected int, long, timestamp not",
        ),
        (Store("cars.csv", overlap=5), False, "store.overlap: is 5, but nothing ascends; expected ascending"),
        (
            Store("cars.csv", ascending="id", overlap="1 min"),
            False,
            "store.overlap: '1 min' is not a size for an order of type int; expected a number, 0 or greater",
        ),
        (
            Store("cars.csv", ascending="id", overlap=-1),
            False,
            "store.overlap: -1 is not a size for an order of type int; expected a number, 0 or greater",
        ),
    ],
)
def test_a_store_must_suit_its_input(store: Store, table: bool, said: str) -> None:
    schema = parse_schema("id int not null, name string not null, n int")
    with pytest.raises(AlgebraError, match=f"^{said}"):
        Input(schema, table, store=store)


def test_an_input_takes_nothing_else_for_a_store() -> None:
    with pytest.raises(AlgebraError, match=r"store: is 7; expected a Store"):
        Input(parse_schema("id int"), store=7)  # type: ignore[arg-type]


def test_a_lookup_needs_an_equality() -> None:
    store = Store("sqlite:///cars.db", "cars", pull=Pull.LOOKUP)
    with pytest.raises(NetworkError, match=r"n\.join1\.predicate: equates no attribute of 'cars'"):
        network(store, predicate="left.id < right.id")
    assert network(Store("sqlite:///cars.db", "cars"), predicate="left.id < right.id")


def test_networks_with_stores_are_written_and_read_again() -> None:
    whole = Store("postgresql://host/db", "cars", Pull.LOOKUP, "10 min", timeout="30 s")
    made = network(whole, Store("cars.parquet", ascending="id", overlap=50))
    for suffix in (".json", ".yaml"):
        assert loads(dumps(made, suffix), suffix) == made
    written = to_json(made)["inputs"]
    assert written["cars"]["store"] == {
        "at": "postgresql://host/db",
        "table": "cars",
        "pull": "lookup",
        "refresh": "10 min",
        "timeout": "30 s",
    }


def test_a_place_alone_is_a_text() -> None:
    document = to_json(network("cars.csv"))
    assert document["inputs"]["cars"]["store"] == "cars.csv"
    assert from_json(document) == network("cars.csv")


def test_a_document_names_what_is_wrong_with_a_store() -> None:
    document = to_json(network("cars.csv"))
    document["inputs"]["cars"]["store"] = {"at": "cars.csv", "every": "10 min"}
    with pytest.raises(
        FormError, match=r"n\.inputs\.cars\.store\.every: unknown field; expected one of at, table"
    ):
        from_json(document)
