"""The function table: every name that an expression may call, and how a call of it is typed.

A new function takes one line here, one in each evaluator (kernels, reference, compile) and one in
docs/expressions.md; a test keeps them in step.
"""

from __future__ import annotations

from australis.algebra.expr.binding import (
    Rule,
    common,
    comparison,
    hashing,
    instant,
    json_access,
    like,
    membership,
    nan_test,
    null_test,
    operation,
    regexp_extract,
    regexp_match,
    regexp_replace,
    rounded,
    same,
    sha2,
    shifting,
    size,
    splitting,
    strings,
    takes,
    time_reading,
    time_writing,
    whole,
    whole_division,
    with_literal_int,
    with_unit,
)
from australis.algebra.expr.literals import UNITS_US
from australis.algebra.types import BOOLEAN, DOUBLE, INT, LONG, STRING, TEXTS, TIMESTAMP

PAD_MAX = 1_000
"""How long `lpad`, `rpad` and `repeat` may make a string: a short text must not produce gigabytes."""
TRUNC_UNITS = (
    "YEAR",
    "QUARTER",
    "MONTH",
    "WEEK",
    "DAY",
    "HOUR",
    "MINUTE",
    "SECOND",
    "MILLISECOND",
    "MICROSECOND",
)

_OF_DOUBLE = takes(DOUBLE, returns=DOUBLE)
_LOGARITHM = takes(DOUBLE, returns=DOUBLE, may_be_null=True)
_OF_STRING = takes(STRING, returns=STRING)
_SEARCH = takes(STRING, STRING, returns=BOOLEAN)
_CALENDAR = takes(TIMESTAMP, returns=INT)
_PAD = with_literal_int(takes(STRING, INT, STRING, optional=1, returns=STRING), 1, range(PAD_MAX + 1))

OPERATORS: dict[str, Rule] = {
    "+": shifting("+"),
    "-": shifting("-"),
    "*": operation("*"),
    "/": operation("/"),
    "%": operation("%"),
    "div": whole_division,
    "negate": same,
    "=": comparison(),
    "<>": comparison(),
    "<": comparison(),
    "<=": comparison(),
    ">": comparison(),
    ">=": comparison(),
    "<=>": comparison(never_null=True),
    "and": takes(BOOLEAN, BOOLEAN, returns=BOOLEAN),
    "or": takes(BOOLEAN, BOOLEAN, returns=BOOLEAN),
    "not": takes(BOOLEAN, returns=BOOLEAN),
    "is_null": null_test,
    "in": membership,
    "like": like,
    "rlike": regexp_match,
}
"""Functions written with signs and words rather than as name(arguments)."""

