"""A runner that runs trains in the process of the benchmark: nothing else takes time."""

from __future__ import annotations

from australis.engine.store import Root
from australis.engine.worker import Manifest, RunTrain, Waybill
from australis.engine.worker.task import Task
from australis.engine.worker.waybill import answer, manifest_of
from australis.plan.superboxes import Plan


class Here:
    """Runs the tasks of a train one after the other."""

    tasks = 2

    def prepare(self, root: Root, plan: Plan) -> RunTrain:
        return _run

    def abandon(self, root: Root) -> None:
        """What runs here comes to its end."""

    def close(self) -> None:
        """Nothing is open."""


def _run(waybill: Waybill) -> list[Manifest]:
    return [manifest_of(answer(Task(waybill, share, part).run)) for part, share in enumerate(waybill.shares)]
