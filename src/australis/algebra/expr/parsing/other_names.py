"""Functions of other systems that are written otherwise here, and how."""

from __future__ import annotations

_SAME = {
    "length": ("len", "char_length", "character_length", "strlen"),
    "substring": ("substr", "mid"),
    "upper": ("ucase", "toupper", "to_upper"),
    "lower": ("lcase", "tolower", "to_lower"),
    "instr(text, part)": ("strpos", "position", "locate", "charindex", "find", "indexof"),
    "pow": ("power",),
    "sign": ("sgn", "signum"),
    "ceil": ("ceiling",),
    "startswith": ("starts_with", "prefix"),
    "endswith": ("ends_with", "suffix"),
    "day": ("dayofmonth", "day_of_month"),
    "dayofweek": ("dow", "day_of_week"),
    "dayofyear": ("doy", "day_of_year"),
    "if(condition, a, b) or CASE WHEN condition THEN a ELSE b END": ("iif", "iff", "cond"),
    "CASE x WHEN value THEN result ... ELSE other END": ("decode", "switch", "choose"),
    "x IS NULL": ("isnull", "is_null"),
    "x IS NOT NULL": ("isnotnull", "is_not_null"),
    "coalesce(x, 0)": ("zeroifnull",),
    "a <=> b": ("equal_null",),
    "a % b or pmod(a, b)": ("mod",),
    "a DIV b": ("idiv",),
    "ln, log10 or log2": ("log",),
    "floor(x), or date_trunc('DAY', t) for a time": ("trunc", "truncate"),
    "a || b or concat(a, b)": ("concat_ws", "textjoin"),
    "array_join": ("array_to_string", "list_to_string"),
    "lower(x) LIKE 'pattern'": ("ilike",),
    "CAST(x AS type)": (
        *("int", "integer", "bigint", "long", "smallint", "tinyint", "double", "float", "decimal", "boolean"),
        *("string", "varchar", "str", "to_number", "to_int", "to_double", "to_string", "try_to_number"),
    ),
    "hour(t), minute(t), day(t), month(t) or year(t)": ("date_part", "datepart", "extract"),
    "timestampdiff(DAY, start, end)": ("datediff", "date_diff", "timediff", "months_between"),
    "t + INTERVAL 1 DAY": ("date_add", "dateadd", "date_sub", "timestampadd", "add_months", "adddate"),
    "date_trunc('HOUR', t), or a window with align": ("time_bucket", "floor_time", "time_slice", "tumble"),
    "unix_seconds(t), unix_millis(t) or unix_micros(t)": ("to_unixtime", "to_epoch", "epoch", "to_unix_time"),
    "timestamp_seconds(x), timestamp_millis(x) or timestamp_micros(x)": (
        *("from_unixtime", "from_epoch", "to_datetime", "toDateTime"),
    ),
}
_SAME_OF_WINDOWS = {
    "percentile(x, p)": ("percentile_cont", "percentile_disc", "quantile", "approx_percentile"),
    "stddev(x)": ("stddev_samp", "std", "stdev"),
    "avg(x)": ("mean", "average"),
    "count(*)": ("count_if", "countif", "row_count"),
    "array_join(collect_list(x, 100), ', ')": ("string_agg", "listagg", "group_concat", "array_agg"),
}
OTHER_WINDOW_NAMES = {name: instead for instead, names in _SAME_OF_WINDOWS.items() for name in names}
"""What to write instead of a name that is no window function here."""
OTHER_NAMES = {name.lower(): instead for instead, names in _SAME.items() for name in names} | {
    name: f"{instead} in an Aggregate box: it is a window function"
    for name, instead in OTHER_WINDOW_NAMES.items()
}
"""What to write instead of a name that is no function here."""
