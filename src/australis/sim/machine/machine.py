"""The machine: runs real code under a seed, from its first thread to the result."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from random import Random
from typing import TypeVar

from australis.errors import Problem, SimulationError
from australis.sim.machine.chance import Chances, draw_chances
from australis.sim.machine.faults import Faults
from australis.sim.machine.lives import Awaited, Life, PowerLoss, VirtualThread
from australis.sim.machine.scheduler import Scheduler
from australis.sim.machine.schedules import schedule_of
from australis.sim.machine.threads import VirtualThreads

T = TypeVar("T")
RUNS_PER_COLLECTION = 100
_runs = count(1)


class ThreadFailed(SimulationError):
    """Threads that ended with an exception, although the run completed."""

    def __init__(self, problem: Problem, threads: tuple[VirtualThread, ...] = ()) -> None:
        super().__init__(problem)
        self.threads = threads


class Machine:
    """Runs code once, in the way that a seed determines.

    >>> machine, seen = Machine(1, Chances()), []
    >>> def main() -> int:
    ...     life = machine.begin_life()
    ...     life.start(lambda: seen.append("one"), "first")
    ...     life.start(lambda: seen.append("two"), "second")
    ...     life.wait()
    ...     return len(seen)
    >>> machine.run(main)
    2
    """

    def __init__(
        self,
        seed: int,
        chances: Chances | None = None,
        *,
        switches_most: int = 5_000_000,
        keep: int | None = 200,
    ) -> None:
        self.seed = seed
        self.chances = chances or draw_chances(seed)
        self.faults = Faults(seed, self.chances)
        schedule = schedule_of(self.chances, Random(f"schedule {seed}"))
        self.scheduler = Scheduler(schedule, self.chances.step_ns, switches_most, keep)
        self.scheduler.on_crash_point = self._crash_here
        self.threads = VirtualThreads(self.scheduler)
        """The threads for code in a life."""
        self.lives: list[Life] = []

    # --- for the harness

    def run(self, main: Callable[[], T]) -> T:
        """Run the harness as the first thread, and end all that it leaves; a machine runs once."""
        results: list[T] = []
        with _undisturbed():
            failure = self.scheduler.run(lambda: results.append(main()))
        error = failure if failure is not None else self._thread_failed()
        if error is not None:
            error.add_note(self.summary())
            raise error
        return results[0]

    def begin_life(self, name: str = "", crash_at: int | None = None) -> Life:
        """A new life; it crashes at the given switch point, or where the seed plans it, if at all."""
        if crash_at is None:
            crash_at = self.faults.plan_crash()
        life = Life(self.scheduler, name or f"life {len(self.lives) + 1}", crash_at)
        self.lives.append(life)
        return life

    def crash(self, life: Life) -> None:
        """Lose power: all threads of a life end without effect, and the disk keeps what was synced."""
        self.faults.count("power loss")
        life.end()

    def kill(self, life: Life) -> None:
        """Kill a process: all threads of a life end without further effect, and the disk loses nothing."""
        self.faults.count("kill")
        self.scheduler.end_life(life, power=False)

    def calm(self) -> None:
        """Let nothing fail or crash from now on, so that the code can recover."""
        self.faults.stop()
        for life in self.lives:
            life.crash_at = None

    def sleep(self, seconds: float) -> None:
        """Wait for virtual time to pass."""
        life = self.scheduler.check().life
        self.scheduler.block(Awaited(life, "time to pass"), seconds)

    # --- for the disk, the database and the harness

    def pause(self, what: str, owner: Life | None = None) -> None:
        """A switch point, at which power may be lost, and which may take long."""
        thread = self.scheduler.switch(what, owner)
        if thread.life is not self.scheduler.harness:
            stall_ns = self.faults.stall_ns()
            if stall_ns:
                self.scheduler.block(Awaited(owner or thread.life, what), stall_ns / 1e9)

    def fails(self, kind: str) -> bool:
        """Whether an operation of a kind fails this time; those of the harness never do."""
        life = self.scheduler.check().life
        return life is not self.scheduler.harness and self.faults.fails(kind)

    # --- reports

    @property
    def trace(self) -> int:
        """A hash of which thread reached which switch point, in order: equal for equal runs."""
        return self.scheduler.trace

    @property
    def switches(self) -> int:
        """How many switch points there were."""
        return self.scheduler.switches

    @property
    def failures(self) -> list[VirtualThread]:
        """The threads that ended with an exception so far; the harness removes those that it expects."""
        return self.scheduler.failures

    @property
    def recent(self) -> list[tuple[str, str]]:
        """The last switch points: which thread, and its next operation."""
        return list(self.scheduler.recent)

    def summary(self) -> str:
        """One line about the run."""
        seconds = self.scheduler.now_ns / 1e9
        return (
            f"seed {self.seed}: {self.switches} switch points, {seconds:.3f} virtual seconds, "
            f"{len(self.lives)} lives, trace {self.trace:08x}, {self.faults.counts}; {self.chances}"
        )

    def _crash_here(self, life: Life) -> None:
        is_kill = self.faults.is_kill()
        self.faults.count("kill" if is_kill else "power loss")
        self.scheduler.take_down(life, power=not is_kill)

    def _thread_failed(self) -> ThreadFailed | None:
        if not self.failures:
            return None
        names = ", ".join(f"{thread.name} by {thread.failure!r}" for thread in self.failures)
        error = ThreadFailed(Problem("simulation", f"threads were ended: {names}"), tuple(self.failures))
        error.__cause__ = self.failures[0].failure
        return error


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Prevent garbage collection in the middle of a simulation, and reports about what a power loss cut off.

    Finalisers would run when real memory runs low, and reach switch points. So garbage is collected at the
    end of the run; older objects are frozen meanwhile, which keeps that short. The machine itself, when its
    caller drops it, is found only by a full collection.
    """
    was_enabled, report = gc.isenabled(), sys.unraisablehook
    sys.unraisablehook = lambda what: None if what.exc_type is PowerLoss else report(what)
    gc.disable()
    if next(_runs) % RUNS_PER_COLLECTION == 0:
        gc.collect()
    gc.freeze()
    try:
        yield
        gc.collect()
    finally:
        gc.unfreeze()
        sys.unraisablehook = report
        if was_enabled:
            gc.enable()
