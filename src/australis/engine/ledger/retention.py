"""Retention: which tuples are still needed, by superboxes, consumers or history, and when history expires."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Protocol

from australis.algebra.grafting import tapped
from australis.algebra.network import FOREVER
from australis.algebra.schema import Schema
from australis.algebra.spans import microseconds
from australis.engine.ledger.queues import ALL, Queues
from australis.engine.store import Segment
from australis.plan.superboxes import Arc


class Expiring(Protocol):
    """A unit of work, as far as it deletes tuples."""

    @property
    def queues(self) -> Queues: ...

    def drop_segments(self, segments: Iterable[Segment]) -> None: ...

    def note_expired(self, ends: Mapping[str, int]) -> None: ...


def expire(change: Expiring, arcs: Iterable[str], now: int) -> list[Segment]:
    """Drop the segments of some arcs that nobody needs any more; of outputs, keep how far that went."""
    dropped = unneeded(change.queues, arcs, now)
    change.drop_segments(dropped)
    ends: dict[str, int] = {}
    for each in dropped:
        if change.queues.plan.arcs[each.arc].outputs:
            ends[each.arc] = max(each.end, ends.get(each.arc, 0))
    change.note_expired(ends)
    return dropped


def unneeded(queues: Queues, arcs: Iterable[str], now: int) -> list[Segment]:
    """The segments of some arcs that nobody needs any more."""
    before = {arc: needed_from(queues, queues.plan.arcs[arc], now) for arc in arcs}
    return [each for arc, end in before.items() for each in queues.segments[arc] if each.end <= end]


def needed_from(queues: Queues, arc: Arc, now: int) -> int:
    """The number before which nobody needs an arc's tuples: no superbox, consumer or history."""
    if set(arc.outputs) - {output for _, output in queues.consumers}:
        return 0  # An output that nobody reads keeps everything.
    ends = [queues.positions[reader] for reader in arc.readers if waits_for(queues, arc, reader)]
    consumers = [seq for (_, output), seq in queues.consumers.items() if output in arc.outputs]
    kept = [history_from(queues, arc.id, history, now) for history in _histories(queues, arc)]
    return min([*ends, *consumers, *kept, queues.arc_end(arc.id)])


def log_needed_from(queues: Queues) -> int:
    """The number before which nobody needs the log: no superbox, and none that starts with history."""
    begins = [queues.earliest(arc) for arc in arcs_with_history(queues)]
    positions = [seq for name, seq in queues.positions.items() if _needs_log(queues, name)]
    return min([*positions, *begins], default=queues.log_end)


def _needs_log(queues: Queues, superbox: str) -> bool:
    """Whether a superbox reads the log from its position: a view that only needs history does not."""
    arcs = (queues.plan.arcs[arc] for arc in queues.plan.superboxes[superbox].streams.values())
    return superbox not in queues.plan.views or any(waits_for(queues, arc, superbox) for arc in arcs)


def arcs_with_history(queues: Queues) -> tuple[str, ...]:
    """The arcs that keep history."""
    return tuple(arc.id for arc in queues.plan.arcs.values() if _histories(queues, arc))


def waits_for(queues: Queues, arc: Arc, reader: str) -> bool:
    """Whether tuples are kept until a reader has taken them; for a view, history is enough."""
    importance = queues.plan.views.get(reader)
    return importance is None or (importance > 0 and not _histories(queues, arc))


def _histories(queues: Queues, arc: Arc) -> list[str | int]:
    """How much history each connection point of an arc requires, if any."""
    asked = (queues.plan.network.connection_points[name].history for name in arc.points)
    return [history for history in asked if history]


def history_from(queues: Queues, arc: str, history: str | int, now: int) -> int:
    """The number from which on the required history of an arc is kept; ALL if there is none."""
    if history == FOREVER:
        return 0
    segments = sorted(queues.segments[arc], key=lambda each: each.base)
    if isinstance(history, int):
        return _last_tuples(_certain(segments, queues.plan.arcs[arc].schema), history)
    oldest = now - microseconds(history)
    return next((each.base for each in segments if each.newest >= oldest), ALL)


def _certain(segments: list[Segment], schema: Schema) -> list[Segment]:
    """The segments whose tuples all count as history: of those that were logged, some may yet be rejected."""
    if all(field.nullable for field in schema):
        return segments
    return [each for each in segments if each.writer or each.is_run]


def _last_tuples(segments: list[Segment], count: int) -> int:
    """Where the segments with the last tuples begin; 0 if there are fewer. Those of several tasks overlap."""
    begin = ALL
    for segment in reversed(segments):
        begin = min(begin, segment.base)
        count -= segment.rows
        if count <= 0:
            return begin
    return 0


def query_begins_at(queues: Queues, point: str, now: int) -> int:
    """The first number that a connection point keeps for a query; the end of its arc if it keeps none.

    An output is a stream that keeps none.
    """
    arc = str(tapped(queues.plan.network, point))
    place, end = queues.plan.network.connection_points.get(point), queues.arc_end(arc)
    if place is None or not place.history:
        return end
    return min(max(queues.earliest(arc), history_from(queues, arc, place.history, now)), end)
