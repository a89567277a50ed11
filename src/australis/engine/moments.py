"""Moments: how the events of the log go through a superbox, each local time by itself where time matters."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from australis.engine.storage.catalog import Event
from australis.engine.waybills import Moment

FLUSH, TICK, PUSH = "flush", "tick", "push"


def moments(events: Sequence[Event], lo: int, hi: int, *, timed: bool) -> tuple[Moment, ...]:
    """The moments of the numbers from `lo` up to `hi`.

    Where no box has a timeout, local time changes nothing, and only the end of the streams is one by itself.

    >>> log = [Event(0, 3, "push", "x", 2, 10), Event(3, 5, "push", "x", 1, 20)]
    >>> log += [Event(5, 7, "flush", "", 0, 30)]
    >>> [(m.lo, m.hi, m.now, m.ending) for m in moments(log, 1, 7, timed=False)]
    [(1, 7, 30, True)]
    >>> [(m.lo, m.hi, m.now, m.ending) for m in moments(log, 1, 7, timed=True)]
    [(1, 3, 10, False), (3, 5, 20, False), (5, 7, 30, True)]
    """
    each = [_moment(event, lo, hi) for event in events]
    return tuple(each if timed else _joined(each)) or (Moment(lo, hi, 0, lo),)


def _moment(event: Event, lo: int, hi: int) -> Moment:
    ending = event.kind == FLUSH and event.end <= hi
    return Moment(max(lo, event.base), min(hi, event.end), event.now, event.base, ending)


def _joined(each: Sequence[Moment]) -> Iterator[Moment]:
    """Moments up to the next end of the streams as one."""
    begin: Moment | None = None
    for moment in each:
        begin = begin or moment
        if moment.ending:
            yield Moment(begin.lo, moment.hi, moment.now, moment.before, True)
            begin = None
    if begin is not None:
        yield Moment(begin.lo, each[-1].hi, each[-1].now, begin.before)
