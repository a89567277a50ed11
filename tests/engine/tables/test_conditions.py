"""Predicates that go to the database: never stricter than they are here, and never as text."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.engine.tables.made import sqlite_table
from tests.engine.tables.server import Server

from australis.algebra.boxes.box import predicate
from australis.algebra.builder import NetworkBuilder
from australis.algebra.network import Network
from australis.algebra.order import Order
from australis.algebra.store import Store
from australis.engine.tables.conditions import condition
from australis.engine.tables.needed_rows import join_keys, wanted
from australis.engine.tables.opening import open_store
from australis.engine.tables.stored import Stored
from australis.kernels.expressions import evaluate
from australis.kernels.expressions.arrays import truths

pytestmark = pytest.mark.timeout(600)
SCHEMA = "i int, l long, d double, s string, b boolean, t timestamp, n decimal(10,2)"
ROWS = [
    (1, 1 << 53, 0.5, "a", True, "2024-01-01 00:00:00Z", "1.50"),
    (-1, (1 << 53) + 1, -0.0, "A", False, "2024-01-01 00:00:00.000001Z", "-1.50"),
    (0, -5, 1e300, "it's", None, "1969-12-31 00:00:00Z", "0.00"),
    (None, None, None, None, True, None, None),
    (7, 7, 7.0, "ä", False, "2030-01-01 00:00:00Z", "7.00"),
    (2, 0, 2.5, "", None, "2024-01-01 00:00:00Z", "99999999.99"),
]

_SIGNS = st.sampled_from(["=", "<", "<=", ">", ">=", "<>"])
_SIDES = {
    "i": st.sampled_from(["0", "1", "-1", "2.5", "3000000000", "NULL"]),
    "l": st.sampled_from(["0", "7", "9007199254740993", "9007199254740993.0", "0.5"]),
    "d": st.sampled_from(["0", "0.5", "7", "CAST('NaN' AS double)", "1e300"]),
    "s": st.sampled_from(["'a'", "'A'", "'it''s'", "'ä'", "''", "'b'", "'\" OR 1=1 --'"]),
    "b": st.sampled_from(["true", "false"]),
    "t": st.sampled_from(["TIMESTAMP '2024-01-01 00:00:00'", "TIMESTAMP '2024-01-01 00:00:00.000001'"]),
    "n": st.sampled_from(["1.5", "0", "-1.50", "7"]),
}


@st.composite
def _simple(draw: st.DrawFn) -> str:
    name = draw(st.sampled_from(sorted(_SIDES)))
    value = draw(_SIDES[name])
    choices = st.sampled_from(
        [
            f"{name} {draw(_SIGNS)} {value}",
            f"{value} {draw(_SIGNS)} {name}",
            f"{name} IS NULL",
            f"{name} IS NOT NULL",
            f"{name} IN ({value}, {draw(_SIDES[name])})",
            f"{name} BETWEEN {value} AND {draw(_SIDES[name])}",
            "length(s) = 1",
            f"i {draw(_SIGNS)} l",
        ]
    )
    return draw(choices)


PREDICATES = st.recursive(
    _simple(),
    lambda inner: (
        st.tuples(inner, st.sampled_from(["AND", "OR"]), inner).map(" ".join).map("({})".format)
        | inner.map("NOT ({})".format)
    ),
    max_leaves=5,
)


def network(store: Store) -> Network:
    net = NetworkBuilder("n")
    net.input("t", SCHEMA, store=store).output("t")
    return net.build()


def check(stored: Stored, text: str) -> None:
    """What the database leaves out is nothing that the predicate lets through."""
    where = predicate(text, stored.schema, "where")
    whole = stored.read().table.combine_chunks()
    right = whole.filter(pa.array(truths(evaluate(where, whole, "UTC"))))
    found = [str(row) for row in stored.read(where).table.to_pylist()]
    missing = [row for row in right.to_pylist() if str(row) not in found]
    assert not missing, (text, condition(where, stored))  # type: ignore[arg-type]


@given(text=PREDICATES)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_sqlite_leaves_out_nothing_that_is_wanted(tmp_path: Path, text: str) -> None:
    columns = "i int, l bigint, d double, s text collate nocase, b boolean, t text, n numeric"
    url = sqlite_table(tmp_path / "t.db", columns, ROWS, table="t")
    with open_store(network(Store(url, "t")), "t") as stored:
        check(stored, text)


@given(text=PREDICATES)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_postgresql_leaves_out_nothing_that_is_wanted(everything: Stored, text: str) -> None:
    check(everything, text)


@pytest.fixture(scope="module")
def everything(postgresql: Server) -> Stored:
    """The rows as a table of PostgreSQL, open."""
    types = "i int, l bigint, d float8, s text, b boolean, t timestamptz, n numeric"
    values = ", ".join(f"({', '.join(map(_sql, row))})" for row in ROWS)
    postgresql.run("drop table if exists t", f"create table t ({types})", f"insert into t values {values}")
    with open_store(network(Store(postgresql.uri, "t")), "t") as stored:
        yield stored  # type: ignore[misc]


def _sql(value: object) -> str:
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    return "null" if value is None else str(value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("i > 1 AND length(s) = 3", '("i" > ?)'),
        ("i > 1 OR length(s) = 3", None),
        ("1 < i", '"i" > ?'),
        ("i = 3000000000", '"i" = ?'),
        ("d <= 2.5D", '"d" <= ?'),
        ("d = i", None),
        ("s = 'x''; DROP TABLE t; --'", '"s" = ?'),
        ("s < 'b'", '"s" COLLATE BINARY < ?'),
        ("i IN (1, 2)", '"i" IN (?, ?)'),
        ("i IS NOT NULL AND NOT i > 2", '("i" IS NOT NULL)'),
        ("n = 1.5", None),
        ("l = 9007199254740993D", None),
        ("i = 7D", '"i" = ?'),
        ("d < CAST('NaN' AS double)", None),
        ("i = NULL", None),
        ("i IN (1, NULL)", None),
        ("t > TIMESTAMP '2024-01-01 00:00:00'", None),
    ],
)
def test_what_sqlite_is_told(tmp_path: Path, text: str, said: str | None) -> None:
    columns = "i int, l bigint, d double, s text, b boolean, t text, n numeric"
    url = sqlite_table(tmp_path / "t.db", columns, [], table="t")
    with open_store(network(Store(url, "t")), "t") as stored:
        found = condition(predicate(text, stored.schema, "where"), stored)  # type: ignore[arg-type]
    assert (found.sql if found else None) == said


def test_what_postgresql_is_told(everything: Stored) -> None:
    text = "i > 1 AND s >= 'b' AND n = 1.5 AND t < TIMESTAMP '2024-01-01 00:00:00' AND b = true"
    found = condition(predicate(text, everything.schema, "where"), everything)  # type: ignore[arg-type]
    assert found is not None
    for part in (
        '"i" > $1::int8',
        '"s" COLLATE "C" >= $2::text',
        '"n" = $3::numeric',
        '"t" < $4::timestamptz',
    ):
        assert part in found.sql
    assert found.values[1:3] == ("b", "1.50")


# --- what boxes want of an input


def test_filters_want_what_one_of_them_lets_through() -> None:
    net = NetworkBuilder("n")
    cars = net.input("cars", "a int, b int", store="cars.csv")
    cars.filter("a > 1", as_="one").output("one")
    for number, stream in enumerate(cars.route("b > 1", "b < 0", as_="other")[:2]):
        stream.output(f"other_{number}")
    where = wanted(net.build(), "cars")
    assert where is not None
    table = pa.table({"a": pa.array([0, 2, 0, 0], pa.int32()), "b": pa.array([0, 0, 2, -1], pa.int32())})
    assert truths(evaluate(where, table, "UTC")).tolist() == [False, True, True, True]


def test_all_rows_are_wanted_where_anything_else_reads_them() -> None:
    def built(*readers: str) -> Network:
        net = NetworkBuilder("n")
        cars = net.input("cars", "a int", store="cars.csv")
        some = cars.filter("a > 1", as_="some")
        some.output("some")
        if "output" in readers:
            cars.output("all")
        if "map" in readers:
            cars.map({"a": "a"}).output("mapped")
        if "rest" in readers:
            some.port(1).output("rest")
        if "point" in readers:
            cars.point("point")
        return net.build()

    assert wanted(built(), "cars") is not None
    assert [wanted(built(each), "cars") for each in ("output", "map", "rest", "point")] == [None] * 4


@pytest.mark.parametrize("weight", [None, "copies"])
def test_a_predicate_on_the_weight_leaves_out_nothing(weight: str | None) -> None:
    """A row without one has 1 once it is a tuple, and a gate may multiply it."""
    net = NetworkBuilder("n")
    schema = "a int, copies double not null"
    cars = net.input("cars", schema, store="cars.csv", weight=weight)
    cars.filter("a > 1 and copies > 2", as_="some").output("some")
    assert (wanted(net.build(), "cars") is None) == (weight is not None)


def test_a_join_wants_what_its_predicate_says_of_the_table_alone() -> None:
    net = NetworkBuilder("n")
    cars = net.table("cars", "id int, power int", store="cars.csv")
    trips = net.input("trips", "car int, t long")
    trips.join(cars, "left.car = right.id and right.power > 100 and left.t > 1", left=Order("t")).output("o")
    made = net.build()
    where = wanted(made, "cars")
    assert where is not None
    assert truths(evaluate(where, pa.table({"power": pa.array([99, 101], pa.int32())}), "UTC")).tolist() == [
        False,
        True,
    ]
    assert join_keys(made, "cars") == [("id",)]
