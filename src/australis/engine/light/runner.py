"""The light runner: trains in local processes, forked from one that has the kernels in memory."""

from __future__ import annotations

import os
import time
from collections import deque
from multiprocessing.connection import wait
from types import TracebackType
from typing import Self

from australis.engine.light.orders import orders
from australis.engine.light.pool import Pool, Worker, WorkerEnded, WorkerLost
from australis.engine.store import Root
from australis.engine.worker import (
    Manifest,
    Overran,
    RunTrain,
    TooLarge,
    TrainFailed,
    Waybill,
    failure,
    manifest_of,
    ran_out_of_memory,
)
from australis.plan.superboxes import Plan


class LightRunner:
    """Runs trains in a pool of processes, without a JVM. They start at once, and end with this process.

    Several nodes may share one; then whoever created it closes it.
    """

    def __init__(self, tasks: int | None = None) -> None:
        self.tasks = tasks or _cores()
        """How many tasks can run at a time."""
        self._pool = Pool(self.tasks)

    def prepare(self, root: Root, plan: Plan) -> RunTrain:
        """Workers read any plan from its file, so all plans run alike."""
        del root, plan
        return self._run

    def abandon(self, root: Root) -> None:
        """Kill the workers that run trains of a root."""
        self._pool.abandon(root.uri)

    def close(self) -> None:
        """End all processes."""
        self._pool.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _run(self, waybill: Waybill) -> list[Manifest]:
        try:
            answers = _Shares(self._pool, waybill).run()
        except WorkerLost as error:
            raise TooLarge(failure(waybill.superbox, str(error))) from error
        except WorkerEnded as error:
            raise TrainFailed(failure(waybill.superbox, str(error))) from error
        return [manifest_of(answers[index], waybill.superbox) for index in sorted(answers)]


class _Shares:
    """The running shares of a train: each starts when a worker is free."""

    def __init__(self, pool: Pool, waybill: Waybill) -> None:
        self._pool, self._root, self._waybill = pool, waybill.root, waybill
        self._ends_at: float | None = None
        """When the train is killed, if it has a time limit."""
        self._waiting = deque(enumerate(orders(waybill)))
        self._running: dict[Worker, int] = {}
        self._answers: dict[int, bytes] = {}
        self._failure: WorkerEnded | None = None

    def run(self) -> dict[int, bytes]:
        """The answer of each share; if a worker ends, the others finish first."""
        try:
            while self._waiting or self._running:
                self._begin()
                for worker in self._ready():
                    self._finish(worker)
        except BaseException:
            # Nobody would read the answers of those that are at work.
            for worker in self._running:
                self._pool.drop(worker)
            raise
        if self._failure is not None:
            raise self._failure
        return self._answers

    def _begin(self) -> None:
        # A train with a worker does not wait for more: another train might be waiting for that one.
        while self._waiting and (worker := self._pool.take(self._root, wait=not self._running)):
            index, order = self._waiting.popleft()
            self._running[worker] = index
            self._start_clock()
            try:
                worker.send(order)
            except WorkerEnded as error:
                self._lose(worker, error)

    def _start_clock(self) -> None:
        """Start the time limit of the train, once a worker is ready for it."""
        is_running = any(worker.is_ready for worker in self._running)
        if self._ends_at is None and self._waybill.limit_s is not None and is_running:
            self._ends_at = time.monotonic() + self._waybill.limit_s

    def _ready(self) -> list[Worker]:
        """The workers with a message to read, once there are some."""
        if self._ends_at is None and len(self._running) < 2:
            return list(self._running)
        left = None if self._ends_at is None else max(0.0, self._ends_at - time.monotonic())
        ready = wait([worker.connection for worker in self._running], left)
        if self._running and not ready:
            raise Overran.after(self._waybill)
        return [worker for worker in self._running if worker.connection in ready]

    def _finish(self, worker: Worker) -> None:
        try:
            answer = worker.hear()
        except WorkerEnded as error:
            self._lose(worker, error)
            return
        if answer is None:
            self._start_clock()
            return
        self._answers[self._running.pop(worker)] = answer
        if ran_out_of_memory(answer):
            # A new one has all the memory; this one may have little of it left in large pieces.
            self._pool.drop(worker)
        else:
            self._pool.give_back(worker)

    def _lose(self, worker: Worker, error: WorkerEnded) -> None:
        del self._running[worker]
        self._pool.drop(worker)
        self._failure = error
        self._waiting.clear()


def _cores() -> int:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
