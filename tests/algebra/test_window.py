"""Window function calls: what they are named, take and return."""

from __future__ import annotations

import pytest

from australis.algebra.boxes import Aggregate, Tumble
from australis.algebra.expr import WindowCall, parse_window, text_of
from australis.algebra.order import Order
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
        ("percentile(m, 0.25)", "percentile(CAST(m AS double)) double"),
        ("percentile_sketch(i, 0.5)", "percentile_sketch(CAST(i AS double)) double"),
        ("max_by(s, ts)", "max_by(s, ts) string"),
        ("first(i ORDER BY ts)", "first_ordered(i, ts) int"),
        ("last(s order by l + 1 desc, d asc, t)", "last_ordered(s, (l + 1L), d, t) string"),
        ("first(NULL ORDER BY NULL)", "first_ordered(CAST(NULL AS boolean), CAST(NULL AS boolean)) boolean"),
        ("corr(i, d)", "corr(CAST(i AS double), d) double"),
        ("var_pop(i)", "var_pop(CAST(i AS double)) double"),
        ("approx_count_distinct(s)", "approx_count_distinct(s) long"),
        ("max(CASE WHEN t THEN i ELSE 0 END)", "max(CASE WHEN t THEN i ELSE 0 END) int"),
    ],
)
def test_calls(text: str, meaning: str) -> None:
    assert described(parse_window(text).bind(SCHEMA).call) == meaning


@pytest.mark.parametrize(
    ("text", "calls", "value"),
    [
        ("sum(i) / count(*)", ["sum", "count"], "(CAST(#0 AS double) / CAST(#1 AS double))"),
        ("max(i) - min(i) + max(i)", ["max", "min"], "(#0 - #1 + #0)"),
        ("round(avg(d), 2)", ["avg"], "round(#0, 2)"),
        ("coalesce(first(s), '-')", ["first"], "coalesce(#0, '-')"),
        ("count(*) FILTER (WHERE t) > count(*)", ["count", "count"], "(#0 > #1)"),
        ("- count(*)", ["count"], "(- (#0))"),
        ("first(i) - first(i ORDER BY l)", ["first", "first_ordered"], "(#0 - #1)"),
        ("array_join(collect_list(s, 10), ', ')", ["collect_list"], "array_join(#0, ', ')"),
        ("collect_set(CAST(i AS string), 2)[0]", ["collect_set"], "get(#0, 0)"),
        ("size(collect_list(NULL, 1000))", ["collect_list"], "size(#0)"),
    ],
)
def test_expressions_of_calls(text: str, calls: list[str], value: str) -> None:
    found = parse_window(text).bind(SCHEMA)
    assert [call.function for call in found.calls] == calls
    assert text_of(found.value) == value
    assert found.call is None


def test_a_filter_belongs_to_its_call() -> None:
    found = parse_window("sum(i) FILTER (WHERE t AND l > 1) + sum(i)").bind(SCHEMA)
    assert [call.where is None for call in found.calls] == [False, True]
    assert parse_window("sum(i) filter (where t)").attributes == {"i", "t"}


def test_a_call_of_several_expressions_is_computed_once() -> None:
    schema = parse_schema("i int")
    box = Tumble({"mean": "sum(i) / count(*)", "n": "count(*)", "more": "count(*) + 1"}, ("i",))
    bound = box.bind(schema)
    assert [call.function for call in bound.calls] == ["sum", "count"]
    assert [text_of(value) for value in bound.values.values()][1:] == ["#1", "(#1 + 1L)"]
    assert bound.call("mean") is None
    assert bound.call("n") == bound.calls[1]


def test_only_count_is_never_null() -> None:
    assert not parse_window("count(*)").bind(SCHEMA).value.nullable
    assert not parse_window("count(distinct i)").bind(SCHEMA).value.nullable
    assert parse_window("sum(i)").bind(SCHEMA).value.nullable


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
    assert described(parse_window(text).bind(SCHEMA, interpolation=True).call) == meaning
    with pytest.raises(ExpressionError, match="outside a Resample box"):
        parse_window(text).bind(SCHEMA)


