"""Window function calls: what they are named, take and return."""

from __future__ import annotations

import pytest

from australis.algebra.expr import WindowCall, parse_window, text_of
from australis.algebra.schema import parse_schema
from australis.algebra.user_functions import register_aggregate
from australis.errors import ExpressionError

SCHEMA = parse_schema(
    "i int, l long, d double, m decimal(10,2), w decimal(38,36), s string, t boolean, ts timestamp"
)


def described(call: WindowCall) -> str:
    return f"{call.function}({', '.join(map(text_of, call.args))}) {call.type}"


@pytest.mark.parametrize(
    ("text", "meaning"),
    [
        ("count(*)", "count() long"),
        ("COUNT(s)", "count(s) long"),
        ("count(distinct s)", "count_distinct(s) long"),
        ("sum(i)", "sum(CAST(i AS long)) long"),
        ("sum(l + 1)", "sum((l + 1L)) long"),
        ("sum(d)", "sum(d) double"),
        ("sum(m)", "sum(m) decimal(20,2)"),
        ("sum(w)", "sum(w) decimal(38,36)"),
        ("avg(i)", "avg(CAST(i AS double)) double"),
        ("avg(m)", "avg(m) decimal(14,6)"),
        ("avg(w)", "avg(w) decimal(38,38)"),
        ("min(t)", "min(t) boolean"),
        ("max(ts)", "max(ts) timestamp"),
        ("min(s)", "min(s) string"),
        ("first(m)", "first(m) decimal(10,2)"),
        ("last(s)", "last(s) string"),
        ("stddev(i)", "stddev(CAST(i AS double)) double"),
        ("median(m)", "median(CAST(m AS double)) double"),
        ("max(CASE WHEN t THEN i ELSE 0 END)", "max(CASE WHEN t THEN i ELSE 0 END) int"),
    ],
)
def test_calls(text: str, meaning: str) -> None:
    assert described(parse_window(text).bind(SCHEMA)) == meaning


def test_only_count_is_never_null() -> None:
    assert not parse_window("count(*)").bind(SCHEMA).nullable
    assert not parse_window("count(distinct i)").bind(SCHEMA).nullable
    assert parse_window("sum(i)").bind(SCHEMA).nullable


def test_attributes() -> None:
    assert parse_window("sum(i * l)").attributes == {"i", "l"}
    assert parse_window("count(*)").attributes == frozenset()


@pytest.mark.parametrize(
    ("text", "meaning"),
    [
        ("linear(i)", "linear(CAST(i AS double)) double"),
        ("nearest(s)", "nearest(s) string"),
        ("last_value(m)", "last_value(m) decimal(10,2)"),
    ],
)
def test_interpolations_are_for_resample(text: str, meaning: str) -> None:
    assert described(parse_window(text).bind(SCHEMA, interpolation=True)) == meaning
    with pytest.raises(ExpressionError, match="outside a Resample box"):
        parse_window(text).bind(SCHEMA)


@pytest.mark.parametrize(
    ("text", "at", "what"),
    [
        ("", "", "unknown window function ''"),
        ("i + 1", "i", "unknown window function 'i'"),
        ("abs(i)", "abs", "unknown window function 'abs'"),
        ("count_distinct(i)", "count_distinct", "unknown window function 'count_distinct'"),
        ("sum(*)", "*", "unexpected '*'"),
        ("count(DISTINCT *)", "*", "unexpected '*'"),
        ("sum(distinct i)", "distinct", "unexpected 'distinct'"),
        ("sum(i, l)", ",", "unexpected ','"),
        ("sum()", ")", "unexpected ')'"),
        ("sum(i) + 1", "+", "unexpected '+'"),
        ("sum(sum(i))", "sum(i)", "no function 'sum' in expressions"),
        ("sum(t)", "t", "'sum': boolean instead of a number"),
        ("avg(s)", "s", "'avg': string instead of a number"),
        ("median(ts)", "ts", "'median': timestamp instead of double"),
        ("sum(INTERVAL 1 DAY)", "INTERVAL", "'sum': interval instead of a number"),
        ("min(INTERVAL 1 DAY)", "INTERVAL", "'min': an interval"),
        ("sum(x)", "x", "unknown attribute 'x'"),
        ("`window:none`(i)", "`window", "no aggregate 'window:none' is registered"),
        ("`pos`", "`pos`", "no call of a window function"),
    ],
)
def test_refusals(text: str, at: str, what: str) -> None:
    with pytest.raises(ExpressionError) as caught:
        parse_window(text).bind(SCHEMA)
    [problem] = caught.value.problems
    assert problem.what == what
    assert problem.position == text.find(at)
    assert problem.expected


def test_how_distinct_is_written() -> None:
    with pytest.raises(ExpressionError, match=r"expected 'count\(DISTINCT x\)' perhaps"):
        parse_window("count_distinct(i)")
    with pytest.raises(ExpressionError, match=r"one of count, count\(DISTINCT x\), sum"):
        parse_window("abs(i)")


def test_a_registered_aggregate() -> None:
    register_aggregate(
        "window:spread",
        init=lambda: [],
        incr=lambda state, value: [*state, value],
        final=lambda state: max(state) - min(state),
        takes=("double",),
        returns="double",
    )
    call = parse_window("`window:spread`(i)").bind(SCHEMA)
    assert described(call) == "window:spread(CAST(i AS double)) double"
    assert call.is_user
    with pytest.raises(ExpressionError, match="'window:spread': string instead of double"):
        parse_window("`window:spread`(s)").bind(SCHEMA)