FUNCTIONS: dict[str, Rule] = {
    **OPERATORS,
    "abs": same,
    "ceil": whole,
    "floor": whole,
    "round": rounded,
    "sign": _OF_DOUBLE,
    "sqrt": _OF_DOUBLE,
    "exp": _OF_DOUBLE,
    "ln": _LOGARITHM,
    "log10": _LOGARITHM,
    "log2": _LOGARITHM,
    "pow": takes(DOUBLE, DOUBLE, returns=DOUBLE),
    "sin": _OF_DOUBLE,
    "cos": _OF_DOUBLE,
    "tan": _OF_DOUBLE,
    "asin": _OF_DOUBLE,
    "acos": _OF_DOUBLE,
    "atan": _OF_DOUBLE,
    "atan2": takes(DOUBLE, DOUBLE, returns=DOUBLE),
    "degrees": _OF_DOUBLE,
    "radians": _OF_DOUBLE,
    "pmod": operation("pmod"),
    "isnan": nan_test,
    "nanvl": takes(DOUBLE, DOUBLE, returns=DOUBLE),
    "greatest": common(least=2),
    "least": common(least=2),
    "coalesce": common(least=1),
    "length": takes(STRING, returns=INT),
    "upper": _OF_STRING,
    "lower": _OF_STRING,
    "trim": _OF_STRING,
    "ltrim": _OF_STRING,
    "rtrim": _OF_STRING,
    "substring": takes(STRING, INT, INT, optional=1, returns=STRING),
    "left": takes(STRING, INT, returns=STRING),
    "right": takes(STRING, INT, returns=STRING),
    "replace": takes(STRING, STRING, STRING, returns=STRING),
    "startswith": _SEARCH,
    "endswith": _SEARCH,
    "contains": _SEARCH,
    "instr": takes(STRING, STRING, returns=INT),
    "lpad": _PAD,
    "rpad": _PAD,
    "reverse": _OF_STRING,
    "repeat": with_literal_int(takes(STRING, INT, returns=STRING), 1, range(PAD_MAX + 1)),
    "concat": strings,
    "split_part": takes(STRING, STRING, INT, returns=STRING, may_be_null=True),
    "ascii": takes(STRING, returns=INT),
    "regexp_extract": regexp_extract,
    "regexp_replace": regexp_replace,
    "get_json_object": json_access,
    "split": splitting,
    "get": takes(TEXTS, INT, returns=STRING, may_be_null=True),
    "element_at": takes(TEXTS, INT, returns=STRING, may_be_null=True),
    "array_contains": takes(TEXTS, STRING, returns=BOOLEAN),
    "array_join": takes(TEXTS, STRING, returns=STRING),
    "size": size,
    "crc32": takes(STRING, returns=LONG),
    "xxhash64": hashing,
    "md5": _OF_STRING,
    "sha2": sha2,
    "year": _CALENDAR,
    "quarter": _CALENDAR,
    "month": _CALENDAR,
    "day": _CALENDAR,
    "dayofweek": _CALENDAR,
    "dayofyear": _CALENDAR,
    "weekday": _CALENDAR,
    "hour": _CALENDAR,
    "minute": _CALENDAR,
    "second": _CALENDAR,
    "date_trunc": with_unit(takes(STRING, TIMESTAMP, returns=TIMESTAMP, may_be_null=True), TRUNC_UNITS),
    "date_format": time_writing,
    "to_timestamp": time_reading,
    "unix_seconds": takes(TIMESTAMP, returns=LONG),
    "unix_millis": takes(TIMESTAMP, returns=LONG),
    "unix_micros": takes(TIMESTAMP, returns=LONG),
    "timestamp_seconds": instant,
    "timestamp_millis": takes(LONG, returns=TIMESTAMP, may_be_null=True),
    "timestamp_micros": takes(LONG, returns=TIMESTAMP),
    "timestampdiff": with_unit(
        takes(STRING, TIMESTAMP, TIMESTAMP, returns=LONG, may_be_null=True), tuple(UNITS_US)
    ),
}

LEFT_OUT = {
    **dict.fromkeys(
        ("current_timestamp", "now", "current_date", "localtimestamp", "unix_timestamp"),
        "an attribute: expressions cannot read the clock, and the time at which a tuple arrived is hidden",
    ),
    **dict.fromkeys(
        ("rand", "randn", "random", "uuid", "shuffle"), "an attribute: expressions cannot use random numbers"
    ),
    **dict.fromkeys(
        ("regexp_extract_all", "regexp_count", "regexp_substr", "regexp_instr"),
        "RLIKE, regexp_extract or regexp_replace",
    ),
    **dict.fromkeys(
        (
            *("sum", "avg", "min", "max", "count", "first", "last", "stddev", "median", "percentile", "corr"),
            *("min_by", "max_by", "variance", "var_samp", "var_pop", "stddev_pop", "approx_count_distinct"),
            *("percentile_sketch", "collect_list", "collect_set"),
        ),
        "an Aggregate box: it is a window function",
    ),
    **dict.fromkeys(("reflect", "java_method", "try_reflect"), "a registered `module:function`"),
    **dict.fromkeys(
        ("explode", "explode_outer", "posexplode", "posexplode_outer", "unnest", "flatten"),
        "an Unnest box: it makes a tuple of each element",
    ),
    "try_cast": "CAST, which gives NULL where it cannot convert",
}
"""Functions of Spark that people may look for, and what to use instead."""
