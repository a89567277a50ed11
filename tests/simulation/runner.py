"""Trains in the simulator: tasks fail by chance, and may finish after they were given up."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from random import Random

from australis.engine.store.root import Root
from australis.engine.worker.task import Task
from australis.engine.worker.waybill import Manifest, TooLarge, TrainFailed, Waybill, answer, manifest_of
from australis.errors import EngineError, Problem
from australis.plan.superboxes import Plan
from australis.sim.machine.machine import Machine

TASK_US, TUPLE_NS = 1_000, 500
"""What a task and a tuple in a box cost: measured costs would make a run depend on the real clock."""


_here = threading.local()


def is_late_here() -> bool:
    """Whether this thread runs a task that was given up: what it reads may be gone by now."""
    return getattr(_here, "is_late", False)


class SimulatedRunner:
    """Runs tasks on a virtual machine."""

    tasks = 3

    def __init__(self, machine: Machine, random: Random, failing: float) -> None:
        self._machine, self._random, self._failing = machine, random, failing
        self.failures = 0

    def prepare(self, root: Root, plan: Plan) -> Callable[[Waybill], list[Manifest]]:
        return self._run

    def abandon(self, root: Root) -> None:
        """Nothing: a simulated node never stops at once."""

    def close(self) -> None:
        """Nothing runs any more."""

    def calm(self) -> None:
        """Let no task fail from now on."""
        self._failing = 0.0

    def _run(self, waybill: Waybill) -> list[Manifest]:
        text = waybill.to_json()
        return [self._task(text, index) for index in range(len(waybill.shares))]

    def _task(self, text: str, index: int) -> Manifest:
        self._machine.pause("task")
        if self._random.random() < self._failing:
            self._fail(text, index)
        return _run_task(text, index)

    def _fail(self, text: str, index: int) -> None:
        """Give a task up: it was lost, or it finished and nobody heard of it, or it finishes later."""
        self.failures += 1
        how = self._random.choice(("lost", "unheard", "late"))
        if how == "unheard":
            _run_task(text, index)
        elif how == "late":
            self._machine.threads.start(lambda: _run_quietly(text, index), f"late task {self.failures}")
        # A worker that is lost may have been given too much.
        raise (TooLarge if how == "lost" else TrainFailed)(Problem("task", f"is {how}"))


def _run_task(text: str, index: int) -> Manifest:
    waybill = Waybill.from_json(text)
    found = manifest_of(answer(Task(waybill, waybill.shares[index], index).run))
    boxes = {box: {**each, "nanoseconds": TUPLE_NS * each["received"]} for box, each in found.boxes.items()}
    return replace(found, boxes=boxes, task_us=TASK_US)


def _run_quietly(text: str, index: int) -> None:
    """Run a task of which nobody wants to hear any more; whatever comes of it must change nothing."""
    _here.is_late = True
    waybill = Waybill.from_json(text)
    # Its files may be gone, and the disk may fail.
    with suppress(EngineError):
        answer(Task(waybill, waybill.shares[index], index).run)
