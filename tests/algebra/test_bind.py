"""How expressions are typed: results, the casts inserted, nullability, and the texts of refusals."""

from __future__ import annotations

import pyarrow as pa
import pytest

from australis.algebra.expr import Call, Case, Cast, Literal, UserCall, parse, text_of
from australis.algebra.expr.binding.coerce import decimal_result, wider
from australis.algebra.schema import parse_schema
from australis.algebra.types import DOUBLE, INT, LONG, NULL, STRING, TIMESTAMP, parse_type
from australis.algebra.user_functions import register_function
from australis.errors import ExpressionError

SCHEMA = parse_schema(
    "i int, l long, d double, m decimal(10,2), w decimal(38,10), s string, t boolean, ts timestamp,"
    "n int not null"
)


def bound(text: str) -> str:
    return text_of(parse(text).bind(SCHEMA))


@pytest.mark.parametrize(
    ("text", "type_"),
    [
        ("i + 1", "int"),
        ("i + 1L", "long"),
        ("i + d", "double"),
        ("i + m", "decimal(13,2)"),
        ("l + m", "decimal(23,2)"),
        ("5 + m", "decimal(11,2)"),
        ("m * m", "decimal(21,4)"),
        ("w * w", "decimal(38,6)"),
        ("w + w", "decimal(38,9)"),
        ("w / m", "decimal(38,8)"),
        ("m % w", "decimal(18,10)"),
        ("m + d", "double"),
        ("i / i", "double"),
        ("i DIV i", "long"),
        ("m DIV i", "long"),
        ("pmod(i, l)", "long"),
        ("-m", "decimal(10,2)"),
        ("abs(l)", "long"),
        ("ceil(i)", "long"),
        ("floor(d)", "long"),
        ("ceil(m)", "decimal(9,0)"),
        ("round(d, 2)", "double"),
        ("round(m)", "decimal(9,0)"),
        ("round(m, 5)", "decimal(11,2)"),
        ("round(m, -18)", "decimal(19,0)"),
        ("sqrt(m)", "double"),
        ("sign(i)", "double"),
        ("coalesce(i, m)", "decimal(12,2)"),
        ("greatest(i, l, d)", "double"),
        ("if(t, 5, m)", "decimal(12,2)"),
        ("CASE WHEN t THEN NULL ELSE s END", "string"),
        ("nullif(i, m)", "int"),
        ("length(s)", "int"),
        ("s || s", "string"),
        ("year(ts)", "int"),
        ("ts + INTERVAL 1 DAY", "timestamp"),
        ("INTERVAL 1 DAY + ts", "timestamp"),
        ("timestampdiff(SECOND, ts, ts)", "long"),
        ("timestamp_seconds(d)", "timestamp"),
        ("i = m", "boolean"),
        ("i IN (1, 2.5)", "boolean"),
        ("CAST(s AS decimal(5,1))", "decimal(5,1)"),
        ("NULL + 1", "int"),
        ("NULL + NULL", "double"),
    ],
)
def test_types(text: str, type_: str) -> None:
    assert str(parse(text).bind(SCHEMA).type) == type_


@pytest.mark.parametrize(
    ("text", "meaning"),
    [
        ("d > 3", "(d > 3.0D)"),
        ("i > 3.5", "(CAST(i AS decimal(11,1)) > CAST(3.5BD AS decimal(11,1)))"),
        ("i + l", "(CAST(i AS long) + l)"),
        ("m + 5", "(m + 5BD)"),
        ("i / 2", "(CAST(i AS double) / 2.0D)"),
        ("i BETWEEN 1 AND l", "((i >= 1) AND (CAST(i AS long) <= l))"),
        ("i NOT IN (1, NULL)", "(NOT (i IN (1, CAST(NULL AS int))))"),
        ("i IS NOT NULL", "(NOT (i IS NULL))"),
        ("t IS NOT TRUE", "(NOT (t <=> TRUE))"),
        ("i IS DISTINCT FROM 1", "(NOT (i <=> 1))"),
        ("CASE i WHEN 1 THEN 'a' END", "CASE WHEN (i = 1) THEN 'a' ELSE CAST(NULL AS string) END"),
        ("if(t, i, d)", "CASE WHEN t THEN CAST(i AS double) ELSE d END"),
        ("nullif(i, 1)", "CASE WHEN (i = 1) THEN CAST(NULL AS int) ELSE i END"),
        ("nvl(s, 'x')", "coalesce(s, 'x')"),
        ("nvl2(s, 1, 2)", "CASE WHEN (s IS NULL) THEN 2 ELSE 1 END"),
        ("s || 'a' || s", "concat(s, 'a', s)"),
        ("i - 1 + 2 * -i", "(i - 1 + (2 * (- (i))))"),
        ("date_trunc('day', ts)", "date_trunc('DAY', ts)"),
        ("ts + INTERVAL 1 DAY -2 HOURS", "(ts + INTERVAL '22' HOUR)"),
        ("ts + INTERVAL 1 DAY - INTERVAL '2' HOUR", "(ts + INTERVAL '1' DAY - INTERVAL '2' HOUR)"),
        ("TIMESTAMP '2020-01-01 00:00:00'", "CAST('2020-01-01 00:00:00' AS timestamp)"),
        ("t AND t AND t AND t", "((t AND t) AND (t AND t))"),
    ],
)
def test_meanings(text: str, meaning: str) -> None:
    assert bound(text) == meaning
    assert parse(bound(text)).bind(SCHEMA) == parse(text).bind(SCHEMA)


