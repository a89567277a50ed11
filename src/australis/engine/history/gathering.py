"""Gathering: batches of tuples that everyone has passed leave their segments and become runs (Aurora 4.2)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from australis.algebra.schema import Schema
from australis.engine.crash_points import crash_point
from australis.engine.history.organisation import Keeping, keepings
from australis.engine.history.pieces import Piece, pieces
from australis.engine.history.runs import (
    described,
    encode_run,
    publish,
    run_name,
    run_schema,
    staged,
    stamped,
)
from australis.engine.shared import Ground
from australis.engine.store.segments import Segment, merged, read_segment
from australis.plan.superboxes import Plan


class Gathering:
    """Makes runs of the segments of connection points. What they replace stays until its readers are done."""

    def __init__(self, ground: Ground) -> None:
        self._root, self._catalog, self._graveyard = ground.root, ground.catalog, ground.graveyard
        self._queues, self._changed, self._clock = ground.queues, ground.changed, ground.clock

    @property
    def _plan(self) -> Plan:
        return self._queues.plan

    def gather(self, arc: str) -> int:
        """Make runs of an arc's next batch, if it is full; gives how many tuples they have."""
        with self._graveyard.reading():
            with self._changed:
                # The plan may be another one the next time.
                keeping = keepings(self._plan).get(arc)
                if keeping is None:
                    return 0
                schema = self._plan.arcs[arc].schema
                loose = [each for each in self._queues.segments[arc] if not each.is_run]
                batch = full_batch(list(pieces(loose)), self._passed(arc), self._clock(), keeping)
            if not batch:
                return 0
            made = [run for run in self._runs(keeping, schema, batch) if run is not None]
            return self._swapped(arc, batch, made)

    def _passed(self, arc: str) -> int:
        """The number before which all superboxes have read an arc for which it waits.

        Ad hoc queries are none of them: they come from the past, and read runs as well.
        """
        queues, plan, read = self._queues, self._plan, self._plan.arcs[arc]
        awaited = [
            each for each in read.readers if queues.waits_for(read, each) and plan.query_of(each) is None
        ]
        return min([*(queues.heads[each].seq for each in awaited), queues.arc_end(arc)])

    def _runs(self, keeping: Keeping, schema: Schema, batch: Sequence[Segment]) -> Iterator[Segment | None]:
        for lo, hi in cuts(batch, keeping.rows_most):
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
        name = run_name(keeping.point, lo, hi)
        self._root.write(staged(name), data)
        return described(keeping.arc, name, lo, hi, table, data, writer, keeping.key)

    def _swapped(self, arc: str, batch: Sequence[Segment], made: Sequence[Segment]) -> int:
        """Put the runs in the place of the segments, unless these are gone by now, and publish them."""
        crash_point("history.written")
        with self._changed:
            if not all(segment in self._queues.segments.get(arc, ()) for segment in batch):
                for run in made:
                    self._root.delete(staged(run.name))
                return 0
            with self._catalog.transaction() as transaction:
                buried = transaction.drop_segments(batch)
                transaction.add_segments(made)
            crash_point("history.committed")
            self._queues.remove(batch)
            self._queues.add(made)
            publish(self._root, [run.name for run in made])
        crash_point("history.published")
        self._graveyard.bury(buried)
        return sum(run.rows for run in made)


def full_batch(found: Sequence[Piece], passed: int, now: int, keeping: Keeping) -> list[Segment]:
    """The first pieces, as far as they make a run; none while more could come into it."""
    batch: list[Segment] = []
    rows, oldest = 0, 0
    for piece in (each for each in found if each.end <= passed):
        oldest = oldest if batch else piece.newest
        if batch and (rows + piece.rows > keeping.rows_most or piece.newest - oldest > keeping.span_most_us):
            return batch
        batch += piece.segments
        rows += piece.rows
    is_full = rows >= keeping.rows_most or (batch and now - oldest >= keeping.span_most_us)
    return batch if is_full else []


def cuts(batch: Sequence[Segment], rows_most: int) -> Iterator[tuple[int, int]]:
    """The ranges of numbers of the runs that a batch becomes: more than one if it is a large piece."""
    base, end = min(each.base for each in batch), max(each.end for each in batch)
    rows = sum(each.rows for each in batch)
    count = min(-(-rows // rows_most), end - base)
    bounds = [base + (end - base) * index // count for index in range(count + 1)]
    yield from pairwise(bounds)
