"""The arcs as queues: the segments of every arc, and the positions of their readers, at one moment.

An immutable snapshot of committed state, for decisions. A commit replaces it by another one, so its users may
read it without a lock for as long as they like.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

from australis.engine.ledger.catalog import Catalog
from australis.engine.ledger.log import Head, LogEvent, maker_of
from australis.engine.ledger.places import Memory, Places, all_places, places_after
from australis.engine.store import Segment
from australis.kernels.marks import InputMark
from australis.plan.superboxes import QUARANTINE_ARC, Plan, Superbox

ALL = 1 << 62
"""A number after all others."""
Answer = TypeVar("Answer")
Rows = Callable[[Segment, int, int], int]
"""How many tuples of a segment, from one number up to another, a train would read."""


class Log(Protocol):
    """The queries to the log that queues need."""

    def flushes(self, lo: int, hi: int) -> list[LogEvent]: ...

    def loads(self, lo: int, hi: int) -> list[LogEvent]: ...

    def latest(self, lo: int, hi: int) -> int: ...

    def has_marks(self, maker: str, lo: int, hi: int) -> bool: ...


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
    promised: Mapping[str, InputMark] = field(default_factory=dict)
    """What every maker of marks has promised so far."""
    lives: Mapping[str, int] = field(default_factory=dict)
    """How often an output of each name was removed: one that is added again is another one."""
    memory: Memory[Queues] | None = field(default=None, repr=False, compare=False)
    """The committed queues whose places were found last; none for a draft, which may never be committed."""
    asked: dict[object, Any] = field(default_factory=dict, init=False, repr=False, compare=False)
    """What was found out about these queues so far: many superboxes ask for the same."""

    # --- positions

    @property
    def places(self) -> Places:
        """Where every superbox is, and how far it may go."""
        # Not a cached_property, which until Python 3.12 holds one lock for all queues while it asks the log.
        if "_places" not in self.__dict__:
            before = None if self.memory is None else self.memory.last
            self.__dict__["_places"] = places_after(before, self)
            if self.memory is not None:
                self.memory.last = self
        found: Places = self.__dict__["_places"]
        return found

    @property
    def positions(self) -> Mapping[str, int]:
        """The position of every superbox: its head, or further if nothing in between concerns it."""
        return self.places.positions

    def places_within(self, limits: Mapping[str, int]) -> Places:
        """Where every superbox is, if some may not go beyond a number.

        One that is at its head, since later tuples concern it, may nevertheless have reached its limit: then
        superboxes downstream need not wait for it.
        """
        return all_places(self, limits) if limits else self.places

    def reached(self, superbox: Superbox, end: int, positions: Mapping[str, int]) -> int:
        """The position of a superbox that may go up to `end`: at `end`, if nothing before concerns it."""
        head = self.heads[superbox.id]
        begin = head.seq
        if superbox.id in self.plan.views:
            # A view that was left behind continues with what is still kept of its streams.
            kept = (self._earliest(arc, positions) for arc in superbox.arcs)
            begin = max(begin, min(*kept, end))
        if begin >= end or self.plan.views.get(superbox.id) == 0:
            return begin
        is_unloaded = head.version == 0 and len(superbox.tables) > 0
        if is_unloaded or self._between(superbox, begin, end):
            return begin
        return begin if superbox.ordered and self._stirs(superbox, begin, end) else end

    def _stirs(self, superbox: Superbox, begin: int, end: int) -> bool:
        """Whether the log has an event without tuples that makes a superbox with state emit."""
        head, log = self.heads[superbox.id], self.log
        if head.awaits_marks and any(
            self._ask(log.has_marks, maker, begin, end) for maker in self.makers_of(superbox)
        ):
            return True
        deadline = head.deadline
        is_late = deadline is not None and self._ask(log.latest, begin, end) >= deadline
        if is_late or self._ask(log.flushes, begin, end):
            return True
        found = self._ask(log.loads, begin, end) if superbox.tables else []
        return any(event.input in superbox.tables for event in found)

    def _ask(self, question: Callable[..., Answer], *arguments: object) -> Answer:
        """The answer to a question, asked only once."""
        key = (question, *arguments)
        if key not in self.asked:
            self.asked[key] = question(*arguments)
        answer: Answer = self.asked[key]
        return answer

    def makers_of(self, superbox: Superbox) -> list[str]:
        """The makers of the marks that a superbox goes by."""
        inputs = frozenset[str]().union(
            *(self.plan.makers_of.get(member, frozenset()) for member in superbox.members)
        )
        return [maker_of(name, self.plan.makers[name]) for name in sorted(inputs)]

    def written_to(self, arc: str, positions: Mapping[str, int]) -> int:
        """The number up to which an arc is written, if superboxes are at these positions."""
        writer = self.plan.arcs[arc].writer
        return self.log_end if writer is None else positions[writer]

    def arc_end(self, arc: str) -> int:
        """The number before which nothing more will come on an arc."""
        if arc == QUARANTINE_ARC:
            # A view that nobody wants computed rejects nothing, however far back it is.
            known = (seq for name, seq in self.positions.items() if self.plan.views.get(name) != 0)
            return min(known, default=self.log_end)
        return self.written_to(arc, self.positions)

    def end(self, superbox: Superbox) -> int:
        """The number up to which a superbox may read all its streams."""
        known = self.places.ends.get(superbox.id)
        return self.end_after(superbox, self.positions) if known is None else known

    def end_after(self, superbox: Superbox, positions: Mapping[str, int]) -> int:
        """The number up to which a superbox may read all its streams, if others are at these positions."""
        arcs = superbox.arcs
        if len(arcs) == 1:
            return self.written_to(arcs[0], positions)
        return min((self.written_to(arc, positions) for arc in arcs), default=self.log_end)

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
        if rows is None:
            return self._ask(self._rows_between, superbox.arcs, begin, end)
        return sum(rows(each, begin, end) for each in self._between(superbox, begin, end))

    def _rows_between(self, arcs: tuple[str, ...], begin: int, end: int) -> int:
        return sum(rows_between(each, begin, end) for arc in arcs for each in self._part(arc, begin, end))

    def all_waiting(self, ends: Mapping[str, int]) -> dict[str, int]:
        """How many tuples wait for each of some superboxes up to a number; many have read the same."""
        superboxes, positions = self.plan.superboxes, self.positions
        known: dict[tuple[tuple[str, ...], int, int], int] = {}
        found = {}
        for name, end in ends.items():
            key = (superboxes[name].arcs, positions[name], end)
            if key not in known:
                known[key] = self._rows_between(*key)
            found[name] = known[key]
        return found

    def all_oldest(self, names: Iterable[str]) -> dict[str, int | None]:
        """When the first tuple that waits for each of some superboxes arrived; many wait for the same."""
        superboxes, places = self.plan.superboxes, self.places
        positions, ends = places.positions, places.ends
        known: dict[tuple[tuple[str, ...], int, int], int | None] = {}
        found = {}
        for name in names:
            key = (superboxes[name].arcs, positions[name], ends[name])
            if key not in known:
                known[key] = self.oldest(superboxes[name])
            found[name] = known[key]
        return found

    def ahead(self, superbox: Superbox) -> Iterator[Segment]:
        """The segments that a superbox has not fully read."""
        return iter(self._between(superbox, self.position(superbox), self.end(superbox)))

    def _between(self, superbox: Superbox, begin: int, end: int) -> Sequence[Segment]:
        """The segments of a superbox's streams with tuples from one number up to another."""
        arcs = superbox.arcs
        if len(arcs) == 1:
            return self._part(arcs[0], begin, end)
        return [segment for arc in arcs for segment in self._part(arc, begin, end)]

    def _part(self, arc: str, begin: int, end: int) -> Sequence[Segment]:
        """The segments of an arc with tuples from one number up to another."""
        key = (arc, begin, end)
        if key not in self.asked:
            self.asked[key] = [s for s in self.segments[arc] if s.end > begin and s.base < end]
        found: Sequence[Segment] = self.asked[key]
        return found

    def oldest(self, superbox: Superbox) -> int | None:
        """When the first tuple that waits for a superbox arrived, by its segment; None if none waits."""
        first = self._first(superbox)
        if first is None:
            return None
        return first.newest if first.ts is None else first.ts

    def triggered(self, superbox: Superbox) -> int | None:
        """When the cause of the first tuple that waits for a superbox was logged; None if none waits."""
        first = self._first(superbox)
        if first is None:
            return None
        number = max(first.base, self.position(superbox))
        return self._ask(self.log.latest, number, number + 1) or self.oldest(superbox)

    def _first(self, superbox: Superbox) -> Segment | None:
        """The first segment that a superbox has not fully read."""
        begin, end = self.position(superbox), self.end(superbox)
        return self._ask(self._first_between, superbox.arcs, begin, end)

    def _first_between(self, arcs: tuple[str, ...], begin: int, end: int) -> Segment | None:
        parts = (each for arc in arcs for each in self._part(arc, begin, end))
        return min(parts, key=lambda each: each.base, default=None)

    def cut(
        self, superbox: Superbox, end: int, most: int, rows: Rows | None = None, bytes_most: int = ALL
    ) -> int:
        """Where a train of about `most` tuples and `bytes_most` of files ends, at most at `end`."""
        begin, left, room = self.position(superbox), most, bytes_most
        for segment in sorted(self._between(superbox, begin, end), key=lambda each: (each.base, each.end)):
            read = (rows or rows_between)(segment, begin, end)
            size = segment.bytes * read // max(1, segment.rows)
            if read < left and size <= room:
                left, room = left - read, room - size
            elif segment.first is not None:
                fitting = read if size <= room else max(1, read * room // size)
                return min(end, max(segment.first, begin) + min(left, fitting))
            elif size > room:
                return min(end, _part_of(segment, begin, room / size))
            else:
                return min(end, segment.end)
        return end

    def earliest(self, arc: str) -> int:
        """The first number that an arc keeps; its end if it keeps nothing."""
        return self._earliest(arc, self.positions)

    def _earliest(self, arc: str, positions: Mapping[str, int]) -> int:
        kept = (segment.base for segment in self.segments[arc])
        return min(kept, default=self.written_to(arc, positions))


def load_queues(
    plan: Plan, catalog: Catalog, lives: Mapping[str, int], known: Queues | None = None
) -> Queues:
    """The queues of a plan as they are committed; heads and segments that are known are not read again."""
    heads = {} if known is None else known.heads
    arcs = {} if known is None else known.segments
    segments = {arc: arcs[arc] if arc in arcs else tuple(catalog.segments(arc)) for arc in plan.arcs}
    return Queues(
        plan,
        catalog,
        catalog.log_end(),
        catalog.log_now(),
        {name: heads[name] if name in heads else catalog.head(name) for name in plan.superboxes},
        segments,
        catalog.consumers(),
        sum(own_bytes(each) for found in segments.values() for each in found),
        catalog.promised(),
        lives,
    )


def own_bytes(segment: Segment) -> int:
    """The bytes of the disk budget that a segment takes: none for an adopted file."""
    return 0 if segment.adopted else segment.bytes


def loads_of(log: Log, superbox: Superbox, lo: int, hi: int) -> list[LogEvent]:
    """The new versions of a superbox's stored tables from `lo` up to `hi`."""
    found = log.loads(lo, hi) if superbox.tables else []
    return [event for event in found if event.input in superbox.tables]


def _part_of(segment: Segment, begin: int, share: float) -> int:
    """Where a share of a segment ends that is read from a number on; at least one number is read."""
    first = max(segment.base, begin)
    return first + max(1, int((segment.end - first) * share))


def rows_between(segment: Segment, lo: int, hi: int) -> int:
    """The tuples of a segment from `lo` up to `hi`, exact where its numbers have no gaps."""
    if lo <= segment.base and segment.end <= hi:
        return segment.rows
    share = (min(hi, segment.end) - max(lo, segment.base)) / (segment.end - segment.base)
    return max(1, round(segment.rows * share))
