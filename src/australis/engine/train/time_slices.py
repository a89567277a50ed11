"""Time slices: how events of the log go through a superbox, each local time separately where time matters."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from australis.engine.ledger import FLUSH, LOAD, LogEvent
from australis.engine.worker import TimeSlice


def time_slices(
    events: Sequence[LogEvent], lo: int, hi: int, *, timed: bool, tables: Collection[str] = ()
) -> tuple[TimeSlice, ...]:
    """The time slices of the numbers from `lo` up to `hi`.

    If no box has a timeout, local time changes nothing: only ends of streams and new versions of `tables`
    matter, and other events may be left out.

    >>> log = [LogEvent(0, 3, "push", "x", 2, 10), LogEvent(3, 5, "push", "x", 1, 20)]
    >>> log += [LogEvent(5, 7, "flush", "", 0, 30)]
    >>> [(s.lo, s.hi, s.now, s.ending) for s in time_slices(log, 1, 7, timed=False)]
    [(1, 7, 30, True)]
    >>> time_slices(log, 1, 7, timed=False) == time_slices(log[2:], 1, 7, timed=False)
    True
    >>> [(s.lo, s.hi, s.now, s.ending) for s in time_slices(log, 1, 7, timed=True)]
    [(1, 3, 10, False), (3, 5, 20, False), (5, 7, 30, True)]
    """
    each = [_time_slice(event, lo, hi, tables) for event in events]
    return tuple(each if timed else _joined(each, lo, hi)) or (TimeSlice(lo, hi, 0, lo),)


def _time_slice(event: LogEvent, lo: int, hi: int, tables: Collection[str]) -> TimeSlice:
    ending = event.kind == FLUSH and event.end <= hi
    load = event.input if event.kind == LOAD and event.input in tables else ""
    return TimeSlice(max(lo, event.base), min(hi, event.end), event.now, event.base, ending, load)


def _joined(each: Sequence[TimeSlice], lo: int, hi: int) -> Iterator[TimeSlice]:
    """The time slices up to each end of the streams or version of a table, and the one after the last."""
    begin, load = lo, ""
    for time_slice in each:
        if time_slice.load:
            if begin < time_slice.lo:
                yield TimeSlice(begin, time_slice.lo, 0, begin, load=load)
            begin, load = time_slice.lo, time_slice.load
        elif time_slice.ending:
            yield TimeSlice(begin, time_slice.hi, time_slice.now, time_slice.before, True, load)
            begin, load = time_slice.hi, ""
    if begin < hi:
        yield TimeSlice(begin, hi, 0, begin, load=load)
