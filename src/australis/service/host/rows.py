"""Rows of stored tables as callers send them: JSON objects."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from australis.algebra.network import Network
from australis.engine.files import open_reader
from australis.errors import ErrorCode, Problem, ServiceError


def tables_of(network: Network, given: Mapping[str, Sequence[Mapping[str, Any]]]) -> dict[str, pa.Table]:
    """The rows of stored tables by name, in the types of their inputs; all of them must fit."""
    found = {}
    for name, rows in given.items():
        if name not in network.inputs or not network.inputs[name].table:
            known = ", ".join(each for each, input_ in network.inputs.items() if input_.table) or "none"
            problem = Problem(f"{network.name}.{name}", "is no stored table", f"one of {known}")
            raise ServiceError(ErrorCode.INVALID_TUPLES, problem)
        found[name] = _table(network, name, rows)
    return found


def _table(network: Network, name: str, rows: Sequence[Mapping[str, Any]]) -> pa.Table:
    schema = network.inputs[name].schema
    with tempfile.TemporaryDirectory(prefix="australis-rows-") as folder:
        path = Path(folder) / "rows.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        with open_reader(str(path), schema, timezone=network.timezone) as reader:
            batches = list(reader.batches())
    bad = [row for batch in batches for row in batch.rejected]
    if bad:
        what = f"{len(bad):,} rows do not fit, the first: {bad[0].reason}"
        raise ServiceError(
            ErrorCode.INVALID_TUPLES, Problem(f"{network.name}.{name}", what, f"rows of ({schema})")
        )
    return pa.concat_tables([schema.arrow.empty_table(), *(batch.table for batch in batches)])
