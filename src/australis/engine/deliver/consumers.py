"""Consumers of output arcs: each has its own name and head, and sees every tuple once, in order."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from math import ceil

import pyarrow as pa

from australis.algebra.guards import is_a, shown
from australis.algebra.schema import Schema
from australis.engine.ledger import Ledger, Queues, expire
from australis.engine.sinks import Kept
from australis.engine.store import SEQ, Root, Segment, merged, read_segment
from australis.errors import EngineError, Problem

ROWS_MOST = 100_000
"""About how many tuples a consumer gets at a time."""


class Consumers:
    """Records how far consumers have come, and drops what nobody needs any more."""

    def __init__(self, ledger: Ledger, clock: Callable[[], int]) -> None:
        self._ledger, self._clock = ledger, clock

    def acknowledge(
        self,
        consumer: str,
        output: str,
        seq: int,
        position: str | None,
        is_wanted: Callable[[Queues], bool] = lambda queues: True,
    ) -> None:
        """Acknowledge all tuples of a consumer before a number, if that is still wanted at the commit.

        The position never goes back: acknowledged tuples may be deleted.
        """
        with self._ledger.change() as change:
            if not is_wanted(change.queues):
                return
            arc = arc_of(change.queues, output)
            if seq < change.queues.consumers.get((consumer, output), 0):
                return
            change.set_consumer(consumer, output, seq, position)
            expire(change, [arc], self._clock())

    def check(self, output: str, seq: int) -> None:
        """Refuse a number that no consumer can have reached."""
        queues = self._ledger.queues
        if not is_a(seq, int) or not 0 <= seq <= queues.log_end:
            path, shown_seq = (
                f"{queues.plan.network.name}.{output}",
                f"{seq:,}" if is_a(seq, int) else shown(seq),
            )
            what = f"a consumer cannot have read up to {shown_seq}"
            end = f"{queues.log_end:,}, the end of the log"
            expected = f"a number from 0 to {end}: one more than the #seq of its last tuple"
            raise EngineError(Problem(path, what, expected))

    def forget(self, consumer: str, output: str) -> int:
        """Keep nothing for a consumer any more; returns how many tuples were deleted with it."""
        with self._ledger.change() as change:
            arc = arc_of(change.queues, output)
            _check_known(change.queues, consumer, output)
            change.drop_consumer(consumer, output)
            dropped = expire(change, [arc], self._clock())
        return sum(segment.rows for segment in dropped)


def arc_of(queues: Queues, output: str) -> str:
    """The arc of an output."""
    outputs = queues.plan.outputs
    if output not in outputs:
        name, known = queues.plan.network.name, ", ".join(outputs)
        raise EngineError(Problem(name, f"there is no output {output!r}", f"one of {known}"))
    return outputs[output]


def _check_known(queues: Queues, consumer: str, output: str) -> None:
    known = sorted(name for name, read in queues.consumers if read == output)
    if consumer not in known:
        what = f"there is no consumer {consumer!r} of the output {output!r}"
        expected = f"one of {', '.join(known)}" if known else "an output that somebody reads"
        path = f"{queues.plan.network.name}.{queues.plan.outputs[output]}"
        raise EngineError(Problem(path, what, expected))


def next_cut(queues: Queues, arc: str, seq: int, most: int = ROWS_MOST) -> int:
    """The number up to which a consumer at `seq` may read about `most` tuples; `seq` if there is nothing."""
    end = queues.arc_end(arc)
    if end <= seq:
        # A superbox with nothing to do was further ahead, and is back at its head now that it has something
        # to do.
        return seq
    ahead = sorted(
        (each for each in queues.segments[arc] if each.end > seq and each.base < end),
        key=lambda each: each.end,
    )
    rows = 0
    for segment in ahead:
        rows += segment.rows
        if rows >= most:
            return min(segment.end, end)
    return end if ahead else seq


def kept(queues: Queues, arc: str, begin: int, most: int | None = None) -> Kept:
    """How much an arc keeps from a number on, or up to where a consumer may read about `most` tuples."""
    end = queues.arc_end(arc) if most is None else next_cut(queues, arc, begin, most)
    parts = [
        (each, _part_of(each, begin, end))
        for each in queues.segments[arc]
        if each.end > begin and each.base < end
    ]
    return Kept(
        end,
        sum(ceil(each.rows * part) for each, part in parts),
        sum(ceil(each.bytes * part) for each, part in parts),
    )


def _part_of(segment: Segment, begin: int, end: int) -> float:
    """The part of a segment's numbers from `begin` up to `end`."""
    return (min(segment.end, end) - max(segment.base, begin)) / (segment.end - segment.base)


def read(root: Root, schema: Schema, segments: Iterable[Segment], lo: int, hi: int) -> pa.Table:
    """The tuples of some segments from `lo` up to `hi`, with TS and SEQ, by sequence number."""
    found = sorted(
        (each for each in segments if each.end > lo and each.base < hi),
        key=lambda each: (each.writer, each.part, each.base),
    )
    empty = schema.arrow_with_ts.append(pa.field(SEQ, pa.int64())).empty_table()
    columns = list(schema.names)
    return merged([empty, *_cast(root, found, columns, lo, hi, empty.schema)])


def _cast(
    root: Root, segments: list[Segment], columns: list[str], lo: int, hi: int, schema: pa.Schema
) -> Iterator[pa.Table]:
    for segment in segments:
        table = read_segment(root, segment, columns, lo, hi).select(schema.names)
        yield pa.Table.from_arrays(table.columns, schema=schema)
