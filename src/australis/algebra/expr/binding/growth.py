"""Bounds on the length of texts: a short expression must not produce gigabytes."""

from __future__ import annotations

from australis.algebra.expr.tree import Attribute, Call, Expr, Literal, UserCall, children
from australis.algebra.types import STRING

ATTRIBUTE_LENGTH = 100
"""The characters that an attribute is assumed to have; a longer one makes its results longer in proportion.
"""
RESULT_LENGTH_MAX = 100_000
"""The characters that a text made of such attributes may have."""
GROWING = frozenset({"concat", "repeat", "replace"})
"""The functions that can lengthen their arguments; `lpad` and `rpad` return the length they are given."""


def longest(expr: Expr) -> int:
    """The most characters of a string, where each attribute has `ATTRIBUTE_LENGTH`."""
    match expr:
        case Literal(value=str() as text):
            return len(text)
        case Call(function="repeat", args=(text, Literal(value=int() as times))):
            return longest(text) * times
        case Call(function="replace", args=(text, _, new)):
            return longest(text) * max(1, longest(new))
        case Call(function="concat", args=args):
            return sum(map(longest, args))
        case Call(function="lpad" | "rpad", args=(_, Literal(value=int() as length), *_)):
            return length
        case Attribute() | UserCall():
            return ATTRIBUTE_LENGTH
    # A value that is not a string is written in fewer characters than an attribute may have.
    return max((longest(e) for e in children(expr) if e.type == STRING), default=ATTRIBUTE_LENGTH)
