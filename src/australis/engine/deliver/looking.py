"""A look at what is on an arc: the tuples that wait there, and samples of those that pass."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import pyarrow as pa

from australis.engine.deliver.consumers import read
from australis.engine.ledger import ALL, Ledger, Queues
from australis.engine.observe import waiting_range, waiting_segments
from australis.engine.store import Root, Segment
from australis.errors import EngineError, Problem

LOOKED_AT_MOST = 10_000
"""How many tuples one look returns at most."""


def peek(ledger: Ledger, arc: str, limit: int) -> pa.Table:
    """The first tuples that wait on an arc now; they stay there."""
    with ledger.reading() as queues:
        check_arc(queues, arc)
        segments = waiting_segments(queues, arc)
        return _some(ledger.root, queues, arc, segments, waiting_range(queues, arc), limit)


class Tap:
    """Samples of what passes an arc, taken from its queue: nothing waits for it, and much may pass unseen."""

    def __init__(self, ledger: Ledger, arc: str, limit: int, is_closed: Callable[[], bool]) -> None:
        queues = ledger.queues
        check_arc(queues, arc)
        self._ledger, self._arc, self._limit, self._is_closed = ledger, arc, limit, is_closed
        self._seen = _last(queues.segments[arc])
        self.is_over = False
        """Whether nothing more will come: the node has stopped, or the arc is gone."""

    def take(self, wait_s: float) -> pa.Table | None:
        """Some tuples of what came since the last sample; None if nothing came in time, or it is over."""
        if not self._ledger.guard.wait_until(self._has_more, limit_s=wait_s) or self.is_over:
            return None
        with self._ledger.reading() as queues:
            if self._arc not in queues.plan.arcs:
                return None
            segments = [each for each in queues.segments[self._arc] if each.base >= self._seen]
            # What came last: what came before may be read by now, and gone.
            segments = sorted(segments, key=lambda each: each.base)[-4:]
            begin, self._seen = self._seen, max(self._seen, _last(segments))
            found = _some(self._ledger.root, queues, self._arc, segments, (begin, ALL), self._limit)
        return found if found.num_rows else None

    def _has_more(self) -> bool:
        queues = self._ledger.queues
        self.is_over = self._is_closed() or self._arc not in queues.plan.arcs
        return self.is_over or any(each.base >= self._seen for each in queues.segments[self._arc])


def check_arc(queues: Queues, arc: str) -> None:
    """Refuse an arc on which nothing is ever queued."""
    plan = queues.plan
    if arc in plan.arcs:
        return
    inner = any(arc.partition(".")[0] == box for box in plan.network.boxes)
    what = f"tuples pass {arc!r} inside a train, and are never queued there" if inner else f"no arc {arc!r}"
    expected = f"one of {', '.join(plan.arcs)}" + (
        "; or a connection point there, or an ad hoc query" if inner else ""
    )
    raise EngineError(Problem(plan.network.name, what, expected))


def _last(segments: Iterable[Segment]) -> int:
    return max((each.end for each in segments), default=0)


def _some(
    root: Root, queues: Queues, arc: str, segments: list[Segment], between: tuple[int, int], limit: int
) -> pa.Table:
    """The first tuples of some segments, without reading much more than that."""
    schema, limit = queues.plan.arcs[arc].schema, min(limit, LOOKED_AT_MOST)
    found = [read(root, schema, [], 0, 0)]
    for segment in sorted(segments, key=lambda each: each.base):
        missing = limit - sum(each.num_rows for each in found)
        if missing <= 0:
            break
        lo, top = max(between[0], segment.base), min(between[1], segment.end)
        step = 2 * (segment.end - segment.base) * missing // max(1, segment.rows) + 1
        part = read(root, schema, [segment], lo, min(top, lo + step))
        while part.num_rows < missing and lo + step < top:
            step *= 8
            part = read(root, schema, [segment], lo, min(top, lo + step))
        found.append(part.slice(0, missing))
    return pa.concat_tables(found)
