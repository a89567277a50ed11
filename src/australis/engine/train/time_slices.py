"""Time slices: how events of the log go through a superbox, with their local times where these matter."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import groupby

from australis.engine.ledger import FLUSH, LOAD, LogEvent
from australis.engine.worker import TimeSlice


def time_slices(
    events: Sequence[LogEvent], lo: int, hi: int, *, timed: bool, tables: Collection[str] = ()
) -> tuple[TimeSlice, ...]:
    """The time slices of the numbers from `lo` up to `hi`.

    If no box goes by local time, that changes nothing: only ends of streams and new versions of `tables`
    matter, and other events may be left out. Else a slice has the local times of its events, and the worker
    divides it where timeouts are due.

    >>> log = [LogEvent(0, 3, "push", "x", 2, 10), LogEvent(3, 5, "push", "x", 1, 20)]
    >>> log += [LogEvent(5, 7, "flush", "", 0, 30)]
    >>> [(s.lo, s.hi, s.now, s.ending) for s in time_slices(log, 1, 7, timed=False)]
    [(1, 7, 30, True)]
    >>> time_slices(log, 1, 7, timed=False) == time_slices(log[2:], 1, 7, timed=False)
    True
    >>> [(s.lo, s.hi, s.times.times.tolist(), s.ending) for s in time_slices(log, 1, 7, timed=True)]
    [(1, 5, [10, 20], False), (5, 7, [30], True)]
    """
    found = _timed(events, lo, hi, tables) if timed else _joined(events, lo, hi, tables)
    return tuple(found) or (TimeSlice(lo, hi, 0, lo),)


def _timed(events: Sequence[LogEvent], lo: int, hi: int, tables: Collection[str]) -> Iterator[TimeSlice]:
    """A slice for each end of the streams and version of a table, and for the events in between."""
    for matters, group in groupby(events, lambda event: _is_end(event, hi) or _is_load(event, tables)):
        found = list(group)
        if matters:
            yield from (_time_slice(event, lo, hi, tables) for event in found)
        else:
            ends = max(lo, found[0].base), min(hi, found[-1].end)
            yield TimeSlice.of_events(*ends, [event.base for event in found], [event.now for event in found])


def _is_end(event: LogEvent, hi: int) -> bool:
    return event.kind == FLUSH and event.end <= hi


def _is_load(event: LogEvent, tables: Collection[str]) -> bool:
    return event.kind == LOAD and event.input in tables


def _time_slice(event: LogEvent, lo: int, hi: int, tables: Collection[str]) -> TimeSlice:
    load = event.input if _is_load(event, tables) else ""
    return TimeSlice(max(lo, event.base), min(hi, event.end), event.now, event.base, _is_end(event, hi), load)


def _joined(events: Sequence[LogEvent], lo: int, hi: int, tables: Collection[str]) -> Iterator[TimeSlice]:
    """The time slices up to each end of the streams or version of a table, and the one after the last."""
    begin, load = lo, ""
    for time_slice in (_time_slice(event, lo, hi, tables) for event in events):
        if time_slice.load:
            if begin < time_slice.lo:
                yield TimeSlice(begin, time_slice.lo, 0, begin, load=load)
            begin, load = time_slice.lo, time_slice.load
        elif time_slice.ending:
            yield TimeSlice(begin, time_slice.hi, time_slice.now, time_slice.before, True, load)
            begin, load = time_slice.hi, ""
    if begin < hi:
        yield TimeSlice(begin, hi, 0, begin, load=load)
