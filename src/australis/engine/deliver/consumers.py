"""Consumers of output arcs: each has a name and a head of its own, and sees every tuple once, in order."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

import pyarrow as pa

from australis.algebra.schema import Schema
from australis.engine.ledger.catalog import Catalog, Transaction
from australis.engine.ledger.queues import Queues
from australis.engine.store.root import Root
from australis.engine.store.segments import SEQ, Segment, merged, read_segment
from australis.errors import EngineError, Problem

ROWS_MOST = 100_000
"""About how many tuples a consumer gets at a time."""


class Dropped(NamedTuple):
    """What nobody needs any more: how many tuples, and the files that nothing refers to."""

    tuples: int
    files: list[str]


class Consumers:
    """Notes how far consumers have come. Who calls it holds the node's lock, and buries what it gives."""

    def __init__(self, catalog: Catalog, queues: Queues, clock: Callable[[], int]) -> None:
        self._catalog, self._queues, self._clock = catalog, queues, clock

    def arc(self, output: str) -> str:
        """The arc of an output."""
        plan = self._queues.plan
        outputs = plan.outputs
        if output not in outputs:
            name, known = plan.network.name, ", ".join(outputs)
            raise EngineError(Problem(name, f"there is no output {output!r}", f"one of {known}"))
        return outputs[output]

    def acknowledge(self, consumer: str, output: str, seq: int, position: str | None) -> Dropped:
        """A consumer has done with all tuples before a number."""
        return self._moved(
            consumer,
            output,
            seq,
            lambda transaction: transaction.set_consumer(consumer, output, seq, position),
        )

    def forget(self, consumer: str, output: str) -> Dropped:
        """Nothing waits for a consumer any more."""
        arc = self.arc(output)
        known = sorted(name for name, read in self._queues.consumers if read == output)
        if consumer not in known:
            what = f"there is no consumer {consumer!r} of the output {output!r}"
            expected = f"one of {', '.join(known)}" if known else "an output that somebody reads"
            raise EngineError(Problem(f"{self._queues.plan.network.name}.{arc}", what, expected))
        return self._moved(
            consumer, output, None, lambda transaction: transaction.drop_consumer(consumer, output)
        )

    def _moved(
        self, consumer: str, output: str, seq: int | None, change: Callable[[Transaction], None]
    ) -> Dropped:
        queues, arc = self._queues, self.arc(output)
        before = queues.consumers.get((consumer, output))
        queues.place(consumer, output, seq)
        dropped = queues.unneeded([arc], self._clock())
        try:
            with self._catalog.transaction() as transaction:
                change(transaction)
                files = transaction.drop_segments(dropped)
        except BaseException:
            queues.place(consumer, output, before)
            raise
        queues.remove(dropped)
        return Dropped(sum(segment.rows for segment in dropped), files)


def next_cut(queues: Queues, arc: str, seq: int, most: int = ROWS_MOST) -> int:
    """The number up to which a consumer at `seq` may read about `most` tuples; `seq` if there is nothing."""
    end = queues.arc_end(arc)
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
