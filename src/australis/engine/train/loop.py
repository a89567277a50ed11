"""The loop over trains: workers choose a superbox, run a train of it, and commit what it did."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from australis.engine.crash_points import crash_point
from australis.engine.ledger import Ledger, Queues
from australis.engine.maintain import Upkeep
from australis.engine.observe import TrainTimes
from australis.engine.run_state import RunState
from australis.engine.steer import Account, Steering
from australis.engine.tables import LookupFailed, Tables
from australis.engine.threads import Thread, Threads
from australis.engine.train.attempts import attempt
from australis.engine.train.breakpoints import Breakpoints
from australis.engine.train.commit import Replaced, Train, commit_train
from australis.engine.train.cuts import Cuts, TooMuch
from australis.engine.train.dispatch import Dispatch, Dispatched
from australis.engine.train.marks import idle_times
from australis.engine.train.observing import FailedTrain, Observer
from australis.engine.worker import Manifest, OutOfMemory, Overran, RunTrain, Waybill
from australis.errors import AustralisError, EngineError, Problem
from australis.plan.superboxes import QUARANTINE_ARC, Superbox

LOOK_AGAIN_S = 0.5
"""How long an idle node waits before it checks whether drop boxes can be withdrawn."""
ABANDON_AGAIN_S = 0.2
WAIT_LEAST_S = 0.001
"""How long a worker waits at least: a clock that is passed in may stand still just before a timeout."""
WAIT_MOST_S = 3600.0
"""The longest single wait for a timeout; the system refuses to wait for centuries."""
_log = logging.getLogger(__name__)


class Loop:
    """Runs trains until it is stopped."""

    def __init__(
        self,
        ledger: Ledger,
        state: RunState,
        dispatch: Dispatch,
        steering: Steering,
        tables: Tables,
        upkeep: Upkeep,
        run: RunTrain,
        tick: Callable[[int], object],
        *,
        clock: Callable[[], int],
        threads: Threads,
        train: int,
        workers: int,
        observer: Observer | None = None,
    ) -> None:
        self._ledger, self._state, self._dispatch, self._steering = ledger, state, dispatch, steering
        self._tables, self._upkeep, self._tick = tables, upkeep, tick
        upkeep.kept = self._keep_error
        self._clock, self._threads, self._train, self._workers = clock, threads, train, workers
        self.run, self._observer = run, observer
        self.turn = threads.lock()
        """Its holder decides on the next train, or on the plan that trains run."""
        self.heard: Callable[[Train], None] = lambda train: None
        self.listeners: tuple[Callable[[], None], ...] = ()
        self.times = TrainTimes()
        self._running: list[Thread] = []
        self._cuts = Cuts()
        self.breakpoints = Breakpoints(ledger)
        """Where trains stop; who holds `turn` may use it."""

    # --- life

    def start(self) -> None:
        """Start the workers."""
        names = (f"australis-train-{index}" for index in range(self._workers))
        self._running = [self._threads.start(self._work, name) for name in names]
        self._upkeep.start()

    def end(self) -> None:
        """Start no more trains, and retry none; whoever waits for one is told."""
        self._upkeep.end()
        self._state.stop()

    def stop(self, abandon: Callable[[], None] | None = None) -> None:
        """Stop once running trains have been committed, or given up by `abandon`."""
        self._state.stop()
        for thread in self._running:
            while abandon is not None and thread.is_alive():
                # Repeatedly: a train may begin just after the others were given up.
                abandon()
                thread.join(ABANDON_AGAIN_S)
            thread.join()
        self._upkeep.stop()

    def drain(self) -> None:
        """Wait until every pushed tuple is processed."""
        name = self._ledger.plan.network.name
        self._state.wait_until(self._state.is_idle, name, "all tuples are processed")
        self._state.check()

    def pause(self) -> None:
        """Start no more trains, and wait for the running ones to finish."""
        self._state.pause()
        self._ledger.guard.wait_until(lambda: not self._state.busy)

    def resume(self) -> None:
        """Continue, also after an error whose cause is fixed."""
        with self.turn:
            self._cuts.clear()
            self.breakpoints.release()
        self._state.resume()

    def step(self) -> Train | None:
        """Run one train in this thread while the loop is paused; None if there is nothing to do."""
        while (dispatched := self._next(stepping=True)) is not None:
            with self._releasing(dispatched):
                train = self._try_run(dispatched)
            if train is not None or not self._cuts.is_tried_again(dispatched):
                return train
        return None

    # --- the workers

    def _work(self) -> None:
        while not self._state.stopping:
            with self._keep_error():
                version = self._ledger.guard.version
                dispatched = self._next_unless_halted()
                if dispatched is None:
                    self._wait(version)
                else:
                    with self._releasing(dispatched), self._keep_error():
                        self._try_run(dispatched)

    def _next_unless_halted(self) -> Dispatched | None:
        """Choose the next train; an error is recorded before another worker can meet the same one."""
        dispatched: Dispatched | None = None
        with self.turn, self._keep_error():
            if not self._state.is_halted:
                dispatched = self._next()
        return dispatched

    @contextmanager
    def _releasing(self, dispatched: Dispatched) -> Iterator[None]:
        """Release the superboxes of a train; a failed one only once its error is recorded."""
        try:
            yield
        finally:
            self._state.release(dispatched.members, dispatched.reader)

    @contextmanager
    def _keep_error(self) -> Iterator[None]:
        """Record an error for whoever asks; the train that it stopped never happened."""
        try:
            yield
        except Exception as error:
            _log.error("trains stop: %s", error, exc_info=not isinstance(error, AustralisError))
            self._state.fail(_as_ours(error, self._ledger.plan.network.name))

    def _wait(self, version: int) -> None:
        """Wait until something changes or a timeout is due; then log that time has passed."""
        state = self._state
        # The time comes first: an event that is logged after that makes its own timeouts due.
        now = self._clock()
        deadline = None if state.is_halted or state.changing else self._deadline()
        if deadline is not None and deadline <= now:
            self._tick(now)
        elif not state.stopping:
            seconds = WAIT_MOST_S if deadline is None else min((deadline - now) / 1e6, WAIT_MOST_S)
            seconds = max(seconds, WAIT_LEAST_S)
            seconds = min(seconds, self._tables.pause_s())
            # While there are drop boxes, they are checked again even if nothing happens.
            standing = self._steering.dropboxes.standing
            self._ledger.guard.wait_beyond(version, min(seconds, LOOK_AGAIN_S) if standing else seconds)

    def _deadline(self) -> int | None:
        """When the next timeout of a superbox without other work is due."""
        queues, busy = self._ledger.queues, self._state.busy
        resting = (name for name in queues.heads if name not in busy and queues.is_caught_up(name))
        heads = [queues.heads[name] for name in resting]
        due = [head.deadline for head in heads if head.deadline is not None]
        if any(head.awaits_marks for head in heads):
            due += idle_times(queues)
        return min(due, default=None)

    # --- choosing

    def _next(self, *, stepping: bool = False) -> Dispatched | None:
        """Choose the next train, and mark it as running; None if there is none to run."""
        with self.turn:
            self._ledger.settle()
            reader = self._ledger.enter()
            try:
                dispatched = self._choose(self._ledger.queues, reader, stepping=stepping)
                if dispatched is not None and self._state.claim(
                    dispatched.members, dispatched.hi, reader, stepping=stepping
                ):
                    reader = -1
                    return dispatched
                return None
            finally:
                if reader >= 0:
                    self._ledger.leave(reader)

    def _choose(self, queues: Queues, reader: int, *, stepping: bool) -> Dispatched | None:
        state = self._state
        ends = state.due(queues)
        superboxes = queues.plan.superboxes
        free = self._tables.free(self._dispatch.waiting(queues, ends), superboxes)
        choice = self._steering.decide(queues, self._clock(), free, dict(state.busy), state.held, self._train)
        if choice is None:
            return None
        members = self.breakpoints.apart(queues, self._cuts.apart(queues, tuple(choice.stages)))
        end = self._cuts.end(queues, members[0], ends[members[0]])
        made = self._make_waybill(queues, members, end, choice.most, stepping=stepping)
        if made is None:
            return None
        waybill, superbox = made
        reason = self._cuts.reason(queues, members[0])
        if reason:
            # Nothing of what took too long is computed, and there is nothing left to cut.
            waybill = replace(waybill, set_aside=reason, limit_s=None)
        versions = tuple(queues.heads[member].version for member in members)
        return Dispatched(waybill, superbox, queues.plan, versions, reader)

    def _make_waybill(
        self, queues: Queues, members: tuple[str, ...], end: int, most: int, *, stepping: bool
    ) -> tuple[Waybill, Superbox] | None:
        """The waybill of a train that ends before the next breakpoint; None if the node pauses there."""
        drop_boxes = self._steering.drop_boxes_at(members[0])
        while True:
            waybill, superbox = self._dispatch.make_waybill(queues, members, end, most, drop_boxes)
            found = self.breakpoints.first(queues, superbox, waybill)
            if found is None:
                return waybill, superbox
            if found.stop.seq > waybill.time_slices[0].lo:
                end = found.stop.seq
            else:
                self.breakpoints.note(found, stepping=stepping)
                if not stepping:
                    self._state.pause()
                    return None

    # --- running

    def _try_run(self, dispatched: Dispatched) -> Train | None:
        """Run a train; None if it did not happen for a reason that does not concern others."""
        began = self._threads.ticks_ns()
        try:
            return self._run_train(dispatched)
        except LookupFailed as error:
            _log.warning("a train waits for a table: %s", error)
            # It will be retried later.
            self._tables.note_failure(error.problem, self._ledger)
        except Replaced as error:
            _log.warning("a train did not happen: %s", error)
        except TooMuch as error:
            if not self._is_cut(dispatched, error):
                self._fail(dispatched, _alone(error), began)
        except AustralisError as error:
            self._fail(dispatched, error, began)
        return None

    def _is_cut(self, dispatched: Dispatched, error: EngineError) -> bool:
        """Whether a train that was too large is retried with fewer tuples; a slow query is not."""
        is_slow_query = isinstance(error, Overran) and self._query_of(dispatched.members) is not None
        if self._state.stopping or is_slow_query:
            return False
        with self.turn:
            return self._cuts.note_failure(dispatched, error)

    def _query_of(self, members: Sequence[str]) -> str | None:
        """The ad hoc query that all of some superboxes belong to."""
        owners = {self._ledger.plan.query_of(member) for member in members}
        return owners.pop() if len(owners) == 1 else None

    def _fail(self, dispatched: Dispatched, error: AustralisError, began_ns: int) -> None:
        """Stop an ad hoc query whose train failed; the failure of any other train is an error of the node."""
        members = dispatched.members
        query = self._query_of(members)
        for member in members:
            self.times.note_failure(member)
        if self._observer is not None:
            took_us = (self._threads.ticks_ns() - began_ns) // 1000
            failed = FailedTrain(dispatched.superbox.id, dispatched.lo, dispatched.hi, took_us, error)
            self._observer.failed(failed, dispatched.plan.inputs_of(members))
        if query is None:
            raise error
        _log.error("the query %s is stopped: %s", query, error)
        self._state.fail_query(query, error)

    def _run_train(self, dispatched: Dispatched) -> Train:
        """Run a train, commit it, and ask for maintenance of the arcs that it has read and written."""
        try:
            train = self._run_and_commit(dispatched)
            if self._observer is not None:
                self._observer.committed(train, dispatched.plan.inputs_of(dispatched.members))
            self._tell(train)
        finally:
            # Only now, since this deletes files, which takes long on some disks: nobody has to wait for it.
            self._ledger.leave(dispatched.reader)
            # A failed train leaves files, too.
            self._upkeep.ask(())
        superbox = dispatched.superbox
        self._upkeep.ask_to_merge(superbox.members)
        self._upkeep.ask((*superbox.writes.values(), *superbox.streams.values(), QUARANTINE_ARC))
        return train

    def _run_and_commit(self, dispatched: Dispatched) -> Train:
        began = self._threads.ticks_ns()
        manifests = attempt(lambda: self.run(dispatched.waybill), lambda: self._state.stopping)
        crash_point("train.ran")
        train = self._commit(dispatched, manifests, (self._threads.ticks_ns() - began) // 1000)
        self._state.release(dispatched.members, dispatched.reader)
        _log.debug("%s; the lock was held for %.1f ms at most", train, self._ledger.guard.longest_ns / 1e6)
        return train

    def _commit(self, dispatched: Dispatched, manifests: Sequence[Manifest], run_us: int) -> Train:
        began = self._threads.ticks_ns()
        plan, superbox = self._ledger.plan, dispatched.superbox
        account = Account(plan, superbox, dispatched.waybill, manifests, run_us, self._clock())
        commit_train(self._ledger, account, dispatched, self._tables)
        with self.turn:
            self._steering.note_train(account)
            self._cuts.note_success(dispatched)
        self._state.note_commit()
        received, emitted, tasks = account.received, account.emitted, len(manifests)
        commit_us = (self._threads.ticks_ns() - began) // 1000
        self.times.note(superbox.id, (run_us + commit_us) / 1e6)
        return Train(
            superbox.id,
            account.lo,
            account.hi,
            received,
            emitted,
            tasks,
            run_us,
            commit_us,
            boxes=superbox.boxes,
            reads=superbox.arcs,
            writes=tuple(superbox.writes.values()),
        )

    def _tell(self, train: Train) -> None:
        """Tell listeners of a train, before a drain is over."""
        try:
            self.heard(train)
            for told in self.listeners:
                told()
        finally:
            self._state.note_told()


def _alone(error: EngineError) -> EngineError:
    """The error of a train that could not be cut further."""
    if not isinstance(error, OutOfMemory):
        return error
    what = f"a single number needs more memory than a worker has: {error.problem.what}"
    found = OutOfMemory(Problem(error.problem.path, what, "more memory for workers, or smaller tuples"))
    found.__cause__ = error
    return found


def _as_ours(error: Exception, network: str) -> AustralisError:
    """An error as ours: an unexpected one must stop the node, too, and not just one thread."""
    if isinstance(error, AustralisError):
        return error
    unforeseen = EngineError(Problem(network, f"a train failed: {type(error).__name__}: {error}"))
    unforeseen.__cause__ = error
    return unforeseen
