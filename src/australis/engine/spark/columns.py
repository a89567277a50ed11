"""Compiles typed trees to Spark columns, function by function; Spark never parses text.

The session must have `spark.sql.ansi.enabled=false` and the network's time zone. Where Spark would stop the
job even then (a timestamp that overflows, part 0 of a string), a guard gives NULL: no tuple stops a train.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pyarrow as pa
from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql.pandas.functions import arrow_udf

from australis.algebra.expr import (
    INSTANT_MAX_US,
    LONG_MAX,
    Attribute,
    Call,
    Case,
    Cast,
    Expr,
    Literal,
    UserCall,
    time_guard,
)
from australis.algebra.types import DOUBLE, INTERVAL, STRING, TIMESTAMP, DataType, decimal
from australis.algebra.user_functions import RowFunction, row_function
from australis.engine.spark.types import spark_type

_BEGINS_WITH_YEAR = r"^[\x00-\x20]*[+-]?[0-9]{4,}(-|[\x00-\x20]*$)"


def column(expr: Expr) -> Column:
    """The Spark column that computes an expression from the columns of its attributes."""
    match expr:
        case Literal():
            return _literal(expr)
        case Attribute():
            return F.col(f"`{expr.column}`")
        case Call(function=function, args=args):
            return CALLS[function](*args)
        case Case():
            return _case(expr)
        case Cast(arg=arg, type=type_):
            return _cast(column(arg), arg.type, type_)
        case UserCall(name=name, args=args):
            return _user_function(row_function(name))(*map(column, args))


def _literal(expr: Literal) -> Column:
    value = expr.value
    if expr.type == INTERVAL:
        assert isinstance(value, int)
        return F.lit(timedelta(microseconds=value))
    if expr.type == TIMESTAMP and value is not None:
        return F.timestamp_micros(F.lit(value).cast("bigint"))
    # Spark would give a number the narrowest type that holds it.
    return F.lit(value).cast(spark_type(expr.type))


def _case(expr: Case) -> Column:
    chain: Any = F
    for condition, then in expr.branches:
        chain = chain.when(column(condition), column(then))
    chosen: Column = chain.otherwise(column(expr.otherwise))
    return chosen


def _cast(value: Column, source: DataType, target: DataType) -> Column:
    if source == DOUBLE and target.is_decimal:
        return _exact(value, lambda exact: exact.cast(spark_type(target)))
    if source == STRING and target == TIMESTAMP:
        # Spark would add today's date to a text without one: expressions have no clock.
        return F.when(value.rlike(_BEGINS_WITH_YEAR), value.cast("timestamp"))
    return value.cast(spark_type(target))


def _exact(value: Column, convert: Callable[[Column], Column]) -> Column:
    """What Spark makes of a double via its decimal digits, except where these depend on the Java version.

    From 2^53 on doubles are whole numbers, which Java 17 writes with other digits than Java 21; there we
    convert the whole number itself.
    """
    size = F.abs(value)
    whole = (size >= 2.0**53) & (size < 1e38)
    return F.when(whole, convert(_whole_number(value))).otherwise(convert(value))


def _whole_number(value: Column) -> Column:
    """A whole double as the decimal(38,0) that it is, put together from pieces that fit 64 bits."""
    high = (value / 2.0**64).cast("bigint")
    rest = value - high.cast("double") * 2.0**64
    middle = (rest / 2.0**32).cast("bigint")
    low = (rest - middle.cast("double") * 2.0**32).cast("bigint")
    total = _times(high, 2**64) + _times(middle, 2**32) + _times(low, 1)
    return total.cast("decimal(38,0)")


def _times(count: Column, unit: int) -> Column:
    return count.cast("decimal(19,0)") * F.lit(Decimal(unit))


def _user_function(function: RowFunction) -> Callable[..., Column]:
    """The registered function as an Arrow UDF; Spark's own Arrow types (another time zone) are cast away."""
    takes, returns = [type_.arrow for type_ in function.takes], function.returns.arrow
    call = function.call

    def evaluate(*arrays: pa.Array) -> pa.Array:
        return call(*(array.cast(type_) for array, type_ in zip(arrays, takes, strict=True))).cast(returns)

    # PySpark's annotations require the kind of UDF; at run time it warns about that, since type hints
    # suffice.
    make: Any = arrow_udf
    udf: Callable[..., Column] = make(evaluate, spark_type(function.returns))
    return udf


# --- calls

Compiled = Callable[..., Column]


