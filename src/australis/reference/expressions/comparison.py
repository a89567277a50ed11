"""Comparisons, three-valued logic, and the choice among values."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from australis.algebra.expr import Value
from australis.reference.expressions.site import CallSite, Function


def rank(value: Value) -> Any:
    """A key that orders values: NaN equals itself and is above all doubles, strings go by their UTF-8 bytes.

    >>> rank(float("nan")) > rank(float("inf")), rank(-0.0) == rank(0.0)
    (True, True)
    """
    if isinstance(value, float):
        return (1, 0.0) if math.isnan(value) else (0, value)
    return value.encode() if isinstance(value, str) else value


def _compared(holds: Callable[[Any, Any], bool]) -> Function:
    def compare(_: CallSite, left: Value, right: Value) -> Value:
        return holds(rank(left), rank(right))

    return compare


def same_or_both_null(_: CallSite, left: Value, right: Value) -> Value:
    if left is None or right is None:
        return left is right
    return bool(rank(left) == rank(right))


def and_(_: CallSite, *values: Value) -> Value:
    if False in values:
        return False
    return None if None in values else True


def or_(_: CallSite, *values: Value) -> Value:
    if True in values:
        return True
    return None if None in values else False


def not_(_: CallSite, value: Value) -> Value:
    return not value


def is_null(_: CallSite, value: Value) -> Value:
    return value is None


def is_in(site: CallSite, value: Value, *members: Value) -> Value:
    return or_(site, *(_same(value, member) for member in members))


def _same(left: Value, right: Value) -> bool | None:
    return None if left is None or right is None else bool(rank(left) == rank(right))


def is_nan(_: CallSite, value: Value) -> Value:
    return isinstance(value, float) and math.isnan(value)


def nanvl(site: CallSite, value: Value, instead: Value) -> Value:
    return instead if is_nan(site, value) else value


def coalesce(_: CallSite, *values: Value) -> Value:
    return next((value for value in values if value is not None), None)


def greatest(_: CallSite, *values: Value) -> Value:
    return max((value for value in values if value is not None), key=rank, default=None)


def least(_: CallSite, *values: Value) -> Value:
    return min((value for value in values if value is not None), key=rank, default=None)


FUNCTIONS: dict[str, Function] = {
    "=": _compared(lambda left, right: left == right),
    "<>": _compared(lambda left, right: left != right),
    "<": _compared(lambda left, right: left < right),
    "<=": _compared(lambda left, right: left <= right),
    ">": _compared(lambda left, right: left > right),
    ">=": _compared(lambda left, right: left >= right),
    "<=>": same_or_both_null,
    "and": and_,
    "or": or_,
    "not": not_,
    "is_null": is_null,
    "in": is_in,
    "isnan": is_nan,
    "nanvl": nanvl,
    "coalesce": coalesce,
    "greatest": greatest,
    "least": least,
}
