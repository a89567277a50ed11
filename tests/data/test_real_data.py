"""Real files against what other systems made of them; left out where AUSTRALIS_DATA names no data."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from tests.data import files, networks

from australis.algebra.network import Network
from australis.kernels.run import PipelineRun
from australis.reference.network import ReferenceRun

Outputs = dict[str, list[dict[str, object]]]
Engine = Callable[[Network, dict[str, pa.Table]], Outputs]


def on_kernels(network: Network, tables: dict[str, pa.Table], batch: int = 1000) -> Outputs:
    """Everything that a network emits on the kernels, its end included; inputs take turns."""
    run = PipelineRun(network)
    found: dict[str, list[pa.Table]] = {name: [] for name in network.outputs}
    events = [
        (name, table.slice(at, batch)) for name, table in tables.items() for at in range(0, len(table), batch)
    ]
    for outputs in [*(run.push(name, part, 0) for name, part in events), run.flush(0)]:
        for name, parts in found.items():
            parts.append(outputs[name].select(network.output_schema(name).names))
    return {name: pa.concat_tables(parts).to_pylist() for name, parts in found.items()}


def on_reference(network: Network, tables: dict[str, pa.Table]) -> Outputs:
    """Everything that a network emits by its meaning."""
    run = ReferenceRun(network)
    emitted = []
    for name, table in tables.items():
        emitted += run.push_batch(name, [(row, 0) for row in _plain(table).to_pylist()], 0)
    emitted += run.flush(0)
    schemas = {name: network.output_schema(name).arrow for name in network.outputs}
    rows = {name: [dict(e.values) for e in emitted if e.output == name] for name in schemas}
    return {name: pa.Table.from_pylist(rows[name], schema).to_pylist() for name, schema in schemas.items()}


def _plain(table: pa.Table) -> pa.Table:
    """A table with times as whole microseconds."""
    columns = [c.cast(pa.int64()) if pa.types.is_timestamp(c.type) else c for c in table.columns]
    return pa.table(columns, names=table.column_names)


@pytest.fixture(params=[on_reference, on_kernels], ids=["reference", "kernels"])
def engine(request: pytest.FixtureRequest) -> Engine:
    """Each engine in turn."""
    chosen: Engine = request.param
    return chosen


def nexmark(network: Network, engine: Engine, data_dir: Path) -> Outputs:
    return engine(
        network, {name: files.nexmark(data_dir, name, i.schema) for name, i in network.inputs.items()}
    )


def texts(rows: list[dict[str, object]]) -> list[list[str]]:
    """Rows as the NEXMark results write them: times to the millisecond, where they have milliseconds."""
    return sorted([_text(value) for value in row.values()] for row in rows)


def _text(value: object) -> str:
    if not isinstance(value, datetime):
        return str(value)
    return value.strftime("%Y-%m-%d %H:%M:%S") + (
        f".{value.microsecond // 1000:03d}" if value.microsecond else ""
    )


@pytest.mark.parametrize("query", ["q0", "q1", "q2"])
def test_nexmark_without_state(query: str, engine: Engine, data_dir: Path) -> None:
    found = nexmark(networks.nexmark_stateless(), engine, data_dir)
    assert texts(found[query]) == sorted(files.expected_rows(data_dir, query))


@pytest.mark.parametrize("query", ["q3", "q5"])
def test_nexmark_joins_and_windows(query: str, engine: Engine, data_dir: Path) -> None:
    found = nexmark(getattr(networks, f"nexmark_{query}")(), engine, data_dir)
    assert texts(found[query]) == sorted(files.expected_rows(data_dir, query))


def test_nexmark_average_closing_prices(engine: Engine, data_dir: Path) -> None:
    found = nexmark(networks.nexmark_q4(), engine, data_dir)["q4"]
    expected = {int(category): float(price) for category, price in files.expected_rows(data_dir, "q4")}
    assert {row["category"]: row["average"] for row in found} == expected


def test_rides_per_hour(engine: Engine, data_dir: Path) -> None:
    network = networks.rides()
    found = engine(network, {"cars": files.cars(data_dir, network.inputs["cars"].schema)})
    by_type = {
        (row["event_type"], f"{row['timestamp']:%Y-%m-%dT%H:%M:%S}"): row["count"]
        for row in found["by_event_type"]
    }
    golden = files.json_lines(data_dir / "arroyo" / "hourly_by_event_type.json")
    assert by_type == {(row["event_type"], row["hour"]): row["count"] for row in golden}
    per_hour = {f"{row['timestamp']:%Y-%m-%dT%H:%M:%S}": row["count"] for row in found["per_hour"]}
    assert per_hour == {
        row["timestamp"]: row["count"]
        for row in files.json_lines(data_dir / "arroyo" / "tight_watermark.json")
    }


def test_segment_statistics_of_linear_road(data_dir: Path) -> None:
    network = networks.segment_statistics()
    table = files.positions(data_dir, network.inputs["positions"].schema)
    found = on_kernels(network, {"positions": table}, batch=len(table))
    lines = (data_dir / "linear_road" / "expected_first_300s.csv").read_text().splitlines()
    expected = {(car, time): lav for _, car, time, lav, _ in (map(int, line.split(",")) for line in lines)}
    entered = {(row["car"], row["t"]) for row in found["entries"] if row["t"] <= 300}  # type: ignore[operator]
    assert entered == set(expected)
    averages = {(row["car"], row["t"]): row["lav"] for row in found["tolls"] if row["t"] <= 300}  # type: ignore[operator]
    assert averages == {entry: lav for entry, lav in expected.items() if lav}


@pytest.mark.parametrize("slack", [0, 10, 111])
def test_slack_keeps_what_its_definition_says(slack: int, data_dir: Path) -> None:
    """The count of kept tuples against the definition, applied to the whole log at once."""
    network = networks.connections(slack)
    table = files.connections(data_dir, network.inputs["conn"].schema)
    run = PipelineRun(network)
    emitted = [run.push("conn", table.slice(at, 5000), 0) for at in range(0, len(table), 5000)]
    minutes = pa.concat_tables(outputs["minutes"] for outputs in [*emitted, run.flush(0)])
    kept = len(table) - run.counters()["minutes"].late
    assert pc.sum(minutes["n"]).as_py() == kept
    assert kept == _in_order(pc.cast(table["ts"], pa.int64()).to_pylist(), slack)


def _in_order(values: list[int], slack: int) -> int:
    """How many have at most `slack` strictly greater ones before them."""
    greatest: list[int] = []
    kept = 0
    for value in values:
        kept += sum(other > value for other in greatest) <= slack
        greatest = sorted([*greatest, value])[-(slack + 1) :]
    return kept
