"""Constant texts of calls: which patterns and replacements are read, and why others are refused."""

from __future__ import annotations

import re

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from australis.algebra.expr import parse
from australis.algebra.expr.patterns import (
    PatternError,
    TimeField,
    json_path,
    read_times,
    regular,
    replacement,
    written_times,
)
from australis.algebra.schema import parse_schema
from australis.errors import ExpressionError

SCHEMA = parse_schema("s string")


@pytest.mark.parametrize(
    ("pattern", "what", "expected"),
    [
        ("a$", "$ also means before a last line break", r"\z for the end"),
        (r"(a)\1", "back-references take more than linear time", "without them"),
        ("(?=a)b", "look-ahead", "(?:...)"),
        ("(?<!a)b", "no look-behind", "(?:...)"),
        ("(?>a)", "atomic", "(?:...)"),
        ("a(?i)b", "flags are known only as (?i) at the very beginning", "(?:...)"),
        (r"\bword", "depends on the Java version", "boundary"),
        (r"\p{L}", "Unicode's classes", "[A-Za-z]"),
        (r"\Qa.b\E", r"no \Q", "a backslash before each sign"),
        (r"\v", "one character in RE2, several in Java", r"\x0B"),
        (r"\y", "a backslash before 'y'", "only before a sign"),
        ("(a*)*", "can be empty", "at least one character"),
        ("(^)+", "can be empty", "at least one character"),
        ("(a|){2}", "can be empty", "at least one character"),
        ("a++", "possessive", "one of * + ?"),
        ("a**", "two counts in a row", "one of * + ?"),
        ("a{1001}", "a count of more than 1000", "at most 1000"),
        ("(a{40}){40}", "a count of more than 1000", "at most 1000"),
        ("a{2,1}", "no {2,1}", "smaller number first"),
        ("(a){0,1}", "{0,1}, whose groups", "?"),
        ("a{0}", "no {0,0}", "above 0"),
        ("a{,2}", "{ without numbers", "{n,m}"),
        ("{a", "{ repeats nothing", r"\{"),
        ("+a", "+ repeats nothing", r"\+"),
        ("(a", "a ( without its )", r"\("),
        ("a)", "a ) without its (", r"\)"),
        ("[a", "ends too early", "]"),
        ("[]", "a ] where a character of the class is expected", r"\]"),
        ("[a[b]]", "a class inside a class", r"\["),
        ("[[:alpha:]]", "a class inside a class", r"\["),
        ("[a-z&&b]", "&& means both in Java", r"\&"),
        ("[z-a]", "two single characters in order", "[a-z]"),
        (r"[\d-z]", "two single characters in order", "[a-z]"),
        ("[a-c-e]", "a - after a range", r"\-"),
        ("a\\", "ends too early", "backslash"),
        (r"\x4", "without the number of a character", r"\x41"),
        (r"\ud800", "without the number of a character", r"\u0041"),
        (r"\x{110000}", "without the number of a character", r"\u0041"),
        (r"\W{1000}" * 4, "written out", "at most 20000"),
        ("(" * 51 + "a" + ")" * 51, "more than 50 parentheses", "fewer"),
    ],
)
def test_what_a_refused_pattern_is_told(pattern: str, what: str, expected: str) -> None:
    with pytest.raises(PatternError) as raised:
        regular(pattern)
    assert what in raised.value.what
    assert expected in raised.value.expected


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("s RLIKE s", "the pattern is not a literal"),
        ("s NOT RLIKE 'a$'", "$ also means"),
        ("regexp_like(s, '(a')", "a ( without its )"),
        ("regexp_extract(s, 'a')", "the pattern has 0 groups"),
        ("regexp_extract(s, '(a)', 2)", "the pattern has 1 groups"),
        ("regexp_extract(s, '(a|b)+c', 1)", "group 1 is inside a repetition"),
        ("regexp_replace(s, '(?:(a)b){2}', '$1')", "group 1 is inside a repetition"),
        ("regexp_replace(s, 'a*', 'b')", "matches the empty text"),
        ("regexp_replace(s, 'a', s)", "the replacement is not a literal"),
        ("regexp_replace(s, 'a', '$1')", "$1, but the pattern has 0 groups"),
        ("regexp_replace(s, 'a', '$')", "$ without the number"),
        ("regexp_replace(s, '.', '" + "x" * 2000 + "')", "a text of up to"),
    ],
)
def test_a_call_with_a_bad_constant_is_refused(text: str, what: str) -> None:
    with pytest.raises(ExpressionError) as raised:
        parse(text).bind(SCHEMA)
    assert what in raised.value.problems[0].what