@pytest.mark.parametrize(
    ("text", "at", "what"),
    [
        ("", "", "unexpected end of the text"),
        ("i + 1", "i", "no call of a window function"),
        ("abs(i)", "abs", "no call of a window function"),
        ("summ(i)", "summ", "unknown window function 'summ'"),
        ("count_distinct(i)", "count_distinct", "unknown window function 'count_distinct'"),
        ("sum(*)", "*", "unexpected '*'"),
        ("count(DISTINCT *)", "*", "unexpected '*'"),
        ("sum(distinct i)", "distinct", "unexpected 'distinct'"),
        ("percentile(i, 1.5)", "1.5", "'percentile': not a literal in the allowed range"),
        ("percentile(i, l)", "l)", "'percentile': not a literal in the allowed range"),
        ("sum(i, l)", "sum", "'sum': 2 arguments"),
        ("percentile(i)", "percentile", "'percentile': 1 arguments"),
        ("min_by(i, INTERVAL 1 DAY)", "INTERVAL", "'min_by': an interval"),
        ("first(i ORDER BY split(s, ','))", "split", "'first': an array"),
        ("first(i ORDER BY l, l, l, s)", "s)", "unexpected 's'"),
        ("first(i ORDER l)", "l)", "unexpected 'l'"),
        ("first(i ORDER BY)", ")", "unexpected ')'"),
        ("first(i ORDER BY l NULLS FIRST)", "NULLS", "unexpected 'NULLS'"),
        ("max(i ORDER BY l)", "ORDER", "unexpected 'ORDER'"),
        ("first(i, l ORDER BY l)", "ORDER", "unexpected 'ORDER'"),
        ("count(DISTINCT i ORDER BY l)", "ORDER", "unexpected 'ORDER'"),
        ("first(i ORDER BY last(l))", "last(l)", "no function 'last' in expressions"),
        ("first_ordered(i, l)", "first_ordered", "unknown window function 'first_ordered'"),
        ("collect_list(s, 5)", "collect_list", "an array as a value"),
        ("size(collect_list(s))", "collect_list", "'collect_list': 1 arguments"),
        ("size(collect_list(i, 5))", "i, 5", "'collect_list': int instead of string"),
        ("size(collect_set(d, 5))", "d, 5", "'collect_set': double instead of string"),
        ("size(collect_set(s, 0))", "0", "'collect_set': not a literal in the allowed range"),
        ("size(collect_set(s, 1001))", "1001", "'collect_set': not a literal in the allowed range"),
        ("size(collect_set(s, i))", "i))", "'collect_set': not a literal in the allowed range"),
        ("coalesce(collect_set(s, 2), 'a')", "collect_set", "'coalesce': an array"),
        ("array_join(collect_set(s, 999), '---')", "array_join", "a text of up to 102897 characters"),
        ("sum()", ")", "unexpected ')'"),
        ("i + sum(i)", "i", "'i' is not in a call of a window function"),
        ("linear(i) FILTER (WHERE t)", "linear", "'linear' outside a Resample box"),
        ("sum(i) FILTER (WHERE l)", "l)", "the filter is a long"),
        ("sum(i) FILTER (l > 1)", "l >", "unexpected 'l'"),
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


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("size(collect_list(i + 1, 5))", "a string: CAST((i + 1) AS string)"),
        ("size(collect_list(d, 5))", "a string: CAST(CAST(... AS decimal(p,s)) AS string): the text of"),
        ("collect_list(s, 5)", "a text made of it: array_join(collect_list(...), ', ')"),
        ("size(collect_list(s, 0))", "an integer literal from 1 to 1000"),
        ("string_agg(s, ',')", "array_join(collect_list(x, 100), ', ')"),
        ("mean(i)", "avg(x)"),
        ("first_ordered(i, l)", "'first(x ORDER BY y)' perhaps"),
        ("max(i ORDER BY l)", "')': only first(x) and last(x) have an ORDER BY"),
        ("last(i ORDER BY l NULLS LAST)", "')': NULLs come last, whether keys ascend or descend"),
    ],
)
def test_what_to_write_instead(text: str, hint: str) -> None:
    with pytest.raises(ExpressionError) as caught:
        parse_window(text).bind(SCHEMA)
    [problem] = caught.value.problems
    assert (problem.expected or "").startswith(hint)


def test_attributes_may_be_named_like_the_words_of_a_sort() -> None:
    schema = parse_schema("order int, by int, desc int, s string")
    found = parse_window("first(order ORDER BY by DESC, desc ASC, desc DESC) FILTER (WHERE by > 0)")
    [call] = found.bind(schema).calls
    assert (described(call), call.parameters) == ("first_ordered(order, by, desc, desc) int", (1.0, 0.0, 1.0))
    assert found.attributes == {"order", "by", "desc"}


def test_only_the_last_value_in_the_order_of_the_box_has_marks() -> None:
    functions = {"a": "last(i)", "b": "last(i ORDER BY l)", "c": "first(i ORDER BY i DESC)", "d": "max(i)"}
    box = Aggregate(functions, Order("i", by="progress"), session=5)
    [passings] = box.passings(SCHEMA)
    assert set(passings) == {"a", "d"}


def test_how_distinct_is_written() -> None:
    with pytest.raises(ExpressionError, match=r"expected 'count\(DISTINCT x\)' perhaps"):
        parse_window("count_distinct(i)")
    with pytest.raises(
        ExpressionError, match=r"one of count, count\(DISTINCT x\), approx_count_distinct, sum"
    ):
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
    call = parse_window("`window:spread`(i)").bind(SCHEMA).call
    assert described(call) == "window:spread(CAST(i AS double)) double"
    assert call.is_user
    twice = parse_window("`window:spread`(i) FILTER (WHERE t) * 2").bind(SCHEMA)
    assert text_of(twice.value) == "(#0 * 2.0D)"
    assert twice.calls[0].where is not None
    with pytest.raises(ExpressionError, match="'window:spread': string instead of double"):
        parse_window("`window:spread`(s)").bind(SCHEMA)
