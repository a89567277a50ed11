"""From the text of an expression to its typed tree, in two steps: `parse`, then `bind` to a schema.

Attribute names are case-sensitive, as in their schema (Spark is not; a hint names the attribute that was
meant); function names and keywords are not.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache

from australis.algebra.expr.bind import Binder, Sides
from australis.algebra.expr.failure import refuse
from australis.algebra.expr.parsing import Grammar, Syntax, names
from australis.algebra.expr.tree import Expr
from australis.algebra.guards import guard
from australis.algebra.schema import Schema
from australis.algebra.types import INTERVAL, NULL, TEXTS


@dataclass(frozen=True)
class Parsed:
    """A well-formed expression; `bind` checks its names and types against a schema.

    >>> from australis.algebra.schema import parse_schema
    >>> parsed = parse("pos >= 30 AND sid = 1")
    >>> sorted(parsed.attributes)
    ['pos', 'sid']
    >>> parsed.bind(parse_schema("sid int, pos double")).type.name
    'boolean'
    """

    text: str
    syntax: Syntax = field(repr=False, compare=False)

    @property
    def attributes(self) -> frozenset[str]:
        """The columns it reads: `pos`, or `left.pos` in a pair."""
        return frozenset(name.column for name in names(self.syntax))

    def bind(self, schema: Sides) -> Expr:
        """The typed tree over a stream's schema, or over {"left": ..., "right": ...} for a pair."""
        expr = Binder(self.text, schema).bind(self.syntax)
        if expr.type == TEXTS:
            refuse(
                self.text,
                0,
                "an array as a value",
                "one of its elements, as in split(...)[0], array_contains, or an Unnest box",
            )
        if expr.type == INTERVAL:
            refuse(
                self.text, 0, "an interval as a value", "a timestamp that it is added to or subtracted from"
            )
        if expr.type == NULL:
            refuse(self.text, 0, "a NULL without a type", "CAST(NULL AS type)")
        return expr

    def bind_array(self, schema: Schema) -> Expr:
        """The typed tree of an expression that must be an array."""
        expr = Binder(self.text, schema).bind(self.syntax)
        if expr.type != TEXTS:
            refuse(self.text, 0, f"a {expr.type} as an array", "an array, as in split(tags, ',')")
        return expr


def parse(text: str) -> Parsed:
    """Parse a text of the whitelisted subset of Spark SQL.

    >>> parse("pos >= ")
    Traceback (most recent call last):
    australis.errors.ExpressionError: unexpected end of the text; expected an expression
        pos >=
               ^
    """
    guard(text, str, "", "an expression as a text")
    return _parse(text)


@lru_cache(maxsize=4096)
def _parse(text: str) -> Parsed:
    return Parsed(text, Grammar(text).whole())
