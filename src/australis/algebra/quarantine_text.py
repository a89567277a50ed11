"""What the quarantine says about a tuple: why it could not be processed, and the tuple as JSON text."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from decimal import Decimal

from australis.algebra.expr import Value
from australis.algebra.schema import Schema
from australis.algebra.types import DataType

ORDER_LIMIT = 2**62
"""Order values, in the units of their type, are less than this in magnitude: differences fit 64 bits."""
GREATEST_ADVANCES = 2**50
"""How many advances from 0 a double may be: the starts of windows are still distinct there."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_YEARS = (
    (datetime(1, 1, 1, tzinfo=UTC) - _EPOCH) // timedelta(microseconds=1),
    (datetime(9999, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC) - _EPOCH) // timedelta(microseconds=1),
)


def null_reason(name: str) -> str:
    """Why a row with a NULL in a `not null` attribute does not fit its schema."""
    return f"{name!r} is NULL, which its schema does not allow"


def order_reason(name: str, units: int | float | None, advance: int | float | None = None) -> str | None:
    """Why a value has no place in the order on `name`; None if it has one.

    `units` is the value in the units of its type, `advance` that of an Aggregate.

    >>> order_reason("time", None), order_reason("time", 7)
    ("'time' is NULL, which has no place in an order", None)
    """
    what = _out_of_place(units, advance)
    return what and f"{name!r} is {what}, which has no place in an order"


def _out_of_place(units: int | float | None, advance: int | float | None) -> str | None:
    if units is None:
        return "NULL"
    if isinstance(units, float) and math.isnan(units):
        return "NaN"
    if isinstance(units, float) and math.isinf(units):
        return "infinite"
    if abs(units) >= ORDER_LIMIT:
        return "2^62 or more in magnitude"
    if isinstance(units, float) and advance is not None and abs(units) / advance > GREATEST_ADVANCES:
        return "more than 2^50 advances from 0"
    return None


def tuple_as_json(values: Mapping[str, Value], schema: Schema) -> str:
    """The attributes of a tuple as JSON text, in the order of the schema.

    Timestamps and decimals are texts, and so are the doubles that JSON has no numbers for. Missing attributes
    are omitted.

    >>> from australis.algebra.schema import parse_schema
    >>> schema = parse_schema("sid int, time timestamp, price decimal(6,2), pos double")
    >>> tuple_as_json({"sid": 1, "time": 90_000_000, "price": Decimal("7.5"), "pos": float("nan")}, schema)
    '{"sid": 1, "time": "1970-01-01T00:01:30Z", "price": "7.50", "pos": "NaN"}'
    """
    rendered = {f.name: render(values[f.name], f.type) for f in schema if f.name in values}
    return json.dumps(rendered, ensure_ascii=False)


def render(value: Value, data_type: DataType) -> Value:
    """A value in a form that JSON can hold."""
    if value is None:
        return None
    if isinstance(value, Decimal):
        return f"{value:.{data_type.scale}f}"
    if isinstance(value, float):
        return _double(value)
    if data_type.name == "timestamp" and isinstance(value, int):
        return timestamp_text(value)
    return value


def timestamp_text(microseconds: int) -> str:
    """A UTC time in ISO 8601; outside the years 1 to 9999, the microseconds since 1970.

    >>> timestamp_text(1_500_000), timestamp_text(2**62)
    ('1970-01-01T00:00:01.500000Z', '4611686018427387904 us')
    """
    if not _YEARS[0] <= microseconds <= _YEARS[1]:
        return f"{microseconds} us"
    moment = _EPOCH + timedelta(microseconds=microseconds)
    return moment.isoformat().removesuffix("+00:00") + "Z"


def _double(value: float) -> float | str:
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    return value
