"""The loop over trains: one step at a time, or by its workers, until somebody pauses or stops it."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pyarrow as pa
import pytest
from tests.engine import in_process
from tests.engine.assembled import World, push, read
from tests.engine.ledger.held import check_mirror
from tests.engine.train.looping import BROKEN, SECONDS_MOST, ks, steps
from tests.waiting import until

from australis.engine.running import Running
from australis.engine.train import Train
from australis.engine.worker import Manifest, Waybill
from australis.errors import EngineError

# --- choosing


def test_a_step_is_one_train_and_none_when_nothing_waits(running: Running) -> None:
    assert running.loop.step() is None
    push(running, "s", ks(1, -1, 2))
    assert sorted(steps(running)) == ["q.asked", "same", "some"]
    assert read(running, "out") == [1, 2]
    check_mirror(running.ledger)


def test_a_train_says_what_it_did(running: Running) -> None:
    end = push(running, "s", ks(1, -1, 2))
    running.state.fail_query("q", BROKEN)
    train = running.loop.step()
    assert train is not None
    assert (train.superbox, train.lo, train.hi) == ("some", 0, end)
    assert (train.received, train.emitted, train.tasks) == (3, 2, 1)


def test_nothing_is_claimed_beyond_where_a_change_holds_it(running: Running) -> None:
    push(running, "s", ks(1, 2, 3))
    running.state.fail_query("q", BROKEN)
    running.state.hold({"some": 2})
    assert steps(running) == ["some", "same"]
    assert read(running, "out") == [1]


def test_a_loop_that_ends_starts_no_train(running: Running) -> None:
    push(running, "s", ks(1))
    running.loop.end()
    assert steps(running) == []
    assert running.state.busy == {}


# --- by workers


def test_workers_run_what_arrives_and_tell_of_it_before_a_drain_is_over(running: Running) -> None:
    heard: list[Train] = []
    running.loop.heard = heard.append
    running.loop.start()
    push(running, "s", ks(1, 2))
    running.loop.drain()
    assert {train.superbox for train in heard} == {"some", "same", "q.asked"}
    assert read(running, "out") == [1, 2]


def test_superboxes_that_do_not_wait_for_each_other_run_at_the_same_time(
    running: Running, world: World
) -> None:
    both = threading.Barrier(2, timeout=SECONDS_MOST)

    def run(waybill: Waybill) -> list[Manifest]:
        if waybill.superbox in ("some", "window"):
            both.wait()
        return in_process.run(waybill)

    world.run = run
    running.state.fail_query("q", BROKEN)
    push(running, "s", ks(1))
    push(running, "b", pa.table({"t": [1]}))
    running.loop.start()
    running.loop.drain()
    assert not both.broken


def test_a_paused_loop_runs_steps_only_until_it_resumes(running: Running, world: World) -> None:
    running.loop.start()
    running.loop.pause()
    for k in (1, 2, 3):
        asked = world.asked
        push(running, "s", ks(k))
        until(lambda asked=asked: world.asked > asked + 2)  # type: ignore[misc]
    with pytest.raises(EngineError, match="n: is paused before all tuples are processed"):
        running.loop.drain()
    assert world.waybills == []
    assert running.loop.step() is not None
    running.loop.resume()
    running.loop.drain()
    assert read(running, "out") == [1, 2, 3]


def test_a_pause_waits_for_the_trains_that_are_running(running: Running, world: World) -> None:
    began, may_end = threading.Event(), threading.Event()

    def run(waybill: Waybill) -> list[Manifest]:
        began.set()
        assert may_end.wait(SECONDS_MOST)
        return in_process.run(waybill)

    world.run = run
    running.loop.start()
    push(running, "s", ks(1))
    assert began.wait(SECONDS_MOST)
    with ThreadPoolExecutor() as pool:
        pause = pool.submit(running.loop.pause)
        until(lambda: running.state.paused)
        assert not pause.done()
        may_end.set()
        pause.result(SECONDS_MOST)
    assert running.state.busy == {}
