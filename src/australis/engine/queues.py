"""What the node knows of its queues: the segments of every arc, and how far everyone has come in them.

A mirror of the catalogue in memory, for decisions; what it says is what was committed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from australis.algebra.network import FOREVER
from australis.algebra.spans import microseconds
from australis.compile.superboxes import QUARANTINE_ARC, Arc, Plan, Superbox
from australis.engine.paces import Paces
from australis.engine.storage.catalog import Catalog, Head
from australis.engine.storage.segments import Segment

ALL = 1 << 62


class Queues:
    """The arcs of a plan as queues."""

    def __init__(self, plan: Plan, catalog: Catalog) -> None:
        self.plan = plan
        self.paces = Paces(plan.superboxes, plan.arcs)
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
            return min((head.seq for head in self.heads.values()), default=self.log_end)
        writer = self.plan.arcs[arc].writer
        return self.log_end if writer is None else self.heads[writer].seq

    def end(self, superbox: Superbox) -> int:
        """The number up to which a superbox may read all that it reads."""
        return min((self.arc_end(arc) for arc in superbox.streams.values()), default=self.log_end)

    def head(self, superbox: Superbox) -> Head:
        """How far a superbox has come; those that are joined are abreast."""
        return self.heads[superbox.members[0]]

    def is_abreast(self, superbox: str) -> bool:
        """Whether a superbox has taken all that the log has so far."""
        return self.heads[superbox].seq >= self.log_end

    def waiting(self, superbox: Superbox) -> int:
        """How many tuples wait for a superbox; of a segment read in part, an estimate."""
        head, end = self.head(superbox).seq, self.end(superbox)
        return sum(rows_between(segment, head, end) for segment in self.ahead(superbox))

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

    def cut(self, superbox: Superbox, most: int) -> int:
        """Where a train of about `most` tuples ends, at the most where the queues do."""
        head, end = self.head(superbox).seq, self.end(superbox)
        left = most
        for segment in sorted(self.ahead(superbox), key=lambda each: (each.base, each.end)):
            rows = rows_between(segment, head, end)
            if rows < left:
                left -= rows
            elif segment.first is not None:
                return min(end, max(segment.first, head) + left)
            else:
                return min(end, segment.end)
        return end

    # --- what is still needed

    def needed(self, arc: Arc, now: int) -> int:
        """The number before which nobody needs an arc's tuples: no superbox, consumer or history."""
        ends = [self.heads[reader].seq for reader in arc.readers]
        consumers = [seq for (_, output), seq in self.consumers.items() if output in arc.outputs]
        if set(arc.outputs) - {output for _, output in self.consumers}:
            return 0  # An output that nobody reads keeps everything.
        points = [self.plan.network.connection_points[name].history for name in arc.points]
        kept = [self._history(arc.id, history, now) for history in points]
        return min([*ends, *consumers, *kept, self.arc_end(arc.id)])

    def _history(self, arc: str, history: str | int | None, now: int) -> int:
        if history is None:
            return ALL
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
