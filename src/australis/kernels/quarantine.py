"""The quarantine: tuples that could not be processed, with the path, the reason and the tuple as JSON text.

Such tuples are rare, so they are rendered one by one.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from australis.algebra.network import QUARANTINE_SCHEMA
from australis.algebra.quarantine_text import null_reason, tuple_as_json
from australis.algebra.schema import TS, Schema
from australis.kernels.expressions import nulls
from australis.kernels.functions import plain
from australis.kernels.kernel import CAUSE, REASON, output_schema

QUARANTINE_ARROW = output_schema(QUARANTINE_SCHEMA)
"""The schema of the quarantine's batches."""


def quarantined(rejected: pa.Table, path: str, schema: Schema) -> pa.Table:
    """The quarantine's rows for rejected tuples of a schema, which carry a reason, TS and CAUSE.

    >>> from australis.algebra.schema import parse_schema
    >>> schema = parse_schema("pos long")
    >>> tuples = pa.Table.from_arrays([[7], [0]], schema=schema.arrow_with_ts)
    >>> rejected = tuples.append_column(REASON, [["too far"]]).append_column(CAUSE, [[0]])
    >>> quarantined(rejected, "soldiers.across", schema)["tuple"].to_pylist()
    ['{"pos": 7}']
    """
    values = {name: plain(rejected[name].combine_chunks()) for name in schema.names}
    texts = [
        tuple_as_json({name: column[row] for name, column in values.items()}, schema)
        for row in range(rejected.num_rows)
    ]
    paths = pa.repeat(path, rejected.num_rows)
    columns = [paths, rejected[REASON], pa.array(texts, pa.string()), rejected[TS], rejected[CAUSE]]
    return pa.table(columns, QUARANTINE_ARROW)


def admitted(batch: pa.Table, schema: Schema) -> tuple[pa.Table, pa.Table | None]:
    """The tuples that fit a schema, and those with a forbidden NULL, with the reason."""
    reasons: list[str | None] | None = None
    for field in schema:
        if field.nullable or not batch[field.name].null_count:
            continue
        missing = nulls(batch[field.name].combine_chunks())
        if missing is not None:
            reasons = reasons or [None] * batch.num_rows
            for row in np.flatnonzero(missing):
                reasons[row] = reasons[row] or null_reason(field.name)
    if reasons is None:
        return batch, None
    given = pa.array(reasons, pa.string())
    return batch.filter(given.is_null()), batch.append_column(REASON, given).filter(given.is_valid())
