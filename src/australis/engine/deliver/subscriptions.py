"""Subscriptions: what leaves a node, for named consumers that can resume where they left off."""

from __future__ import annotations

import logging
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import pyarrow as pa

from australis.algebra.schema import Schema
from australis.engine.crash_points import crash_point
from australis.engine.deliver.consumers import Consumers, arc_of, kept, next_cut, read
from australis.engine.deliver.following import Follower, window_begin
from australis.engine.deliver.fraction import delivered, labelled
from australis.engine.deliver.holds import Holds
from australis.engine.deliver.looking import Tap, peek
from australis.engine.deliver.subscription import Ending, Readers, Subscription
from australis.engine.ledger import ALL, Ledger, Queues
from australis.engine.run_state import RunState
from australis.engine.sinks import Kept
from australis.engine.store import Segment
from australis.engine.threads import SYSTEM, Threads
from australis.errors import EngineError

NOBODY = "nobody"
"""The consumer that counts as having read all that an output will ever have."""
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class _Reading:
    """What one subscription is about."""

    output: str
    consumer: str
    life: int
    last: int | None
    """Where it ends; None if it follows."""
    rows: int
    ending: Ending


@dataclass(frozen=True)
class HeldFiles:
    """The segments of an output that have its tuples from `begin` up to `end`, and others."""

    schema: Schema
    segments: tuple[Segment, ...]
    begin: int
    end: int


