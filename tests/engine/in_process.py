"""A runner that runs tasks in the process of the test: the same orders, tasks and manifests, one by one."""

from __future__ import annotations

from australis.engine.store.root import Root
from australis.engine.worker.task import Task
from australis.engine.worker.waybill import Manifest, RunTrain, Waybill, answer, manifest_of
from australis.plan.superboxes import Plan


class InProcess:
    """Runs the tasks of a train one after the other; waybills and manifests go through their text forms."""

    tasks = 2

    def prepare(self, root: Root, plan: Plan) -> RunTrain:
        return run

    def abandon(self, root: Root) -> None:
        """What runs here comes to its end."""

    def close(self) -> None:
        """Nothing is open."""


def run(waybill: Waybill) -> list[Manifest]:
    told = Waybill.from_json(waybill.to_json())
    return [manifest_of(answer(Task(told, share, index).run)) for index, share in enumerate(told.shares)]
