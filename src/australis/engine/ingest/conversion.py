"""Converts what a program pushes to an Arrow table: Arrow tables and batches, data frames, dictionaries."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

import pyarrow as pa

from australis.algebra.schema import TS, Schema
from australis.algebra.types import TIMESTAMP
from australis.errors import EngineError, Problem

Row = Mapping[str, object]
TAKEN = (
    "an Arrow table or record batch, a list of dictionaries, one dictionary for one tuple, "
    "or a DataFrame of pandas, Spark or Polars"
)


@runtime_checkable
class _SparkFrame(Protocol):
    """A Spark DataFrame: the driver can convert it to an Arrow table."""

    def toArrow(self) -> pa.Table: ...


@runtime_checkable
class _ArrowStream(Protocol):
    """Whatever supports Arrow's PyCapsule protocol: pandas and Polars DataFrames, DuckDB results."""

    def __arrow_c_stream__(self, requested_schema: object = None) -> object: ...


Pushed = pa.Table | pa.RecordBatch | Row | Sequence[Row] | _SparkFrame | _ArrowStream
"""What a program may push."""


def as_table(path: str, given: object, schema: Schema) -> pa.Table:
    """Pushed data as a table, whose columns are not yet fitted to the schema.

    >>> from australis.algebra.schema import parse_schema
    >>> schema = parse_schema("car int not null, speed double")
    >>> as_table("n.cars", [{"car": 1, "speed": 50.0}, {"car": 2}], schema).to_pylist()
    [{'car': 1, 'speed': 50.0}, {'car': 2, 'speed': None}]
    >>> as_table("n.cars", [{"car": 1, "sped": 50.0}], schema)
    Traceback (most recent call last):
    australis.errors.EngineError: n.cars: tuple 0 has an unknown attribute 'sped'; expected some of car, speed
    """
    if isinstance(given, pa.Table):
        return given
    if isinstance(given, pa.RecordBatch):
        return pa.Table.from_batches([given])
    if isinstance(given, Mapping):
        return _of_rows(path, [given], schema)
    if isinstance(given, Sequence) and not isinstance(given, str | bytes | bytearray | memoryview):
        return _of_rows(path, given, schema)
    if isinstance(given, _SparkFrame | _ArrowStream):
        return _of_frame(path, given)
    raise EngineError(Problem(path, f"cannot take an object of type {_name_of(given)}", TAKEN))


def _of_frame(path: str, given: _SparkFrame | _ArrowStream) -> pa.Table:
    """A data frame as a table, without the index that pandas keeps beside its columns."""
    try:
        if _is_pandas(given):
            return pa.Table.from_pandas(given, preserve_index=False)
        return given.toArrow() if isinstance(given, _SparkFrame) else pa.table(given)
    except (pa.ArrowException, TypeError, ValueError) as error:
        what = f"the {_name_of(given)} cannot become an Arrow table: {error}"
        raise EngineError(Problem(path, what, "columns of one type each")) from error


def _is_pandas(given: object) -> bool:
    return type(given).__module__.split(".")[0] == "pandas"


def _name_of(given: object) -> str:
    kind = type(given)
    return kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"


# --- dictionaries


def _of_rows(path: str, rows: Sequence[Any], schema: Schema) -> pa.Table:
    """Dictionaries as tuples of a schema; missing attributes are NULL, if they may be."""
    for place, row in enumerate(rows):
        if not isinstance(row, Mapping):
            raise EngineError(Problem(path, f"tuple {place} is of type {_name_of(row)}", TAKEN))
    _check_names(path, rows, schema)
    has_ts = any(TS in row for row in rows)
    types = {field.name: field.type.arrow for field in schema} | ({TS: TIMESTAMP.arrow} if has_ts else {})
    return pa.table({name: _column(path, rows, name, type_) for name, type_ in types.items()})


def _check_names(path: str, rows: Sequence[Row], schema: Schema) -> None:
    known, needed = {*schema.names, TS}, {field.name for field in schema if not field.nullable}
    for place, row in enumerate(rows):
        if unknown := sorted(map(str, row.keys() - known)):
            what = f"tuple {place} has an unknown attribute {unknown[0]!r}"
            raise EngineError(Problem(path, what, f"some of {', '.join(schema.names)}"))
        if missing := [name for name in schema.names if name in needed and name not in row]:
            what = f"tuple {place} has no attribute {missing[0]!r}, which may not be NULL"
            raise EngineError(Problem(path, what, f"({schema})"))


def _column(path: str, rows: Sequence[Row], name: str, type_: pa.DataType) -> pa.Array:
    values = [row.get(name) for row in rows]
    try:
        return pa.array(values, type_)
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
        place = next(_misfits(values, type_), 0)
        if isinstance(values[place], str) and pa.types.is_timestamp(type_):
            what = f"tuple {place} has {name} = {values[place]!r}, a string"
            raise EngineError(
                Problem(path, what, "a datetime.datetime: strings are not read as times")
            ) from error
        what = f"tuple {place} has {name} = {values[place]!r}: {error}"
        raise EngineError(Problem(path, what, f"a value of {type_}")) from error


def _misfits(values: Sequence[object], type_: pa.DataType) -> Iterator[int]:
    for place, value in enumerate(values):
        try:
            pa.array([value], type_)
        except (pa.ArrowException, TypeError, ValueError, OverflowError):
            # The error of the whole column is raised.
            yield place
