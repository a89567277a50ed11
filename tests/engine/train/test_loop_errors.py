"""The loop over trains: an error stops all of them or those of a query, and time that passes starts some."""

from __future__ import annotations

import pyarrow as pa
import pytest
from tests.engine import in_process
from tests.engine.assembled import World, push, read
from tests.engine.ledger.held import check_mirror
from tests.engine.train.looping import BROKEN, failing, ks, network, steps
from tests.waiting import until

from australis.engine.running import Running
from australis.engine.worker import Manifest, TrainFailed, Waybill
from australis.errors import EngineError, Problem
from australis.plan.superboxes import Discipline, plan


def test_an_error_stops_all_trains_until_somebody_resumes(running: Running, world: World) -> None:
    world.run = failing("some", BROKEN)
    running.loop.start()
    push(running, "s", ks(1, 2))
    with pytest.raises(EngineError, match="disk: is broken"):
        running.loop.drain()
    push(running, "b", pa.table({"t": [1]}))
    assert running.ledger.queues.heads["some"].version == 0, "the train never happened"
    world.run = in_process.run
    running.loop.resume()
    running.loop.drain()
    assert read(running, "out") == [1, 2]
    check_mirror(running.ledger)


def test_an_error_that_nobody_foresaw_stops_the_trains_with_a_name(running: Running, world: World) -> None:
    world.run = failing("some", ZeroDivisionError("by zero"))
    running.loop.start()
    push(running, "s", ks(1))
    with pytest.raises(EngineError, match=r"^n: a train failed: ZeroDivisionError: by zero$") as caught:
        running.loop.drain()
    assert isinstance(caught.value.__cause__, ZeroDivisionError)


def test_a_train_that_its_runner_lost_is_run_again(running: Running, world: World) -> None:
    def lose_the_first(waybill: Waybill) -> list[Manifest]:
        if len(world.waybills) == 1:
            raise TrainFailed(Problem("some", "its process was lost"))
        return in_process.run(waybill)

    world.run = lose_the_first
    push(running, "s", ks(1, 2))
    assert sorted(steps(running)) == ["q.asked", "same", "some"]
    assert read(running, "out") == [1, 2]


def test_a_query_that_fails_stands_still_alone(running: Running, world: World) -> None:
    world.run = failing("q.asked", BROKEN)
    running.loop.start()
    push(running, "s", ks(1, 2))
    running.loop.drain()
    assert read(running, "out") == [1, 2]
    assert running.state.failed == {"q": BROKEN}
    with pytest.raises(EngineError, match="disk: is broken"):
        running.state.check("q.asked")
    world.run = in_process.run
    running.loop.resume()
    running.loop.drain()
    assert read(running, "q") == [2]


def test_a_superbox_that_was_replaced_while_its_train_ran_does_not_move(
    running: Running, world: World
) -> None:
    def replace_it(waybill: Waybill) -> list[Manifest]:
        found = in_process.run(waybill)
        running.ledger.load_plan(plan(network(least=1), Discipline.TRAIN))
        return found

    running.state.fail_query("q", BROKEN)
    push(running, "s", ks(1))
    world.run = replace_it
    assert running.loop.step() is None
    assert (running.state.busy, running.state.error) == ({}, None)
    assert running.ledger.catalog.head("some").version == 0


# --- time


def test_a_window_closes_when_its_timeout_is_due(running: Running, world: World) -> None:
    running.loop.start()
    push(running, "b", pa.table({"t": [1]}))
    running.loop.drain()
    due = running.ledger.queues.heads["window"].deadline
    assert due is not None
    assert read(running, "counts", "n") == []
    world.now = due
    with running.ledger.guard:
        running.ledger.guard.notify()
    until(lambda: read(running, "counts", "n") == [1])
    running.loop.drain()
    assert read(running, "counts", "n") == [1]


def test_no_time_passes_in_a_log_while_trains_are_paused(running: Running, world: World) -> None:
    push(running, "b", pa.table({"t": [1]}))
    steps(running)
    end = running.ledger.queues.log_end
    running.state.pause()
    world.now += 60_000_000
    asked = world.asked
    running.loop.start()
    until(lambda: world.asked > asked)
    running.loop.end()
    running.loop.stop()
    assert running.ledger.queues.log_end == end
