"""What waits on the arcs of a plan: how many tuples, how large, since when, and who reads them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from australis.engine.ledger import Queues, rows_between, waits_for
from australis.engine.store import Segment


@dataclass(frozen=True)
class ArcStatistics:
    """An arc as a queue."""

    tuples: int
    """Tuples that it keeps, those of its history included."""
    bytes: int
    """What they take on disk."""
    waiting: int
    """Tuples that some reader has not taken yet; all, if it is an output that nobody reads."""
    waiting_bytes: int
    oldest_us: int | None
    """When the first of them arrived, or when it was made from what arrived then; None if none waits."""
    readers: Mapping[str, int]
    """The superboxes and consumers that read it, and how far each has come."""
    due: int = 0
    """Tuples that some superbox has not taken yet, whatever is kept for outputs."""
    due_oldest_us: int | None = None
    """When the first of them arrived; None if there is none."""


def arc_statistics(queues: Queues) -> dict[str, ArcStatistics]:
    """What waits on every arc of a plan."""
    return {arc: _statistics(queues, arc) for arc in queues.plan.arcs}


def _statistics(queues: Queues, arc: str) -> ArcStatistics:
    every = queues.segments[arc]
    begin, end = waiting_range(queues, arc)
    found = waiting_segments(queues, arc)
    rows = [rows_between(each, begin, end) for each in found]
    sizes = [each.bytes * part // max(1, each.rows) for each, part in zip(found, rows, strict=True)]
    due = _due(queues, arc, end)
    return ArcStatistics(
        sum(each.rows for each in every),
        sum(each.bytes for each in every),
        sum(rows),
        sum(sizes),
        _oldest(found),
        dict(readers_of(queues, arc)),
        sum(rows_between(each, due, end) for each in found if each.end > due),
        _oldest(each for each in found if each.end > due),
    )


def _due(queues: Queues, arc: str, end: int) -> int:
    """How far the superbox has come that is furthest back."""
    readers = (reader for reader, _ in readers_of(queues, arc) if reader in queues.plan.superboxes)
    return min((queues.positions[reader] for reader in readers), default=end)


def _oldest(segments: Iterable[Segment]) -> int | None:
    first = min(segments, key=lambda each: each.base, default=None)
    return None if first is None else first.newest if first.ts is None else first.ts


def readers_of(queues: Queues, arc: str) -> Iterator[tuple[str, int]]:
    """The superboxes and consumers that read an arc, and how far each has come."""
    plan = queues.plan
    for reader in plan.arcs[arc].readers:
        if waits_for(queues, plan.arcs[arc], reader):
            yield reader, queues.positions[reader]
    for (consumer, output), seq in queues.consumers.items():
        if output in plan.arcs[arc].outputs:
            yield consumer, seq


def waiting_range(queues: Queues, arc: str) -> tuple[int, int]:
    """The numbers between the reader of an arc that is furthest back, and the end of the arc."""
    end = queues.arc_end(arc)
    read = {output for _, output in queues.consumers}
    if set(queues.plan.arcs[arc].outputs) - read:
        return 0, end  # An output that nobody reads keeps everything.
    return min((min(seq, end) for _, seq in readers_of(queues, arc)), default=end), end


def waiting_segments(queues: Queues, arc: str) -> list[Segment]:
    """The segments with tuples that wait on an arc."""
    begin, end = waiting_range(queues, arc)
    return [each for each in queues.segments[arc] if each.end > begin and each.base < end]
