"""A train is tried again where its runner failed, and nowhere else."""

from __future__ import annotations

import pytest

from australis.engine.train.attempts import TRIES, attempt
from australis.engine.worker.waybill import TrainFailed
from australis.errors import EngineError, Problem


class Trains:
    """A train that fails some times before it succeeds."""

    def __init__(self, *errors: Exception) -> None:
        self._errors, self.tries = list(errors), 0

    def run(self) -> str:
        self.tries += 1
        if self._errors:
            raise self._errors.pop(0)
        return "done"


def lost(number: int) -> TrainFailed:
    return TrainFailed(Problem("box", f"its executor {number} was lost"))


def test_a_train_that_succeeds_is_run_once() -> None:
    trains = Trains()
    assert attempt(trains.run, lambda: False) == "done"
    assert trains.tries == 1


def test_a_train_whose_runner_failed_is_tried_again(caplog: pytest.LogCaptureFixture) -> None:
    trains = Trains(*map(lost, range(TRIES - 1)))
    assert attempt(trains.run, lambda: False) == "done"
    assert trains.tries == TRIES
    assert caplog.text.count("a train failed and is tried again") == TRIES - 1


def test_in_the_end_the_last_failure_is_told() -> None:
    trains = Trains(*map(lost, range(TRIES)))
    with pytest.raises(TrainFailed, match=f"its executor {TRIES - 1} was lost"):
        attempt(trains.run, lambda: False)
    assert trains.tries == TRIES


@pytest.mark.parametrize("error", [EngineError(Problem("box", "is damaged")), ZeroDivisionError()])
def test_what_no_retry_would_mend_is_told_at_once(error: Exception) -> None:
    trains = Trains(error)
    with pytest.raises(type(error)):
        attempt(trains.run, lambda: False)
    assert trains.tries == 1


def test_a_node_that_is_stopping_tries_nothing_again() -> None:
    trains = Trains(*map(lost, range(TRIES)))
    with pytest.raises(TrainFailed, match="its executor 0 was lost"):
        attempt(trains.run, lambda: True)
    assert trains.tries == 1
