"""Predicates as SQL: the parts that a database decides as we do, from the tree, with bound constants.

The condition is never stricter than the predicate: the box that asks evaluates it again on the rows that it
gets. So a part without an exact counterpart is left out of an AND, and an OR with such a part is left out
entirely.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Protocol

import pyarrow as pa

from australis.algebra.expr import Attribute, Call, Cast, Expr, Literal, UserCall, Value, walk
from australis.algebra.types import DataType
from australis.kernels.expressions import evaluate

_SWAPPED = {"=": "=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
_EXACT = {("int", "long"), ("int", "double")}
"""Conversions that change no value."""


@dataclass(frozen=True)
class Column:
    """A column as conditions name it: for equality, and for order, if the database orders as we do."""

    sql: str
    ordered: str | None


class Dialect(Protocol):
    """How a database expresses conditions on one table."""

    timezone: str
    """The zone of local times."""

    def column(self, name: str) -> Column | None:
        """The column of an attribute, if it can be compared there."""

    def value(self, value: Value, type_: DataType) -> object | None:
        """A constant as the driver takes it; None if it cannot."""

    def mark(self, place: int, type_: DataType) -> str:
        """The placeholder of a bound value in a statement."""


@dataclass(frozen=True)
class _Bound:
    value: object
    type: DataType


_Parts = tuple[str | _Bound, ...]


@dataclass(frozen=True)
class SqlCondition:
    """A condition of a statement, and its bound values."""

    sql: str
    values: tuple[object, ...]


def condition(where: Expr | None, dialect: Dialect) -> SqlCondition | None:
    """The part of a predicate that a database can decide; None for nothing."""
    parts = None if where is None else _said(where, dialect)
    if parts is None:
        return None
    bound = [part for part in parts if isinstance(part, _Bound)]
    places = iter(range(len(bound)))
    texts = (part if isinstance(part, str) else dialect.mark(next(places), part.type) for part in parts)
    return SqlCondition("".join(texts), tuple(part.value for part in bound))


def _said(expr: Expr, dialect: Dialect) -> _Parts | None:
    match expr:
        case Call(function="and", args=args):
            said = [part for part in (_said(arg, dialect) for arg in args) if part is not None]
            return _joined(said, " AND ") if said else None
        case Call(function="or", args=args):
            every = [_said(arg, dialect) for arg in args]
            told = [part for part in every if part is not None]
            return _joined(told, " OR ") if len(told) == len(every) else None
        case Call(function="is_null", args=(Attribute() as of,)):
            return _tested(of, "IS NULL", dialect)
        case Call(function="not", args=(Call(function="is_null", args=(Attribute() as of,)),)):
            return _tested(of, "IS NOT NULL", dialect)
        case Call(function="in", args=(of, *choices)):
            return _among(of, choices, dialect)
        case Call(function=sign, args=(one, other)) if sign in _SWAPPED:
            if _column(one, dialect) is None:
                return _compared(_SWAPPED[sign], other, one, dialect)
            return _compared(sign, one, other, dialect)
    return None


def _joined(said: Sequence[_Parts], word: str) -> _Parts:
    joined = (((word, *part) if index else part) for index, part in enumerate(said))
    return ("(", *chain.from_iterable(joined), ")")


def _tested(of: Attribute, test: str, dialect: Dialect) -> _Parts | None:
    found = dialect.column(of.name)
    return None if found is None else (f"{found.sql} {test}",)


def _compared(sign: str, of: Expr, to: Expr, dialect: Dialect) -> _Parts | None:
    column, bound = _column(of, dialect), _constant(to, dialect)
    if column is None or bound is None:
        return None
    side = column.sql if sign == "=" else column.ordered
    return None if side is None else (f"{side} {sign} ", bound)


def _among(of: Expr, choices: Sequence[Expr], dialect: Dialect) -> _Parts | None:
    column, bound = _column(of, dialect), [_constant(choice, dialect) for choice in choices]
    known = [each for each in bound if each is not None]
    if column is None or not known or len(known) < len(bound):
        return None
    others = [part for each in known[1:] for part in (", ", each)]
    return (f"{column.sql} IN (", known[0], *others, ")")


def _column(expr: Expr, dialect: Dialect) -> Column | None:
    """The column that an expression is, possibly after a conversion that changes no value."""
    if isinstance(expr, Cast) and (expr.arg.type.name, expr.type.name) in _EXACT:
        expr = expr.arg
    return dialect.column(expr.name) if isinstance(expr, Attribute) else None


def _constant(expr: Expr, dialect: Dialect) -> _Bound | None:
    found = _value(expr, dialect.timezone)
    if found is None or (isinstance(found, float) and math.isnan(found)):
        return None
    value = dialect.value(found, expr.type)
    return None if value is None else _Bound(value, expr.type)


def _value(expr: Expr, timezone: str) -> Value:
    """The value of an expression without attributes, such as a local time; None for others, and for NULL."""
    if isinstance(expr, Literal):
        return expr.value
    if any(isinstance(node, Attribute | UserCall) for node in walk(expr)):
        return None
    found = evaluate(expr, pa.table({"": pa.nulls(1)}), timezone)
    value: Value = (found.cast(pa.int64()) if pa.types.is_timestamp(found.type) else found)[0].as_py()
    return value
