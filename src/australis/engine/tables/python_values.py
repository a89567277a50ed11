"""Converts Python values from drivers to columns: all at once, or with care where one does not fit."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from australis.algebra.schema import Field, Schema
from australis.algebra.types import DataType
from australis.engine.files import convert, shown

_MISFITS = (pa.ArrowException, ValueError, TypeError, OverflowError)


def columns_of(
    rows: Sequence[tuple[object, ...]], schema: Schema, timezone: str
) -> tuple[dict[str, pa.Array], dict[int, str]]:
    """The columns of some rows, and why rows do not fit, by index; values that do not fit are NULL.

    >>> from australis.algebra.schema import parse_schema
    >>> columns, faults = columns_of([(1, "a"), ("x", "b")], parse_schema("k int, v string"), "UTC")
    >>> columns["k"].to_pylist(), faults
    ([1, None], {1: "k: 'x' is no int"})
    """
    columns: dict[str, pa.Array] = {}
    faults: dict[int, str] = {}
    for field, values in zip(schema, zip(*rows, strict=True), strict=True):
        columns[field.name], bad = _column(values, field, timezone)
        for row in bad:
            faults.setdefault(row, f"{field.name}: {shown(values[row])} is no {field.type}")
    return columns, faults


def _column(values: Sequence[object], field: Field, timezone: str) -> tuple[pa.Array, list[int]]:
    if field.type.name in ("timestamp", "decimal"):
        converted = convert(pa.array(values, pa.string()), field.type, timezone)
        return converted.column, list(converted.bad_rows)
    return _careful(values, field.type)


def _careful(values: Sequence[object], type_: DataType) -> tuple[pa.Array, list[int]]:
    """Convert a column; half by half if a value does not fit, so that few others are converted one by one."""
    try:
        return _MADE[type_.name](values), []
    except _MISFITS:
        # The caller reports the rows.
        if len(values) == 1:
            return pa.nulls(1, type_.arrow), [0]
    middle = len(values) // 2
    (first, one), (second, other) = (_careful(half, type_) for half in (values[:middle], values[middle:]))
    return pa.concat_arrays([first, second]), [*one, *(row + middle for row in other)]


def _longs(values: Sequence[object]) -> pa.Array:
    """Whole numbers; floats are refused, since Arrow would silently take their whole part."""
    return pa.array(values, pa.int64())


def _ints(values: Sequence[object]) -> pa.Array:
    return _longs(values).cast(pa.int32())


def _doubles(values: Sequence[object]) -> pa.Array:
    return pa.array(values, pa.float64())


def _strings(values: Sequence[object]) -> pa.Array:
    return pa.array(values, pa.string())


def _booleans(values: Sequence[object]) -> pa.Array:
    numbers = _longs(values)
    if not pc.all(pc.is_in(numbers, pa.array([0, 1, None], pa.int64())), min_count=0).as_py():
        raise pa.ArrowInvalid("neither 0 nor 1")
    return numbers.cast(pa.bool_())


_MADE: dict[str, Callable[[Sequence[object]], pa.Array]] = {
    "int": _ints,
    "long": _longs,
    "double": _doubles,
    "string": _strings,
    "boolean": _booleans,
}
