"""Questions change nothing: not the catalogue, and not the mirror."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.engine.ledger.held import contents, opened, segment

from australis.engine.deliver.consumers import next_cut
from australis.engine.deliver.fraction import delivered
from australis.engine.ingest.back_pressure import BackPressure
from australis.engine.ledger.counts.drops import drop_log
from australis.engine.ledger.counts.recent_counts import Recent, all_so_far, recent
from australis.engine.ledger.ledger import Ledger
from australis.engine.ledger.log import Head, LogEvent
from australis.engine.ledger.queues import load_queues
from australis.engine.ledger.retention import log_needed_from, query_begins_at, unneeded
from australis.engine.observe.quality import monitor
from australis.engine.observe.statistics import statistics_of
from australis.engine.run_state import RunState
from australis.plan.superboxes import Superbox

NOW = 10_000_000


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    """Some tuples went through, some wait; `some` stands where nothing behind it concerns it."""
    with opened(tmp_path) as ledger:
        pushed, counted = segment(ledger, "s", 1), segment(ledger, "some", 1)
        with ledger.change() as change:
            change.log(LogEvent(0, 4, "push", "s", 3, 5))
            change.log(LogEvent(4, 6, "flush", "", 0, 6))
            change.log(LogEvent(6, 7, "tick", "", 0, 7))
            change.add_segments([pushed, counted])
            change.set_head("some", Head(4, 1))
            change.set_consumer("me", "n", 2)
            change.note_train(("some", 0, 4, 3, 2, 1, 10, 20, 0))
        yield ledger


def look_and_read(ledger: Ledger) -> None:
    with ledger.snapshot(), ledger.reading():
        pass


def superboxes(ledger: Ledger) -> list[Superbox]:
    return list(ledger.plan.superboxes.values())


def about(ask: Callable[[Ledger, Superbox], object]) -> Callable[[Ledger], object]:
    """A question about each superbox."""
    return lambda ledger: [ask(ledger, each) for each in superboxes(ledger)]


QUESTIONS: dict[str, Callable[[Ledger], object]] = {
    "positions": lambda ledger: ledger.queues.positions,
    "reached": about(
        lambda ledger, each: ledger.queues.reached(each, ledger.queues.log_end, ledger.queues.positions)
    ),
    "end": about(lambda ledger, each: ledger.queues.end(each)),
    "arc_end": lambda ledger: [ledger.queues.arc_end(arc) for arc in ledger.plan.arcs],
    "waiting": about(lambda ledger, each: ledger.queues.waiting(each, 99)),
    "cut": about(lambda ledger, each: ledger.queues.cut(each, 99, 1)),
    "oldest": about(lambda ledger, each: ledger.queues.oldest(each)),
    "earliest": lambda ledger: [ledger.queues.earliest(arc) for arc in ledger.plan.arcs],
    "caught up": about(lambda ledger, each: ledger.queues.is_caught_up(each.id)),
    "load_queues": lambda ledger: load_queues(ledger.plan, ledger.catalog, {}),
    "unneeded": lambda ledger: unneeded(ledger.queues, ledger.plan.arcs, NOW),
    "log_needed_from": lambda ledger: log_needed_from(ledger.queues),
    "query_begins_at": lambda ledger: query_begins_at(ledger.queues, "past", NOW),
    "next_cut": lambda ledger: next_cut(ledger.queues, ledger.plan.outputs["n"], 0),
    "delivered": lambda ledger: delivered(ledger.catalog, ["some"], 0, 4),
    "statistics": lambda ledger: statistics_of(ledger.plan, ledger.queues, ledger.catalog, NOW),
    "monitor": lambda ledger: monitor(ledger.plan, ledger.queues, Recent(), NOW),
    "recent": lambda ledger: (recent(ledger.catalog, 0, 99), all_so_far(ledger.catalog)),
    "drop_log": lambda ledger: drop_log(ledger.catalog),
    "due": lambda ledger: RunState(ledger).due(ledger.queues),
    "places_within": lambda ledger: ledger.queues.places_within({"some": 2}),
    "is_idle": lambda ledger: RunState(ledger).is_idle(),
    "is_resting": lambda ledger: RunState(ledger).is_resting(),
    "check": lambda ledger: RunState(ledger).check(),
    "room": lambda ledger: BackPressure(10**9, ledger, RunState(ledger)).wait("s"),
    "look and read": look_and_read,
}


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_question_changes_nothing(ledger: Ledger, question: str) -> None:
    queues, rows, version = ledger.queues, contents(ledger), ledger.guard.version
    heads, changes = dict(queues.heads), ledger.catalog._db.total_changes
    QUESTIONS[question](ledger)
    QUESTIONS[question](ledger)
    assert ledger.catalog._db.total_changes == changes
    assert ledger.queues is queues
    assert queues.heads == heads
    assert contents(ledger) == rows
    assert ledger.guard.version == version


def test_where_a_superbox_stands_is_derived_and_not_written_down(ledger: Ledger) -> None:
    assert ledger.queues.positions == {"some": 7, "count": 0}
    assert (ledger.queues.heads["some"], ledger.catalog.head("some")) == (Head(4, 1), Head(4, 1))