@pytest.mark.parametrize(
    ("text", "nullable"),
    [
        ("n", False),
        ("i", True),
        ("n + 1", False),
        ("n / 2", True),
        ("n % 2", True),
        ("n = i", True),
        ("n <=> i", False),
        ("i IS NULL", False),
        ("coalesce(i, n)", False),
        ("greatest(i, n)", False),
        ("CAST(n AS string)", False),
        ("CAST(CAST(n AS string) AS int)", True),
        ("CAST(n AS decimal(10,0))", False),
        ("CAST(n AS decimal(5,0))", True),
        ("if(i = 1, n, 2)", False),
        ("CASE WHEN t THEN n END", True),
        ("ln(n)", True),
        ("isnan(d)", False),
        ("'a' || 'b'", False),
        ("n * 2.5", True),
    ],
)
def test_nullability(text: str, nullable: bool) -> None:
    assert parse(text).bind(SCHEMA).nullable is nullable


@pytest.mark.parametrize(
    ("text", "at", "what", "expected"),
    [
        ("poz > 3", "poz", "unknown attribute 'poz'", "one of i, l, d"),
        ("1 + TS", "TS", "unknown attribute 'TS'", "one of i, l"),
        ("left.i = 1", "left", "'left' is only known in a pair", "'i' alone"),
        ("s = 1", "1", "'=': string and int have no common type", "CAST(... AS string)"),
        ("ts > '2020-01-01'", "'2020", "'>': timestamp and string have no common type", "TIMESTAMP '...'"),
        ("t = 1", "1", "'=': boolean and int have no common type", "CAST(... AS boolean)"),
        ("s + 1", "s", "'+': string instead of a number", "CAST(... AS double)"),
        ("i || s", "i", "'concat': int instead of string", "CAST(... AS string)"),
        ("t AND i + 1", "i", "'and': int instead of boolean", "CAST(... AS boolean)"),
        ("NOT i", "i", "'not': int instead of boolean", "boolean"),
        ("substring(s, 1L)", "1L", "'substring': long instead of int", "CAST(... AS int)"),
        ("length(s, s)", "length", "'length': 2 arguments", "1"),
        ("greatest(i)", "greatest", "'greatest': 1 arguments", "2 or more"),
        ("substring(s)", "substring", "'substring': 1 arguments", "2 to 3"),
        ("coalesce(i, 'a')", "'a'", "'coalesce': int and string have no common type", "one type"),
        ("CASE WHEN i THEN 1 END", "i", "'CASE': int instead of boolean", "boolean"),
        ("CASE WHEN t THEN 1 ELSE s END", "s", "'CASE': int and string have no common type", "one type"),
        ("d DIV 2", "DIV", "'div': div of doubles", "floor(a / b)"),
        ("w % CAST(1 AS decimal(38,38))", "%", "'%': decimal(38,10) by decimal(38,38)", "at most 38"),
        ("l DIV CAST(1 AS decimal(38,38))", "DIV", "'div': decimal(20,0) by decimal(38,38)", "at most 38"),
        ("ts - ts", "ts", "'-': timestamp - timestamp", "timestampdiff"),
        ("CAST(d AS string)", "CAST", "no CAST from double to string", "decimal"),
        ("CAST(ts AS boolean)", "CAST", "no CAST from timestamp to boolean", "one of int"),
        (
            "CAST(INTERVAL 1 DAY AS string)",
            "CAST",
            "no CAST from interval to string",
            "no cast of an interval",
        ),
        ("INTERVAL 1 DAY", "INTERVAL", "an interval as a value", "a timestamp"),
        ("coalesce(INTERVAL 1 DAY)", "INTERVAL", "'coalesce': an interval", "added to"),
        ("INTERVAL 1 DAY IS NULL", "INTERVAL", "'is_null': an interval", "an attribute"),
        ("NULL", "NULL", "a NULL without a type", "CAST(NULL AS type)"),
        ("s LIKE s", "s", "'like': the pattern is not a literal", "a string literal"),
        (r"s LIKE 'a\\b'", "'a", "'like': a backslash that escapes nothing", r"\%, \_ or \\"),
        ("round(d, i)", "i)", "'round': not a literal in the allowed range", "from -18 to 38"),
        ("repeat(s, 1001)", "1001", "'repeat': not a literal in the allowed range", "from 0 to 1000"),
        ("repeat(repeat(s, 1000), 2)", "repeat", "a text of up to 200000 characters", "at most 100000"),
        ("length(repeat(repeat('x', 1000), 101))", "repeat", "a text of up to 101000 characters", "at most"),
        ("replace(repeat(s, 1000), 'a', 'bc')", "replace", "a text of up to 200000 characters", "at most"),
        ("replace(replace(s, s, s), s, s)", "replace", "a text of up to 1000000 characters", "at most"),
        ("repeat(s, 600) || repeat(s, 600)", "||", "a text of up to 120000 characters", "at most"),
        ("repeat(CASE WHEN t THEN repeat(s, 99) END, 99)", "repeat", "a text of up to 980100", "at most"),
        ("ts + 1", "1", "'+': timestamp + int", "an interval, as in t + INTERVAL 1 SECOND"),
        ("ts - d", "d", "'-': timestamp - double", "an interval, as in t - INTERVAL 1 SECOND"),
        ("lpad(s, i)", "i)", "'lpad': not a literal in the allowed range", "from 0 to 1000"),
        ("date_trunc('fortnight', ts)", "'fort", "'date_trunc': no unit 'FORTNIGHT'", "one of YEAR"),
        ("timestampdiff(MONTH, ts, ts)", "MONTH", "'timestampdiff': no unit 'MONTH'", "one of MICROSECOND"),
        ("timestamp_seconds(w)", "w", "'timestamp_seconds': decimal(38,10) seconds", "6 digits"),
        ("`bind:unknown`(i)", "`bind", "no function 'bind:unknown' is registered", "a registered one"),
    ],
)
def test_what_does_not_fit(text: str, at: str, what: str, expected: str) -> None:
    with pytest.raises(ExpressionError) as caught:
        parse(text).bind(SCHEMA)
    [problem] = caught.value.problems
    assert problem.what.startswith(what)
    assert expected in problem.expected
    assert problem.position in (text.find(at), text.rfind(at))