class Subscriptions:
    """The outputs of a running network."""

    def __init__(
        self, ledger: Ledger, state: RunState, clock: Callable[[], int], threads: Threads = SYSTEM
    ) -> None:
        self._ledger, self._root, self._state = ledger, ledger.root, state
        self._consumers, self._readers = Consumers(ledger, clock), Readers()
        self._holds = Holds(ledger, threads)
        self._is_closed = False

    def close(self) -> None:
        """End all subscriptions with the node; what was not acknowledged by now is delivered again."""
        with self._ledger.guard as guard:
            self._is_closed = True
            guard.notify()
        self._holds.close()

    def read(self, output: str, begin: int = 0, end: int | None = None) -> pa.Table:
        """What an output keeps from `begin` up to `end`: its attributes, `#ts` and `#seq`."""
        with self._ledger.reading() as queues:
            arc = arc_of(queues, output)
            schema, last = queues.plan.arcs[arc].schema, queues.arc_end(arc) if end is None else end
            return read(self._root, schema, queues.segments[arc], begin, last)

    def hold(self, output: str, begin: int, end: int | None, seconds: float) -> HeldFiles:
        """The files of what `read` would return; they stay for so many seconds."""
        arc_of(self._ledger.queues, output)
        queues = self._holds.take(seconds)
        arc = arc_of(queues, output)
        last = queues.arc_end(arc) if end is None else end
        return HeldFiles(queues.plan.arcs[arc].schema, tuple(queues.segments[arc]), begin, last)

    def kept(self, output: str, begin: int = 0, rows: int | None = None) -> Kept:
        """How much an output keeps from a number on; with `rows`, at most about so many tuples."""
        queues = self._ledger.queues
        return kept(queues, arc_of(queues, output), begin, rows)

    def subscribe(self, output: str, consumer: str, follow: bool, rows: int) -> Subscription:
        """The tuples of an output, table by table, from where the consumer of this name left off.

        A table is acknowledged when the next one is asked for. Without `follow` it ends when everything
        pushed so far is processed, or the node is paused. Only one subscription at a time can use a name.
        """
        queues = self._ledger.queues
        path = f"{queues.plan.network.name}.{output}"
        life, last = queues.lives.get(output, 0), None if follow else queues.log_end

        def begin(ending: Ending) -> Generator[pa.Table, None, None]:
            seq = 0
            with self._unless_closed():
                seq = self.consumer(consumer, output)[0]
            return self._tables(_Reading(output, consumer, life, last, rows, ending), seq)

        return Subscription((self._readers, (consumer, output, life), path), begin, self._wake)

    def follow(self, output: str, begin: int | None) -> Follower:
        """A reader of an output that begins at a number, or with what comes next; nothing is kept for it."""
        return Follower(self._ledger, output, begin, lambda: self._is_closed)

    def window(self, output: str, tuples: int, size: int, since: int) -> int:
        """From which number on an output has at most so many tuples and bytes, none older than a time."""
        return window_begin(self._ledger.queues, output, tuples, size, since)

    def peek(self, arc: str, limit: int) -> pa.Table:
        """The first tuples that wait on an arc now; they stay there."""
        return peek(self._ledger, arc, limit)

    def tap(self, arc: str, limit: int) -> Tap:
        """Samples of what passes an arc, of at most so many tuples each."""
        return Tap(self._ledger, arc, limit, lambda: self._is_closed)

    def _wake(self) -> None:
        with self._ledger.guard as guard:
            guard.notify()

    def _tables(self, reading: _Reading, seq: int) -> Generator[pa.Table, None, None]:
        output = reading.output
        while (end := self._next_end(reading, seq)) is not None:
            table = self._read(output, seq, end)
            if table is None:
                return
            if table.num_rows:
                yield labelled(table, self._delivered(output, seq, end))
            seq = end
            self.acknowledge(reading.consumer, output, seq, life=reading.life)

    def consumer(self, consumer: str, output: str) -> tuple[int, str | None]:
        """How far a consumer has come: the number after its last tuple, and its own note of it.

        Consumers discard what they have beyond it, so no later start may find them further.
        """
        self._ledger.confirm()
        arc_of(self._ledger.queues, output)
        known = self._ledger.catalog.consumer(consumer, output)
        if known is None:
            self.acknowledge(consumer, output, 0)
        return known or (0, None)

    def consumers(self, output: str) -> dict[str, tuple[int, int]]:
        """The consumers of an output: the number after the last tuple of each, and how far it is behind."""
        queues = self._ledger.queues
        end = queues.arc_end(arc_of(queues, output))
        known = ((name, seq) for (name, of), seq in queues.consumers.items() if of == output)
        return {name: (seq, max(0, end - seq)) for name, seq in sorted(known)}

    def acknowledge(
        self, consumer: str, output: str, seq: int, position: str | None = None, life: int | None = None
    ) -> None:
        """Acknowledge all tuples of a consumer before a number; what nobody needs any more is deleted.

        On a stopped node this does nothing: the tuples are delivered again.
        """
        crash_point("consumer.acknowledging")
        with self._unless_closed():
            self._consumers.check(output, seq)
            self._consumers.acknowledge(
                consumer, output, seq, position, lambda queues: not self._is_over(queues, output, life)
            )
        crash_point("consumer.acknowledged")

    def discard(self, output: str) -> None:
        """Keep nothing of an output for readers, neither what it has nor what it will receive."""
        self._consumers.acknowledge(NOBODY, output, ALL, None)

    def forget(self, consumer: str, output: str) -> None:
        """Keep nothing for a consumer any more."""
        self._consumers.forget(consumer, output)

    @contextmanager
    def _unless_closed(self) -> Iterator[None]:
        """Whatever fails because the node has ended is not an error: its tuples are delivered again."""
        try:
            yield
        except EngineError as error:
            if not self._is_closed:
                raise
            _log.debug("a subscription ends with its node: %s", error)

    def _delivered(self, output: str, lo: int, hi: int) -> float | None:
        found, queues = None, self._ledger.queues
        with self._unless_closed():
            if not self._is_over(queues, output):
                found = delivered(self._ledger.catalog, queues.plan.ways[output], lo, hi)
        return found

    def _next_end(self, reading: _Reading, seq: int) -> int | None:
        """Where a consumer's next tuples end, once there are some; None if there will be none."""
        last = reading.last
        with self._unless_closed(), self._ledger.guard as guard:
            while not (
                reading.ending.is_asked or self._is_over(self._ledger.queues, reading.output, reading.life)
            ):
                queues = self._ledger.queues
                arc = arc_of(queues, reading.output)
                cut = next_cut(queues, arc, seq, reading.rows)
                if cut != seq and (last is None or seq < last):
                    return cut
                self._state.check(queues.plan.arcs[arc].writer or "")
                has_all = last is not None and (queues.arc_end(arc) >= last or self._state.is_resting())
                if self._state.stopping or has_all:
                    return None
                guard.wait()
        return None

    def _read(self, output: str, lo: int, hi: int) -> pa.Table | None:
        """The tuples of an output from `lo` up to `hi`; None if the output is gone, or the node has ended."""
        found: pa.Table | None = None
        with self._unless_closed(), self._ledger.reading() as queues:
            arc = queues.plan.outputs.get(output)
            if arc is not None:
                found = read(self._root, queues.plan.arcs[arc].schema, queues.segments[arc], lo, hi)
        return found

    def _is_over(self, queues: Queues, output: str, life: int | None = None) -> bool:
        """Whether the node has ended, or a change has removed the output that was read in that `life`."""
        is_another = life is not None and life != queues.lives.get(output, 0)
        return self._is_closed or is_another or output not in queues.plan.outputs
