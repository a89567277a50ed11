"""The real files as Arrow tables with the schemas of the networks that read them."""

from __future__ import annotations

import gzip
import io
import json
import zipfile
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pacsv

from australis.algebra.schema import Schema


def nexmark(data: Path, name: str, schema: Schema) -> pa.Table:
    """A NEXMark table, with the attributes that a schema names."""
    table = pacsv.read_csv(
        data / "nexmark" / f"{name}.csv",
        convert_options=pacsv.ConvertOptions(
            column_types={
                f.name: pa.timestamp("us") if f.type.name == "timestamp" else f.type.arrow for f in schema
            }
        ),
    )
    return _fitted(table, schema)


def expected_rows(data: Path, query: str) -> list[list[str]]:
    """The rows of a NEXMark result, each a list of texts."""
    lines = (data / "nexmark" / "expected" / f"{query}.txt").read_text().splitlines()
    return [[part.strip() for part in line.split("\t" if "\t" in line else None)] for line in lines]


def cars(data: Path, schema: Schema) -> pa.Table:
    """The rides of the Arroyo data."""
    with gzip.open(data / "arroyo" / "cars.json.gz", "rt") as lines:
        rows = [json.loads(line) for line in lines]
    table = pa.table({name: [row[name] for row in rows] for name in schema.names})
    stamped = pc.strptime(table["timestamp"], "%Y-%m-%dT%H:%M:%SZ", "us")
    return _fitted(table.set_column(0, "timestamp", stamped), schema)


def json_lines(path: Path) -> list[dict[str, object]]:
    """A golden result, a row per line."""
    return [json.loads(line) for line in path.read_text().splitlines()]


def positions(data: Path, schema: Schema) -> pa.Table:
    """The position reports of Linear Road."""
    lines = (data / "linear_road" / "positions.txt").read_text().splitlines()
    columns = zip(*(map(int, line.split()) for line in lines), strict=True)
    return _fitted(pa.table(dict(zip(schema.names, map(list, columns), strict=True))), schema)


def connections(data: Path, schema: Schema) -> pa.Table:
    """All Zeek connections, hour after hour, in the order in which they were written.

    Its attributes go by the names of the slack test and by those of the intrusion query.
    """
    rows: list[list[str]] = []
    for path in sorted((data / "net_rita").glob("*.log.gz")):
        with gzip.open(path, "rt") as lines:
            rows += [line.rstrip("\n").split("\t") for line in lines if not line.startswith("#")]
    micros = [round(float(row[1]) * 1_000_000) for row in rows]
    columns = {
        "ts": pa.array(micros, pa.int64()).cast(pa.timestamp("us")),
        "source": pa.array([row[3] for row in rows]),
        "destination": pa.array([row[5] for row in rows]),
        "port": pa.array([int(row[6]) for row in rows]),
        "bytes": pa.array([int(row[10].replace("-", "0")) for row in rows]),
    }
    aliases = {"time": "ts", "src": "source", "dst": "destination"}
    return _fitted(pa.table({**columns, **{name: columns[of] for name, of in aliases.items()}}), schema)


def vessels(data: Path, schema: Schema) -> pa.Table:
    """The positions of vessels, as they stand in the file."""
    path = next((data / "ais").glob("*"))
    times = pacsv.ConvertOptions(timestamp_parsers=["%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M:%S"])
    return _fitted(pacsv.read_csv(_unpacked(path), convert_options=times), schema)


def _unpacked(path: Path) -> io.BytesIO:
    if path.suffix == ".zip":
        with zipfile.ZipFile(path) as archive:
            return io.BytesIO(archive.read(archive.namelist()[0]))
    return io.BytesIO(gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes())


def _fitted(table: pa.Table, schema: Schema) -> pa.Table:
    """A table with just the columns of a schema, naive times taken as UTC."""
    columns = []
    for wanted in schema:
        column = table[wanted.name]
        if pa.types.is_timestamp(column.type) and column.type.tz is None:
            column = column.cast(pa.timestamp("us")).cast(pa.timestamp("us", "UTC"))
        columns.append(column.cast(wanted.type.arrow))
    return pa.table(columns, schema=schema.arrow)