@pytest.mark.parametrize(
    "text",
    ["repeat(s, 1000)", "lpad(repeat(s, 1000), 1000, s)", "repeat(lpad(s, 9), 1000)", "replace(s, s, s)"],
)
def test_a_text_may_grow_within_bounds(text: str) -> None:
    assert parse(text).bind(SCHEMA).type == STRING


def test_pairs_name_their_tuple() -> None:
    pair = {"left": parse_schema("sid int"), "right": parse_schema("sid int, pos double")}
    assert text_of(parse("left.sid = right.sid").bind(pair)) == "(left.sid = right.sid)"
    with pytest.raises(ExpressionError, match=r"'sid' could be of either tuple.*left.sid or right.sid"):
        parse("sid = 1").bind(pair)
    with pytest.raises(ExpressionError, match=r"unknown attribute 'left.pos'"):
        parse("left.pos = 1").bind(pair)


def test_a_registered_function_gets_the_types_it_takes() -> None:
    register_function("bind:twice", lambda xs: xs, takes=("double", "string"), returns="double")
    expr = parse("`bind:twice`(i, s)").bind(SCHEMA)
    assert isinstance(expr, UserCall)
    assert isinstance(expr.args[0], Cast)
    assert expr.type == DOUBLE
    assert parse(text_of(expr)).bind(SCHEMA) == expr
    with pytest.raises(ExpressionError, match="'bind:twice': 1 arguments; expected 2"):
        parse("`bind:twice`(i)").bind(SCHEMA)
    with pytest.raises(ExpressionError, match="'bind:twice': int instead of string"):
        parse("`bind:twice`(i, i)").bind(SCHEMA)


def test_reserved_words_in_backticks() -> None:
    schema = parse_schema("end int, interval int, timestamp int, left int")
    expr = parse("`end` + interval + timestamp + left").bind(schema)
    assert text_of(expr) == "(`end` + `interval` + `timestamp` + left)"
    assert parse(text_of(expr)).bind(schema) == expr


def test_literals_are_folded_and_nothing_else() -> None:
    assert parse("CAST('NaN' AS double)").bind(SCHEMA).type == DOUBLE
    assert isinstance(parse("CAST('NaN' AS double)").bind(SCHEMA), Literal)
    assert isinstance(parse("CAST('1' AS double)").bind(SCHEMA), Cast)
    assert isinstance(parse("CAST(300 AS decimal(2,0))").bind(SCHEMA), Cast)
    assert isinstance(parse("1 + 1").bind(SCHEMA), Call)
    assert isinstance(parse("if(true, 1, 2)").bind(SCHEMA), Case)


def test_where_types_meet() -> None:
    types = {name: parse_type(name) for name in ("decimal(10,2)", "decimal(38,0)", "decimal(38,38)")}
    assert wider(INT, LONG) == LONG
    assert wider(NULL, STRING) == STRING
    assert wider(INT, STRING) is None
    assert wider(TIMESTAMP, LONG) is None
    assert wider(LONG, types["decimal(10,2)"]) == parse_type("decimal(22,2)")
    assert wider(types["decimal(38,0)"], types["decimal(10,2)"]) == parse_type("decimal(38,0)")
    assert wider(types["decimal(38,38)"], DOUBLE) == DOUBLE
    assert decimal_result("/", types["decimal(10,2)"], types["decimal(38,38)"]) == parse_type("decimal(38,6)")


def test_the_arrow_type_of_every_type() -> None:
    assert parse("m").bind(SCHEMA).type.arrow == pa.decimal128(10, 2)
