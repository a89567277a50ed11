"""Reads an output from any number that is kept, without being a consumer: nothing is kept for it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

import pyarrow as pa

from australis.engine.deliver.consumers import ROWS_MOST, arc_of, next_cut, read
from australis.engine.ledger import Ledger, Queues
from australis.errors import EngineError, Problem


class Over(StrEnum):
    """Why nothing more comes."""

    STOPPED = "stopped"
    """The node has stopped, or the reader was closed."""
    REMOVED = "removed"
    """The output was removed by a change of the network."""


@dataclass(frozen=True)
class Part:
    """What an output has from one number up to another."""

    begin: int
    end: int
    table: pa.Table
    """Its tuples, with `#ts` and `#seq`, by number; it may be empty."""
    is_missed: bool = False
    """Whether tuples of these numbers may have been deleted unread: then there are none here."""


class Follower:
    """Reads an output, part by part, and waits for more."""

    def __init__(self, ledger: Ledger, output: str, begin: int | None, is_closed: Callable[[], bool]) -> None:
        """Begin at a number, or without one at what comes next."""
        queues = ledger.queues
        end = queues.arc_end(arc_of(queues, output))
        if begin is not None and not 0 <= begin <= queues.log_end:
            what = f"there is no tuple with the number {begin:,} so far"
            expected = f"0 to {queues.log_end:,}, the end of the log"
            raise EngineError(Problem(f"{queues.plan.network.name}.{output}", what, expected))
        self._ledger, self._output, self._is_closed = ledger, output, is_closed
        self._life = queues.lives.get(output, 0)
        self.seq = end if begin is None else begin
        """The number from which the next part begins."""
        self.over: Over | None = None
        """Why nothing more comes, if that is so."""
        self._is_ended = False

    def next(self, rows: int = ROWS_MOST, wait_s: float | None = None) -> Part | None:
        """The next part, of about so many tuples; None if there is none in time, or nothing more comes."""
        if not self._ledger.guard.wait_until(lambda: self._has_more(rows), limit_s=wait_s) or self.over:
            return None
        part: Part | None = None
        try:
            part = self._read(rows)
        except EngineError:
            # Whatever fails because the node has ended is not an error.
            if not self._is_closed():
                raise
            self.over = Over.STOPPED
        if part is not None:
            self.seq = part.end
        return part

    def close(self) -> None:
        """Wait for nothing more, in whatever thread that is."""
        self._is_ended = True
        with self._ledger.guard as guard:
            guard.notify()

    def _has_more(self, rows: int) -> bool:
        queues = self._ledger.queues
        self._look_around(queues)
        return (
            self.over is not None or next_cut(queues, arc_of(queues, self._output), self.seq, rows) > self.seq
        )

    def _look_around(self, queues: Queues) -> None:
        if self._is_ended or self._is_closed():
            self.over = Over.STOPPED
        elif self._output not in queues.plan.outputs or queues.lives.get(self._output, 0) != self._life:
            self.over = Over.REMOVED

    def _read(self, rows: int) -> Part | None:
        ledger = self._ledger
        with ledger.reading() as queues:
            self._look_around(queues)
            if self.over is not None:
                return None
            arc, seq = arc_of(queues, self._output), self.seq
            schema, cut = queues.plan.arcs[arc].schema, _cut(queues, arc, seq, rows)
            # Asked after the queues were taken: what they have is there, or this tells that it went.
            expired = ledger.catalog.expired(arc)
            if seq < expired:
                return Part(seq, expired, read(ledger.root, schema, [], 0, 0), is_missed=True)
            return Part(seq, cut, read(ledger.root, schema, queues.segments[arc], seq, cut))


def _cut(queues: Queues, arc: str, seq: int, rows: int) -> int:
    """The number up to which there are about so many tuples, also in the middle of a large segment."""
    cut = next_cut(queues, arc, seq, rows)
    begin = max(seq, min((s.base for s in queues.segments[arc] if s.end > seq and s.base < cut), default=seq))
    tuples = sum(
        each.rows * (min(each.end, cut) - max(each.base, begin)) // max(1, each.end - each.base)
        for each in queues.segments[arc]
        if each.end > begin and each.base < cut
    )
    return cut if tuples <= 2 * rows else begin + max(1, (cut - begin) * rows // tuples)


def window_begin(queues: Queues, output: str, tuples: int, size: int, since: int) -> int:
    """From which number on an output keeps at most so many tuples and bytes, none older than a time.

    The tuples of a segment stay or go together, and those of the last one stay, however many they are.
    """
    arc = arc_of(queues, output)
    end = begin = queues.arc_end(arc)
    left, room = tuples, size
    for segment in sorted(queues.segments[arc], key=lambda each: (each.end, each.base), reverse=True):
        left, room = left - segment.rows, room - segment.bytes
        is_too_much = begin < end and (left < 0 or room < 0)
        if is_too_much or segment.newest < since:
            return begin
        begin = min(begin, segment.base)
    return 0
