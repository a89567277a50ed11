"""Checks whether every value of a Parquet file that is adopted as it is can be read.

Only columns that may hold values outside the type of their attribute are read.
"""

from __future__ import annotations

import pyarrow as pa
import pyarrow.parquet as pq

from australis.algebra.schema import Field, Schema
from australis.engine.files.soundness import unsound_rows

_ROWS_AT_ONCE = 65_536


def first_unsound(file: pq.ParquetFile, schema: Schema) -> str | None:
    """The first value of a file that is not of its attribute's type: where it is, and what is wrong."""
    doubtful = {each.name: each for each in schema if _is_doubtful(each, file.schema_arrow)}
    row = 0
    for batch in file.iter_batches(_ROWS_AT_ONCE, columns=list(doubtful)) if doubtful else ():
        try:
            columns = {name: batch.column(name).cast(each.type.arrow) for name, each in doubtful.items()}
            faults = unsound_rows(columns)
        except pa.ArrowException as error:
            return f"has values that do not fit: {error}"
        if faults:
            first = min(faults)
            return f"row {row + first + 1}: {faults[first]}"
        row += batch.num_rows
    return None


def _is_doubtful(field: Field, found: pa.Schema) -> bool:
    given = found.field(field.name).type
    return bool(field.type.name == "string" or field.type.is_decimal or given != field.type.arrow)
