"""The functions that only Resample has: the value at a point between tuples (Aurora 5.2.2.4)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from australis.algebra.expr import WindowCall
from australis.algebra.expr.tree import Value
from australis.reference.expressions import evaluate
from australis.reference.order import Number
from australis.reference.sides import Kept

INTERPOLATIONS = ("linear", "nearest", "last_value")

Point = tuple[Number, Any]
"""An order value and the argument's value there."""


def interpolated(call: WindowCall, window: Sequence[Kept], position: Number, timezone: str) -> Value:
    """The value at a position, from the tuples of a window (in order) whose argument is not NULL."""
    points = [(each.value, evaluate(call.args[0], each.tuple.values, timezone)) for each in window]
    present = [point for point in points if point[1] is not None]
    before = next((point for point in reversed(present) if point[0] <= position), None)
    after = next((point for point in present if point[0] > position), None)
    if call.function == "last_value":
        return None if before is None else before[1]
    if call.function == "nearest":
        return nearest(before, after, position)
    return linear(before, after, position)


def nearest(before: Point | None, after: Point | None, position: Number) -> Any:
    """The value of the closer point; of `before` if both are equally close."""
    if before is None or after is None:
        only = before or after
        return None if only is None else only[1]
    return before[1] if position - before[0] <= after[0] - position else after[1]


def linear(before: Point | None, after: Point | None, position: Number) -> Value:
    """The value on the straight line between two points; the nearest where there is only one.

    >>> linear((10, 1.0), (20, 2.0), 15)
    1.5
    """
    if before is None or after is None or before[0] == position:
        return nearest(before, after, position)
    share = float(position - before[0]) / float(after[0] - before[0])
    return float(before[1] + (after[1] - before[1]) * share)
