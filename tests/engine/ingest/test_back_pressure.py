"""Back-pressure: who pushes waits while the budget is used up, and hears of it where that is in vain."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.engine.ledger.held import opened, push

from australis.engine.ingest.back_pressure import BackPressure
from australis.engine.ledger.ledger import Ledger
from australis.engine.ledger.log import Head
from australis.engine.run_state import RunState
from australis.errors import EngineError

USED = 30


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    """Thirty bytes on an input that a train could read."""
    with opened(tmp_path) as ledger:
        push(ledger, USED)
        yield ledger


@pytest.fixture
def state(ledger: Ledger) -> RunState:
    return RunState(ledger)


class Pusher:
    """Somebody who waits for room, in a thread."""

    def __init__(self, pressure: BackPressure) -> None:
        self.error = ""
        self._pressure = pressure
        self._thread = threading.Thread(target=self._push, daemon=True)
        self._thread.start()

    def _push(self) -> None:
        try:
            self._pressure.wait("n.s")
        except EngineError as error:
            self.error = str(error)

    def has_ended(self) -> bool:
        self._thread.join(60)
        return not self._thread.is_alive()


def waiting(ledger: Ledger, pressure: BackPressure) -> Pusher:
    """Somebody who waits by now."""
    pusher = Pusher(pressure)
    ledger.guard.wait_until(lambda: pressure.waiting == 1)
    return pusher


def read_all(ledger: Ledger, *, drop: bool = True) -> None:
    """The trains have taken all, and what they read is gone."""
    with ledger.change() as change:
        for name in change.queues.plan.superboxes:
            change.set_head(name, Head(change.queues.log_end, 1))
        if drop:
            change.drop_segments(change.queues.segments["s"])


@pytest.mark.parametrize("most", [None, USED + 1])
def test_there_is_room_below_the_budget_and_without_one(
    ledger: Ledger, state: RunState, most: int | None
) -> None:
    pressure = BackPressure(most, ledger, state)
    pressure.wait("n.s")
    assert pressure.waiting == 0


def test_who_waits_goes_on_when_trains_have_made_room(ledger: Ledger, state: RunState) -> None:
    pressure = BackPressure(USED, ledger, state)
    pusher = waiting(ledger, pressure)
    read_all(ledger)
    assert pusher.has_ended()
    assert (pusher.error, pressure.waiting) == ("", 0)


def test_a_consumer_that_could_read_may_make_room(ledger: Ledger, state: RunState) -> None:
    pressure = BackPressure(USED, ledger, state)
    with ledger.change() as change:
        change.set_consumer("me", "n", 2)
    read_all(ledger, drop=False)
    pusher = waiting(ledger, pressure)
    with ledger.change() as change:
        change.set_consumer("me", "n", 5)
        change.drop_segments(change.queues.segments["s"])
    assert pusher.has_ended()
    assert pusher.error == ""


def test_where_nothing_will_make_room_that_is_said(ledger: Ledger, state: RunState) -> None:
    read_all(ledger, drop=False)
    pressure = BackPressure(USED, ledger, state)
    told = (
        rf"n\.s: disk budget exhausted: {USED} bytes are used of a budget of {USED}, "
        r"and nothing is left to run; what some, n keep cannot be freed; expected a consumer of what is kept"
    )
    with pytest.raises(EngineError, match=told):
        pressure.wait("n.s")
    assert pressure.waiting == 0


@pytest.mark.parametrize("word", ["paused", "stopped"])
def test_who_waits_hears_that_no_train_will_run(ledger: Ledger, state: RunState, word: str) -> None:
    pressure = BackPressure(USED, ledger, state)
    pusher = waiting(ledger, pressure)
    {"paused": state.pause, "stopped": state.stop}[word]()
    assert pusher.has_ended()
    assert pusher.error.startswith(f"n.s: is {word} before there is disk space: {USED} bytes are used")
    assert pressure.waiting == 0
