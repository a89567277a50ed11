"""Signature rules of calls with a constant text that is read once: patterns, replacements, paths."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from australis.algebra.expr.binding.signatures import Args, Mismatch, Signature, takes
from australis.algebra.expr.patterns import (
    PatternError,
    Regular,
    check_group,
    json_path,
    read_times,
    regular,
    replacement,
    written_times,
)
from australis.algebra.expr.tree import Literal
from australis.algebra.types import BOOLEAN, INT, STRING, TEXTS, TIMESTAMP

Read = TypeVar("Read")


def literal_text(args: Args, index: int, what: str) -> str:
    """The value of an argument that must be a string literal."""
    arg = args[index]
    if isinstance(arg, Literal) and isinstance(arg.value, str):
        return arg.value
    expected = "a string literal: it is read when the network is checked"
    raise Mismatch(index, f"the {what} is not a literal", expected)


def read_literal(args: Args, index: int, what: str, read: Callable[[str], Read]) -> Read:
    """What a literal means, or a mismatch with the reason why it means nothing."""
    text = literal_text(args, index, what)
    try:
        return read(text)
    except PatternError as error:
        raise Mismatch(index, error.what, error.expected) from error


def regular_literal(args: Args) -> Regular:
    """The regular expression that is the second argument."""
    return read_literal(args, 1, "pattern", regular)


def regexp_match(args: Args) -> Signature:
    """RLIKE: a string and a literal pattern."""
    signature = takes(STRING, STRING, returns=BOOLEAN)(args)
    regular_literal(args)
    return signature


def regexp_extract(args: Args) -> Signature:
    """REGEXP_EXTRACT: a string, a literal pattern, and the number of a group, which is 1 if omitted."""
    signature = takes(STRING, STRING, INT, optional=1, returns=STRING)(args)
    pattern = regular_literal(args)
    groups = pattern.groups
    number = args[2] if len(args) == 3 else Literal(1, INT)
    if not (isinstance(number, Literal) and isinstance(number.value, int) and 0 <= number.value <= groups):
        index = 2 if len(args) == 3 else None
        expected = f"a literal from 0 (all of the match) to {groups}"
        raise Mismatch(index, f"the pattern has {groups} groups", expected)
    chosen = number.value
    read_literal(args, 1, "pattern", lambda _: check_group(chosen, pattern))
    return Signature((*signature.args[:2], number), STRING, signature.nullable)


def regexp_replace(args: Args) -> Signature:
    """REGEXP_REPLACE: a string, a literal pattern that never matches nothing, and a literal replacement."""
    signature = takes(STRING, STRING, STRING, returns=STRING)(args)
    pattern = regular_literal(args)
    check_not_empty(pattern)
    read_literal(args, 2, "replacement", lambda text: replacement(text, pattern))
    return signature


def json_access(args: Args) -> Signature:
    """GET_JSON_OBJECT: a string and a literal path."""
    signature = takes(STRING, STRING, returns=STRING, may_be_null=True)(args)
    read_literal(args, 1, "path", json_path)
    return signature


def time_writing(args: Args) -> Signature:
    """DATE_FORMAT: a timestamp and a literal format."""
    signature = takes(TIMESTAMP, STRING, returns=STRING)(args)
    read_literal(args, 1, "format", written_times)
    return signature


def time_reading(args: Args) -> Signature:
    """TO_TIMESTAMP: a string and a literal format."""
    if len(args) == 1:
        raise Mismatch(None, "no format", "a format such as 'yyyy-MM-dd HH:mm:ss', or CAST(... AS timestamp)")
    signature = takes(STRING, STRING, returns=TIMESTAMP, may_be_null=True)(args)
    read_literal(args, 1, "format", read_times)
    return signature


def splitting(args: Args) -> Signature:
    """SPLIT: a string, a literal pattern that never matches nothing, and how many parts there may be."""
    signature = takes(STRING, STRING, INT, optional=1, returns=TEXTS)(args)
    check_not_empty(regular_literal(args))
    limit = args[2] if len(args) == 3 else Literal(-1, INT)
    if not (isinstance(limit, Literal) and isinstance(limit.value, int)):
        raise Mismatch(2, "the limit is not a literal", "a whole number; 0 or less for any number of parts")
    return Signature((*signature.args[:2], limit), TEXTS, signature.nullable)


def check_not_empty(pattern: Regular) -> None:
    """Refuse a pattern that can match nothing, where its matches are counted."""
    if pattern.may_be_empty:
        what = "the pattern matches the empty text, and engines differ in how often"
        raise Mismatch(
            1, what, "a pattern of at least one character: + in place of *, or concat to add a text"
        )


def size(args: Args) -> Signature:
    """SIZE: an array; -1 for NULL, as in Spark."""
    signature = takes(TEXTS, returns=INT)(args)
    return Signature(signature.args, INT, False)
