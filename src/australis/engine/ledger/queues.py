"""What the node knows of its queues: the segments of every arc, and how far everyone has come in them.

A mirror of the catalogue in memory, for decisions; what it says is what was committed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator

from australis.algebra.network import FOREVER
from australis.algebra.spans import microseconds
from australis.engine.ledger.catalog import Catalog, Head
from australis.engine.steer.costs import Paces
from australis.engine.store.segments import Segment
from australis.plan.superboxes import QUARANTINE_ARC, Arc, Plan, Superbox

ALL = 1 << 62
Rows = Callable[[Segment, int, int], int]
"""How many tuples of a segment, from one number up to another, a train would read."""


class Queues:
    """The arcs of a plan as queues."""

    def __init__(self, plan: Plan, catalog: Catalog) -> None:
        self.plan = plan
        self.paces = Paces(plan.superboxes, plan.arcs)
        self.held: dict[str, int] = {}
        """The number at which each superbox stops that is about to be replaced."""
        self.ended: Counter[str] = Counter()
        """How often an output of each name has gone: one that comes again is another one."""
        self.load(catalog)

    def switch(self, plan: Plan, catalog: Catalog) -> None:
        """Another plan runs, which the catalogue knows already."""
        self.ended.update(self.plan.outputs.keys() - plan.outputs.keys())
        self.plan, self.held = plan, {}
        self.paces.switch(plan.superboxes, plan.arcs)
        self.load(catalog)

    def load(self, catalog: Catalog) -> None:
        """Take everything as it was committed."""
        self.log_end = catalog.log_end()
        self.heads = {name: catalog.head(name) for name in self.plan.superboxes}
        self.segments = {arc: catalog.segments(arc) for arc in self.plan.arcs}
        self.bytes = sum(each.bytes for found in self.segments.values() for each in found if not each.adopted)
        """What the segments take on disk, without the files that were adopted."""
        known = catalog.rows("select name, output, seq from consumer")
        self.consumers: dict[tuple[str, str], int] = {(name, output): seq for name, output, seq in known}
        """How far each consumer of each output has come."""

    # --- how far everyone has come

    def arc_end(self, arc: str) -> int:
        """The number before which nothing more will come on an arc."""
        if arc == QUARANTINE_ARC:
            # A view that nobody wants computed rejects nothing, however far it is behind.
            heads = (head.seq for name, head in self.heads.items() if self.plan.views.get(name) != 0)
            return min(heads, default=self.log_end)
        writer = self.plan.arcs[arc].writer
        return self.log_end if writer is None else self.heads[writer].seq

    def end(self, superbox: Superbox) -> int:
        """The number up to which a superbox may read all that it reads."""
        end = min((self.arc_end(arc) for arc in superbox.streams.values()), default=self.log_end)
        return min([end, *(self.held[member] for member in superbox.members if member in self.held)])

    def head(self, superbox: Superbox) -> Head:
        """How far a superbox has come; those that are joined are abreast."""
        return self.heads[superbox.members[0]]

    def is_abreast(self, superbox: str) -> bool:
        """Whether a superbox has taken all that the log has so far."""
        return self.heads[superbox].seq >= self.log_end

    def waiting(self, superbox: Superbox, rows: Rows | None = None) -> int:
        """How many tuples wait for a superbox; of a segment read in part, an estimate."""
        head, end = self.head(superbox).seq, self.end(superbox)
        return sum((rows or rows_between)(segment, head, end) for segment in self.ahead(superbox))

    def ahead(self, superbox: Superbox) -> Iterator[Segment]:
        """The segments that a superbox has not read to their ends."""
        head, end = self.head(superbox).seq, self.end(superbox)
        for arc in superbox.streams.values():
            yield from (each for each in self.segments[arc] if each.end > head and each.base < end)

    def oldest(self, superbox: Superbox) -> int | None:
        """When the first tuple that waits for a superbox arrived, as segments tell it; None without any."""
        first = min(self.ahead(superbox), key=lambda each: each.base, default=None)
        if first is None:
            return None
        return first.newest if first.ts is None else first.ts

    def cut(self, superbox: Superbox, most: int, rows: Rows | None = None) -> int:
        """Where a train of about `most` tuples ends, at the most where the queues do."""
        head, end = self.head(superbox).seq, self.end(superbox)
        left = most
        for segment in sorted(self.ahead(superbox), key=lambda each: (each.base, each.end)):
            read = (rows or rows_between)(segment, head, end)
            if read < left:
                left -= read
            elif segment.first is not None:
                return min(end, max(segment.first, head) + left)
            else:
                return min(end, segment.end)
        return end

    def begin(self, point: str, now: int) -> int:
        """The first number that a connection point keeps for a query; where its arc ends if it keeps none."""
        place = self.plan.network.connection_points[point]
        arc, end = str(place.at), self.arc_end(str(place.at))
        if not place.history:
            return end
        return min(max(self.earliest(arc), self.kept_from(arc, place.history, now)), end)

    def earliest(self, arc: str) -> int:
        """The first number of what an arc keeps; where it ends if it keeps nothing."""
        return min((segment.base for segment in self.segments[arc]), default=self.arc_end(arc))

    # --- what is still needed

    def unneeded(self, arcs: Iterable[str], now: int) -> list[Segment]:
        """The segments of some arcs that nobody needs."""
        before = {arc: self.needed(self.plan.arcs[arc], now) for arc in arcs}
        return [each for arc, end in before.items() for each in self.segments[arc] if each.end <= end]

    def log_needed(self) -> int:
        """The number before which nobody needs the log: no superbox, nor one that begins with history."""
        begins = [self.earliest(arc) for arc in self.remembering]
        heads = [head.seq for name, head in self.heads.items() if self._needs_log(name)]
        return min([*heads, *begins], default=self.log_end)

    def _needs_log(self, superbox: str) -> bool:
        """Whether a superbox reads the log from where it is: a view that makes do with history does not."""
        arcs = (self.plan.arcs[arc] for arc in self.plan.superboxes[superbox].streams.values())
        return superbox not in self.plan.views or any(self.waits_for(arc, superbox) for arc in arcs)

    @property
    def remembering(self) -> tuple[str, ...]:
        """The arcs that keep history."""
        return tuple(arc.id for arc in self.plan.arcs.values() if self._points(arc))

    def needed(self, arc: Arc, now: int) -> int:
        """The number before which nobody needs an arc's tuples: no superbox, consumer or history."""
        ends = [self.heads[reader].seq for reader in arc.readers if self.waits_for(arc, reader)]
        consumers = [seq for (_, output), seq in self.consumers.items() if output in arc.outputs]
        if set(arc.outputs) - {output for _, output in self.consumers}:
            return 0  # An output that nobody reads keeps everything.
        kept = [self.kept_from(arc.id, history, now) for history in self._points(arc)]
        return min([*ends, *consumers, *kept, self.arc_end(arc.id)])

    def waits_for(self, arc: Arc, reader: str) -> bool:
        """Whether tuples are kept until a reader has taken them; a view makes do with history."""
        importance = self.plan.views.get(reader)
        return importance is None or (importance > 0 and not self._points(arc))

    def _points(self, arc: Arc) -> list[str | int]:
        """How much history each connection point of an arc asks for, if any."""
        asked = (self.plan.network.connection_points[name].history for name in arc.points)
        return [history for history in asked if history]

    def kept_from(self, arc: str, history: str | int, now: int) -> int:
        """The number from which on so much history of an arc is kept; behind all where there is none."""
        if history == FOREVER:
            return 0
        segments = sorted(self.segments[arc], key=lambda each: each.base)
        if isinstance(history, int):
            return _last_tuples(segments, history)
        oldest = now - microseconds(history)
        return next((each.base for each in segments if each.newest >= oldest), ALL)

    # --- what a commit changes

    def add(self, segments: Iterable[Segment], now: int | None = None) -> None:
        """Put segments on their arcs; their tuples are new at `now`, or were there before."""
        for segment in segments:
            self.segments[segment.arc].append(segment)
            self.bytes += 0 if segment.adopted else segment.bytes
            if now is not None:
                self.paces.came(segment.arc, segment.rows, now)

    def remove(self, segments: Iterable[Segment]) -> None:
        for segment in segments:
            self.segments[segment.arc].remove(segment)
            self.bytes -= 0 if segment.adopted else segment.bytes

    def advance(self, superbox: str, head: Head) -> None:
        self.heads[superbox] = head

    def place(self, consumer: str, output: str, seq: int | None) -> None:
        """Say how far a consumer has come; with None, that there is no such consumer."""
        if seq is None:
            self.consumers.pop((consumer, output), None)
        else:
            self.consumers[consumer, output] = seq


def rows_between(segment: Segment, lo: int, hi: int) -> int:
    """The tuples of a segment from `lo` up to `hi`, exact where its numbers have no gaps."""
    if lo <= segment.base and segment.end <= hi:
        return segment.rows
    share = (min(hi, segment.end) - max(lo, segment.base)) / (segment.end - segment.base)
    return max(1, round(segment.rows * share))


def _last_tuples(segments: list[Segment], count: int) -> int:
    """Where the segments begin that hold the last tuples; those of several tasks overlap."""
    begin = ALL
    for segment in reversed(segments):
        if count <= 0:
            return begin
        begin = min(begin, segment.base)
        count -= segment.rows
    return 0
