"""Trains that are too much: tried with fewer numbers, down to one, whose tuples are set aside at last."""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa
import pytest
from tests.engine import in_process
from tests.engine.assembled import World, push, read
from tests.engine.ledger.held import check_mirror
from tests.engine.train.looping import failing, ks, steps

from australis.engine.observe import statistics_of
from australis.engine.running import Running
from australis.engine.train.cuts import KEPT_TRAINS, SHARE
from australis.engine.worker import Manifest, Overran, RunTrain, TaskFault, TooLarge, TrainFailed, Waybill
from australis.errors import EngineError, Problem

Failure = Callable[[Problem], EngineError]


def sizes(world: World, superbox: str = "some") -> list[int]:
    """The numbers that each train of a superbox had that was tried."""
    slices = [each.time_slices for each in world.waybills if each.superbox == superbox]
    return [found[-1].hi - found[0].lo for found in slices]


def too_much(most: int, failure: Failure, superbox: str = "some") -> RunTrain:
    """A runner on which trains of a superbox fail that have more than so many tuples."""

    def run(waybill: Waybill) -> list[Manifest]:
        found = in_process.run(waybill)
        if waybill.superbox == superbox and sum(each.received for each in found) > most:
            raise failure(Problem(superbox, "is too much"))
        return found

    return run


def stuck_at(number: int, failure: Failure, superbox: str = "some") -> RunTrain:
    """A runner on which trains of a superbox fail that take the tuple of a number."""

    def run(waybill: Waybill) -> list[Manifest]:
        lo, hi = waybill.time_slices[0].lo, waybill.time_slices[-1].hi
        if waybill.superbox == superbox and lo <= number < hi and not waybill.set_aside:
            raise failure(Problem(superbox, "takes too long"))
        return in_process.run(waybill)

    return run


@pytest.mark.parametrize("failure", [TooLarge, Overran, TaskFault])
def test_what_is_too_much_at_once_goes_through_in_pieces(
    running: Running, world: World, failure: Failure
) -> None:
    world.run = too_much(20, failure)
    push(running, "s", ks(*range(100)))
    steps(running)
    assert read(running, "out") == list(range(100))
    assert read(running, "quarantine", "path") == []
    tried = sizes(world)
    assert tried[0] == 101, "numbers of a push: its own, and those of its tuples"
    assert max(tried[-3:]) <= 101 // SHARE + 1
    check_mirror(running.ledger)


@pytest.mark.parametrize("failure", [Overran, TaskFault])
@pytest.mark.parametrize("superbox", ["some", "same"])
def test_the_tuple_that_always_fails_is_set_aside(
    running: Running, world: World, failure: Failure, superbox: str
) -> None:
    world.run = stuck_at(42, failure, superbox)
    push(running, "s", ks(*range(100)))
    steps(running)
    assert read(running, "out") == [k for k in range(100) if k != 41]
    assert read(running, "quarantine", "path") == [f"n.{superbox}"]
    assert read(running, "quarantine", "reason") == ["takes too long"]
    assert read(running, "quarantine", "tuple") == ['{"k": 41}']
    with running.ledger.snapshot() as (queues, catalog):
        boxes = statistics_of(queues.plan, queues, catalog, world.now).boxes
    assert (boxes[superbox].received, boxes[superbox].rejected) == (100, 1)
    check_mirror(running.ledger)


def test_nothing_is_set_aside_for_a_worker_that_is_lost(running: Running, world: World) -> None:
    world.run = stuck_at(42, TooLarge)
    push(running, "s", ks(*range(100)))
    with pytest.raises(TooLarge, match="takes too long"):
        steps(running)
    assert read(running, "quarantine", "path") == []
    world.run = in_process.run
    running.loop.resume()
    steps(running)
    assert read(running, "out") == list(range(100))


def test_what_fails_without_its_tuples_stops_the_node(running: Running, world: World) -> None:
    world.run = failing("some", Overran(Problem("some", "takes too long")))
    push(running, "s", ks(1, 2))
    with pytest.raises(Overran, match="takes too long"):
        steps(running)
    assert world.waybills[-1].set_aside == "takes too long"
    assert running.ledger.queues.heads["some"].version == 0


def test_a_failure_that_size_does_not_explain_is_not_cut(running: Running, world: World) -> None:
    world.run = too_much(20, TrainFailed)
    push(running, "s", ks(*range(100)))
    with pytest.raises(TrainFailed, match="is too much"):
        steps(running)
    assert sizes(world) == [101, 101, 101]


def test_what_was_learnt_is_kept_for_a_while_and_then_forgotten(running: Running, world: World) -> None:
    world.run = too_much(20, Overran)
    push(running, "s", ks(*range(100)))
    steps(running)
    world.waybills.clear()
    for _ in range(KEPT_TRAINS + 60):
        push(running, "s", ks(*range(40)))
        world.run = too_much(20, Overran)
        steps(running)
    tried = sizes(world)
    assert max(tried) <= 41
    assert len(tried) < 3 * 41 * 80, "trains grow again"
    assert read(running, "quarantine", "path") == []


def test_a_query_that_is_too_slow_fails_alone(running: Running, world: World) -> None:
    world.run = too_much(0, Overran, "q.asked")
    running.loop.start()
    push(running, "s", ks(1, 2))
    running.loop.drain()
    assert read(running, "out") == [1, 2]
    with pytest.raises(Overran, match="is too much"):
        running.state.check("q.asked")
    assert sizes(world, "q.asked") == [3], "it is not tried again"


def test_tuples_without_a_time_limit_know_none(running: Running, world: World) -> None:
    push(running, "s", pa.table({"k": [1]}))
    steps(running)
    assert {each.limit_s for each in world.waybills} == {None}
