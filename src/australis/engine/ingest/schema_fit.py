"""Whether arriving tuples fit their input: columns by name, in the types of the schema."""

from __future__ import annotations

import pyarrow as pa

from australis.algebra.schema import TS, Schema
from australis.algebra.types import TIMESTAMP
from australis.engine.files import Rejected, row_text, unsound_rows, without
from australis.errors import EngineError, Problem


def fitting(path: str, batch: pa.Table, schema: Schema) -> pa.Table:
    """The columns of a schema in its types, and TS if it is there; another shape is refused."""
    missing = [each for each in schema.names if each not in batch.column_names]
    twice = [each for each in (*schema.names, TS) if batch.column_names.count(each) > 1]
    if twice:
        raise EngineError(Problem(path, f"has more than one column {twice[0]!r}", "one of each name"))
    if missing:
        given = ", ".join(batch.column_names) or "no columns"
        raise EngineError(Problem(path, f"has no column {missing[0]!r}, but {given}", f"({schema})"))
    # Whether a value may be NULL is decided tuple by tuple, when it goes through the network.
    target = [pa.field(each.name, each.type.arrow) for each in schema]
    if TS in batch.column_names:
        target.append(pa.field(TS, TIMESTAMP.arrow))
    columns = [_cast(path, batch[field.name], field) for field in target]
    _check_arrivals(path, columns[-1], target[-1].name)
    return pa.Table.from_arrays(columns, schema=pa.schema(target))


def apart(path: str, table: pa.Table, schema: Schema) -> tuple[pa.Table, tuple[Rejected, ...]]:
    """Divide a fitted table into rows whose values are valid and rows that no box could read."""
    columns = {name: table[name] for name in schema.names}
    try:
        faults = unsound_rows(columns)
    except pa.ArrowException as error:
        raise EngineError(
            Problem(path, f"has a damaged column: {error}", "Arrow data as it was made")
        ) from error
    rejected = (Rejected(reason, row_text(columns, row, schema)) for row, reason in sorted(faults.items()))
    return without(table, faults), tuple(rejected)


def _check_arrivals(path: str, column: pa.ChunkedArray, name: str) -> None:
    """Refuse tuples of which only some have arrival times."""
    if name == TS and column.null_count:
        what = f"its column {TS!r} is NULL in {column.null_count} of {len(column)} rows"
        raise EngineError(Problem(path, what, f"a time of arrival in each row, or no column {TS!r}"))


def _cast(path: str, column: pa.ChunkedArray, field: pa.Field) -> pa.ChunkedArray:
    try:
        column.validate()
        return column.cast(field.type)
    except pa.ArrowException as error:
        what = f"its column {field.name!r} is {column.type}: {error}"
        raise EngineError(Problem(path, what, f"values of {field.type}")) from error


def widens(given: pa.DataType, wanted: pa.DataType) -> bool:
    """Whether every value of one type is also one of another: then no adopted tuple can fail."""
    if pa.types.is_integer(given) and pa.types.is_integer(wanted):
        return bool(pa.types.is_signed_integer(given) and given.bit_width <= wanted.bit_width)
    if pa.types.is_timestamp(given) and pa.types.is_timestamp(wanted):
        return given.tz is not None and given.unit in ("s", "ms", "us")
    return bool(given == wanted or (pa.types.is_float32(given) and pa.types.is_float64(wanted)))
