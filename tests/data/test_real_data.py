"""Real files against what other systems made of them; left out where AUSTRALIS_DATA names no data."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

import duckdb
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
    return engine(network, files.nexmark(data_dir, network))


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
    found = engine(
        network, {"cars": files.read(data_dir / "arroyo" / "cars.json.gz", network.inputs["cars"])}
    )
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
    table = files.read(data_dir / "linear_road" / "positions.txt", network.inputs["positions"])
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
    table = files.read(data_dir / "net_rita", network.inputs["conn"])
    assert len(table) == 70_440
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


@pytest.mark.parametrize("stock", ["ibm", "bac"])
def test_stock_ticks_are_read_from_their_archives(stock: str, data_dir: Path) -> None:
    """Quotes and trades of a day, a file without a header in each archive, against Python's own reader."""
    for kind, network in networks.ticks().items():
        path = data_dir / "stocks" / f"{stock}_20131007_{kind}.zip"
        table = files.read(path, network.inputs["ticks"])
        with zipfile.ZipFile(path) as archive:
            text = archive.read(archive.namelist()[0]).decode()
        assert [list(map(str, row.values())) for row in table.slice(0, 5000).to_pylist()] == [
            line.split(",") for line in text.splitlines()[:5000]
        ]
        assert len(table) == len(text.splitlines())


def test_trades_with_their_quotes_are_those_of_duckdb(data_dir: Path) -> None:
    """As-of joins and an antijoin of the trades and quotes of IBM; of the quotes in one instant, the last."""
    network, found = networks.quoted_trades(), {}
    for kind, read in networks.ticks().items():
        table = files.read(data_dir / "stocks" / f"ibm_20131007_{kind}.zip", read.inputs["ticks"])
        number = {"trade": "n", "quote": "m"}[kind]
        numbered = table.append_column(number, pa.array(range(len(table)), pa.int32()))
        found[kind] = numbered.select(network.inputs[kind].schema.names)
    assert (len(found["trade"]), len(found["quote"])) == (24_293, 109_067)
    outputs = on_kernels(network, found, batch=5000)
    with duckdb.connect() as connection:
        for kind, table in found.items():
            connection.register(kind, table)
        connection.execute("""
            create view last as select exchange, ms, max(m) as m from quote group by exchange, ms
        """)
        expected = {
            "latest": "select n, m from trade t asof left join last q "
            "on t.exchange = q.exchange and t.ms >= q.ms order by t.n",
            "recent": "select n, m from trade t asof join last q "
            "on t.exchange = q.exchange and t.ms >= q.ms where t.ms - q.ms <= 500 order by t.n",
            "quiet": "select n from trade t where not exists (select 1 from quote q "
            "where t.exchange = q.exchange and q.ms between t.ms - 1000 and t.ms + 1000) order by n",
        }
        for name, text in expected.items():
            rows = connection.sql(text).to_arrow_table().to_pylist()
            assert len(rows) > 100
            assert sorted(outputs[name], key=lambda row: row["n"]) == rows


def test_readings_of_manufacturing_are_read(data_dir: Path) -> None:
    """Tabs, no header, and 56 columns of which some are wanted."""
    network = networks.manufacturing()
    table = files.read(data_dir / "debs" / "debs2012.tsv.gz", network.inputs["readings"])
    assert table["index"].to_pylist() == list(range(2_556_001, 2_573_001))
    assert str(table["ts"][0].as_py()) == "2012-02-22 16:46:28.967032+00:00"
