"""CAST between all types, with NULL for what cannot be converted."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa

from australis.algebra.types import TIMESTAMP
from australis.kernels.expressions import doubles, times
from australis.kernels.expressions import text_to_numbers as readings
from australis.kernels.expressions import text_to_timestamps as moments
from australis.kernels.expressions.arrays import CallSite, Numbers, arrow, either, nulls, raw
from australis.kernels.expressions.fixed_point import decimals, longs, magnitude, raised, rescaled, unscaled
from australis.kernels.expressions.timestamps_to_text import timestamp_text

_INT, _LONG, _DOUBLE, _TIMESTAMP = pa.int32(), pa.int64(), pa.float64(), TIMESTAMP.arrow


def cast(site: CallSite, value: pa.Array) -> pa.Array:
    """A value in the type of the site."""
    source, target = _name(value.type), site.type.name
    if source == "null":
        return pa.nulls(len(value), site.type.arrow)
    if value.type == site.type.arrow:
        return value
    return _CASTS[source, target](site, value)


def _name(type: pa.DataType) -> str:
    if pa.types.is_decimal(type):
        return "decimal"
    return _NAMES[type]


# --- to whole numbers


def _to_long(_: CallSite, value: pa.Array) -> pa.Array:
    return value.cast(_LONG)


def _wrapped(_: CallSite, value: pa.Array) -> pa.Array:
    """A long as an int: its low 32 bits."""
    return arrow(raw(value).astype(np.int32), _INT, nulls(value))


def _double_to_whole(site: CallSite, value: pa.Array) -> pa.Array:
    return doubles.to_integers(value, site.type.arrow)


def _decimal_to_long(_: CallSite, value: pa.Array) -> pa.Array:
    return longs(_without_fraction(value), nulls(value))


def _decimal_to_int(site: CallSite, value: pa.Array) -> pa.Array:
    return _wrapped(site, _decimal_to_long(site, value))


def _without_fraction(value: pa.Array) -> Numbers:
    numbers = unscaled(value)
    if value.type.scale > 18:
        numbers = numbers.astype(object)
    size = np.abs(numbers) // 10**value.type.scale
    return np.where(numbers < 0, -size, size)


def _timestamp_to_long(_: CallSite, value: pa.Array) -> pa.Array:
    return arrow(raw(value) // times.SECOND_US, _LONG, nulls(value))


def _timestamp_to_int(_: CallSite, value: pa.Array) -> pa.Array:
    """Seconds since 1970; NULL after 2038, as an instant does not wrap."""
    seconds = raw(value) // times.SECOND_US
    whole = seconds.astype(np.int32)
    return arrow(whole, _INT, either(nulls(value), whole != seconds))


def _truth_to_number(site: CallSite, value: pa.Array) -> pa.Array:
    return value.cast(_INT).cast(site.type.arrow)


# --- to doubles


def _whole_to_double(_: CallSite, value: pa.Array) -> pa.Array:
    return value.cast(_DOUBLE, safe=False)


def _decimal_to_double(_: CallSite, value: pa.Array) -> pa.Array:
    """The nearest double: one division of exact doubles, or the double that the text parses to."""
    numbers, scale = unscaled(value), value.type.scale
    if numbers.dtype != object and magnitude(numbers) < 2**53 and scale <= 22:
        return arrow(numbers / 10.0**scale, _DOUBLE, nulls(value))
    return value.cast(pa.string()).cast(_DOUBLE)


def _timestamp_to_double(_: CallSite, value: pa.Array) -> pa.Array:
    return arrow(raw(value) / float(times.SECOND_US), _DOUBLE, nulls(value))


# --- to decimals


def _whole_to_decimal(site: CallSite, value: pa.Array) -> pa.Array:
    numbers = raised(raw(value).astype(np.int64), site.type.scale)
    return decimals(numbers, site.type.arrow, nulls(value))


def _double_to_decimal(site: CallSite, value: pa.Array) -> pa.Array:
    return doubles.to_decimals(value, site.type.arrow)


def _decimal_to_decimal(site: CallSite, value: pa.Array) -> pa.Array:
    numbers = rescaled(unscaled(value), value.type.scale, site.type.scale)
    return decimals(numbers, site.type.arrow, nulls(value))


def _timestamp_to_decimal(site: CallSite, value: pa.Array) -> pa.Array:
    numbers = rescaled(raw(value), 6, site.type.scale)
    return decimals(numbers, site.type.arrow, nulls(value))


def _truth_to_decimal(site: CallSite, value: pa.Array) -> pa.Array:
    return _whole_to_decimal(site, value.cast(_INT))


# --- to booleans


def _number_to_truth(_: CallSite, value: pa.Array) -> pa.Array:
    return arrow(raw(value) != 0, pa.bool_(), nulls(value))


def _decimal_to_truth(_: CallSite, value: pa.Array) -> pa.Array:
    return arrow((unscaled(value) != 0).astype(bool), pa.bool_(), nulls(value))


# --- to timestamps


def _whole_to_timestamp(_: CallSite, value: pa.Array) -> pa.Array:
    """Seconds since 1970; a value that is too large becomes the last timestamp."""
    seconds = raw(value).astype(np.int64)
    limit = (2**63 - 1) // times.SECOND_US
    micros = np.where(
        seconds > limit, 2**63 - 1, np.where(seconds < -limit, -(2**63), seconds * times.SECOND_US)
    )
    return arrow(micros, _TIMESTAMP, nulls(value))


def _double_to_timestamp(_: CallSite, value: pa.Array) -> pa.Array:
    return times.from_seconds(value)


def _decimal_to_timestamp(_: CallSite, value: pa.Array) -> pa.Array:
    """Seconds since 1970, truncated to microseconds, of which the low 64 bits remain."""
    moved = raised(unscaled(value), 6)
    if value.type.scale > 18:
        moved = moved.astype(object)
    size = np.abs(moved) // 10**value.type.scale
    return longs(np.where(moved < 0, -size, size), nulls(value)).cast(_TIMESTAMP)


# --- from and to strings


def _to_text(_: CallSite, value: pa.Array) -> pa.Array:
    return value.cast(pa.string())


def _timestamp_to_text(site: CallSite, value: pa.Array) -> pa.Array:
    return timestamp_text(value, site.timezone)


def _text_to_number(site: CallSite, value: pa.Array) -> pa.Array:
    return readings.integers(value, site.type.arrow)


def _text_to_double(_: CallSite, value: pa.Array) -> pa.Array:
    return readings.doubles(value)


def _text_to_decimal(site: CallSite, value: pa.Array) -> pa.Array:
    return readings.decimals(value, site.type.arrow)


def _text_to_truth(_: CallSite, value: pa.Array) -> pa.Array:
    return readings.truths(value)


def _text_to_timestamp(site: CallSite, value: pa.Array) -> pa.Array:
    return moments.timestamps(value, site.timezone)


_NAMES = {
    pa.null(): "null",
    _INT: "int",
    _LONG: "long",
    _DOUBLE: "double",
    pa.string(): "string",
    pa.bool_(): "boolean",
    _TIMESTAMP: "timestamp",
}

_CASTS: dict[tuple[str, str], Callable[[CallSite, pa.Array], pa.Array]] = {
    ("int", "long"): _to_long,
    ("int", "double"): _whole_to_double,
    ("int", "decimal"): _whole_to_decimal,
    ("int", "string"): _to_text,
    ("int", "boolean"): _number_to_truth,
    ("int", "timestamp"): _whole_to_timestamp,
    ("long", "int"): _wrapped,
    ("long", "double"): _whole_to_double,
    ("long", "decimal"): _whole_to_decimal,
    ("long", "string"): _to_text,
    ("long", "boolean"): _number_to_truth,
    ("long", "timestamp"): _whole_to_timestamp,
    ("double", "int"): _double_to_whole,
    ("double", "long"): _double_to_whole,
    ("double", "decimal"): _double_to_decimal,
    ("double", "boolean"): _number_to_truth,
    ("double", "timestamp"): _double_to_timestamp,
    ("decimal", "int"): _decimal_to_int,
    ("decimal", "long"): _decimal_to_long,
    ("decimal", "double"): _decimal_to_double,
    ("decimal", "decimal"): _decimal_to_decimal,
    ("decimal", "string"): _to_text,
    ("decimal", "boolean"): _decimal_to_truth,
    ("decimal", "timestamp"): _decimal_to_timestamp,
    ("boolean", "int"): _truth_to_number,
    ("boolean", "long"): _truth_to_number,
    ("boolean", "double"): _truth_to_number,
    ("boolean", "decimal"): _truth_to_decimal,
    ("boolean", "string"): _to_text,
    ("timestamp", "int"): _timestamp_to_int,
    ("timestamp", "long"): _timestamp_to_long,
    ("timestamp", "double"): _timestamp_to_double,
    ("timestamp", "decimal"): _timestamp_to_decimal,
    ("timestamp", "string"): _timestamp_to_text,
    ("string", "int"): _text_to_number,
    ("string", "long"): _text_to_number,
    ("string", "double"): _text_to_double,
    ("string", "decimal"): _text_to_decimal,
    ("string", "boolean"): _text_to_truth,
    ("string", "timestamp"): _text_to_timestamp,
}
