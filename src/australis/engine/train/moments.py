"""Moments: how the events of the log go through a superbox, each local time by itself where time matters."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from australis.engine.ledger import FLUSH, LOAD, LogEvent
from australis.engine.worker import Moment


def moments(
    events: Sequence[LogEvent], lo: int, hi: int, *, timed: bool, tables: Collection[str] = ()
) -> tuple[Moment, ...]:
    """The moments of the numbers from `lo` up to `hi`.

    Where no box has a timeout, local time changes nothing, and only the ends of the streams matter, and where
    there is a new version of one of the `tables`: it is no matter whether there are other events.

    >>> log = [LogEvent(0, 3, "push", "x", 2, 10), LogEvent(3, 5, "push", "x", 1, 20)]
    >>> log += [LogEvent(5, 7, "flush", "", 0, 30)]
    >>> [(m.lo, m.hi, m.now, m.ending) for m in moments(log, 1, 7, timed=False)]
    [(1, 7, 30, True)]
    >>> moments(log, 1, 7, timed=False) == moments(log[2:], 1, 7, timed=False)
    True
    >>> [(m.lo, m.hi, m.now, m.ending) for m in moments(log, 1, 7, timed=True)]
    [(1, 3, 10, False), (3, 5, 20, False), (5, 7, 30, True)]
    """
    each = [_moment(event, lo, hi, tables) for event in events]
    return tuple(each if timed else _joined(each, lo, hi)) or (Moment(lo, hi, 0, lo),)


def _moment(event: LogEvent, lo: int, hi: int, tables: Collection[str]) -> Moment:
    ending = event.kind == FLUSH and event.end <= hi
    load = event.input if event.kind == LOAD and event.input in tables else ""
    return Moment(max(lo, event.base), min(hi, event.end), event.now, event.base, ending, load)


def _joined(each: Sequence[Moment], lo: int, hi: int) -> Iterator[Moment]:
    """The moments up to each end of the streams or version of a table, and the one behind the last."""
    begin, load = lo, ""
    for moment in each:
        if moment.load:
            if begin < moment.lo:
                yield Moment(begin, moment.lo, 0, begin, load=load)
            begin, load = moment.lo, moment.load
        elif moment.ending:
            yield Moment(begin, moment.hi, moment.now, moment.before, True, load)
            begin, load = moment.hi, ""
    if begin < hi:
        yield Moment(begin, hi, 0, begin, load=load)
