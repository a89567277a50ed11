"""The loop over trains: workers choose a superbox, run a train of it as a Spark job, and commit."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from australis.engine.crash_points import crash_point
from australis.engine.maintain.upkeep import Upkeep
from australis.engine.runner import TrainFailed
from australis.engine.shared import Ground
from australis.engine.steer.steering import Steering
from australis.engine.tables.lookup import LookupFailed
from australis.engine.train.trains import Train, Trains
from australis.engine.worker.waybill import Manifest, Waybill
from australis.errors import AustralisError, EngineError, Problem
from australis.plan.superboxes import QUARANTINE_ARC

TRIES = 3
"""How often a train is tried that failed for no reason of its own, such as a lost executor."""
LOOK_AGAIN = 0.5
"""The seconds after which a node at rest looks whether drop boxes can go."""
WAIT_MOST = 3600.0
"""The seconds that are waited for a timeout at once; the system refuses to wait for centuries."""


class Loop:
    """Runs trains until it is stopped."""

    def __init__(
        self,
        ground: Ground,
        trains: Trains,
        steering: Steering,
        run: Callable[[Waybill], list[Manifest]],
        tick: Callable[[int], int],
        *,
        train: int,
        workers: int,
    ) -> None:
        self._queues, self._graveyard = ground.queues, ground.graveyard
        self._clock, self._changed = ground.clock, ground.changed
        self._upkeep = Upkeep(ground, self._kept)
        self._trains, self._steering, self.run, self._tick = trains, steering, run, tick
        self._tables, self._catalog = ground.tables, ground.catalog
        self._train, self._workers = train, workers
        self.busy: dict[str, int] = {}
        """The superboxes with a train on its way, and its number as a reader of files."""
        self.barred = False
        """Whether no train may start, since the plan is about to be another."""
        self.paused = False
        self.error: AustralisError | None = None
        self.failed: dict[str, AustralisError] = {}
        """The ad hoc queries of which a train failed, and why: they stand still, and all else goes on."""
        self.heard: Callable[[Train], None] = lambda train: None
        self._unheard = 0
        """How many trains were committed that `heard` has not been told of."""
        self._stopping = False
        self._threads: list[threading.Thread] = []

    def start(self) -> None:
        """Let the workers begin."""
        for index in range(self._workers):
            thread = threading.Thread(target=self._work, name=f"australis-train-{index}", daemon=True)
            self._threads.append(thread)
            thread.start()
        self._upkeep.start()

    def stop(self) -> None:
        """End when the trains that are on their way have been committed."""
        with self._changed:
            self._stopping = True
            self._changed.notify_all()
        for thread in self._threads:
            thread.join()
        self._upkeep.stop()
        # Only a change of the discipline asks for it, and then says so.
        with suppress(EngineError), self._changed:
            self._trains.settle()

    def end(self) -> None:
        """Start no train any more, and try none again; whoever waits for one hears of it."""
        self._upkeep.end()
        with self._changed:
            self._stopping = True
            self._changed.notify_all()

    @property
    def stopping(self) -> bool:
        return self._stopping

    def check(self, superbox: str = "") -> None:
        """Raise the error that has stopped all trains, or those of the query that a superbox belongs to."""
        error = self.error or self.failed.get(self._queues.plan.query_of(superbox) or "")
        if error is not None:
            raise error

    def idle(self) -> bool:
        """Whether nothing waits and nothing is on its way."""
        return not self.busy and not self._unheard and not self._held_up() and not self._waiting()

    def resting(self) -> bool:
        """Whether nothing is on its way, and nothing will be before somebody changes that."""
        if self.busy or self._held_up():
            return False
        return self.paused or self._stopping or not self._waiting()

    def _held_up(self) -> bool:
        """Whether the plan is about to be another, so that what waits does not show."""
        return self.barred or bool(self._queues.held)

    def drain(self) -> None:
        """Wait until every tuple that was pushed has gone through."""
        name = self._queues.plan.network.name
        with self._changed:
            while not self.idle():
                self.check()
                if self._stopping:
                    raise EngineError(Problem(name, "is stopped before all has gone through"))
                if self.paused:
                    raise EngineError(Problem(name, "is paused", "resume() first"))
                self._changed.wait()
            self.check()

    def pause(self) -> None:
        """Start no more trains, and wait for those on their way."""
        with self._changed:
            self.paused = True
            self._changed.notify_all()
            while self.busy:
                self._changed.wait()

    def resume(self) -> None:
        """Go on, also behind an error whose cause is mended."""
        with self._changed:
            self.paused, self.error, self.failed = False, None, {}
            self._changed.notify_all()

    def step(self) -> Train | None:
        """Run one train in this thread, though the loop is paused; None if there is nothing to do."""
        waybill = self._next()
        return None if waybill is None else self._ridden(waybill)

    # --- the workers

    def _work(self) -> None:
        while not self._stopping:
            with self._kept():
                waybill = self._awaited()
                if waybill is not None:
                    self._ridden(waybill)

    def _awaited(self) -> Waybill | None:
        """The next train; None if there was none, and something has changed since."""
        with self._changed:
            if self._stopping:
                return None
            waybill = None if self.paused or self.error else self._next()
            if waybill is None:
                self._wait()
            return waybill

    def _wait(self) -> None:
        """Sleep until something changes or a timeout is due; then log that time has passed."""
        deadline = None if self.paused or self.error or self.barred else self._deadline()
        now = self._clock()
        if deadline is not None and deadline <= now:
            self._tick(now)
            self._changed.notify_all()
        elif not self._stopping:
            seconds = WAIT_MOST if deadline is None else min((deadline - now) / 1e6, WAIT_MOST)
            seconds = min(seconds, self._tables.pause_s())
            # While drop boxes stand, they are looked at again, though nothing happens.
            self._changed.wait(min(seconds, LOOK_AGAIN) if self._steering.dropboxes.standing else seconds)

    def _deadline(self) -> int | None:
        """When the next timeout is due of a superbox that is waiting for nothing else."""
        heads = self._queues.heads
        resting = [name for name in heads if name not in self.busy and self._queues.is_abreast(name)]
        known = (heads[name].deadline for name in resting)
        return min((deadline for deadline in known if deadline is not None), default=None)

    @contextmanager
    def _kept(self) -> Iterator[None]:
        """Keep an error for whoever asks; the train that it stopped never happened."""
        try:
            yield
        except Exception as error:
            with self._changed:
                self.error = self.error or _told(error, self._queues.plan.network.name)
                self._changed.notify_all()

    def _waiting(self) -> dict[str, int]:
        plan = self._queues.plan
        going = [each for name, each in plan.superboxes.items() if plan.query_of(name) not in self.failed]
        due = {superbox.id: self._trains.due(superbox) for superbox in going}
        return {name: tuples for name, tuples in due.items() if tuples}

    def _next(self) -> Waybill | None:
        with self._changed:
            if self.barred:
                return None
            waiting = self._tables.free(self._waiting(), self._queues.plan.superboxes)
            choice = self._steering.choose(self._clock(), waiting, self.busy, self._train)
            if choice is None:
                return None
            waybill = self._trains.waybill(choice.stages, choice.most)
            self.busy |= dict.fromkeys(choice.stages, self._graveyard.enter())
            return waybill

    def _ridden(self, waybill: Waybill) -> Train | None:
        """Run a train; None if it did not happen for a reason that leaves others alone."""
        try:
            return self._ride(waybill)
        except LookupFailed as error:
            with self._changed:
                # It is for later.
                self._tables.failed(error.problem, self._catalog)
                self._changed.notify_all()
        except EngineError as error:
            self._fail(waybill, error)
        return None

    def _fail(self, waybill: Waybill, error: EngineError) -> None:
        """Let an ad hoc query stand still of which a train failed; any other is an error of the node."""
        with self._changed:
            owners = {self._queues.plan.query_of(member) for member in waybill.members}
            query = owners.pop() if len(owners) == 1 else None
            if query is None:
                raise error
            self.failed[query] = error
            self._changed.notify_all()

    def _ride(self, waybill: Waybill) -> Train:
        """Run a train, commit it, and ask for the upkeep of what it has read and written."""
        superbox = self._trains.superbox(waybill)
        began = time.perf_counter_ns()
        try:
            manifests = self._tried(waybill)
            crash_point("train.ran")
            with self._changed:
                train = self._trains.commit(waybill, manifests, (time.perf_counter_ns() - began) // 1000)
                self._tables.answered(superbox.tables, self._catalog)
                self._unheard += 1
        finally:
            with self._changed:
                (reader, *_) = [self.busy.pop(member) for member in waybill.members]
                self._graveyard.leave(reader)
                self._changed.notify_all()
        self._tell(train)
        self._upkeep.ask((*superbox.writes.values(), *superbox.streams.values(), QUARANTINE_ARC))
        return train

    def _tell(self, train: Train) -> None:
        """Tell who listens of a train, before a drain is over."""
        try:
            self.heard(train)
        finally:
            with self._changed:
                self._unheard -= 1
                self._changed.notify_all()

    def _tried(self, waybill: Waybill) -> list[Manifest]:
        for attempt in range(1, TRIES + 1):
            try:
                return self.run(waybill)
            except TrainFailed:
                if attempt == TRIES or self._stopping:
                    raise
        raise AssertionError("a train is tried at least once")


def _told(error: Exception, network: str) -> AustralisError:
    """An error as ours: one that nobody foresaw must stop the node, too, and not just a thread of it."""
    if isinstance(error, AustralisError):
        return error
    unforeseen = EngineError(Problem(network, f"a train failed: {type(error).__name__}: {error}"))
    unforeseen.__cause__ = error
    return unforeseen
