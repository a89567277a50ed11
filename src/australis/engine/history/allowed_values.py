"""Which values of one attribute a predicate allows: never too few, so that a lookup misses nothing.

Where a value rises or falls with the attribute, according to `policy.predicates`, the ends of a comparison
are found on the attribute's axis, by evaluating the comparison itself. An unknown predicate allows
everything.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import reduce

from australis.algebra.expr import Attribute, Call, Expr, Literal, UserCall, Value, walk
from australis.algebra.schema import Field
from australis.algebra.types import BOOLEAN, DOUBLE, STRING
from australis.engine.store import Lookup, Position
from australis.policy.shed import monotone
from australis.qos.intervals import Axis
from australis.reference.expressions import evaluate

End = tuple[int, Position] | tuple[int]
"""The end of a range in a form that can be ordered: below all, a position, above all."""
BELOW, ABOVE = (0,), (2,)
_NEGATED = {"<": ">=", ">=": "<", "<=": ">", ">": "<=", "=": "<>", "<>": "="}
_TURNED = {"<": ">", ">": "<", "<=": ">=", ">=": "<=", "=": "=", "<>": "<>", "<=>": "<=>"}


@dataclass(frozen=True)
class Allowed:
    """Values of an attribute: disjoint, ascending ranges; NULL and NaN separately."""

    ranges: tuple[tuple[End, End], ...]
    null: bool = False
    nan: bool = False

    def __or__(self, other: Allowed) -> Allowed:
        ranges = tuple(_united(sorted([*self.ranges, *other.ranges])))
        return Allowed(ranges, self.null or other.null, self.nan or other.nan)

    def __and__(self, other: Allowed) -> Allowed:
        ranges = tuple(_common(self.ranges, other.ranges))
        return Allowed(ranges, self.null and other.null, self.nan and other.nan)


NOTHING = Allowed(())
NOT_NULL = Allowed(((BELOW, ABOVE),), nan=True)
EVERYTHING = Allowed(((BELOW, ABOVE),), null=True, nan=True)


def _united(ranges: Iterable[tuple[End, End]]) -> Iterator[tuple[End, End]]:
    """Ascending ranges, with those that touch merged."""
    begun: tuple[End, End] | None = None
    for low, high in ranges:
        if begun is not None and low <= begun[1]:
            begun = (begun[0], max(begun[1], high))
        else:
            if begun is not None:
                yield begun
            begun = (low, high)
    if begun is not None:
        yield begun


def _common(
    ones: tuple[tuple[End, End], ...], others: tuple[tuple[End, End], ...]
) -> Iterator[tuple[End, End]]:
    one, other = 0, 0
    while one < len(ones) and other < len(others):
        low, high = max(ones[one][0], others[other][0]), min(ones[one][1], others[other][1])
        if low <= high:
            yield low, high
        if ones[one][1] < others[other][1]:
            one += 1
        else:
            other += 1


def lookup_of(where: Expr, field: Field, timezone: str) -> Lookup | None:
    """The values of an attribute for which a predicate can hold; None if that is all of them.

    >>> from australis.algebra.expr import parse
    >>> from australis.algebra.schema import parse_schema
    >>> schema = parse_schema("k int, v double")
    >>> lookup_of(parse("k * 2.0D <= 9 and k > 2 and v > 1").bind(schema), schema["k"], "UTC")
    Lookup(attribute='k', type='int', ranges=((3, 4),), null=False, nan=False)
    """
    return as_lookup(allowed(where, field, timezone), field)


def as_lookup(found: Allowed, field: Field) -> Lookup | None:
    """Values of an attribute as a lookup; None if that is all of them."""
    if found.ranges == EVERYTHING.ranges or not (Axis.has(field.type) or field.type == STRING):
        return None
    ranges = tuple((_told(low), _told(high)) for low, high in found.ranges)
    return Lookup(field.name, str(field.type), ranges, found.null, found.nan)


def _told(end: End) -> Position | None:
    return end[1] if len(end) == 2 else None


def points(values: Iterable[Value], field: Field) -> Allowed:
    """Single values of an attribute, without NULL."""
    known = [value for value in values if value is not None]
    numbers = [value for value in known if not (isinstance(value, float) and math.isnan(value))]
    ends = sorted(_end(value, field) for value in numbers)
    return Allowed(tuple(_united((end, end) for end in ends)), nan=len(numbers) < len(known))


def _end(value: Value, field: Field) -> End:
    return (1, value if isinstance(value, str) else Axis(field.type).position(value))


def allowed(where: Expr, field: Field, timezone: str, holds: bool = True) -> Allowed:
    """The values of an attribute for which a predicate can be true, or with `holds` False be false."""
    match where:
        case Literal(value=value):
            return EVERYTHING if value is holds else NOTHING
        case Call(function="not", args=(arg,)):
            return allowed(arg, field, timezone, not holds)
        case Call(function="and" | "or" as word, args=args):
            parts = [allowed(arg, field, timezone, holds) for arg in args]
            return reduce(Allowed.__and__ if (word == "and") is holds else Allowed.__or__, parts)
        case Call(function="is_null", args=(Attribute(name=name),)) if name == field.name:
            return Allowed((), null=True) if holds else NOT_NULL
        case Call(function="in", args=(subject, *items)) if holds:
            found = [_compared("=", subject, item, field, timezone) for item in items]
            return reduce(Allowed.__or__, found)
        case Call(function=sign, args=(left, right)) if sign in _TURNED:
            return _comparison(sign, left, right, field, timezone, holds)
    return EVERYTHING


def _comparison(sign: str, left: Expr, right: Expr, field: Field, timezone: str, holds: bool) -> Allowed:
    if not holds and sign not in _NEGATED:
        return EVERYTHING
    sign = sign if holds else _NEGATED[sign]
    if _is_constant(left):
        left, right, sign = right, left, _TURNED[sign]
    return _compared(sign, left, right, field, timezone)


def _is_constant(expr: Expr) -> bool:
    return not any(isinstance(node, Attribute | UserCall) for node in walk(expr))


def _compared(sign: str, subject: Expr, constant: Expr, field: Field, timezone: str) -> Allowed:
    """What a comparison with a constant allows."""
    if not _is_constant(constant):
        return EVERYTHING
    value = evaluate(constant, {}, timezone)
    if sign == "<=>":
        if value is None:
            return Allowed((), null=True) if _is(subject, field) else EVERYTHING
        sign = "="
    if value is None:
        return NOTHING
    if _is(subject, field) and field.type == STRING:
        return _text(sign, str(value))
    if _is(subject, field) and sign == "=" and constant.type == field.type and Axis.has(field.type):
        return points([value], field)
    return _number(sign, subject, Literal(value, constant.type), field, timezone)


def _is(subject: Expr, field: Field) -> bool:
    return isinstance(subject, Attribute) and subject.name == field.name


def _text(sign: str, value: str) -> Allowed:
    """Ends are included, though a comparison may exclude them: never too few values."""
    at: End = (1, value)
    match sign:
        case "=":
            return Allowed(((at, at),))
        case "<" | "<=":
            return Allowed(((BELOW, at),))
        case ">" | ">=":
            return Allowed(((at, ABOVE),))
    return NOT_NULL


def _number(sign: str, subject: Expr, constant: Literal, field: Field, timezone: str) -> Allowed:
    """Numbers and timestamps: where the comparison begins or ceases to hold along the axis."""
    attribute, direction = monotone(subject) or (None, 1)
    if attribute is None or attribute.name != field.name:
        return EVERYTHING
    if sign == "<>":
        return NOT_NULL
    if sign == "=":
        ends = [_number(each, subject, constant, field, timezone) for each in (">=", "<=")]
        return ends[0] & ends[1]
    comparison = Call(sign, (subject, constant), BOOLEAN)

    def holds(value: Value) -> bool:
        return evaluate(comparison, {field.name: value}, timezone) is True

    nan = field.type == DOUBLE and holds(math.nan)
    return Allowed(tuple(_range(Axis(field.type), holds, sign.startswith(">") is (direction > 0))), nan=nan)


def _range(axis: Axis, holds: Callable[[Value], bool], rises: bool) -> Iterator[tuple[End, End]]:
    """The part of an axis after, or before, a position where something holds."""
    if rises:
        first = axis.where(holds)
        if first <= axis.last:
            yield (1, first), ABOVE
    else:
        last = axis.where(lambda value: not holds(value)) - 1
        if last >= axis.first:
            yield BELOW, (1, last)
