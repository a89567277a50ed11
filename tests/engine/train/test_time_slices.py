"""Moments: how the log goes through a superbox: each number once, an end with the last of its numbers."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from australis.engine.ledger.log import LogEvent
from australis.engine.train.time_slices import time_slices
from australis.engine.worker import TimeSlice

KINDS = st.sampled_from(["push", "push", "tick", "flush"])


@st.composite
def logs(draw: st.DrawFn) -> list[LogEvent]:
    events: list[LogEvent] = []
    base = now = 0
    for kind in draw(st.lists(KINDS, min_size=1, max_size=8)):
        rows = draw(st.integers(0, 4)) if kind == "push" else 0
        end = base + (2 if kind == "flush" else 1 + rows)
        now += draw(st.integers(0, 3))
        events.append(LogEvent(base, end, kind, "s", rows, now))
        base = end
    return events


@given(logs(), st.booleans(), st.data())
def test_moments_cover_the_numbers_once(events: list[LogEvent], timed: bool, data: st.DataObject) -> None:
    end = events[-1].end
    lo = data.draw(st.integers(0, end - 1))
    hi = data.draw(st.integers(lo + 1, end))
    within = [event for event in events if event.base < hi and event.end > lo]
    found = time_slices(within, lo, hi, timed=timed)
    assert [number for each in found for number in range(each.lo, each.hi)] == list(range(lo, hi))
    ends = [each.hi for each in found if each.ending]
    assert ends == [event.end for event in within if event.kind == "flush" and event.end <= hi]
    if timed:
        assert [time for each in found for time in each.times.times] == [event.now for event in within]


@given(logs(), st.data())
def test_a_slice_is_divided_between_events(events: list[LogEvent], data: st.DataObject) -> None:
    pushed = [event for event in events if event.kind != "flush"]
    if not pushed:
        return
    whole = TimeSlice.of_events(
        pushed[0].base, pushed[-1].end, [each.base for each in pushed], [each.now for each in pushed]
    )
    time = data.draw(st.integers(0, pushed[-1].now + 2))
    first, rest = whole.divided(time)
    before = max(1, sum(each.now < time for each in pushed))
    parts = [first] if rest is None else [first, rest]
    assert [len(part.times.times) for part in parts] == [n for n in (before, len(pushed) - before) if n]
    assert [(part.now, part.before) for part in parts[1:]] == [(e.now, e.base) for e in pushed[before:]][:1]
    assert (first.lo, parts[-1].hi) == (whole.lo, whole.hi)
    assert rest is None or first.hi == rest.lo == rest.before


def test_the_end_belongs_to_the_train_that_has_its_last_number() -> None:
    flush = [LogEvent(4, 6, "flush", "", 0, 9)]
    assert [each.ending for each in time_slices(flush, 4, 5, timed=True)] == [False]
    (last,) = time_slices(flush, 5, 6, timed=True)
    assert (last.ending, last.before) == (True, 4)


def test_without_events_there_is_a_moment() -> None:
    (only,) = time_slices([], 3, 8, timed=False)
    assert (only.lo, only.hi, only.ending) == (3, 8, False)