def _of(function: Callable[..., Column]) -> Compiled:
    """A Spark function of the arguments' columns."""
    return lambda *args: function(*map(column, args))


def _text(arg: Expr) -> str:
    assert isinstance(arg, Literal)
    assert isinstance(arg.value, str)
    return arg.value


def _whole(arg: Expr) -> int:
    assert isinstance(arg, Literal)
    assert isinstance(arg.value, int)
    return arg.value


def _near(*args: Expr) -> Column:
    """Whether every timestamp among the arguments is close enough to 1970 that arithmetic cannot overflow."""
    instants = [F.unix_micros(column(arg)) for arg in args if arg.type == TIMESTAMP]
    near = F.lit(True)
    for instant in instants:
        near &= instant.between(-INSTANT_MAX_US, INSTANT_MAX_US)
    return near


def _shifted(operator: Callable[[Column, Column], Column]) -> Compiled:
    """+ or -, of numbers or of a timestamp and an interval."""

    def compiled(one: Expr, other: Expr) -> Column:
        result = operator(column(one), column(other))
        return F.when(_near(one), result) if one.type == TIMESTAMP else result

    return compiled


def _signed(function: Callable[[Column], Column]) -> Compiled:
    """Negation or the absolute value of a number.

    Spark rounds these to 34 digits, or fails if that does not fit, so longer decimals are handled as text.
    """

    def compiled(arg: Expr) -> Column:
        value = column(arg)
        if arg.type.precision <= 34:
            return function(value)
        text = value.cast("string")
        # Not value < 0: Spark would compare in a type with fewer digits after the point.
        negative = text.startswith("-")
        opposite = F.when(negative, F.substring(text, 2, 50)).otherwise(F.concat(F.lit("-"), text))
        exact = opposite.cast(spark_type(arg.type))
        return exact if function is F.negate else F.when(negative, exact).otherwise(value)

    return compiled


def _rounded(arg: Expr, digits: Expr | None = None) -> Column:
    places = 0 if digits is None else _whole(digits)
    if arg.type == DOUBLE and places < 0:
        return _exact(column(arg), lambda value: F.round(value, places).cast("double"))
    rounded = F.round(column(arg), places)
    if arg.type != decimal(38, 0) or places >= 0:
        return rounded
    # Only here can rounding up need one more digit than there is, and Spark would fail.
    limit = Decimal(10**38 - 5 * 10 ** (-places - 1) - 1)
    return F.when(column(arg).between(F.lit(limit.copy_negate()), F.lit(limit)), rounded)


def _substring(text: Expr, position: Expr, length: Expr | None = None) -> Column:
    return F.substring(column(text), column(position), F.lit(2**31 - 1) if length is None else column(length))


def _padded(function: Callable[..., Column]) -> Compiled:
    def compiled(text: Expr, length: Expr, pad: Expr | None = None) -> Column:
        return function(column(text), column(length), F.lit(" ") if pad is None else column(pad))

    return compiled


def _split_part(text: Expr, delimiter: Expr, part: Expr) -> Column:
    return F.when(column(part) != 0, F.split_part(column(text), column(delimiter), column(part)))


def _date_trunc(unit: Expr, instant: Expr) -> Column:
    return F.when(_near(instant), F.date_trunc(_text(unit), column(instant)))


def _timestampdiff(unit: Expr, start: Expr, end: Expr) -> Column:
    return F.when(_near(start, end), F.timestamp_diff(_text(unit), column(start), column(end)))


def _instant(function: Callable[[Column], Column], unit_us: int) -> Compiled:
    """A timestamp from a count of units, NULL where microseconds would overflow; doubles saturate."""

    def compiled(arg: Expr) -> Column:
        count = column(arg)
        limit = LONG_MAX // unit_us
        return (
            function(count)
            if arg.type.name == "double"
            else F.when(count.between(-limit, limit), function(count))
        )

    return compiled


def _to_timestamp(text: Expr, pattern: Expr) -> Column:
    """Only texts whose years have four digits: Spark would stop at years that do not fit."""
    value, format_text = column(text), _text(pattern)
    return F.when(value.rlike(time_guard(format_text)), F.to_timestamp(value, format_text))


