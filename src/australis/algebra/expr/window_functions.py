"""Window function calls: `sum(pos)`, `count(*)`, `` `soldiers:center`(pos) ``.

They are called by the boxes that have windows (Aggregate, Tumble, Resample), over any row expression. NULLs
are ignored except by count(*), first and last.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache

from australis.algebra.expr.bind import Binder, Sides
from australis.algebra.expr.binding import (
    Args,
    Mismatch,
    Rule,
    Signature,
    bounded,
    check_count,
    convert,
    meeting_of,
    numbers,
    takes,
)
from australis.algebra.expr.failure import nearest, refuse
from australis.algebra.expr.parsing import Apply, Grammar, Kind, Syntax, UserApply, names
from australis.algebra.expr.tree import Expr
from australis.algebra.guards import guard
from australis.algebra.types import DOUBLE, LONG, DataType
from australis.algebra.user_functions import user_aggregate
from australis.errors import AlgebraError


@dataclass(frozen=True)
class WindowCall:
    """A window function over typed arguments, by its name in `WINDOW_FUNCTIONS` or as `module:function`."""

    function: str
    args: tuple[Expr, ...]
    type: DataType
    nullable: bool = True

    @property
    def is_user(self) -> bool:
        """Whether it is a registered aggregate."""
        return ":" in self.function


@dataclass(frozen=True)
class ParsedWindow:
    """A window function call that is well formed.

    >>> from australis.algebra.schema import parse_schema
    >>> call = parse_window("count(distinct sid)").bind(parse_schema("sid int, pos double"))
    >>> call.function, call.type.name
    ('count_distinct', 'long')
    """

    text: str
    syntax: Syntax = field(repr=False, compare=False)

    @property
    def attributes(self) -> frozenset[str]:
        """The columns that its arguments read."""
        return frozenset(name.column for name in names(self.syntax))

    def bind(self, schema: Sides, *, interpolation: bool = False) -> WindowCall:
        """The typed call over a schema; `interpolation` also allows the functions that only Resample has."""
        binder = Binder(self.text, schema)
        if isinstance(self.syntax, UserApply):
            return _user_call(binder, self.syntax)
        assert isinstance(self.syntax, Apply)
        return _call(binder, self.syntax, interpolation)


def parse_window(text: str) -> ParsedWindow:
    """Parse a call of one window function."""
    guard(text, str, "", "a call of a window function as a text")
    return _parse_window(text)


@lru_cache(maxsize=4096)
def _parse_window(text: str) -> ParsedWindow:
    grammar = Grammar(text)
    node = grammar.primary() if grammar.here.kind is Kind.QUOTED else _window_call(grammar)
    if not isinstance(node, (Apply, UserApply)):
        refuse(text, node.position, "no call of a window function", _KNOWN)
    grammar.end()
    return ParsedWindow(text, node)


def _window_call(grammar: Grammar) -> Syntax:
    token = grammar.advance()
    name = token.text.lower()
    if name not in {*WINDOW_FUNCTIONS, *INTERPOLATIONS} - {"count_distinct"}:
        near = nearest(name, (*WINDOW_FUNCTIONS, *INTERPOLATIONS)).replace(
            "count_distinct", "count(DISTINCT x)"
        )
        refuse(
            grammar.text,
            token.position,
            f"unknown window function {name!r}",
            f"{near!r} perhaps" if near else _KNOWN,
        )
    grammar.expect("(")
    if grammar.at("*", "DISTINCT") and name != "count":
        grammar.refuse_here("an expression")
    distinct = grammar.take("DISTINCT") is not None
    args = [] if not distinct and grammar.take("*") else [grammar.expression()]
    grammar.expect(")")
    return Apply("count_distinct" if distinct else name, tuple(args), position=token.position)


def _call(binder: Binder, node: Apply, interpolation: bool) -> WindowCall:
    if node.function in INTERPOLATIONS and not interpolation:
        refuse(
            binder.text,
            node.position,
            f"{node.function!r} outside a Resample box",
            _WRITTEN,
        )
    rule = WINDOW_FUNCTIONS.get(node.function) or INTERPOLATIONS[node.function]
    try:
        signature = rule(binder.all(node.args))
    except Mismatch as mismatch:
        binder.refuse_mismatch(node.function, node.position, node.args, mismatch)
    return WindowCall(node.function, signature.args, signature.type, signature.nullable)


def _user_call(binder: Binder, node: UserApply) -> WindowCall:
    try:
        aggregate = user_aggregate(node.name)
    except AlgebraError as error:
        refuse(binder.text, node.position, error.problems[0].what, error.problems[0].expected)
    return WindowCall(node.name, binder.user_arguments(node, aggregate.takes), aggregate.returns)


# --- how the calls are typed


def _count(args: Args) -> Signature:
    return Signature(meeting_of(args), LONG, False)


def _sum(args: Args) -> Signature:
    check_count(args, 1, 1)
    found = numbers(args)
    if found.is_decimal:
        return Signature(args, bounded(found.precision + 10, found.scale), True)
    type_ = LONG if found.is_integral else DOUBLE
    return Signature((convert(args[0], type_),), type_, True)


def _avg(args: Args) -> Signature:
    check_count(args, 1, 1)
    found = numbers(args)
    if found.is_decimal:
        return Signature(args, bounded(found.precision + 4, found.scale + 4), True)
    return Signature((convert(args[0], DOUBLE),), DOUBLE, True)


def _same(args: Args) -> Signature:
    check_count(args, 1, 1)
    met = meeting_of(args)
    return Signature(met, met[0].type, True)


_NUMBER = takes(DOUBLE, returns=DOUBLE, may_be_null=True)

WINDOW_FUNCTIONS: dict[str, Rule] = {
    "count": _count,
    "count_distinct": _count,
    "sum": _sum,
    "avg": _avg,
    "min": _same,
    "max": _same,
    "first": _same,
    "last": _same,
    "stddev": _NUMBER,
    "median": _NUMBER,
}
"""Every window function, with the rule that types it. `count_distinct` is written count(DISTINCT x)."""

INTERPOLATIONS: dict[str, Rule] = {"linear": _NUMBER, "nearest": _same, "last_value": _same}
"""Functions that only Resample has: the value at a time between tuples."""

_WRITTEN = ", ".join(WINDOW_FUNCTIONS).replace("count_distinct", "count(DISTINCT x)")
_KNOWN = f"one of {_WRITTEN}, or a registered `module:function`"
