"""Whether trains run: what is due, what keeps a node from rest, and why nothing will happen."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from tests.engine.ledger.held import BOTH, opened, push

from australis.engine.ledger.ledger import Ledger
from australis.engine.ledger.log import FLUSH, Head, LogEvent
from australis.engine.run_state import RunState
from australis.errors import EngineError, Problem
from australis.plan.superboxes import Plan

BROKEN = EngineError(Problem("here", "is broken"))


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    """Three tuples wait for `some`; the log ends at 4."""
    with opened(tmp_path) as ledger:
        push(ledger, 3)
        yield ledger


@pytest.fixture
def state(ledger: Ledger) -> RunState:
    return RunState(ledger)


def due(ledger: Ledger, state: RunState) -> list[str]:
    return list(state.due(ledger.queues))


def drain(ledger: Ledger) -> None:
    """All superboxes have come to the end of the log."""
    with ledger.change() as change:
        for name in change.queues.plan.superboxes:
            change.set_head(name, Head(change.queues.log_end, 1))


def run(ledger: Ledger, made: Plan) -> None:
    with ledger.change() as change:
        change.run_plan(made)


# --- what is due


def test_what_has_tuples_is_due_and_what_waits_for_others_is_not(ledger: Ledger, state: RunState) -> None:
    assert due(ledger, state) == ["some"]
    drain(ledger)
    assert due(ledger, state) == []


def test_a_superbox_that_is_held_goes_so_far_and_no_further(ledger: Ledger, state: RunState) -> None:
    assert state.due(ledger.queues) == {"some": 4}
    state.held = {"some": 2}
    assert state.due(ledger.queues) == {"some": 2}, "a tuple is left up to there"
    with ledger.change() as change:
        change.set_head("some", Head(2, 1))
    assert due(ledger, state) == []
    state.held = {}
    assert due(ledger, state) == ["some"]


def test_nobody_waits_for_one_that_is_held_where_nothing_concerns_it(ledger: Ledger, state: RunState) -> None:
    """It stays at its head, since tuples come later, and what it leads to has to see an end before them."""
    with ledger.change() as change:
        change.set_head("some", Head(4, 1))
        change.log(LogEvent(4, 6, FLUSH, "", 0, 5))
        change.set_head("some", Head(6, 2))
    push(ledger, 3)
    assert due(ledger, state) == ["some", "count"]
    state.held = {"some": 6, "count": 6}
    assert state.due(ledger.queues) == {"count": 6}
    assert ledger.queues.places_within(state.held).positions == {"some": 6, "count": 0}


def test_one_that_has_not_begun_may_have_come_to_where_it_is_held(ledger: Ledger, state: RunState) -> None:
    """The tuples of another input came first."""
    with ledger.change() as change:
        change.drop_segments(change.queues.segments["s"])
    push(ledger, 3)
    state.held = {"some": 4, "count": 4}
    assert ledger.queues.positions == {"some": 0, "count": 0}
    assert ledger.queues.places_within(state.held).positions == {"some": 4, "count": 4}
    assert state.due(ledger.queues) == {}


def test_a_query_that_failed_stands_still_and_all_else_goes_on(ledger: Ledger, state: RunState) -> None:
    run(ledger, replace(BOTH, queries=("some",)))
    state.failed = {"some": BROKEN}
    assert due(ledger, state) == []
    state.failed = {"another": BROKEN}
    assert due(ledger, state) == ["some"]


# --- at rest


def test_a_node_is_idle_when_all_is_through_and_told(ledger: Ledger, state: RunState) -> None:
    assert not state.is_idle(), "tuples wait"
    drain(ledger)
    assert state.is_idle()


WAYS: dict[str, Callable[[RunState], None]] = {
    "a train runs": lambda state: state.busy.update(some=1),
    "somebody is held": lambda state: state.held.update(some=1),
    "a change is under way": lambda state: setattr(state, "changing", 1),
}


@pytest.mark.parametrize("way", WAYS)
def test_a_node_at_which_something_is_under_way_does_not_rest(
    ledger: Ledger, state: RunState, way: str
) -> None:
    drain(ledger)
    assert (state.is_idle(), state.is_resting()) == (True, True)
    WAYS[way](state)
    state.paused = True
    assert (state.is_idle(), state.is_resting()) == (False, False)


def test_a_train_that_nobody_was_told_of_keeps_a_node_from_being_idle(
    ledger: Ledger, state: RunState
) -> None:
    drain(ledger)
    state.unheard = 1
    assert (state.is_idle(), state.is_resting()) == (False, True)


@pytest.mark.parametrize("name", ["paused", "stopping"])
def test_a_node_that_starts_no_trains_rests_though_tuples_wait(state: RunState, name: str) -> None:
    assert not state.is_resting()
    setattr(state, name, True)
    assert (state.is_resting(), state.is_idle()) == (True, False)


def test_some_of_several_are_busy(state: RunState) -> None:
    state.busy = {"some": 1}
    assert state.is_busy(["count", "some"])
    assert not state.is_busy(["count"])


# --- what stands in the way


def test_an_error_stops_all_and_one_of_a_query_its_own(ledger: Ledger, state: RunState) -> None:
    run(ledger, replace(BOTH, queries=("count",)))
    state.check("count")
    state.failed = {"count": BROKEN}
    state.check("some")
    with pytest.raises(EngineError, match="is broken"):
        state.check("count")
    assert not state.is_halted
    state.failed, state.error = {}, BROKEN
    assert state.is_halted
    with pytest.raises(EngineError, match="is broken"):
        state.check("some")


def test_why_nothing_will_happen(state: RunState) -> None:
    state.check_going("n.s", "it rains")
    state.paused = True
    with pytest.raises(EngineError, match=r"^n\.s: is paused before it rains; expected resume\(\) first$"):
        state.check_going("n.s", "it rains")
    state.stopping = True
    with pytest.raises(EngineError, match=r"^n\.s: is stopped before it rains$"):
        state.check_going("n.s", "it rains")
    state.error = BROKEN
    with pytest.raises(EngineError, match="is broken"):
        state.check_going("n.s", "it rains")


def test_a_change_wakes_whoever_waits(ledger: Ledger, state: RunState) -> None:
    idle, told = threading.Event(), []

    def wait() -> None:
        state.wait_until(state.is_idle, "n", "it is idle")
        idle.set()
        with pytest.raises(EngineError) as caught:
            state.wait_until(lambda: False, "n", "it rains")
        told.append(str(caught.value))

    thread = threading.Thread(target=wait, daemon=True)
    thread.start()
    drain(ledger)
    assert idle.wait(60)
    state.stop()
    thread.join(60)
    assert told == ["n: is stopped before it rains"]


def test_a_train_that_has_ended_does_not_end_the_next_one(state: RunState) -> None:
    assert state.claim(["some"], 3, reader=1)
    state.release(["some"], reader=1)
    assert state.claim(["some"], 5, reader=2)
    state.release(["some"], reader=1)
    assert state.busy == {"some": 2}
