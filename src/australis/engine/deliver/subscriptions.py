"""Subscriptions: what leaves a node, to consumers who each have a name and come back to where they were."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pyarrow as pa

from australis.algebra.schema import Schema
from australis.engine.crash_points import crash_point
from australis.engine.deliver import consumers
from australis.engine.deliver.fraction import delivered, labelled
from australis.engine.shared import Ground
from australis.engine.store.segments import Segment
from australis.engine.train.loop import Loop
from australis.errors import EngineError


class Subscriptions:
    """The outputs of a network that runs."""

    def __init__(self, ground: Ground, loop: Loop) -> None:
        self._root, self._catalog, self._graveyard = ground.root, ground.catalog, ground.graveyard
        self._queues, self._changed, self._loop = ground.queues, ground.changed, loop
        self._consumers = consumers.Consumers(ground.catalog, ground.queues, ground.clock)
        self._closed = threading.Event()

    def close(self) -> None:
        """The node ends: subscriptions do, too, and what was not acknowledged by now comes again."""
        with self._changed:
            self._closed.set()
            self._changed.notify_all()

    def read(self, output: str) -> pa.Table:
        """All that an output keeps: its attributes, `#ts` and `#seq`."""
        with self._changed:
            arc = self._consumers.arc(output)
            segments, end = list(self._queues.segments[arc]), self._queues.arc_end(arc)
            schema, reader = self._queues.plan.arcs[arc].schema, self._graveyard.enter()
        return self._read(schema, segments, 0, end, reader)

    def subscribe(
        self,
        output: str,
        consumer: str,
        follow: bool,
        rows: int,
    ) -> Iterator[pa.Table]:
        """The tuples of an output, table by table, from where the consumer of this name left off.

        A table is acknowledged when the next one is asked for. Without `follow` it ends when all that was
        pushed by now has gone through, or the node is paused.
        """
        with self._changed:
            seq = 0 if self._closed.is_set() else self.consumer(consumer, output)[0]
            last = None if follow else self._queues.log_end
            life = self._queues.ended[output]
        while True:
            ahead = self._ahead(output, seq, last, rows, life)
            if ahead is None:
                return
            (table, end), begin = ahead, seq
            seq = end
            if table.num_rows:
                yield labelled(table, self._delivered(output, begin, end))
            self.acknowledge(consumer, output, seq, life=life)

    def consumer(self, consumer: str, output: str) -> tuple[int, str | None]:
        """How far a consumer has come: the number behind its last tuple, and its own note of it."""
        self._consumers.arc(output)
        with self._changed:
            known = self._catalog.consumer(consumer, output)
            if known is None:
                self.acknowledge(consumer, output, 0)
        return known or (0, None)

    def acknowledge(
        self, consumer: str, output: str, seq: int, position: str | None = None, life: int | None = None
    ) -> None:
        """A consumer has done with all tuples before a number; what nobody needs is deleted.

        Behind the node's end nothing is noted, so the tuples come again.
        """
        crash_point("consumer.acknowledging")
        with self._changed:
            if self._closed.is_set() or self._is_gone(output, life):
                return
            dropped = self._consumers.acknowledge(consumer, output, seq, position)
            self._changed.notify_all()  # Somebody may wait for the room that this makes.
        crash_point("consumer.acknowledged")
        self._graveyard.bury(dropped.files)

    def forget(self, consumer: str, output: str) -> None:
        """Nothing waits for a consumer any more; what nobody needs is deleted."""
        with self._changed:
            dropped = self._consumers.forget(consumer, output)
            self._changed.notify_all()
        self._graveyard.bury(dropped.files)

    def _delivered(self, output: str, lo: int, hi: int) -> float | None:
        with self._changed:
            if self._closed.is_set() or self._is_gone(output):
                return None
            return delivered(self._catalog, self._queues.plan.ways()[output], lo, hi)

    def _ahead(
        self, output: str, seq: int, last: int | None, rows: int, life: int
    ) -> tuple[pa.Table, int] | None:
        """The next tuples of a consumer, once there are some, and how far they go; none behind `last`."""
        queues, loop = self._queues, self._loop
        with self._changed:
            while not self._closed.is_set() and not self._is_gone(output, life):
                arc = self._consumers.arc(output)
                cut = consumers.next_cut(queues, arc, seq, rows)
                if cut != seq and (last is None or seq < last):
                    break
                loop.check(queues.plan.arcs[arc].writer or "")
                has_all = last is not None and (queues.arc_end(arc) >= last or loop.resting())
                if loop.stopping or has_all:
                    return None
                self._changed.wait()
            else:
                return None
            segments, schema = list(queues.segments[arc]), queues.plan.arcs[arc].schema
            reader = self._graveyard.enter()
        try:
            return self._read(schema, segments, seq, cut, reader), cut
        except EngineError:
            if self._closed.is_set():
                return None  # A root that goes with its node may be gone.
            raise

    def _is_gone(self, output: str, life: int | None = None) -> bool:
        """Whether a change has taken an output away; those who read it in that `life` come to an end."""
        is_another = life is not None and life != self._queues.ended[output]
        return is_another or output not in self._queues.plan.outputs

    def _read(self, schema: Schema, segments: list[Segment], lo: int, hi: int, reader: int) -> pa.Table:
        try:
            return consumers.read(self._root, schema, segments, lo, hi)
        finally:
            self._graveyard.leave(reader)
