"""Joins that look a stored table up: the same pairs as with the table loaded, for keys of every type."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.engine.tables.made import joined, sqlite_table, trips
from tests.engine.tables.server import Server

from australis.algebra.builder import NetworkBuilder
from australis.algebra.network import Network
from australis.algebra.order import Order
from australis.algebra.store import Store
from australis.engine.tables.lookup import LookupFailed, TableLookup
from australis.engine.tables.opening import open_store
from australis.kernels.pipeline import Pipeline

pytestmark = pytest.mark.timeout(600)
TYPES: dict[str, st.SearchStrategy[Any]] = {
    "int": st.integers(-3, 3) | st.sampled_from([-(1 << 31), (1 << 31) - 1]),
    "long": st.integers(-2, 2) | st.sampled_from([-(1 << 63), (1 << 63) - 1, (1 << 53) + 1, 1 << 53]),
    "double": st.sampled_from([0.0, -0.0, 0.1, 1e300, float("inf"), 5e-324, float("nan"), 2.0**53]),
    "string": st.sampled_from(["", "a", "A", "a ", "'", '"', "ä", "\\", "{}", "null", ","]),
    "boolean": st.booleans(),
    "timestamp": st.sampled_from([datetime(2024, 1, 1, tzinfo=UTC), datetime(1969, 12, 31, 1, 2, 3, 4, UTC)]),
    "decimal(10,2)": st.sampled_from(
        [Decimal("1.50"), Decimal("-0.01"), Decimal("0.00"), Decimal("99999999.99")]
    ),
}
DECLARED = {"int": "integer", "long": "bigint", "double": "double", "string": "text", "boolean": "boolean"}
SHARED = settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture])


def network(store: Store, key: str) -> Network:
    net = NetworkBuilder("n")
    cars = net.table("cars", f"k {key}, l int, v int", store=store)
    seen = net.input("seen", f"k {key}, l int, at long")
    order = Order("at", slack=1_000)
    seen.join(cars, "left.k = right.k", left=order, as_="one").output("one")
    both = "left.k = right.k and left.l = right.l and right.v > 1"
    seen.join(cars, both, left=order, as_="both").output("both")
    return net.build()


def rows(keys: list[Any], seed: list[int | None], key: str, last: str) -> pa.Table:
    columns = [keys, seed, list(range(len(keys)))]
    types = [parse(key), pa.int32(), pa.int64() if last == "at" else pa.int32()]
    return pa.table([pa.array(c, t) for c, t in zip(columns, types, strict=True)], names=["k", "l", last])


def parse(key: str) -> pa.DataType:
    net = NetworkBuilder("t")
    net.input("x", f"k {key}").output("x")
    return net.build().inputs["x"].schema["k"].type.arrow


def pairs(made: Network, seen: list[pa.Table], asked: bool) -> dict[str, list[str]]:
    """What comes out, with the table loaded or looked up."""
    lookup = TableLookup(made, "cars")
    lookup.renew(0, 1 << 20)
    pipeline = Pipeline(made, asks={"cars": lookup} if asked else None)
    state = pipeline.start()
    if not asked:
        with open_store(made, "cars") as stored:
            state = pipeline.load(state, "cars", stored.read().table).state
    found: dict[str, list[str]] = {"one": [], "both": []}
    for batch in seen:
        passage = pipeline.push(state, "seen", batch, 0)
        state = passage.state
        for name in found:
            table = passage.outputs[name].drop_columns(["#ts", "#cause"])
            found[name] += map(str, table.to_pylist())
    lookup.renew(1, 0)
    return {name: sorted(each) for name, each in found.items()}


def check(store: Store, data: st.DataObject, key: str) -> None:
    made = network(store, key)
    some = st.lists(st.none() | TYPES[key], max_size=8)
    small = st.none() | st.integers(0, 2)
    seen = []
    for keys in data.draw(st.lists(some, min_size=1, max_size=3)):
        seen.append(rows(keys, data.draw(st.lists(small, min_size=len(keys), max_size=len(keys))), key, "at"))
    assert pairs(made, seen, asked=True) == pairs(made, seen, asked=False)


def drawn(data: st.DataObject, key: str) -> pa.Table:
    keys = data.draw(st.lists(st.none() | TYPES[key], max_size=8))
    small = st.none() | st.integers(0, 2)
    return rows(keys, data.draw(st.lists(small, min_size=len(keys), max_size=len(keys))), key, "v")


@pytest.mark.parametrize("key", DECLARED)
@given(data=st.data())
@SHARED
def test_sqlite_looked_up_is_sqlite_loaded(tmp_path: Path, key: str, data: st.DataObject) -> None:
    found = [tuple(row.values()) for row in drawn(data, key).to_pylist()]
    url = sqlite_table(tmp_path / "cars.db", f"k {DECLARED[key]} collate nocase, l int, v int", found)
    check(Store(url, "cars"), data, key)


@pytest.mark.parametrize("key", TYPES)
@given(data=st.data())
@SHARED
def test_postgresql_looked_up_is_postgresql_loaded(postgresql: Server, key: str, data: st.DataObject) -> None:
    postgresql.ingest("looked", drawn(data, key))
    check(Store(postgresql.uri, "looked"), data, key)


def test_what_sqlite_cannot_compare_is_not_looked_up(tmp_path: Path) -> None:
    url = sqlite_table(tmp_path / "cars.db", "k, l int, v int", [])
    for key in TYPES:
        with open_store(network(Store(url, "cars"), key), "cars") as stored:
            assert not stored.looks_up(["k"])
            assert stored.looks_up(["l"])
            assert not stored.looks_up([])


class Counting(TableLookup):
    """A lookup that remembers what it asked its database."""

    asked: list[list[int]]

    def _ask(self, keys: pa.Table) -> pa.Table:
        self.asked.append(keys["id"].to_pylist())
        return super()._ask(keys)


def counting(path: Path, budget: int) -> Counting:
    url = sqlite_table(
        path / "cars.db", "id int, name text, power real", [(1, "a", 1), (1, "b", 2), (3, "c", 3)]
    )
    lookup = Counting(joined(Store(url, "cars")), "cars")
    lookup.asked = []
    lookup.renew(0, budget)
    return lookup


def names(lookup: TableLookup, *ids: int) -> list[str]:
    found: list[str] = lookup(pa.table({"id": pa.array(ids, pa.int32())}))["name"].to_pylist()
    return found


def test_answers_are_remembered_until_the_next_version(tmp_path: Path) -> None:
    lookup = counting(tmp_path, 1 << 20)
    assert [names(lookup, 1, 2), names(lookup, 2, 3, 1), names(lookup, 2)] == [
        ["a", "b"],
        ["c", "a", "b"],
        [],
    ]
    assert lookup.asked == [[1, 2], [3]]
    lookup.renew(1, 1 << 20)
    assert names(lookup, 3) == ["c"]
    assert lookup.asked[2:] == [[3]]


def test_a_budget_bounds_what_is_remembered(tmp_path: Path) -> None:
    lookup = counting(tmp_path, 0)
    assert names(lookup, 1) == names(lookup, 1) == ["a", "b"]
    assert lookup.asked == [[1], [1]]


def test_many_keys_are_asked_for_in_parts(tmp_path: Path) -> None:
    url = sqlite_table(
        tmp_path / "cars.db", "id int, name text, power real", [(n, str(n), 0.0) for n in range(0, 80_000, 2)]
    )
    lookup = TableLookup(joined(Store(url, "cars")), "cars")
    found = lookup(pa.table({"id": pa.array(range(80_000), pa.int32())}))
    assert found["id"].to_pylist() == list(range(0, 80_000, 2))
    lookup.renew(1, 0)


def test_a_connection_that_has_died_is_made_anew(postgresql: Server) -> None:
    postgresql.run(
        "drop table if exists died",
        "create table died as select 1 as id, 'a'::text as name, 1.5::float8 as power",
    )
    lookup = TableLookup(joined(Store(postgresql.uri, "died")), "cars")
    assert names(lookup, 1) == ["a"]
    postgresql.stop()
    with pytest.raises(LookupFailed, match=r"trips\.cars: died of .* cannot be read: "):
        names(lookup, 1)
    postgresql.start()
    assert names(lookup, 1) == ["a"]
    postgresql.stop()
    postgresql.start()
    assert names(lookup, 1) == ["a"]
    lookup.renew(1, 0)


def test_trips_without_a_key_ask_for_nothing(tmp_path: Path) -> None:
    lookup = counting(tmp_path, 1 << 20)
    pipeline = Pipeline(joined(Store("sqlite:///none.db", "cars")), asks={"cars": lookup})
    passage = pipeline.push(pipeline.start(), "trips", trips(None, None), 0)
    assert (passage.outputs["found"].num_rows, lookup.asked) == (0, [])
