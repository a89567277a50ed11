"""The arcs as queues: the segments of every arc, and the positions of their readers, at one moment.

An immutable snapshot of committed state, for decisions. A commit replaces it by another one, so its users may
read it without a lock for as long as they like.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from australis.engine.ledger.catalog import Catalog
from australis.engine.ledger.entries import Head, LogEvent
from australis.engine.store import Segment
from australis.plan.superboxes import QUARANTINE_ARC, Plan, Superbox

ALL = 1 << 62
"""A number after all others."""
Rows = Callable[[Segment, int, int], int]
"""How many tuples of a segment, from one number up to another, a train would read."""


class Log(Protocol):
    """The queries to the log that queues need."""

    def flushes(self, lo: int, hi: int) -> list[LogEvent]: ...

    def loads(self, lo: int, hi: int) -> list[LogEvent]: ...

    def latest(self, lo: int, hi: int) -> int: ...


@dataclass(frozen=True)
class Queues:
    """The arcs of a plan as queues."""

    plan: Plan
    log: Log = field(repr=False, compare=False)
    log_end: int
    log_now: int
    """The local time of the last event."""
    heads: Mapping[str, Head]
    segments: Mapping[str, tuple[Segment, ...]]
    consumers: Mapping[tuple[str, str], int]
    """How far each consumer of each output has come."""
    bytes: int
    """What the segments take on disk, without adopted files."""
    lives: Mapping[str, int] = field(default_factory=dict)
    """How often an output of each name was removed: one that is added again is another one."""

    # --- positions

    @property
    def positions(self) -> Mapping[str, int]:
        """The position of every superbox: its head, or further if nothing in between concerns it."""
        # Not a cached_property, which until Python 3.12 holds one lock for all queues while it asks the log.
        if "_positions" not in self.__dict__:
            self.__dict__["_positions"] = self._find_positions({})
        found: Mapping[str, int] = self.__dict__["_positions"]
        return found

    def positions_within(self, limits: Mapping[str, int]) -> Mapping[str, int]:
        """The position of every superbox, if some may not go beyond a number.

        One that is at its head, since later tuples concern it, may nevertheless have reached its limit: then
        superboxes downstream need not wait for it.
        """
        return self._find_positions(limits) if limits else self.positions

    def _find_positions(self, limits: Mapping[str, int]) -> dict[str, int]:
        found: dict[str, int] = {}
        for name, superbox in self.plan.superboxes.items():
            ends = [self._written_to(arc, found) for arc in superbox.streams.values()]
            end = min(min(ends, default=self.log_end), limits.get(name, ALL))
            found[name] = self.reached(superbox, end, found)
        return found

    def reached(self, superbox: Superbox, end: int, found: Mapping[str, int] | None = None) -> int:
        """The position of a superbox that may go up to `end`: at `end`, if nothing before concerns it."""
        head = self.heads[superbox.id]
        begin = head.seq
        if superbox.id in self.plan.views:
            # A view that was left behind continues with what is still kept of its streams.
            positions = self.positions if found is None else found
            kept = (self._earliest(arc, positions) for arc in superbox.streams.values())
            begin = max(begin, min(*kept, end))
        if begin >= end or self.plan.views.get(superbox.id) == 0:
            return begin
        is_unloaded = head.version == 0 and len(superbox.tables) > 0
        concerned = (
            is_unloaded or any(self._between(superbox, begin, end)) or self._stirs(superbox, begin, end)
        )
        return begin if concerned else end

    def _stirs(self, superbox: Superbox, begin: int, end: int) -> bool:
        """Whether the log has an event without tuples that makes a superbox emit."""
        if not superbox.ordered:
            return False
        deadline = self.heads[superbox.id].deadline
        is_late = deadline is not None and self.log.latest(begin, end) >= deadline
        return is_late or bool(self.log.flushes(begin, end)) or any(loads_of(self.log, superbox, begin, end))

    def _written_to(self, arc: str, positions: Mapping[str, int]) -> int:
        writer = self.plan.arcs[arc].writer
        return self.log_end if writer is None else positions[writer]

    def arc_end(self, arc: str) -> int:
        """The number before which nothing more will come on an arc."""
        if arc == QUARANTINE_ARC:
            # A view that nobody wants computed rejects nothing, however far back it is.
            known = (seq for name, seq in self.positions.items() if self.plan.views.get(name) != 0)
            return min(known, default=self.log_end)
        return self._written_to(arc, self.positions)

    def end(self, superbox: Superbox, positions: Mapping[str, int] | None = None) -> int:
        """The number up to which a superbox may read all its streams, if others are at these positions."""
        known = self.positions if positions is None else positions
        return min((self._written_to(arc, known) for arc in superbox.streams.values()), default=self.log_end)

    def position(self, superbox: Superbox) -> int:
        """The position of a superbox; joined superboxes are at the same number."""
        return self.positions[superbox.members[0]]

    def is_caught_up(self, superbox: str) -> bool:
        """Whether a superbox has processed everything in the log so far."""
        return self.positions[superbox] >= self.log_end

    # --- what waits

    def waiting(self, superbox: Superbox, end: int, rows: Rows | None = None) -> int:
        """How many tuples wait for a superbox; an estimate for a segment that was read in part."""
        begin = self.position(superbox)
        return sum((rows or rows_between)(each, begin, end) for each in self._between(superbox, begin, end))

    def ahead(self, superbox: Superbox) -> Iterator[Segment]:
        """The segments that a superbox has not fully read."""
        return self._between(superbox, self.position(superbox), self.end(superbox))

    def _between(self, superbox: Superbox, begin: int, end: int) -> Iterator[Segment]:
        for arc in superbox.streams.values():
            yield from (each for each in self.segments[arc] if each.end > begin and each.base < end)

    def oldest(self, superbox: Superbox) -> int | None:
        """When the first tuple that waits for a superbox arrived, by its segment; None if none waits."""
        first = min(self.ahead(superbox), key=lambda each: each.base, default=None)
        if first is None:
            return None
        return first.newest if first.ts is None else first.ts

    def cut(self, superbox: Superbox, end: int, most: int, rows: Rows | None = None) -> int:
        """Where a train of about `most` tuples ends, at most at `end`."""
        begin, left = self.position(superbox), most
        for segment in sorted(self._between(superbox, begin, end), key=lambda each: (each.base, each.end)):
            read = (rows or rows_between)(segment, begin, end)
            if read < left:
                left -= read
            elif segment.first is not None:
                return min(end, max(segment.first, begin) + left)
            else:
                return min(end, segment.end)
        return end

    def earliest(self, arc: str) -> int:
        """The first number that an arc keeps; its end if it keeps nothing."""
        return self._earliest(arc, self.positions)

    def _earliest(self, arc: str, positions: Mapping[str, int]) -> int:
        kept = (segment.base for segment in self.segments[arc])
        return min(kept, default=self._written_to(arc, positions))


def load_queues(plan: Plan, catalog: Catalog, lives: Mapping[str, int]) -> Queues:
    """The queues as they were committed."""
    segments = {arc: tuple(catalog.segments(arc)) for arc in plan.arcs}
    return Queues(
        plan,
        catalog,
        catalog.log_end(),
        catalog.log_now(),
        {name: catalog.head(name) for name in plan.superboxes},
        segments,
        catalog.consumers(),
        sum(own_bytes(each) for found in segments.values() for each in found),
        lives,
    )


def own_bytes(segment: Segment) -> int:
    """The bytes of the disk budget that a segment takes: none for an adopted file."""
    return 0 if segment.adopted else segment.bytes


def loads_of(log: Log, superbox: Superbox, lo: int, hi: int) -> list[LogEvent]:
    """The new versions of a superbox's stored tables from `lo` up to `hi`."""
    found = log.loads(lo, hi) if superbox.tables else []
    return [event for event in found if event.input in superbox.tables]


def rows_between(segment: Segment, lo: int, hi: int) -> int:
    """The tuples of a segment from `lo` up to `hi`, exact where its numbers have no gaps."""
    if lo <= segment.base and segment.end <= hi:
        return segment.rows
    share = (min(hi, segment.end) - max(lo, segment.base)) / (segment.end - segment.base)
    return max(1, round(segment.rows * share))
