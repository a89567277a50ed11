"""The reference as an engine: converts Arrow tables to plain rows, and results back to Arrow tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from australis.algebra.counters import Counters
from australis.algebra.network import QUARANTINE, Network
from australis.algebra.schema import TS, Schema
from australis.reference.network import Emission, ReferenceRun


class ReferenceEngine:
    """A network run by its definition, a tuple at a time: slow, and right by definition."""

    def __init__(self, network: Network) -> None:
        self._network = network
        self._run = ReferenceRun(network)

    def load(self, name: str, rows: pa.Table) -> dict[str, pa.Table]:
        return self._tables(self._run.load(name, plain_rows(rows)))

    def push(self, name: str, batch: pa.Table, now: int) -> dict[str, pa.Table]:
        return self._tables(self._run.push_batch(name, [(row, now) for row in plain_rows(batch)], now))

    def tick(self, now: int) -> dict[str, pa.Table]:
        return self._tables(self._run.tick(now))

    def flush(self, now: int) -> dict[str, pa.Table]:
        return self._tables(self._run.flush(now))

    def counters(self) -> Mapping[str, Counters]:
        return self._run.counters()

    def _tables(self, emissions: list[Emission]) -> dict[str, pa.Table]:
        found: dict[str, list[Emission]] = {name: [] for name in (*self._network.outputs, QUARANTINE)}
        for emission in emissions:
            found[emission.output].append(emission)
        return {name: _table(items, self._network.output_schema(name)) for name, items in found.items()}


def plain_rows(table: pa.Table) -> list[dict[str, Any]]:
    """The rows of a table as the reference has them: timestamps are whole microseconds."""
    for index, field in enumerate(table.schema):
        if pa.types.is_timestamp(field.type):
            table = table.set_column(index, field.name, table.column(index).cast(pa.int64()))
    rows: list[dict[str, Any]] = table.to_pylist()
    return rows


def _table(emissions: list[Emission], schema: Schema) -> pa.Table:
    columns = [pa.array([e.values[f.name] for e in emissions], f.type.arrow) for f in schema]
    stamps = pa.array([e.ts for e in emissions], schema.arrow_with_ts.field(TS).type)
    return pa.Table.from_arrays([*columns, stamps], schema=schema.arrow_with_ts)
