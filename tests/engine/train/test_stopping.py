"""A node that stops at once, and a train that fails: who is told what, and when."""

from __future__ import annotations

import threading
from pathlib import Path

import pyarrow as pa
import pytest
from tests.engine.in_process import InProcess, run

from australis import Node
from australis.algebra.builder import NetworkBuilder
from australis.algebra.network import Network
from australis.engine.store.root import Root
from australis.engine.worker.waybill import Manifest, RunTrain, TrainFailed, Waybill
from australis.errors import EngineError, Problem
from australis.plan.superboxes import Plan

SECONDS_MOST = 60


class Stubborn(InProcess):
    """Its train begins after trains were given up for the first times, so only a later time ends it."""

    def __init__(self) -> None:
        self.began, self.is_given_up = threading.Event(), threading.Event()
        self.abandoned = 0

    def prepare(self, root: Root, plan: Plan) -> RunTrain:
        return self._run

    def abandon(self, root: Root) -> None:
        self.abandoned += 1
        if self.abandoned > 4:
            self.is_given_up.set()

    def _run(self, waybill: Waybill) -> list[Manifest]:
        self.began.set()
        assert self.is_given_up.wait(SECONDS_MOST)
        raise TrainFailed(Problem("train", "was given up"))


class Failing(InProcess):
    """Fails the trains of ad hoc queries."""

    def prepare(self, root: Root, plan: Plan) -> RunTrain:
        return self._run

    def _run(self, waybill: Waybill) -> list[Manifest]:
        if waybill.superbox.startswith("asked."):
            raise EngineError(Problem(waybill.superbox, "cannot be computed"))
        return run(waybill)


def network() -> Network:
    net = NetworkBuilder("n")
    net.input("s", "k long").point("past", history=10).filter("k >= 0", as_="some").output("out")
    return net.build()


def query() -> Network:
    net = NetworkBuilder("q")
    net.input("past", "k long").filter("k > 1", as_="high").output("high")
    return net.build()


def test_a_train_that_begins_just_after_the_others_were_given_up_is_given_up_too(tmp_path: Path) -> None:
    runner = Stubborn()
    node = Node(tmp_path, runner=runner)
    node.deploy(network())
    node.push("s", pa.table({"k": [1]}))
    assert runner.began.wait(SECONDS_MOST)
    node.stop(now=True)
    assert runner.is_given_up.is_set()


def test_a_query_that_fails_is_released_when_its_failure_is_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else it could be detached in between, and its failure would be the node's."""
    with Node(tmp_path, runner=Failing()) as node:
        node.deploy(network())
        state, busy = node._deployed.state, []
        fail_query = state.fail_query

        def note(name: str, error: EngineError) -> None:
            busy.append(dict(state.busy))
            fail_query(name, error)

        monkeypatch.setattr(state, "fail_query", note)
        node.push("s", pa.table({"k": [1, 2]}))
        node.attach(query(), name="asked")
        node._ledger.guard.wait_until(lambda: "asked" in state.failed and not state.busy)
        assert ["asked.high" in each for each in busy] == [True]
        node.check()