CALLS: dict[str, Compiled] = {
    "+": _shifted(lambda one, other: one + other),
    "-": _shifted(lambda one, other: one - other),
    "*": _of(lambda one, other: one * other),
    "/": _of(lambda one, other: one / other),
    "%": _of(lambda one, other: one % other),
    "div": _of(lambda one, other: F.call_function("div", one, other)),
    "negate": _signed(F.negate),
    "=": _of(lambda one, other: one == other),
    "<>": _of(lambda one, other: one != other),
    "<": _of(lambda one, other: one < other),
    "<=": _of(lambda one, other: one <= other),
    ">": _of(lambda one, other: one > other),
    ">=": _of(lambda one, other: one >= other),
    "<=>": _of(lambda one, other: one.eqNullSafe(other)),
    "and": _of(lambda one, other: one & other),
    "or": _of(lambda one, other: one | other),
    "not": _of(lambda arg: ~arg),
    "is_null": _of(F.isnull),
    "in": _of(lambda value, *members: value.isin(*members)),
    "like": lambda text, pattern: column(text).like(_text(pattern)),
    "rlike": lambda text, pattern: column(text).rlike(_text(pattern)),
    "regexp_extract": lambda text, pattern, group: F.regexp_extract(
        column(text), _text(pattern), _whole(group)
    ),
    "regexp_replace": lambda text, pattern, new: F.regexp_replace(column(text), _text(pattern), _text(new)),
    "get_json_object": lambda text, path: F.get_json_object(column(text), _text(path)),
    "split": lambda text, pattern, limit: F.split(column(text), _text(pattern), _whole(limit)),
    "get": _of(F.get),
    "element_at": lambda array, place: F.when(
        column(place) != 0, F.call_function("element_at", column(array), column(place))
    ),
    "array_contains": _of(F.array_contains),
    "array_join": _of(lambda array, separator: F.call_function("array_join", array, separator)),
    "size": _of(F.size),
    "date_format": lambda instant, pattern: F.date_format(column(instant), _text(pattern)),
    "to_timestamp": _to_timestamp,
    "abs": _signed(F.abs),
    "ceil": _of(F.ceil),
    "floor": _of(F.floor),
    "round": _rounded,
    "sign": _of(F.sign),
    "sqrt": _of(F.sqrt),
    "exp": _of(F.exp),
    "ln": _of(F.ln),
    "log10": _of(F.log10),
    "log2": _of(F.log2),
    "pow": _of(F.pow),
    "sin": _of(F.sin),
    "cos": _of(F.cos),
    "tan": _of(F.tan),
    "asin": _of(F.asin),
    "acos": _of(F.acos),
    "atan": _of(F.atan),
    "atan2": _of(F.atan2),
    "degrees": _of(F.degrees),
    "radians": _of(F.radians),
    "pmod": _of(F.pmod),
    "isnan": _of(F.isnan),
    "nanvl": _of(F.nanvl),
    "greatest": _of(F.greatest),
    "least": _of(F.least),
    "coalesce": _of(F.coalesce),
    "length": _of(F.length),
    "upper": _of(F.upper),
    "lower": _of(F.lower),
    "trim": _of(F.trim),
    "ltrim": _of(F.ltrim),
    "rtrim": _of(F.rtrim),
    "substring": _substring,
    "left": _of(F.left),
    "right": _of(F.right),
    "replace": _of(F.replace),
    "startswith": _of(F.startswith),
    "endswith": _of(F.endswith),
    "contains": _of(F.contains),
    "instr": _of(F.instr),
    "lpad": _padded(F.lpad),
    "rpad": _padded(F.rpad),
    "reverse": _of(F.reverse),
    "repeat": _of(F.repeat),
    "concat": _of(F.concat),
    "split_part": _split_part,
    "ascii": _of(F.ascii),
    "crc32": _of(F.crc32),
    "xxhash64": _of(F.xxhash64),
    "md5": _of(F.md5),
    "sha2": lambda text, bits: F.sha2(column(text), _whole(bits)),
    "year": _of(F.year),
    "quarter": _of(F.quarter),
    "month": _of(F.month),
    "day": _of(F.day),
    "dayofweek": _of(F.dayofweek),
    "dayofyear": _of(F.dayofyear),
    "weekday": _of(F.weekday),
    "hour": _of(F.hour),
    "minute": _of(F.minute),
    "second": _of(F.second),
    "date_trunc": _date_trunc,
    "unix_seconds": _of(F.unix_seconds),
    "unix_millis": _of(F.unix_millis),
    "unix_micros": _of(F.unix_micros),
    "timestamp_seconds": _instant(F.timestamp_seconds, 1_000_000),
    "timestamp_millis": _instant(F.timestamp_millis, 1_000),
    "timestamp_micros": _of(F.timestamp_micros),
    "timestampdiff": _timestampdiff,
}
"""One Spark function for every name in the function table."""
