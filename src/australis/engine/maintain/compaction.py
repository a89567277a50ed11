"""Compaction: merges many small segments of an arc into one, so that readers open few files."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from itertools import accumulate

from australis.engine.crash_points import crash_point
from australis.engine.ledger import Ledger
from australis.engine.store import WHOLE, Segment, SplitSettings, merged, read_segment, write_segment
from australis.plan.superboxes import Plan

SMALL_ROWS = 20_000
"""A segment with fewer tuples is small."""
SMALL_BYTES = 2 << 20
"""And if it takes fewer bytes."""
RUN_LEAST = 64
"""How many small segments are worth a compaction."""
RUN_ROWS_MOST = 500_000
"""How many tuples are decoded at a time."""
RUN_BYTES_MOST = 64 << 20
"""And of how many bytes of files."""


class Compaction:
    """Compacts arcs. Replaced files stay until their readers have finished."""

    def __init__(self, ledger: Ledger, splits: SplitSettings = WHOLE) -> None:
        self._ledger, self._root, self._splits = ledger, ledger.root, splits

    def compact(self, arcs: Iterable[str]) -> int:
        """Compact some arcs where it is worth it; returns how many files were replaced."""
        return sum(self._compact(arc) for arc in arcs)

    def _compact(self, arc: str) -> int:
        with self._ledger.reading() as queues:
            run = small_run(queues.segments.get(arc, ()))
            if not run:
                return 0
            made = self._join(queues.plan, arc, run)
            crash_point("compaction.swapping")
            return self._swap(arc, run, made)

    def _join(self, plan: Plan, arc: str, run: list[Segment]) -> Segment:
        """Write several segments, which tasks wrote one after another, as one."""
        columns, splitting = plan.arcs[arc].schema.names, self._splits.by(plan.split_keys.get(arc, ()))
        tables = [read_segment(self._root, each, columns, each.base, each.end, threads=False) for each in run]
        whole, writer, part = merged(tables), run[0].writer, run[0].part
        division = splitting.division(whole)
        return write_segment(self._root, arc, whole, writer=writer, part=part, division=division)

    def _swap(self, arc: str, run: list[Segment], made: Segment) -> int:
        """Replace the old segments by the new one, unless they are gone by now."""
        with self._ledger.change() as change:
            present = change.queues.segments.get(arc, ())
            is_there = all(segment in present for segment in run)
            if is_there:
                change.drop_segments(run)
                change.add_segments([made])
            else:
                change.bury([made.name])
        crash_point("compaction.swapped")
        return len(run) if is_there else 0


def small_run(segments: Iterable[Segment]) -> list[Segment]:
    """Small segments of one writer and part, by number, if there are enough; else none."""
    found: dict[tuple[str, int], list[Segment]] = {}
    for segment in segments:
        is_small = segment.rows < SMALL_ROWS and segment.bytes < SMALL_BYTES
        if is_small and not (segment.adopted or segment.is_run):
            found.setdefault((segment.writer, segment.part), []).append(segment)
    runs = (sorted(run, key=lambda each: each.base) for run in found.values() if len(run) >= RUN_LEAST)
    return _bounded(next(runs, []))


def _bounded(run: list[Segment]) -> list[Segment]:
    """The first segments of a run, as many as may be decoded together."""
    rows = list(accumulate(segment.rows for segment in run))
    sizes = list(accumulate(segment.bytes for segment in run))
    return run[: min(bisect_right(rows, RUN_ROWS_MOST), bisect_right(sizes, RUN_BYTES_MOST))]
