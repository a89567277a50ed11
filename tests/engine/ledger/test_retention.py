"""Retention: tuples stay for superboxes, consumers and history, and for nobody else."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from tests.engine.ledger.held import MemoryHome, opened, segment

from australis.algebra.builder import NetworkBuilder
from australis.algebra.network import Network
from australis.engine.ledger import ALL, PUSH, Head, Ledger, LogEvent
from australis.engine.ledger.retention import (
    history_from,
    log_needed_from,
    needed_from,
    query_begins_at,
    unneeded,
    waits_for,
)
from australis.engine.store import run_name
from australis.plan.superboxes import Discipline, plan

SECOND = 1_000_000


def network(
    history: str | int | None = None, importance: float | None = None, schema: str = "k long"
) -> Network:
    """A connection point, an output after it, and a view beside that."""
    net = NetworkBuilder("n")
    stream = net.input("s", schema).point("past", history=history)
    stream.filter("k > 0", as_="some").output("out")
    if importance is not None:
        stream.map({"k": "k"}, as_="seen").view("view", importance=importance)
    return net.build()


def run(ledger: Ledger, made: Network) -> Ledger:
    ledger.load_plan(plan(made, Discipline.TRAIN))
    return ledger


def stand(ledger: Ledger, **heads: int) -> None:
    with ledger.change() as change:
        for name, seq in heads.items():
            change.set_head(name, Head(seq, 1))


def gather(ledger: Ledger, base: int, end: int, rows: int) -> None:
    """Replace the segments of some numbers by a run."""
    loose = [each for each in ledger.queues.segments["s"] if base <= each.base and each.end <= end]
    made = replace(loose[0], name=run_name(ledger.root, "past", base, end), base=base, end=end, rows=rows)
    with ledger.change() as change:
        change.drop_segments(loose)
        change.add_segments([made])


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    """Three segments of three tuples, 1 to 3, 5 to 7 and 9 to 11, which came at 10 s, 20 s and 30 s."""
    with opened(tmp_path, MemoryHome(), plan(network(), Discipline.TRAIN)) as ledger:
        for base, seconds in ((0, 10), (4, 20), (8, 30)):
            made = replace(segment(ledger, "s", base + 1), newest=seconds * SECOND)
            with ledger.change() as change:
                change.log(LogEvent(base, made.end, PUSH, "s", 3, made.newest))
                change.add_segments([made])
        yield ledger


def dropped(ledger: Ledger, arc: str = "s", now: int = 30 * SECOND) -> list[int]:
    """The first numbers of the segments that nobody needs."""
    return [each.base for each in unneeded(ledger.queues, [arc], now)]


def test_tuples_stay_until_every_superbox_has_taken_them(ledger: Ledger) -> None:
    assert dropped(ledger) == []
    stand(ledger, some=7)
    assert dropped(ledger) == [1], "the second segment has a tuple left"
    stand(ledger, some=12)
    assert dropped(ledger) == [1, 5, 9]


def test_an_output_keeps_all_for_its_slowest_consumer(ledger: Ledger) -> None:
    arc = ledger.plan.arcs["some"]
    stand(ledger, some=12)
    assert needed_from(ledger.queues, arc, 0) == 0, "nobody has read so far"
    for consumer, seq in (("fast", 11), ("slow", 4)):
        with ledger.change() as change:
            change.set_consumer(consumer, "out", seq)
    assert needed_from(ledger.queues, arc, 0) == 4


@pytest.mark.parametrize(
    ("history", "first"), [("forever", 0), (6, 5), (4, 5), (3, 9), (9, 1), (10, 0), ("10 s", 5), ("1 s", 9)]
)
def test_history_keeps_what_everybody_has_taken(ledger: Ledger, history: str | int, first: int) -> None:
    run(ledger, network(history))
    stand(ledger, some=12)
    assert history_from(ledger.queues, "s", history, 30 * SECOND) == first
    assert dropped(ledger) == [base for base in (1, 5, 9) if base + 3 <= first]


def test_history_does_not_count_tuples_that_may_yet_be_rejected(ledger: Ledger) -> None:
    run(ledger, network(3, schema="k long not null"))
    stand(ledger, some=12)
    assert dropped(ledger) == [], "the last three that were logged may all be NULL"
    gather(ledger, base=5, end=12, rows=4)
    assert dropped(ledger) == [1], "a run has no tuples to reject"


def test_history_that_is_over_keeps_nothing(ledger: Ledger) -> None:
    run(ledger, network("1 s"))
    stand(ledger, some=12)
    assert history_from(ledger.queues, "s", "1 s", 99 * SECOND) == ALL
    assert dropped(ledger, now=99 * SECOND) == [1, 5, 9]


@pytest.mark.parametrize(("history", "waits"), [(None, True), ("forever", False)])
def test_a_view_makes_do_with_history(ledger: Ledger, history: str | None, waits: bool) -> None:
    run(ledger, network(history, importance=1.0))
    stand(ledger, some=12)
    arc = ledger.plan.arcs["s"]
    assert waits_for(ledger.queues, arc, "seen") is waits
    assert waits_for(ledger.queues, arc, "some")
    run(ledger, network(history, importance=0))
    assert not waits_for(ledger.queues, arc, "seen"), "nobody wants it computed"


def test_the_log_is_needed_by_superboxes_and_by_what_begins_with_history(ledger: Ledger) -> None:
    stand(ledger, some=8)
    assert log_needed_from(ledger.queues) == 8
    run(ledger, network("forever"))
    assert log_needed_from(ledger.queues) == 1


@pytest.mark.parametrize(("history", "first"), [(None, 12), ("forever", 1), (3, 9), ("10 s", 5), ("1 s", 9)])
def test_a_query_begins_with_what_its_point_keeps(
    ledger: Ledger, history: str | int | None, first: int
) -> None:
    run(ledger, network(history))
    assert query_begins_at(ledger.queues, "past", 30 * SECOND) == first
