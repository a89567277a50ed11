"""Predicates that select unimportant values, of an attribute or of what it was computed from, exactly."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from functools import reduce

from australis.algebra.expr import Attribute, Call, Cast, Expr, Literal, Value, never_null
from australis.algebra.quality import ValueGraph
from australis.algebra.types import BOOLEAN, DOUBLE, LONG, STRING, DataType
from australis.qos.histograms import Interval, Lowest
from australis.qos.intervals import Axis, along
from australis.reference.expressions import evaluate

Direction = tuple[Attribute, int]
"""An attribute, and whether a value rises (1) or falls (-1) with it."""


def predicate(expr: Expr, lowest: Lowest, graph: ValueGraph) -> Expr | None:
    """The predicate that holds for the tuples whose value `expr` is among the lowest; None if there are none.

    If the value is monotone in one attribute, it is a predicate on that attribute. It is never NULL for a
    value that is among the lowest.

    >>> from australis.algebra.expr import parse, text_of
    >>> from australis.algebra.schema import parse_schema
    >>> celsius = parse("(f - 32) / 1.8D").bind(parse_schema("f double"))
    >>> graph = ValueGraph("c", points=((0, 0), (100, 1)))
    >>> text_of(predicate(celsius, Lowest((Interval(0.0, 10.0),)), graph))
    '((f >= 32.0D) AND (f <= 49.99999999999999D))'
    """
    parts = [*(_categories(expr, lowest, graph) if graph.categories else _ranges(expr, lowest))]
    return _joined("or", parts) if parts else None


def monotone(expr: Expr) -> Direction | None:
    """The attribute that a value rises or falls with, if it is a number exactly where that is one.

    Rounding does not matter: a rising value does not fall when it is rounded. Excluded are whole numbers that
    could overflow, since they wrap, and whatever turns a number into NaN or NULL, or these into a number.
    """
    match expr:
        case Attribute(type=type_):
            return (expr, 1) if Axis.has(type_) else None
        case Cast(arg=arg, type=type_):
            return monotone(arg) if _widens(arg.type, type_) else None
        case Call(function="negate", args=(arg,)) if _unbounded(expr.type):
            return _turned(monotone(arg), -1)
        case Call(function="+" | "-" | "*" | "/" as function, args=(left, Literal() as right)):
            return _with_constant(function, left, right, expr.type)
        case Call(function="+" | "*" as function, args=(Literal() as left, right)):
            return _with_constant(function, right, left, expr.type)
        case Call(function="-", args=(Literal() as left, right)):
            return _turned(_with_constant("-", right, left, expr.type), -1)
    return None


def _with_constant(function: str, arg: Expr, constant: Literal, type_: DataType) -> Direction | None:
    value = constant.value
    if value is None or isinstance(value, str) or not math.isfinite(value) or not _unbounded(type_):
        return None
    if function in ("+", "-"):
        return monotone(arg)
    return _turned(monotone(arg), 1 if value > 0 else -1) if value else None


def _turned(found: Direction | None, sign: int) -> Direction | None:
    return found and (found[0], found[1] * sign)


def _unbounded(type_: DataType) -> bool:
    """Whether results cannot overflow a type: doubles become infinite, decimals have room for all digits."""
    return type_ == DOUBLE or (type_.is_decimal and type_.precision < 38)


def _widens(source: DataType, target: DataType) -> bool:
    """Whether a cast preserves the order of values, and turns none into NULL."""
    if not (source.is_integral or source.is_decimal or source == target):
        return False
    return target in (DOUBLE, source, LONG if source.is_integral else source) or (
        target.is_decimal and never_null(source, target)
    )


# --- ranges of numbers and timestamps


def _ranges(expr: Expr, lowest: Lowest) -> Iterator[Expr]:
    attribute, sign = monotone(expr) or (None, 1)
    subject = attribute or expr
    value_of = _function(expr, attribute)
    axis = Axis(subject.type)
    for interval in lowest.intervals:
        first, last = _positions(axis, interval, sign, lambda value: along(value_of(value), expr.type))
        if first <= last:
            yield range_of(subject, axis, first, last)
    if lowest.others:
        yield from _no_number(subject)


def _function(expr: Expr, attribute: Attribute | None) -> Callable[[Value], Value]:
    if attribute is None:
        return lambda value: value
    column = attribute.column
    return lambda value: evaluate(expr, {column: value})


def _positions(
    axis: Axis, interval: Interval, sign: int, along_graph: Callable[[Value], float]
) -> tuple[int, int]:
    """The first and the last position in an interval; an open end includes infinity."""

    def above(value: Value) -> bool:
        return interval.high < math.inf and along_graph(value) >= interval.high

    if sign > 0:
        return axis.where(lambda value: along_graph(value) >= interval.low), axis.where(above) - 1
    last = axis.where(lambda value: along_graph(value) < interval.low) - 1
    return axis.where(lambda value: not above(value)), last


def range_of(subject: Expr, axis: Axis, first: int, last: int) -> Expr:
    """The predicate that a value lies between two positions of its axis."""
    if first == last:
        return _compared("=", subject, axis.value(first))
    parts = [_compared(">=", subject, axis.value(first))] if first > axis.first else []
    # NaN is greater than all other values, and excluded.
    if last < axis.last or subject.type == DOUBLE:
        parts.append(_compared("<=", subject, axis.value(last)))
    return _joined("and", parts) if parts else _not(_is_null(subject))


def _no_number(subject: Expr) -> Iterator[Expr]:
    yield _is_null(subject)
    if subject.type == DOUBLE:
        yield Call("isnan", (subject,), BOOLEAN, False)


# --- categories


def _categories(expr: Expr, lowest: Lowest, graph: ValueGraph) -> Iterator[Expr]:
    if lowest.categories:
        yield membership(expr, lowest.categories)
    if lowest.others:
        yield _is_null(expr)
        yield _not(membership(expr, [name for name, _ in graph.categories]))


def membership(subject: Expr, names: Sequence[str]) -> Expr:
    """The predicate that a text is one of several."""
    if len(names) == 1:
        return _compared("=", subject, names[0])
    return Call("in", (subject, *(Literal(name, STRING) for name in names)), BOOLEAN, subject.nullable)


# --- trees


def _compared(sign: str, subject: Expr, value: Value) -> Expr:
    return Call(sign, (subject, Literal(value, subject.type)), BOOLEAN, subject.nullable)


def _is_null(subject: Expr) -> Expr:
    return Call("is_null", (subject,), BOOLEAN, False)


def _not(expr: Expr) -> Expr:
    return Call("not", (expr,), BOOLEAN, expr.nullable)


def _joined(word: str, parts: Sequence[Expr]) -> Expr:
    return reduce(lambda one, other: Call(word, (one, other), BOOLEAN, one.nullable or other.nullable), parts)
