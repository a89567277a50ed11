"""NEXMark: every query of examples/nexmark finds what DuckDB finds, in whatever order events arrive."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from against_duckdb import QUERIES, RESULT, are_equal, arrivals, events, in_duckdb, main, network, on_kernels
from events import AUCTIONS_PER_CYCLE, CYCLE, LONGEST_MS, generate

from australis import Node
from australis.reference.network import ReferenceRun

EVENTS = 4_000
SLACK_S = 10.0
SEED = 7
ON_REFERENCE = ("q4", "q5", "q7", "q8", "q9", "q11", "q18")
ON_NODES = ("q3", "q5", "q6", "q9", "q11", "q13", "q17")


@pytest.fixture(scope="module", params=[0.0, SLACK_S], ids=["sorted", "disordered"])
def tables(request: pytest.FixtureRequest) -> dict[str, pa.Table]:
    """The events, sorted and as far out of order as the slack allows."""
    return events(EVENTS, request.param, SEED)


@pytest.fixture(scope="module")
def disordered() -> dict[str, pa.Table]:
    return events(EVENTS, SLACK_S, SEED)


@pytest.mark.parametrize("query", QUERIES)
def test_kernels_find_what_duckdb_finds(query: str, tables: Mapping[str, pa.Table]) -> None:
    found, late = on_kernels(network(query), tables, batch=300)
    expected = in_duckdb(query, tables)
    assert late == 0
    assert len(expected) > 3 or query == "q15", "a result without rows shows nothing"
    assert are_equal(found, expected)


@pytest.mark.parametrize("query", ON_REFERENCE)
def test_the_reference_finds_what_duckdb_finds(query: str) -> None:
    tables = events(1_200, 1.0, SEED)
    found = on_reference(query, tables)
    assert len(found) > 1
    assert are_equal(found, in_duckdb(query, tables))


def on_reference(query: str, tables: Mapping[str, pa.Table]) -> pa.Table:
    """What a query emits by its meaning, a tuple at a time."""
    given = network(query)
    run, emitted = ReferenceRun(given), []
    for name, part in arrivals(given, tables, batch=100):
        numbers = [c.cast(pa.int64()) if pa.types.is_timestamp(c.type) else c for c in part.columns]
        rows = pa.table(numbers, names=part.column_names).to_pylist()
        emitted += run.push_batch(name, [(row, 0) for row in rows], 0)
    rows = [dict(each.values) for each in [*emitted, *run.flush(0)] if each.output == RESULT]
    return pa.Table.from_pylist(rows, given.output_schema(RESULT).arrow)


@pytest.mark.parametrize("query", ON_NODES)
def test_a_node_finds_what_duckdb_finds(query: str, disordered: Mapping[str, pa.Table]) -> None:
    """In light processes, with state in two partitions, by trains that are cut where they happen to be."""
    given = network(query)
    stored = {name: disordered[name] for name, each in given.inputs.items() if each.table}
    with Node(runner="light", train=1_000) as node:
        node.deploy(given, tables=stored)
        for name, part in arrivals(given, disordered, batch=500):
            node.push(name, part)
        node.flush()
        node.drain()
        found = node.read(RESULT).select(given.output_schema(RESULT).names)
        late = sum(counted.late for counted in node.statistics().boxes.values())
    assert late == 0
    assert are_equal(found, in_duckdb(query, disordered))


def test_events_further_out_of_order_than_the_slack_are_counted_as_late() -> None:
    _, late = on_kernels(network("q7"), events(EVENTS, 3 * SLACK_S, SEED), batch=300)
    assert late > 0


@pytest.mark.parametrize("query", QUERIES)
def test_no_query_guesses_a_slack(query: str) -> None:
    given = network(query)
    orders = [order for node in given.boxes.values() for order in node.box.orders.values()]
    assert all(order.by_progress or order.on == "Tup#" for order in orders)
    assert [str(problem) for problem in given.warnings()] == []


def test_all_queries_are_there_and_on_the_page() -> None:
    page = (Path(__file__).parents[1] / "docs" / "nexmark.md").read_text()
    assert [f"q{number}" for number in range(23)] == QUERIES
    assert re.findall(r"^\| (q\d+) \|.*\| yes \|", page, re.M) == QUERIES


def test_events_are_those_of_the_seed() -> None:
    one, again, other = generate(2_000, 5.0, 1), generate(2_000, 5.0, 1), generate(2_000, 5.0, 2)
    assert all(one[name].equals(again[name]) for name in one)
    assert not any(one[name].equals(other[name]) for name in one)


def test_events_have_the_published_proportions_and_lengths() -> None:
    made = generate(50 * CYCLE)
    assert {name: len(table) for name, table in made.items()} == {
        "person": 50,
        "auction": 50 * AUCTIONS_PER_CYCLE,
        "bid": 50 * (CYCLE - 1 - AUCTIONS_PER_CYCLE),
    }
    assert len(set(made["auction"]["id"].to_pylist())) == 150
    opened, closes = (made["auction"][name].cast(pa.int64()).to_numpy() for name in ("date_time", "expires"))
    assert (closes - opened).min() > 0
    assert (closes - opened).max() <= 1000 * LONGEST_MS < 40_000_000, "q4, q6 and q9 join within 40 s"


def test_disorder_shuffles_the_same_events_within_its_length() -> None:
    in_order, shuffled = generate(3_000, 0.0, SEED), generate(3_000, SLACK_S, SEED)
    for name, table in shuffled.items():
        at = table["date_time"].cast(pa.int64()).to_numpy()
        behind = np.maximum.accumulate(at) - at
        assert 0.5 * SLACK_S * 1e6 < behind.max() <= SLACK_S * 1e6
        kept = [name for name in table.column_names if name != "arrived"]
        assert are_equal(table.select(kept), in_order[name].select(kept))


def test_the_comparison_sees_what_differs() -> None:
    table = pa.table({"k": [1, 2, 2], "v": [0.1, 0.2, 0.3], "s": ["a", "b", None]})
    other = pa.table({"k": [2, 2, 1], "v": [0.3, 0.2, 0.1 + 1e-14], "s": [None, "b", "a"]})
    assert are_equal(table, other)
    wrong_double = table.set_column(1, "v", [[0.1, 0.2, 0.3 + 1e-6]])
    wrong_text = table.set_column(2, "s", [["a", "b", "c"]])
    once_too_often = pa.table({"k": [1, 1, 2], "v": [0.1, 0.1, 0.3], "s": ["a", "a", None]})
    for wrong in (wrong_double, wrong_text, once_too_often, table.slice(1), table.drop_columns(["s"])):
        assert not are_equal(table, wrong)


def test_the_script_prints_the_comparison_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--events=2000", "--batch=500", "--queries", "q1", "q12"]) == 0
    (*_, last) = capsys.readouterr().out.splitlines()
    found = json.loads(last)
    assert [(row["query"], row["equal"], row["late"]) for row in found["queries"]] == [
        ("q1", True, 0),
        ("q12", True, 0),
    ]
