"""Gathering: batches of tuples that every reader has passed move from segments to runs (Aurora 4.2)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

from australis.algebra.schema import Schema
from australis.engine.crash_points import crash_point
from australis.engine.history.organisation import RUN_BYTES_MOST, Keeping, keepings
from australis.engine.history.pieces import Piece, pieces
from australis.engine.ledger import Ledger, Queues, waits_for
from australis.engine.store import (
    Segment,
    described,
    encode_run,
    merged,
    publish,
    read_segment,
    run_name,
    run_schema,
    staged,
    stamped,
)


class Gathering:
    """Makes runs from segments of connection points. Replaced files stay until their readers finish."""

    def __init__(self, ledger: Ledger, clock: Callable[[], int]) -> None:
        self._ledger, self._root, self._clock = ledger, ledger.root, clock
        self._unpublished: list[str] = []
        """Runs that are committed but still staged: the node can read them, others do not see them yet."""

    def gather(self, arc: str) -> int:
        """Make runs of an arc's next batch, if it is full; returns how many tuples they have."""
        self._publish()
        with self._ledger.reading() as queues:
            # The plan may be another one the next time.
            keeping = keepings(queues.plan).get(arc)
            if keeping is None:
                return 0
            loose = [each for each in queues.segments[arc] if not each.is_run]
            batch = full_batch(list(pieces(loose)), _passed(queues, arc), self._clock(), keeping)
            if not batch:
                return 0
            schema = queues.plan.arcs[arc].schema
            made = [run for run in self._runs(keeping, schema, batch) if run is not None]
            return self._swap(arc, batch, made)

    def _runs(self, keeping: Keeping, schema: Schema, batch: Sequence[Segment]) -> Iterator[Segment | None]:
        for lo, hi in cuts(batch, keeping.rows_most, keeping.bytes_most):
            within = [each for each in batch if each.end > lo and each.base < hi]
            yield self._run(keeping, schema, within, lo, hi)

    def _run(
        self, keeping: Keeping, schema: Schema, segments: Sequence[Segment], lo: int, hi: int
    ) -> Segment | None:
        """Write the tuples from `lo` up to `hi` as a run; None if none of them fits its schema."""
        form = run_schema(schema)
        by_writer = sorted(segments, key=lambda each: (each.writer, each.part, each.base))
        read = (read_segment(self._root, each, schema.names, lo, hi, threads=False) for each in by_writer)
        tables = [stamped(table, form) for table in read]
        table = merged(tables)
        if not table.num_rows:
            return None
        writer = by_writer[0].writer
        data = encode_run(table, keeping.key, ties=bool(writer))
        name = run_name(self._root, keeping.point, lo, hi)
        self._root.write(staged(name), data)
        return described(keeping.arc, name, lo, hi, table, data, writer, keeping.key)

    def _swap(self, arc: str, batch: Sequence[Segment], made: Sequence[Segment]) -> int:
        """Replace the segments by the runs, unless the segments are gone by now, and publish the runs."""
        crash_point("history.written")
        with self._ledger.change() as change:
            present = change.queues.segments.get(arc, ())
            is_there = all(segment in present for segment in batch)
            if is_there:
                change.drop_segments(batch)
                change.add_segments(made)
                change.follow(lambda: self._unpublished.extend(run.name for run in made))
            else:
                change.bury(staged(run.name) for run in made)
        crash_point("history.committed")
        if not is_there:
            return 0
        self._publish()
        crash_point("history.published")
        return sum(run.rows for run in made)

    def _publish(self) -> None:
        """Publish staged runs that are still kept; on failure it is tried again the next time."""
        while self._unpublished:
            run = self._unpublished[0]
            kept = any(run == each.name for found in self._ledger.queues.segments.values() for each in found)
            is_staged = self._root.exists(staged(run))
            if is_staged and kept:
                publish(self._root, [run])
            elif is_staged:
                self._root.delete(staged(run))
            del self._unpublished[0]


def _passed(queues: Queues, arc: str) -> int:
    """The number before which all superboxes that an arc waits for have read it.

    Ad hoc queries do not count: they start in the past, and read runs as well.
    """
    plan, read = queues.plan, queues.plan.arcs[arc]
    awaited = [each for each in read.readers if waits_for(queues, read, each) and plan.query_of(each) is None]
    return min([*(queues.positions[each] for each in awaited), queues.arc_end(arc)])


def full_batch(found: Sequence[Piece], passed: int, now: int, keeping: Keeping) -> list[Segment]:
    """The first pieces that make a run; none while it could still grow."""
    batch: list[Segment] = []
    rows, size, oldest = 0, 0, 0
    for piece in (each for each in found if each.end <= passed):
        oldest = oldest if batch else piece.newest
        is_more = rows + piece.rows > keeping.rows_most or size + piece.bytes > keeping.bytes_most
        if batch and (is_more or piece.newest - oldest > keeping.span_most_us):
            return batch
        batch += piece.segments
        rows, size = rows + piece.rows, size + piece.bytes
    is_full = rows >= keeping.rows_most or size >= keeping.bytes_most
    return batch if is_full or (batch and now - oldest >= keeping.span_most_us) else []


def cuts(
    batch: Sequence[Segment], rows_most: int, bytes_most: int = RUN_BYTES_MOST
) -> Iterator[tuple[int, int]]:
    """The ranges of numbers of the runs that a batch becomes: more than one if it is a large piece."""
    base, end = min(each.base for each in batch), max(each.end for each in batch)
    rows, size = sum(each.rows for each in batch), sum(each.bytes for each in batch)
    count = min(max(-(-rows // rows_most), -(-size // bytes_most)), end - base)
    bounds = [base + (end - base) * index // count for index in range(count + 1)]
    yield from pairwise(bounds)
