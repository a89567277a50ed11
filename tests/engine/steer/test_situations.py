"""Situations: the columns that choices compare say the same as stages and goals made on demand."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from tests.engine.assembled import World, assembled, push

from australis.algebra.builder import NetworkBuilder
from australis.algebra.network import Network
from australis.algebra.order import Order
from australis.algebra.quality import Quality
from australis.engine.running import Running
from australis.engine.settings import NodeSettings
from australis.plan.superboxes import Discipline
from australis.policy.columns import Columns
from australis.policy.load import Situation
from australis.policy.schedule import Scheduling
from australis.policy.shed import DropBox, Insert

SETTINGS = NodeSettings(Discipline.BRANCH, schedule=Scheduling.STATE)
LATE = Quality(delay=((0, 1), (2, 1), (10, 0)), loss=((0, 0), (1, 1)))


def network() -> Network:
    """A shared filter, branches with all kinds of graphs, a union of two inputs, and a view."""
    net = NetworkBuilder("n")
    left, right = net.input("left", "k long, t long"), net.input("right", "k long, t long")
    some = left.filter("k >= 0", as_="some")
    some.output("plain")
    some.filter("k > 1", as_="urgent").output("urgent", LATE)
    counted = some.aggregate({"n": "count(*)"}, Order("t", group_by=("k",)), size=10, as_="count")
    counted.output("counts", Quality(delay=((1, 1), (3, 0)), weight=3, since="trigger"))
    left.union(right, as_="both").output("both", LATE)
    right.filter("k = 5", as_="viewed").view("view", importance=2.0, history=10)
    right.output("passed")
    return net.build()


def rows(*values: int) -> pa.Table:
    return pa.table({"k": pa.array(values, pa.int64()), "t": pa.array(values, pa.int64())})


def situation(running: Running, busy: tuple[str, ...] = (), held: tuple[str, ...] = ()) -> Situation:
    queues = running.ledger.queues
    waiting = running.dispatch.waiting(queues, running.state.due(queues))
    return running.steering.situation(queues, running.clock(), waiting, busy, held)


def check(found: Situation) -> None:
    """The columns of a situation are those of its stages and goals."""
    columns, made = found.columns, Columns.of(found.now, found.stages, found.goals, found.busy)
    for each in fields(Columns):
        if each.name != "layout":
            np.testing.assert_array_equal(getattr(columns, each.name), getattr(made, each.name), each.name)
    ours, theirs = columns.layout, made.layout
    assert (ours.stages, ours.goals, ours.feeders) == (theirs.stages, theirs.goals, theirs.feeders)
    np.testing.assert_array_equal(ours.ways.second, theirs.ways.second)
    np.testing.assert_array_equal(columns.nearest, made.nearest)
    np.testing.assert_array_equal(columns.patience_s, made.patience_s)


@pytest.mark.parametrize("trains", range(6))
def test_columns_say_the_same_as_stages_and_goals(tmp_path: Path, trains: int) -> None:
    world = World()
    with assembled(tmp_path, network(), world, SETTINGS) as running:
        running.loop.pause()
        check(situation(running))
        for step in range(3):
            world.now += 700_000
            push(running, "left", rows(1, 2, step))
            push(running, "right", rows(5, step))
        for _ in range(trains):
            world.now += 300_000
            assert running.loop.step() is not None
        running.steering.dropboxes.obey([Insert("urgent", DropBox.random(0.5))], world.now)
        found = situation(running, busy=("both",), held=("viewed",))
        check(found)
        assert found.columns.waiting.any() or trains == 5
        check(situation(running))


def test_only_what_is_looked_at_becomes_a_stage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with assembled(tmp_path, network(), World(), SETTINGS) as running:
        running.loop.pause()
        push(running, "left", rows(1, 2, 3))
        steering, made = running.steering, list[str]()
        make = steering._situations._stage

        def noting(moment, name):  # type: ignore[no-untyped-def]
            made.append(name)
            return make(moment, name)

        monkeypatch.setattr(steering._situations, "_stage", noting)
        queues = running.ledger.queues
        waiting = running.dispatch.waiting(queues, running.state.due(queues))
        choice = steering._choose(situation(running), 1_000)
        assert choice is not None
        assert set(made) <= {*choice.stages, *(f for s in choice.stages for f in _fed(running, s))}
        assert len(made) < len(queues.plan.superboxes)
        assert choice.stage in waiting


def _fed(running: Running, superbox: str) -> list[str]:
    plan = running.ledger.plan
    return [reader for arc in plan.superboxes[superbox].writes.values() for reader in plan.arcs[arc].readers]
