"""Rows of a file compared with the schema of an input: what does not fit, and probable misspellings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import pyarrow as pa

from australis.algebra.network import Network
from australis.engine.files import Batch, Reader
from australis.engine.sources import Options, open_source
from australis.errors import Problem

ROWS = 100_000
"""How many rows of a file are read."""


@dataclass(frozen=True)
class Sample:
    """What the first rows of a file show."""

    input: str
    file: str
    rows: int
    rejected: int
    warnings: tuple[Problem, ...]

    def as_dict(self) -> dict[str, object]:
        """For `--json`; the warnings are among those of the network."""
        return {"file": self.file, "rows": self.rows, "rejected": self.rejected}


def read_samples(network: Network, files: Mapping[str, str]) -> list[Sample]:
    """Read the first rows of files, and compare them with the inputs that they are for."""
    return [_sample(network, name, file) for name, file in files.items()]


def _sample(network: Network, name: str, file: str) -> Sample:
    schema, format = network.inputs[name].arriving, network.inputs[name].format
    options = Options(timezone=network.timezone, stream_format="csv", format=format)
    with open_source(name, file, schema, options) as reader:
        batches = list(_first(reader))
        notes = reader.notes
    tables = [schema.arrow.empty_table(), *(batch.table for batch in batches)]
    table = pa.concat_tables(tables, promote_options="default")
    rejected = [row.reason for batch in batches for row in batch.rejected]
    path = f"{network.name}.inputs.{name}"
    warnings = [
        *(Problem(path, note) for note in notes),
        *_rejections(path, table.num_rows, rejected),
        *_empty(path, table.select(schema.but_optional().names), file),
    ]
    return Sample(name, file, table.num_rows + len(rejected), len(rejected), tuple(warnings))


def _first(reader: Reader) -> Iterator[Batch]:
    rows = 0
    for batch in reader.batches():
        yield batch
        rows += batch.table.num_rows + len(batch.rejected)
        if rows >= ROWS:
            return


def _rejections(path: str, rows: int, reasons: list[str]) -> Iterator[Problem]:
    if reasons:
        what = (
            f"{len(reasons):,} of {rows + len(reasons):,} rows would be quarantined, the first: {reasons[0]}"
        )
        yield Problem(path, what)


def _empty(path: str, table: pa.Table, file: str) -> Iterator[Problem]:
    """Attributes that no row has: spelt differently in the file, or never written."""
    for name in table.column_names if table.num_rows else ():
        if table[name].null_count == table.num_rows:
            yield Problem(f"{path}.schema.{name}", f"is NULL in all {table.num_rows:,} rows of {file}")
