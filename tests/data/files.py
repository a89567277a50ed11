"""The real files, read as the inputs of the networks say, and the results of other systems."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa

from australis.algebra.network import Input, Network
from australis.algebra.store import FileFormat
from australis.engine.sources import Options, open_source

INTRUSION = FileFormat(
    "zeek",
    columns={
        "time": "ts",
        "src": "id.orig_h",
        "dst": "id.resp_h",
        "port": "id.resp_p",
        "bytes": "orig_ip_bytes",
    },
)
"""The logs of Zeek for the intrusion query."""


def read(path: Path, given: Input) -> pa.Table:
    """The tuples of a file, or of the files of a folder, all of which fit."""
    with open_source("x", str(path), given.schema, Options(format=given.format)) as reader:
        batches = list(reader.batches())
    assert [row.reason for batch in batches for row in batch.rejected] == []
    return pa.concat_tables(batch.table for batch in batches)


def nexmark(data: Path, network: Network) -> dict[str, pa.Table]:
    """The NEXMark tables that a network reads."""
    return {name: read(data / "nexmark" / f"{name}.csv", given) for name, given in network.inputs.items()}


def expected_rows(data: Path, query: str) -> list[list[str]]:
    """The rows of a NEXMark result, each a list of texts."""
    lines = (data / "nexmark" / "expected" / f"{query}.txt").read_text().splitlines()
    return [[part.strip() for part in line.split("\t" if "\t" in line else None)] for line in lines]


def json_lines(path: Path) -> list[dict[str, object]]:
    """A golden result, a row per line."""
    return [json.loads(line) for line in path.read_text().splitlines()]


def vessels(data: Path, given: Input) -> pa.Table:
    """The positions of vessels, as they stand in the file."""
    return read(next((data / "ais").glob("*")), given)
