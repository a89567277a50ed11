"""Run NEXMark on the kernels, and compare every result with SQL in DuckDB over all events.

    python examples/nexmark/against_duckdb.py --events 1000000 --disorder 10 --queries q5 q7

qN.yaml is a query, qN.sql the same for DuckDB. Results are compared as bags of rows; doubles may differ by a
billionth. Events arrive in batches, up to `--disorder` seconds out of order; within the slack of 10 s none is
late. Both use one thread, and are measured in events per second of processor time. The last line is JSON.
DuckDB comes with the extra `dev`.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
from events import generate, side_input

import australis
from australis.kernels import PipelineRun

HERE = Path(__file__).resolve().parent
QUERIES = sorted((path.stem for path in HERE.glob("q*.yaml")), key=lambda name: int(name[1:]))
RESULT = "result"
"""The output of each query."""
TOLERANCE = 1e-9
"""How much doubles may differ, in proportion."""

Tables = Mapping[str, pa.Table]


@dataclass(frozen=True)
class Compared:
    """A query beside DuckDB: are the results equal, how many are there, how fast are both?"""

    query: str
    results: int
    equal: bool
    late: int
    events_per_s: int
    duckdb_events_per_s: int


def network(query: str) -> australis.Network:
    """The network of a query."""
    return australis.load(HERE / f"{query}.yaml")


def events(count: int, disorder_s: float, seed: int) -> dict[str, pa.Table]:
    """All tables that queries read."""
    return {**generate(count, disorder_s, seed), "side_input": side_input()}


def arrivals(given: australis.Network, tables: Tables, batch: int) -> Iterator[tuple[str, pa.Table]]:
    """The streams of a network in batches, in turn as they arrive."""
    streams = {name: tables[name] for name, each in given.inputs.items() if not each.table}
    times = {name: table["arrived"].cast(pa.int64()).to_numpy() for name, table in streams.items()}
    every = np.sort(np.concatenate(list(times.values())))
    bounds = [*every[batch::batch], every[-1] + 1]
    for first, last in zip([0, *bounds], bounds, strict=False):
        for name, table in streams.items():
            start, end = np.searchsorted(times[name], [first, last])
            if end > start:
                yield name, table.slice(start, end - start).select(given.inputs[name].schema.names)


def on_kernels(given: australis.Network, tables: Tables, batch: int) -> tuple[pa.Table, int]:
    """What a network emits on the kernels, its end included, and how many tuples came late."""
    run = PipelineRun(given)
    for name, each in given.inputs.items():
        if each.table:
            run.load(name, tables[name])
    found = [run.push(name, part, 0)[RESULT] for name, part in arrivals(given, tables, batch)]
    found.append(run.flush(0)[RESULT])
    names = given.output_schema(RESULT).names
    return pa.concat_tables(found).select(names), sum(each.late for each in run.counters().values())


def in_duckdb(query: str, tables: Tables) -> pa.Table:
    """What DuckDB finds for a query in the whole of the tables."""
    with database(tables) as connection:
        return connection.sql((HERE / f"{query}.sql").read_text()).to_arrow_table()


def database(tables: Tables) -> duckdb.DuckDBPyConnection:
    """A database of one thread that has the tables, with times in UTC."""
    connection = duckdb.connect(config={"threads": 1})
    for name, table in tables.items():
        connection.register(f"{name}_", _without_zones(table))
        connection.execute(f"CREATE TABLE {name} AS FROM {name}_")
    return connection


def _without_zones(table: pa.Table) -> pa.Table:
    fields = [
        pa.field(f.name, pa.timestamp("us") if pa.types.is_timestamp(f.type) else f.type)
        for f in table.schema
    ]
    return table.cast(pa.schema(fields))


def are_equal(found: pa.Table, expected: pa.Table) -> bool:
    """Whether two tables have the same rows, each as often, in whatever order."""
    if found.column_names != expected.column_names or len(found) != len(expected):
        return False
    expected = expected.cast(found.schema.remove_metadata())
    one, other = _sorted(found), _sorted(expected)
    return all(_same(one[name], other[name]) for name in one.column_names)


def _sorted(table: pa.Table) -> pa.Table:
    """The rows in an order that doubles, which may differ a little, decide last."""
    doubles = [f.name for f in table.schema if pa.types.is_floating(f.type)]
    keys = [name for name in table.column_names if name not in doubles] + doubles
    return table.sort_by([(name, "ascending") for name in keys])


def _same(one: pa.ChunkedArray, other: pa.ChunkedArray) -> bool:
    if pa.types.is_floating(one.type):
        pair = [column.to_numpy(zero_copy_only=False) for column in (one, other)]
        return (
            bool(np.allclose(*pair, rtol=TOLERANCE, atol=0, equal_nan=True))
            and one.null_count == other.null_count
        )
    return bool(one.combine_chunks().equals(other.combine_chunks()))


def compare(query: str, tables: Tables, batch: int) -> Compared:
    """Run a query in both, and compare."""
    given = network(query)
    read = {name: tables[name] for name in given.inputs}
    count = sum(len(read[name]) for name, each in given.inputs.items() if not each.table)
    on_kernels(given, {name: table.slice(0, 1000) for name, table in read.items()}, 1000)  # compiles
    start = time.process_time()
    found, late = on_kernels(given, read, batch)
    middle = time.process_time()
    with database(read) as connection:
        ready = time.process_time()
        expected = connection.sql((HERE / f"{query}.sql").read_text()).to_arrow_table()
        end = time.process_time()
    speeds = (round(count / seconds) for seconds in (middle - start, end - ready))
    return Compared(query, len(expected), are_equal(found, expected), late, *speeds)


def main(arguments: Sequence[str] | None = None) -> int:
    """Compare queries; 1 if one differs."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--events", type=int, default=500_000, help="how many events are generated (500000)")
    parser.add_argument(
        "--disorder", type=float, default=5.0, help="the most seconds that one arrives late (5)"
    )
    parser.add_argument("--batch", type=int, default=50_000, help="how many arrive together (50000)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--queries", nargs="+", choices=QUERIES, default=QUERIES, metavar="qN")
    given = parser.parse_args(arguments)
    tables = events(given.events, given.disorder, given.seed)
    print(f"{'query':<6}{'results':>10}{'equal':>7}{'late':>6}{'events/s':>12}{'DuckDB':>12}")
    found = []
    for query in given.queries:
        row = compare(query, tables, given.batch)
        found.append(row)
        shown = f"{row.query:<6}{row.results:>10,}{'yes' if row.equal else 'NO':>7}{row.late:>6}"
        print(f"{shown}{row.events_per_s:>12,}{row.duckdb_events_per_s:>12,}", flush=True)
    print(json.dumps({"events": given.events, "queries": [asdict(row) for row in found]}))
    return 0 if all(row.equal for row in found) else 1


if __name__ == "__main__":
    pa.set_cpu_count(1)
    sys.exit(main())
