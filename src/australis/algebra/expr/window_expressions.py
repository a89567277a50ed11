"""Expressions of window functions: `sum(x) / count(*)`, `max(x) FILTER (WHERE ok)`, `first(x ORDER BY y)`.

The calls are computed over the tuples of a window, then the expression over their results. Outside the calls
there are no attributes, since a window has many tuples.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NoReturn

from australis.algebra.expr.bind import Binder, Sides, start_of
from australis.algebra.expr.binding import Mismatch, longest
from australis.algebra.expr.failure import nearest, refuse
from australis.algebra.expr.parsing import (
    OTHER_WINDOW_NAMES,
    Apply,
    Grammar,
    Name,
    Syntax,
    Token,
    UserApply,
    names,
)
from australis.algebra.expr.substitute import substituted
from australis.algebra.expr.tree import Attribute, Call, Expr, Literal
from australis.algebra.expr.window_functions import (
    INTERPOLATIONS,
    KNOWN,
    SORT_KEYS_MOST,
    WINDOW_FUNCTIONS,
    WRITTEN,
    WindowCall,
    typed,
)
from australis.algebra.guards import guard
from australis.algebra.types import BOOLEAN, INT, INTERVAL, NULL, TEXTS
from australis.algebra.user_functions import user_aggregate
from australis.errors import AlgebraError


def result_name(index: int) -> str:
    """The attribute that stands for the result of a call in the expression around it."""
    return f"#{index}"


@dataclass(frozen=True)
class WindowExpression:
    """The calls of an expression, and the expression over their results."""

    calls: tuple[WindowCall, ...]
    value: Expr

    @property
    def call(self) -> WindowCall | None:
        """The call, if the expression is nothing more."""
        return self.calls[0] if isinstance(self.value, Attribute) else None


@dataclass(frozen=True)
class WindowFunctions:
    """All that a box computes of a window: its calls, and each attribute, by its name, over their results."""

    calls: tuple[WindowCall, ...]
    values: Mapping[str, Expr]

    def call(self, name: str) -> WindowCall | None:
        """The call that an attribute shows as it is; None if it is computed further."""
        value = self.values[name]
        return self.calls[int(value.name[1:])] if isinstance(value, Attribute) else None


@dataclass(frozen=True)
class WindowApply(Syntax):
    """A call of a window function, with its filter."""

    call: Apply | UserApply
    where: Syntax | None

    def parts(self) -> tuple[Syntax, ...]:
        return (self.call,) if self.where is None else (self.call, self.where)


@dataclass(frozen=True)
class OrderedApply(Apply):
    """A call whose arguments after the first are sort keys, each with its direction."""

    descending: tuple[bool, ...]


class WindowGrammar(Grammar):
    """Reads expressions in which window functions may be called; their arguments are ordinary expressions."""

    _inside = False
    """Whether it reads the arguments or the filter of a call."""

    def _quoted(self) -> Syntax:
        outside, self._inside = not self._inside, True
        node = super()._quoted()
        self._inside = not outside
        return self._filtered(node) if outside and isinstance(node, UserApply) else node

    def _function_of(self, token: Token) -> Syntax:
        name = token.text.lower()
        if self._inside or name not in _WINDOW_NAMES:
            return super()._function_of(token)
        self._inside = True
        call = self._window_call(name, token.position)
        self._inside = False
        return self._filtered(call)

    def _refuse_function(self, token: Token) -> NoReturn:
        if self._inside:
            super()._refuse_function(token)
        name = token.text.lower()
        near = nearest(name, (*WINDOW_FUNCTIONS, *INTERPOLATIONS))
        hint = f"{WRITTEN.get(near, near)!r} perhaps" if near else KNOWN
        hint = OTHER_WINDOW_NAMES.get(name, hint)
        refuse(self.text, token.position, f"unknown window function {name!r}", hint)

    def _window_call(self, name: str, position: int) -> Apply:
        self.expect("(")
        if self.at("*", "DISTINCT") and name != "count":
            self.refuse_here("an expression")
        distinct = self.take("DISTINCT") is not None
        args = [] if not distinct and self.take("*") else [self.expression()]
        while args and not distinct and self.take(","):
            args.append(self.expression())
        if self.at("ORDER"):
            return self._ordered_call(name, tuple(args), position)
        self.expect(")")
        return Apply("count_distinct" if distinct else name, tuple(args), position=position)

    def _ordered_call(self, name: str, args: tuple[Syntax, ...], position: int) -> Apply:
        """A call of first or last from its ORDER BY on."""
        if name not in ("first", "last") or len(args) != 1:
            self.refuse_here("')': only first(x) and last(x) have an ORDER BY")
        self.expect("ORDER")
        self.expect("BY")
        keys: list[Syntax] = []
        descending: list[bool] = []
        while not keys or self.take(","):
            if len(keys) == SORT_KEYS_MOST:
                self.refuse_here(f"at most {SORT_KEYS_MOST} keys")
            keys.append(self.expression())
            way = self.take("ASC", "DESC")
            descending.append(way is not None and way.value == "DESC")
        if self.at("NULLS"):
            self.refuse_here("')': NULLs come last, whether keys ascend or descend")
        self.expect(")")
        function = f"{name}_ordered"
        return OrderedApply(function, (*args, *keys), tuple(descending), position=position)

    def _filtered(self, call: Apply | UserApply) -> Syntax:
        """A call with the FILTER (WHERE ...) that may follow it."""
        where = None
        if self.take("FILTER"):
            self.expect("(")
            self.expect("WHERE")
            self._inside = True
            where = self.expression()
            self._inside = False
            self.expect(")")
        return self.limited(WindowApply(call, where, position=call.position))


class WindowBinder(Binder):
    """Gives types to an expression of window functions, and collects its calls."""

    def __init__(self, text: str, sides: Sides, *, interpolation: bool) -> None:
        super().__init__(text, sides)
        self._rows = Binder(text, sides)
        self._interpolation = interpolation
        self.calls: list[WindowCall] = []

    def bind(self, node: Syntax) -> Expr:
        if not isinstance(node, WindowApply):
            return super().bind(node)
        where = None if node.where is None else self._condition_of(node.where)
        if isinstance(node.call, UserApply):
            call = self._user_call_of(node.call, where)
        else:
            call = self._call_of(node.call, where)
        if call not in self.calls:
            self.calls.append(call)
        return Attribute(result_name(self.calls.index(call)), call.type, call.nullable)

    def _condition_of(self, node: Syntax) -> Expr:
        where = self._rows.bind(node)
        if where.type != BOOLEAN:
            refuse(self.text, start_of(node), f"the filter is a {where.type}", "a boolean")
        return where

    def _call_of(self, node: Apply, where: Expr | None) -> WindowCall:
        if node.function in INTERPOLATIONS and not self._interpolation:
            refuse(self.text, node.position, f"{node.function!r} outside a Resample box", KNOWN)
        if node.function in INTERPOLATIONS and where is not None:
            refuse(self.text, node.position, f"{node.function!r} with a FILTER", "no FILTER")
        rule = WINDOW_FUNCTIONS.get(node.function) or INTERPOLATIONS[node.function]
        args = self._rows.all(node.args)
        descending = node.descending if isinstance(node, OrderedApply) else ()
        try:
            return typed(node.function, rule, args, where, descending)
        except Mismatch as mismatch:
            name = node.function.removesuffix("_ordered")
            self.refuse_mismatch(name, node.position, node.args, mismatch)

    def _user_call_of(self, node: UserApply, where: Expr | None) -> WindowCall:
        try:
            aggregate = user_aggregate(node.name)
        except AlgebraError as error:
            refuse(self.text, node.position, error.problems[0].what, error.problems[0].expected)
        args = self._rows.user_arguments(node, aggregate.takes)
        return WindowCall(node.name, args, aggregate.returns, where=where)

    def length(self, call: Call) -> int:
        lists: dict[str, Expr] = {
            result_name(index): _as_listed(found, index) for index, found in enumerate(self.calls)
        }
        return longest(substituted(call, lists))


def _as_listed(call: WindowCall, index: int) -> Expr:
    """What stands for the result of a call where the length of a text is estimated."""
    if call.type == TEXTS:
        return Call(call.function, (*call.args, Literal(int(call.parameters[0]), INT)), TEXTS)
    return Attribute(result_name(index), call.type)


@dataclass(frozen=True)
class ParsedWindow:
    """An expression of window functions that is well formed.

    >>> from australis.algebra.schema import parse_schema
    >>> found = parse_window("sum(pos) / count(distinct sid)").bind(parse_schema("sid int, pos double"))
    >>> [call.function for call in found.calls], found.value.type.name
    (['sum', 'count_distinct'], 'double')
    """

    text: str
    syntax: Syntax = field(repr=False, compare=False)

    @property
    def attributes(self) -> frozenset[str]:
        """The columns that its arguments read."""
        return frozenset(name.column for name in names(self.syntax))

    def bind(self, schema: Sides, *, interpolation: bool = False) -> WindowExpression:
        """The typed calls over a schema; `interpolation` also allows the functions that only Resample has."""
        binder = WindowBinder(self.text, schema, interpolation=interpolation)
        value = binder.bind(self.syntax)
        if value.type == TEXTS:
            expected = "a text made of it: array_join(collect_list(...), ', ')"
            refuse(self.text, 0, "an array as a value", expected)
        if value.type in (INTERVAL, NULL):
            refuse(self.text, 0, f"{value.type} as a value", "a value of another type")
        return WindowExpression(tuple(binder.calls), value)


def parse_window(text: str) -> ParsedWindow:
    """Parse an expression of calls of window functions."""
    guard(text, str, "", "a call of a window function as a text")
    return _parse_window(text)


@lru_cache(maxsize=4096)
def _parse_window(text: str) -> ParsedWindow:
    node = WindowGrammar(text).whole()
    outside = list(_outside(node))
    if not any(isinstance(each, WindowApply) for each in outside):
        refuse(text, start_of(node), "no call of a window function", KNOWN)
    for each in outside:
        if isinstance(each, Name):
            what = f"{each.column!r} is not in a call of a window function"
            refuse(text, each.position, what, f"a call such as first({each.column})")
    return ParsedWindow(text, node)


def _outside(node: Syntax) -> Iterator[Syntax]:
    """The calls of window functions, and the nodes that are in none of them."""
    yield node
    if not isinstance(node, WindowApply):
        for part in node.parts():
            yield from _outside(part)


def combined(found: Mapping[str, WindowExpression]) -> WindowFunctions:
    """Several expressions with names as one value; a call that occurs in several is computed once."""
    calls = tuple(dict.fromkeys(call for each in found.values() for call in each.calls))
    return WindowFunctions(calls, {name: _renumbered(each, calls) for name, each in found.items()})


def _renumbered(found: WindowExpression, calls: tuple[WindowCall, ...]) -> Expr:
    """The expression over the results of all calls of a box."""
    results: dict[str, Expr] = {
        result_name(index): Attribute(result_name(calls.index(call)), call.type, call.nullable)
        for index, call in enumerate(found.calls)
    }
    return substituted(found.value, results)


_WINDOW_NAMES = frozenset({*WINDOW_FUNCTIONS, *INTERPOLATIONS} - {*WRITTEN})
