"""What is in the subset, what is refused, and where the refusal points."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from australis.algebra.expr import parse
from australis.algebra.expr.literals import (
    interval_us,
    is_timestamp,
    number,
    timestamp_text,
    timestamp_us,
)
from australis.algebra.expr.parsing.reader import LENGTH_MAX
from australis.errors import ExpressionError, Problem


def refusal(text: str) -> Problem:
    """The one problem of a text that does not parse."""
    with pytest.raises(ExpressionError) as caught:
        parse(text)
    [problem] = caught.value.problems
    assert problem.text == text[:LENGTH_MAX]
    return problem


@pytest.mark.parametrize(
    ("text", "at", "what"),
    [
        ("pos >=", "", "unexpected end of the text"),
        ("", "", "unexpected end of the text"),
        ("pos 30", "30", "unexpected '30'"),
        ("(pos", "", "unexpected end of the text"),
        ("pos)", ")", "unexpected ')'"),
        ("'abc", "'abc", "a quote or comment that does not end"),
        ("pos /* and", "/* and", "a quote or comment that does not end"),
        ("pos > é", "é", "unexpected character 'é'"),
        ("'\\ud83d'", "\\ud83d", "\\ud83d is not a character"),
        ("1.5f + pos", "1.5f", "'1.5f' is not a number of a known type"),
        ("1e999", "1e999", "'1e999' is not a number of a known type"),
        ("9" * 39, "9" * 39, f"'{'9' * 39}' is not a number of a known type"),
        ("1_000", "1_000", "'1_000' is not a number of a known type"),
        ("pos = not sid", "not", "unexpected 'not'"),
        ("pos IS 3", "3", "unexpected '3'"),
        ("pos NOT 3", "3", "unexpected '3'"),
        ("CASE END", "END", "unexpected 'END'"),
        ("CASE WHEN a THEN b", "", "unexpected end of the text"),
        ("CAST(pos AS blob)", "blob", "unknown type 'blob'"),
        ("CAST(pos AS decimal(39,2))", "decimal", "no decimal(39,2)"),
        ("INTERVAL 3 FORTNIGHTS", "INTERVAL", "no interval 3 FORTNIGHTS"),
        ("INTERVAL 1.5 DAYS", "INTERVAL", "no interval 1.5 DAYS"),
        ("INTERVAL 40000000 DAYS 40000000 DAYS", "INTERVAL", "no interval 40000000 DAYS"),
        ("TIMESTAMP 'soon'", "'soon'", "'soon' is not a timestamp"),
        ("TIMESTAMP '2023-02-29 00:00:00Z'", "'2023", "'2023-02-29 00:00:00Z' is not a timestamp"),
        ("TIMESTAMP '2023-02-28 24:00:00'", "'2023", "'2023-02-28 24:00:00' is not a timestamp"),
        ("TIMESTAMP '2023-02-28 00:00:00 soon'", "'2023", "'2023-02-28 00:00:00 soon' is not a timestamp"),
        ("if(a, b)", "if", "if with 2 arguments"),
        ("a.b", "a.b", "unknown qualifier 'a'"),
        ("left.pos.x", ".x", "unexpected '.'"),
        ("left.3", ".3", "unexpected '.3'"),
    ],
)
def test_a_text_that_is_not_an_expression(text: str, at: str, what: str) -> None:
    problem = refusal(text)
    assert problem.what == what
    assert text[problem.position :].startswith(at)
    assert problem.position == (text.find(at) if at else len(text))
    assert problem.expected


@pytest.mark.parametrize(
    ("text", "at", "hint"),
    [
        ("reflect('java.lang.System', 'exit', 1)", "reflect", "a registered `module:function`"),
        ("1 + java_method('java.lang.System', 'exit', 1)", "java_method", "a registered `module:function`"),
        ("(SELECT 1)", "SELECT", "no subquery"),
        ("pos IN (SELECT 1)", "SELECT", "no subquery"),
        ("EXISTS (SELECT 1)", "EXISTS", "docs/expressions.md"),
        ("abs(pos) OVER (PARTITION BY sid)", "OVER", "windows belong to"),
        ("sum(pos)", "sum", "Aggregate box"),
        ("pos > rand()", "rand", "random numbers"),
        ("current_timestamp()", "current_timestamp", "read the clock"),
        ("transform(xs, x -> x + 1)", "transform", "docs/expressions.md"),
        ("abs(x -> 1)", "->", "no lambda"),
        ("pos = ?", "?", "no parameter"),
        ("pos = :limit", ":", "no parameter"),
        ("*", "*", "name the attributes"),
        ("abs(*)", "*", "name the attributes"),
        ("pos::long", "::", "CAST(x AS type)"),
        ("s LIKE 'a' ESCAPE '!'", "ESCAPE", "backslash"),
        ("a & b", "&", "an operator or the end"),
        ("a; DROP TABLE b", ";", "an operator or the end"),
        ("sqr(pos)", "sqr", "(perhaps 'sqrt')"),
        ("`abs`(pos)", "`abs`", "`module:function`"),
        ("div(1, 2)", "div", "an expression"),
        ("negate(1)", "negate", "docs/expressions.md"),
        ("count_distinct(1)", "count_distinct", "docs/expressions.md"),
    ],
)
def test_what_is_not_in_the_subset(text: str, at: str, hint: str) -> None:
    problem = refusal(text)
    assert problem.position == text.index(at)
    assert hint in problem.expected


def test_a_refusal_shows_the_place() -> None:
    assert str(refusal("pos >= rand()")) == (
        "no function 'rand' in expressions; expected an attribute: expressions cannot use random numbers\n"
        "    pos >= rand()\n"
        "           ^"
    )


# --- limits


@pytest.mark.parametrize(
    "text",
    [
        "(" * 5000 + "1" + ")" * 4000,
        "(" * 4000,
        "-" * 2 + " " + "NOT " * 2000 + "a",
        "NOT " * 2000 + "a",
        "- " * 3000 + "a",
        "abs(" * 2000 + "a" + ")" * 1000,
        "CASE WHEN " * 900,
        "CAST(" * 1900 + "a",
        "a IN (" * 1500 + "a",
        "a + (" * 1900,
        "a BETWEEN (" * 800,
        "a OR b AND NOT c = d + e * (" * 350,
        "+".join("a" * 1000),
        "left(" * 1900,
        "`x:y`(" * 1600,
    ],
)
def test_deep_or_long_texts_are_refused_not_run_out_of_stack(text: str) -> None:
    assert refusal(text).what in (
        "an expression that is nested too deep",
        "a chain that is too long",
        "unexpected end of the text",
    )


def test_sugar_cannot_grow_without_bounds() -> None:
    doubling = "a"
    for _ in range(30):
        doubling = f"nullif({doubling}, b)"
    assert refusal(doubling).what == "an expression that is too large"


def test_a_text_has_a_length() -> None:
    assert refusal("'" + "a" * LENGTH_MAX + "'").what == f"a text of {LENGTH_MAX + 2} characters"


def test_long_chains_of_and_are_not_deep() -> None:
    assert len(parse(" AND ".join(f"a{i}" for i in range(1000))).attributes) == 1000


@given(
    st.text(
        st.sampled_from("ab1.'`\"()+-*/<>=!|,:?\\ \n") | st.characters(exclude_categories=("Cs",)),
        max_size=30,
    )
)
def test_any_text_is_an_expression_or_refused(text: str) -> None:
    assert_read_or_refused(text)


WORDS = "a 1 'x' ( ) , + - NOT AND OR IN IS NULL LIKE BETWEEN CASE WHEN THEN ELSE END CAST AS int abs left ."


@given(st.lists(st.sampled_from(WORDS.split()), max_size=15))
def test_any_words_are_an_expression_or_refused(words: list[str]) -> None:
    assert_read_or_refused(" ".join(words))


def assert_read_or_refused(text: str) -> None:
    problems = ()
    try:
        parse(text)
    except ExpressionError as error:
        problems = error.problems
    assert all(problem.position in range(len(text) + 1) for problem in problems)


# --- what is read


def test_the_attributes_of_a_text() -> None:
    assert parse("pos > 3 AND (sid = 1 OR `end` IS NULL)").attributes == {"pos", "sid", "end"}
    assert parse("left.pos = right.pos").attributes == {"left.pos", "right.pos"}
    assert parse("left(s, 2) = right").attributes == {"s", "right"}
    assert parse("timestamp > interval").attributes == {"timestamp", "interval"}
    assert parse("interval - 5 + interval - interval").attributes == {"interval"}
    assert parse("timestampdiff(day, day, hour)").attributes == {"day", "hour"}
    assert parse("1 + 1").attributes == frozenset()


def test_a_text_is_parsed_once() -> None:
    assert parse("pos + 1") is parse("pos + 1")
    assert parse("pos + 1").text == "pos + 1"


@pytest.mark.parametrize(
    ("text", "value", "type_"),
    [
        ("0", 0, "int"),
        ("2147483647", 2147483647, "int"),
        ("-2147483648", -2147483648, "int"),
        ("2147483648", 2147483648, "long"),
        ("7L", 7, "long"),
        ("9223372036854775808", Decimal(9223372036854775808), "decimal(19,0)"),
        ("1.50", Decimal("1.50"), "decimal(3,2)"),
        (".5", Decimal("0.5"), "decimal(1,1)"),
        ("5.", Decimal("5"), "decimal(1,0)"),
        ("0.001", Decimal("0.001"), "decimal(3,3)"),
        ("1.5e2BD", Decimal("150"), "decimal(3,0)"),
        ("1e3", 1000.0, "double"),
        ("1.5D", 1.5, "double"),
    ],
)
def test_numbers(text: str, value: object, type_: str) -> None:
    found = number(text)
    assert found is not None
    assert (found[0], str(found[1])) == (value, type_)


@given(st.integers(-(2**63), 2**63 - 1))
def test_every_instant_has_a_literal(instant: int) -> None:
    assert timestamp_us(timestamp_text(instant).removeprefix("TIMESTAMP '").removesuffix("'")) == instant


@pytest.mark.parametrize("zone", ["", "+05:30", " Europe/Berlin", " America/Argentina/Buenos_Aires"])
def test_a_timestamp_in_another_zone_is_read_by_the_engines(zone: str) -> None:
    assert timestamp_us(f"2003-01-01 00:00:30{zone}") is None
    assert is_timestamp(f"2003-01-01 00:00:30{zone}")
    assert is_timestamp("2003-01-01")


def test_intervals() -> None:
    assert interval_us("10", "minutes") == 600_000_000
    assert interval_us("1.5", "SECOND") == 1_500_000
    assert interval_us("-1", "week") == -604_800_000_000
    assert interval_us("1.5", "day") is None
    assert interval_us("99999999999", "day") is None
