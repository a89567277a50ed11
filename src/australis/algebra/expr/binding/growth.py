"""Bounds on the length of texts: a short expression must not produce gigabytes."""

from __future__ import annotations

from australis.algebra.expr.tree import Attribute, Call, Expr, Literal, UserCall, children
from australis.algebra.types import STRING

ATTRIBUTE_LENGTH = 100
"""The characters that an attribute is assumed to have; a longer one makes its results longer in proportion.
"""
RESULT_LENGTH_MAX = 100_000
"""The characters that a text made of such attributes may have."""
GROWING = frozenset({"concat", "repeat", "replace", "regexp_replace", "array_join"})
"""The functions that can lengthen their arguments; `lpad` and `rpad` return the length they are given."""

DIGEST_LENGTHS = {"md5": 32, "sha2": 64}
"""The characters of a digest, however short its argument is."""


def longest(expr: Expr) -> int:
    """The most characters of a string, or of those of an array, if each attribute has `ATTRIBUTE_LENGTH`."""
    match expr:
        case Literal(value=str() as text):
            return len(text)
        case Call(function="repeat", args=(text, Literal(value=int() as times))):
            return longest(text) * times
        case Call(function="replace", args=(text, _, new)):
            return longest(text) * max(1, longest(new))
        case Call(function="regexp_replace", args=(text, _, Literal(value=str() as new))):
            # A match has at least one character, and each group in the replacement at most all of them.
            return longest(text) * max(1, len(new))
        case Call(function="array_join", args=(array, separator)):
            return longest(array) + _parts(array) * longest(separator)
        case Call(function="collect_list" | "collect_set", args=(text, Literal(value=int() as most))):
            return longest(text) * most
        case Call(function="concat", args=args):
            return sum(map(longest, args))
        case Call(function="lpad" | "rpad", args=(_, Literal(value=int() as length), *_)):
            return length
        case Call(function="md5" | "sha2" as function):
            return DIGEST_LENGTHS[function]
        case Attribute() | UserCall():
            return ATTRIBUTE_LENGTH
    # A value that is not a string is written in fewer characters than an attribute may have.
    return max((longest(e) for e in children(expr) if e.type == STRING), default=ATTRIBUTE_LENGTH)


def _parts(array: Expr) -> int:
    """The most elements of an array: SPLIT's pattern matches at least one character."""
    match array:
        case Call(function="split", args=(text, _, Literal(value=int() as limit))):
            return min(limit, longest(text) + 1) if limit > 0 else longest(text) + 1
        case Call(function="collect_list" | "collect_set", args=(_, Literal(value=int() as most))):
            return most
    return 1
