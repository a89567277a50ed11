"""The functions that only Resample has: the value at a point between tuples (Aurora 5.2.2.4)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from australis.algebra.expr import Value, WindowCall
from australis.reference.expressions import evaluate
from australis.reference.order import Number
from australis.reference.sides import Kept


@dataclass(frozen=True)
class Point:
    """An order value and the argument's value there."""

    position: Number
    value: Any


def interpolated(
    call: WindowCall, window: Sequence[Kept], position: Number, timezone: str, *, extrapolate: bool
) -> Value:
    """The value at a position, from the tuples of a window (in order) whose argument is not NULL.

    Without `extrapolate` it is NULL if there is none at the position and not one on either side of it; the
    last value needs none after it.
    """
    points = [Point(each.value, evaluate(call.args[0], each.tuple.values, timezone)) for each in window]
    present = [point for point in points if point.value is not None]
    before = next((point for point in reversed(present) if point.position <= position), None)
    after = next((point for point in present if point.position > position), None)
    if not extrapolate and call.function != "last_value" and not _is_between(before, after, position):
        return None
    return INTERPOLATIONS[call.function](before, after, position)


def _is_between(before: Point | None, after: Point | None, position: Number) -> bool:
    return before is not None and (before.position == position or after is not None)


def last_value(before: Point | None, after: Point | None, position: Number) -> Value:
    """The last value at or before the position."""
    return _value(before)


def nearest(before: Point | None, after: Point | None, position: Number) -> Value:
    """The value of the closer point; of `before` if both are equally close."""
    if before is None or after is None:
        return _value(before or after)
    return _value(before if position - before.position <= after.position - position else after)


def linear(before: Point | None, after: Point | None, position: Number) -> Value:
    """The value on the straight line between two points; the nearest where there is only one.

    >>> linear(Point(10, 1.0), Point(20, 2.0), 15)
    1.5
    """
    if before is None or after is None or before.position == position:
        return nearest(before, after, position)
    rise = (after.value - before.value) * float(position - before.position)
    return float(before.value + rise / float(after.position - before.position))


def _value(point: Point | None) -> Value:
    found: Value = None if point is None else point.value
    return found


INTERPOLATIONS: dict[str, Callable[[Point | None, Point | None, Number], Value]] = {
    "linear": linear,
    "nearest": nearest,
    "last_value": last_value,
}
"""Each function by its name, over the points around a position."""
