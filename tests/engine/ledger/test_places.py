"""Places after a commit are found from those before it: the same as if all were found anew."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.engine.ledger.held import opened, push
from tests.plan.random_points import random_points

from australis.algebra.builder import NetworkBuilder
from australis.engine.ledger.ledger import Ledger
from australis.engine.ledger.log import FLUSH, LOAD, PUSH, TICK, Head, LogEvent
from australis.engine.ledger.places import Memory, all_places
from australis.engine.ledger.queues import Queues
from australis.engine.store.segments import Segment
from australis.plan.superboxes import Discipline, Plan, Superbox, plan


@dataclass
class EventLog:
    """A log in memory."""

    events: list[LogEvent] = field(default_factory=list)
    marks: list[tuple[str, int]] = field(default_factory=list)

    def flushes(self, lo: int, hi: int) -> list[LogEvent]:
        return [
            each for each in self.events if each.kind == FLUSH and lo - 1 <= each.base < hi and each.end > lo
        ]

    def loads(self, lo: int, hi: int) -> list[LogEvent]:
        return [each for each in self.events if each.kind == LOAD and lo <= each.base < hi]

    def latest(self, lo: int, hi: int) -> int:
        return max((each.now for each in self.events if each.base < hi and each.end > lo), default=0)

    def has_marks(self, maker: str, lo: int, hi: int) -> bool:
        return any(name == maker and lo <= base < hi for name, base in self.marks)


def starting(made: Plan, log: EventLog) -> Queues:
    """The queues of a plan on which nothing has happened."""
    heads = {name: Head(awaits_marks=each.goes_by_progress) for name, each in made.superboxes.items()}
    segments: dict[str, tuple[Segment, ...]] = dict.fromkeys(made.arcs, ())
    return Queues(made, log, 0, 0, heads, segments, {}, 0, memory=Memory())


def after_something(random: Random, queues: Queues, log: EventLog) -> Queues:
    """The queues after a commit: of tuples, of time, of the end of all streams, or of a train."""
    return random.choice([_arrival, _event, _train, _train, _forgotten])(random, queues, log)


def _arrival(random: Random, queues: Queues, log: EventLog) -> Queues:
    name, base, rows = random.choice(list(queues.plan.network.inputs)), queues.log_end, random.randint(1, 4)
    log.events.append(LogEvent(base, base + 1 + rows, PUSH, name, rows, base))
    log.marks += [(name, base)] if random.random() < 0.5 else []
    return replace(_with(queues, name, base + 1, base + 1 + rows), log_end=base + 1 + rows)


def _event(random: Random, queues: Queues, log: EventLog) -> Queues:
    kind, base = random.choice([TICK, FLUSH, LOAD]), queues.log_end
    end = base + (2 if kind == FLUSH else 1)
    log.events.append(LogEvent(base, end, kind, random.choice(list(queues.plan.network.inputs)), 0, base))
    return replace(queues, log_end=end)


def _train(random: Random, queues: Queues, log: EventLog) -> Queues:
    """A train of a superbox that may run, to somewhere, which emits something or nothing."""
    places = queues.places
    due = [name for name, end in places.ends.items() if places.positions[name] < end]
    if not due:
        return queues
    name = random.choice(due)
    begin, end = places.positions[name], random.randint(places.positions[name] + 1, places.ends[name])
    deadline = random.choice([None, None, end + 1])
    head = Head(end, queues.heads[name].version + 1, deadline, queues.heads[name].awaits_marks)
    queues = replace(queues, heads={**queues.heads, name: head})
    for arc in queues.plan.superboxes[name].writes.values():
        queues = _with(queues, arc, begin, end) if random.random() < 0.6 else queues
    return queues


def _forgotten(random: Random, queues: Queues, log: EventLog) -> Queues:
    """What all readers of an arc have read is deleted; views do not count."""
    arc = random.choice(list(queues.plan.arcs))
    readers = [each for each in queues.plan.arcs[arc].readers if each not in queues.plan.views]
    least = min((queues.positions[each] for each in readers), default=queues.log_end)
    kept = tuple(each for each in queues.segments[arc] if each.end > least)
    return replace(queues, segments={**queues.segments, arc: kept})


def _with(queues: Queues, arc: str, base: int, end: int) -> Queues:
    segment = Segment(arc, f"{arc}{base}", base, end, end - base, 1, 1, newest=base)
    return replace(queues, segments={**queues.segments, arc: (*queues.segments[arc], segment)})


@given(st.randoms(use_true_random=False), st.sampled_from(list(Discipline)))
def test_places_are_those_that_would_be_found_anew(random: Random, discipline: Discipline) -> None:
    log = EventLog()
    queues = starting(plan(random_points(random), discipline), log)
    for _ in range(25):
        queues = after_something(random, queues, log)
        if random.random() < 0.8:
            anew = all_places(replace(queues, memory=None))
            assert dict(queues.places.positions) == anew.positions
            assert dict(queues.places.ends) == anew.ends
            assert list(queues.positions) == list(queues.plan.superboxes)


def fan(readers: int) -> Plan:
    net = NetworkBuilder("fan")
    stream = net.input("s", "k long")
    for number in range(readers):
        first = stream.filter(f"k > {number}", as_=f"f{number}")
        first.map({"k": "k + 1"}, as_=f"m{number}").output(f"o{number}")
    return plan(net.build(), Discipline.TRAIN)


def test_after_a_train_only_what_reads_from_it_is_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    log = EventLog()
    random, queues = Random(1), starting(fan(50), log)
    queues = _arrival(random, queues, log)
    assert set(queues.positions.values()) == {0}
    looked: list[str] = []
    reached = Queues.reached

    def noting(queues: Queues, superbox: Superbox, end: int, positions: Mapping[str, int]) -> int:
        looked.append(superbox.id)
        return reached(queues, superbox, end, positions)

    monkeypatch.setattr(Queues, "reached", noting)
    queues = replace(queues, heads={**queues.heads, "f7": Head(queues.log_end, 1)})
    assert queues.positions["f7"] == queues.positions["m7"] == queues.log_end
    assert looked == ["f7", "m7"]


def _fail_after_tick(ledger: Ledger, end: int) -> None:
    with ledger.change() as change:
        change.log(LogEvent(end, end + 2, TICK, "", 0, 9))
        assert change.queues.positions["count"] == end + 2
        raise RuntimeError


def test_a_change_that_is_not_committed_is_not_remembered(tmp_path: Path) -> None:
    """It may have logged an end of all streams at a number that something else gets afterwards."""
    with opened(tmp_path) as ledger:
        push(ledger, 3)
        with ledger.change() as change:
            for name in ledger.plan.superboxes:
                change.set_head(name, Head(ledger.queues.log_end, 1))
        before = dict(ledger.queues.positions)
        end = ledger.queues.log_end
        with pytest.raises(RuntimeError):
            _fail_after_tick(ledger, end)
        assert ledger.queues.positions == before
        with ledger.change() as change:
            change.log(LogEvent(end, end + 2, FLUSH, "", 0, 9))
        assert ledger.queues.positions["count"] == end