@pytest.mark.parametrize(
    "pattern",
    [
        ".{1000}",
        r"\W{999}",
        "[é-ſ😀ab0-9x]{1000}",
        "(?i)" + "abc" * 1600,
        "(" * 50 + "a" + ")" * 50,
        "|".join(["word"] * 900),
        "[" + "".join(chr(0x100 + 2 * i) for i in range(4900)) + "]",
        "(?:a{30}){33}b{1000}c{1000}",
    ],
)
def test_re2_and_python_read_the_largest_patterns(pattern: str) -> None:
    read = regular(pattern)
    assert pc.match_substring_regex(pa.array(["b"]), read.text()).to_pylist() is not None
    assert re.compile(read.text(end=r"\Z")) is not None


def test_a_replacement_has_texts_and_groups() -> None:
    one, many = regular("(a)"), regular("(a)" * 12)
    assert replacement(r"a$1b\$\\$0", one) == ("a", 1, "b$\\", 0)
    assert replacement("$12", one) == (1, "2")
    with pytest.raises(PatternError, match="backslash at the end"):
        replacement("a\\", one)
    with pytest.raises(PatternError, match=r"\$12"):
        replacement("$12", many)


def test_only_the_group_asked_for_has_a_name() -> None:
    assert regular("(a)|(b)").text(group=2) == "(?:(?:a)|(?P<g>b))"
    assert regular("(a)b").text(group=0) == "(?P<g>(?:a)b)"


@pytest.mark.parametrize(
    ("path", "what"),
    [
        ("a.b", "does not begin with $"),
        ("$a", "'a' is no step"),
        ("$.", "'.' is no step"),
        ("$..a", "'..a' is no step"),
        ("$.a[*]", "'[*]' is no step"),
        ("$.*", "'.*' is no step"),
        ("$.a[-1]", "'[-1]' is no step"),
        ('$["a"]', "is no step"),
        ("$. a", "'. a' is no step"),
        ("$[99999999999]", "is no step"),
        ("$[2147483648]", "is no step"),
        ("$" + ".a" * 101, "a path of 101 steps"),
    ],
)
def test_what_a_refused_path_is_told(path: str, what: str) -> None:
    with pytest.raises(PatternError) as raised:
        json_path(path)
    assert what in raised.value.what
    assert raised.value.expected


def test_a_path_has_names_and_indexes() -> None:
    assert json_path("$") == ()
    assert json_path("$.a b['c.d'][0].é") == ("a b", "c.d", 0, "é")
    with pytest.raises(ExpressionError, match="the path is not a literal"):
        parse("get_json_object(s, s)").bind(SCHEMA)


@pytest.mark.parametrize(
    ("pattern", "what", "expected"),
    [
        ("yy-MM", "no 'yy' here", "yyyy"),
        ("yyyy-MM-dd X", "no 'X' here", "other letters in quotes"),
        ("EEE", "no 'EEE' here", "yyyy"),
        ("[yyyy]", "'[yyyy]' in a format", "between single quotes"),
        ("yyyy 'open", '"\'open" in a format', "between single quotes"),
        ("yyyyMMddHHmmssSSS", "ssSSS without a sign between the two", "ss.SSS"),
        ("Mdd", "Mdd without a sign between the two", "M.dd"),
        ("yyyyM", "M directly after a number", "MM"),
        ("yyyy yyyy", "two fields 'y'", "once"),
        ("HH hh", "both H and h", "HH"),
        ("HH a", "a without hh", "hh and a"),
        ("'é' yyyy", "more than ASCII", "other texts"),
        ("yyyy''", "without quotes", "other texts"),
        ("'T'", "a format without fields", "yyyy-MM-dd"),
    ],
)
def test_what_a_refused_format_is_told(pattern: str, what: str, expected: str) -> None:
    with pytest.raises(PatternError) as raised:
        read_times(pattern)
    assert what in raised.value.what
    assert expected in raised.value.expected


def test_formats_are_checked_with_the_expression() -> None:
    schema = parse_schema("t timestamp, s string")
    assert written_times("EEE 'o''clock'") == (TimeField("E", 3), " o'clock")
    for text, what in (
        ("date_format(t, s)", "the format is not a literal"),
        ("date_format(t, 'w')", "no 'w' here"),
        ("to_timestamp(s, 'DDD')", "no 'DDD' here"),
        ("to_timestamp(s)", "no format"),
    ):
        with pytest.raises(ExpressionError, match=what):
            parse(text).bind(schema)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("split(s, ',')", "an array as a value"),
        ("split(s, 'a*')[0]", "matches the empty text"),
        ("split(s, ',', length(s))[0]", "the limit is not a literal"),
        ("split(s, ',') = split(s, ',')", "an array"),
        ("split(s, ',') IS NULL", "an array<string>"),
        ("CAST(split(s, ',') AS string)", "no CAST from array<string>"),
        ("coalesce(split(s, ','), split(s, ';'))[0]", "an array"),
        ("s[0]", "string instead of array<string>"),
    ],
)
def test_an_array_stays_inside_an_expression(text: str, what: str) -> None:
    with pytest.raises(ExpressionError) as raised:
        parse(text).bind(SCHEMA)
    assert what in raised.value.problems[0].what
