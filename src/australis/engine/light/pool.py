"""The workers of a light runner: as many as tasks can run at a time, each started when it is first needed."""

from __future__ import annotations

import logging
import threading
from collections import Counter, deque
from multiprocessing.connection import Connection, Pipe

from australis.engine.light.orders import READY
from australis.engine.light.zygote import Zygote

_log = logging.getLogger(__name__)


class WorkerEnded(Exception):
    """A worker ended before it answered, or the train was given up before it had a worker."""


class WorkerLost(WorkerEnded):
    """A worker ended during its task, for example because the system ran out of memory."""


class Worker:
    """A worker as the driver sees it: a connection that ends with the worker."""

    def __init__(self, number: int, connection: Connection) -> None:
        self.number, self.connection = number, connection
        self.root = ""
        """The root whose train it runs."""
        self.is_ready = False
        """Whether it has reported: until then it may still be loading what it needs."""

    @property
    def has_ended(self) -> bool:
        """Whether an idle worker is gone: a ready one sends nothing, so anything to read is its end."""
        try:
            if not self.is_ready and self.connection.poll():
                self.hear()
        except WorkerEnded:
            # It has ended.
            return True
        return self.connection.poll()

    def send(self, order: bytes) -> None:
        """Send it a share to run."""
        try:
            self.connection.send_bytes(order)
        except OSError as error:
            raise WorkerEnded("a worker ended before its task") from error

    def receive(self) -> bytes:
        """Wait for its answer."""
        while (data := self.hear()) is None:
            continue
        return data

    def hear(self) -> bytes | None:
        """Wait for its message: its answer, or None if it only reports that it is ready."""
        try:
            data = self.connection.recv_bytes()
            self.is_ready = self.is_ready or data == READY
            return None if data == READY else data
        except (EOFError, OSError) as error:
            raise WorkerLost("a worker ended in the midst of its task") from error


class Pool:
    """Workers that trains take and give back; the train that has waited longest gets the next one."""

    def __init__(self, most: int) -> None:
        self._most, self._made = most, 0
        self._idle: list[Worker] = []
        self._busy: set[Worker] = set()
        self._line: deque[object] = deque()
        """The trains that wait for a worker."""
        self._given_up: Counter[str] = Counter()
        """How often the trains of a root were given up."""
        self._changed = threading.Condition()
        self._is_closed = False
        self._zygote = Zygote()
        self._idle.append(self._start_worker())

    def take(self, root: str, *, wait: bool) -> Worker | None:
        """A worker for a train of a root; without `wait`, None if none is free."""
        with self._changed:
            if self._line or not self._is_free:
                if not wait:
                    return None
                self._wait(root)
            return self._claim_worker(root)

    def give_back(self, worker: Worker) -> None:
        """Give back a worker that has answered, for another train."""
        with self._changed:
            self._busy.discard(worker)
            if self._is_closed:
                worker.connection.close()
            else:
                self._idle.append(worker)
            self._changed.notify_all()

    def drop(self, worker: Worker) -> None:
        """Drop a worker that has ended, or whose train was given up: another one may take its place."""
        with self._changed:
            self._busy.discard(worker)
            self._zygote.kill(worker.number)
            worker.connection.close()
            self._changed.notify_all()

    def abandon(self, root: str) -> None:
        """Kill the workers that run trains of a root, and end all waits for a worker for it."""
        with self._changed:
            self._given_up[root] += 1
            for worker in self._busy:
                if worker.root == root:
                    self._zygote.kill(worker.number)
            self._changed.notify_all()

    def close(self) -> None:
        """End all workers."""
        with self._changed:
            self._is_closed = True
            self._zygote.end()
            while self._idle:
                self._idle.pop().connection.close()
            self._changed.notify_all()

    # --- under the lock

    @property
    def _is_free(self) -> bool:
        return bool(self._idle) or len(self._busy) < self._most

    def _wait(self, root: str) -> None:
        place, known = object(), self._given_up[root]
        self._line.append(place)
        try:
            while self._line[0] is not place or not self._is_free:
                if self._is_closed or self._given_up[root] != known:
                    raise WorkerEnded("the train was given up")
                self._changed.wait()
        finally:
            self._line.remove(place)
            self._changed.notify_all()

    def _claim_worker(self, root: str) -> Worker:
        """Claim the worker that ran last, if it is alive, since its caches are warm; else start one."""
        while self._idle and self._idle[-1].has_ended:
            self._idle.pop().connection.close()
        worker = self._idle.pop() if self._idle else self._start_worker()
        worker.root = root
        self._busy.add(worker)
        return worker

    def _start_worker(self) -> Worker:
        if self._is_closed:
            raise WorkerEnded("the runner is closed")
        self._made += 1
        try:
            ours, theirs = Pipe()
        except OSError as error:
            raise WorkerEnded(f"a worker could not be started: {error}") from error
        with theirs:
            try:
                self._zygote.fork(self._made, theirs)
            except OSError as error:
                _log.warning("the workers have ended, and others are started: %s", error)
                # It was killed, and its workers with it.
                self._zygote.end()
                self._zygote = Zygote()
                self._zygote.fork(self._made, theirs)
        return Worker(self._made, ours)
