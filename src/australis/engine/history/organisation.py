"""What a connection point keeps: for how long, sorted by what, and how large a run of it may be."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from australis.algebra.network import FOREVER
from australis.algebra.spans import microseconds
from australis.plan.superboxes import Arc, Plan

PARTS = 16
"""The least number of runs in a history, so that expiry of whole runs is precise enough."""
RUN_ROWS_MOST = 1 << 19
"""The most tuples in a run, so that making one takes a second or less."""
RUN_BYTES_MOST = 64 << 20
"""The bytes of the segments that a run is made of, about, so that it takes bounded memory."""
RUN_SPAN_MOST_US = 3_600_000_000
"""The longest time that a run spans, so that tuples of a slow stream soon become visible to others."""


@dataclass(frozen=True)
class Keeping:
    """How the history of an arc is organised.

    Points on one arc share their tuples: sorted by the first key, and kept as long as any point requires.
    """

    arc: str
    point: str
    """The point whose folder contains the runs."""
    key: str | None
    rows_most: int
    span_most_us: int
    bytes_most: int = RUN_BYTES_MOST


def keepings(plan: Plan) -> dict[str, Keeping]:
    """How each arc with a connection point that has history is kept."""
    return {arc.id: found for arc in plan.arcs.values() for found in _keeping(plan, arc)}


def _keeping(plan: Plan, arc: Arc) -> Iterator[Keeping]:
    points = {name: plan.network.connection_points[name] for name in arc.points}
    kept = {name: point for name, point in points.items() if point.history}
    if kept:
        name = next((name for name, point in kept.items() if point.key), next(iter(kept)))
        rows = max(rows_most(point.history) for point in kept.values())
        span = max(span_most_us(point.history) for point in kept.values())
        yield Keeping(arc.id, name, kept[name].key, rows, span)


def rows_most(history: str | int | None) -> int:
    """How many tuples a run may have.

    >>> rows_most(800), rows_most("2 h") == RUN_ROWS_MOST
    (50, True)
    """
    return min(max(history // PARTS, 1), RUN_ROWS_MOST) if isinstance(history, int) else RUN_ROWS_MOST


def span_most_us(history: str | int | None) -> int:
    """How much time a run may span.

    >>> span_most_us("16 min") // 1_000_000
    60
    """
    if isinstance(history, str) and history != FOREVER:
        return min(max(microseconds(history) // PARTS, 1), RUN_SPAN_MOST_US)
    return RUN_SPAN_MOST_US
