"""The scheduler: runs one virtual thread at a time, with a shared virtual clock."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from threading import get_ident
from typing import NoReturn
from zlib import crc32

from australis.errors import Problem, SimulationError
from australis.sim.machine.alarms import Alarms
from australis.sim.machine.lives import Awaited, Life, PowerLoss, VirtualThread
from australis.sim.machine.schedules import Schedule
from australis.sim.machine.stuck import stuck

LOSSES_MOST = 1_000
"""How often a thread may continue after a power loss before it is abandoned."""
TIMEOUT_MOST = 1e9
"""The longest timeout, in seconds; about what `threading` allows."""
INTERRUPT_SECONDS_MOST = 10
"""How long an interrupted run may take to end, in real time."""


class Scheduler:
    """Passes the baton, and lets time pass when no thread can run."""

    def __init__(self, schedule: Schedule, step_ns: int, switches_most: int, keep: int | None) -> None:
        self.now_ns = 0
        self.switches = 0
        self.switches_most = switches_most
        self.trace = 0
        """A hash of which thread reached which switch point, in order."""
        self.recent: deque[tuple[str, str]] = deque(maxlen=keep)
        """The last switch points: which thread, and its next operation."""
        self.failures: list[VirtualThread] = []
        """The threads that ended with an exception."""
        self.harness = Life(self, "harness")
        """The life of what runs outside of the simulated process."""
        self.current = VirtualThread(self, self.harness, "outside", 0)
        self.on_crash_point: Callable[[Life], None] = lambda life: self.take_down(life, power=True)
        self.on_life_end: list[Callable[[Life, bool], None]] = []
        """Callbacks for the end of a life, with whether power was lost."""
        self._schedule, self._step_ns = schedule, step_ns
        self._threads: list[VirtualThread] = []
        self._main = self.current
        self._ready: list[VirtualThread] = []
        self._first: deque[VirtualThread] = deque()
        """Threads that run before any other: they die, or learn that the run is stuck."""
        self._alarms = Alarms()
        self._serial = 0
        self._done = threading.Lock()
        self._system_threads: list[threading.Thread] = []

    # --- for threads

    def check(self, owner: Life | None = None) -> VirtualThread:
        """The current thread, if its life and that of the object it uses are not over."""
        thread = self.current
        if thread.life.is_over or (owner is not None and owner.is_over):
            self._lose(thread)
        if thread.ident != get_ident():
            expected = "threads of Machine.run and its lives only, and nothing of them after the run"
            raise SimulationError(Problem("machine", "is used by a real thread", expected))
        return thread

    def switch(self, what: str, owner: Life | None = None) -> VirtualThread:
        """A switch point: choose a thread to run, perhaps the current one; returns the current thread."""
        thread = self._step(what, owner)
        chosen = self._choose()
        if chosen is not thread:
            self._pass_baton(thread, chosen)
            self._resume(thread, owner)
        return thread

    def block(self, awaited: Awaited, timeout: float | None = None) -> bool:
        """Wait until woken, or for a time; returns whether it was woken."""
        thread = self._step(awaited.label, awaited.life)
        self._ready.remove(thread)
        awaited.waiters.append(thread)
        thread.awaits, thread.has_timed_out = awaited, False
        deadline = self.deadline_ns(timeout)
        if deadline is not None:
            self._alarms.set(thread, deadline)
        chosen = self._choose()
        if chosen is not thread:
            self._pass_baton(thread, chosen)
        self._resume(thread, awaited.life)
        return not thread.has_timed_out

    def wake_all(self, awaited: Awaited) -> None:
        """Let all threads that wait for something compete for the next turn."""
        for thread in awaited.waiters:
            self._get_ready(thread)
        awaited.waiters.clear()

    def start(self, life: Life, target: Callable[[], None], name: str) -> VirtualThread:
        """Start a thread in a life."""
        self.check(life)
        thread = self._make(life, target, name)
        self.switch(f"start {thread.number}")
        return thread

    def end_life(self, life: Life, power: bool) -> None:
        """End a life, and run its threads to their ends."""
        self.check()
        self.take_down(life, power)
        self.switch(f"end of {life.name}")

    def take_down(self, life: Life, power: bool) -> None:
        """End a life: its threads will do nothing but die, before any other runs."""
        if life.is_over:
            return
        life.is_over = True
        for hear in self.on_life_end:
            hear(life, power)
        for thread in self._threads:
            if thread.life is life:
                self._doom(thread)
            elif thread.awaits is not None and thread.awaits.life is life:
                self._interrupt(thread, PowerLoss())

    def serial(self) -> int:
        """A number that was never used before."""
        self._serial += 1
        return self._serial

    def deadline_ns(self, timeout: float | None) -> int | None:
        """When a timeout in seconds expires."""
        return None if timeout is None else self.now_ns + int(min(max(timeout, 0.0), TIMEOUT_MOST) * 1e9)

    # --- from start to end

    def run(self, main: Callable[[], None]) -> BaseException | None:
        """Run a first thread, and end all others after it; returns the exception that ended it."""
        if self.harness.is_over:
            raise SimulationError(Problem("machine", "has run before", "a new machine for every run"))
        self._done.acquire()
        self._main = self._make(self.harness, main, "main")
        self._give_baton(self._main)
        self._wait_for_end()
        # The listeners hold disks and databases, which need not wait for a garbage collection.
        self.on_life_end.clear()
        return self._main.failure

    def _wait_for_end(self) -> None:
        try:
            self._done.acquire()
        except BaseException:
            # An interrupt of the real thread: the first virtual one gets it at the next switch point.
            self.switches_most = -1
            self._done.acquire(timeout=INTERRUPT_SECONDS_MOST)
            raise
        finally:
            for thread in self._system_threads:
                thread.join(INTERRUPT_SECONDS_MOST)

    def _make(self, life: Life, target: Callable[[], None], name: str) -> VirtualThread:
        thread = VirtualThread(self, life, name, self.serial())
        self._schedule.enter(thread)
        for each in (self._threads, life.threads, self._ready):
            each.append(thread)
        system = threading.Thread(target=self._live, args=(thread, target), name=name, daemon=True)
        self._system_threads.append(system)
        system.start()
        return thread

    def _live(self, thread: VirtualThread, target: Callable[[], None]) -> None:
        thread.baton.acquire()
        thread.ident = get_ident()
        try:
            if not thread.life.is_over:
                target()
                self.switch("end")
        except BaseException as error:
            self._note(thread, error)
        self._finish(thread)

    def _note(self, thread: VirtualThread, error: BaseException) -> None:
        """Record what ended a thread; in a life that is over, any exception counts as power loss."""
        if thread.life.is_over:
            return
        thread.failure = error
        if thread is not self._main:
            self.failures.append(thread)

    def _finish(self, thread: VirtualThread) -> None:
        thread.is_over = True
        for each in (self._threads, thread.life.threads, self._ready):
            if thread in each:
                each.remove(thread)
        self.wake_all(thread.ending)
        if thread is self._main:
            for life in [each.life for each in self._threads] + [self.harness]:
                self.take_down(life, power=False)
        if self._threads:
            self._give_baton(self._choose())
        else:
            self._done.release()

    def _lose(self, thread: VirtualThread) -> NoReturn:
        if thread.life.is_over and thread.ident == get_ident():
            thread.losses += 1
            if thread.losses > LOSSES_MOST:
                self._leave_behind(thread)
        raise PowerLoss

    def _leave_behind(self, thread: VirtualThread) -> None:
        """Report a thread that catches every power loss; only the end of Python can end it."""
        expected = "code that lets a BaseException through"
        thread.failure = SimulationError(Problem(thread.name, "does not end with its life", expected))
        self.failures.append(thread)
        self._system_threads.remove(threading.current_thread())
        self._finish(thread)
        thread.baton.acquire()

    # --- which thread is next

    def _step(self, what: str, owner: Life | None = None) -> VirtualThread:
        thread = self.check(owner)
        life = thread.life
        life.switches += 1
        self.switches += 1
        self.now_ns += self._step_ns
        self.trace = crc32(f"{thread.number} {what}".encode(), self.trace)
        self.recent.append((thread.name, what))
        if life.switches == life.crash_at:
            self.on_crash_point(life)
            self._lose(thread)
        if self.switches > self.switches_most:
            self._give_up(thread)
        return thread

    def _choose(self) -> VirtualThread:
        if self._first:
            return self._first.popleft()
        for thread in self._alarms.ring(self.now_ns):
            self._time_out(thread)
        if not self._ready and not self._jump():
            self._interrupt(self._main, stuck("no thread can run", self._threads))
            return self._main
        return self._schedule.choose(self._ready, self.current)

    def _jump(self) -> bool:
        """Let time pass until the next alarm; returns whether there is one."""
        when = self._alarms.next_ns()
        if when is None:
            return False
        self.now_ns = when
        for thread in self._alarms.ring(when):
            self._time_out(thread)
        return True

    def _pass_baton(self, thread: VirtualThread, chosen: VirtualThread) -> None:
        self._give_baton(chosen)
        thread.baton.acquire()

    def _give_baton(self, chosen: VirtualThread) -> None:
        self.current = chosen
        chosen.baton.release()

    def _resume(self, thread: VirtualThread, owner: Life | None) -> None:
        """Raise what came up while others ran."""
        if thread.interrupt is not None:
            error, thread.interrupt = thread.interrupt, None
            raise error
        if thread.life.is_over or (owner is not None and owner.is_over):
            self._lose(thread)

    def _give_up(self, thread: VirtualThread) -> None:
        """Tell the first thread that the run does not end."""
        if self._main in self._first:
            return
        error = stuck(f"the run has not ended after {self.switches} switch points", self._threads)
        if thread is self._main:
            raise error
        self._interrupt(self._main, error)
        self._first.append(self._main)

    def _doom(self, thread: VirtualThread) -> None:
        """Let a thread run to its end before any other; the current one is about to."""
        self._stop_waiting(thread)
        if thread in self._ready:
            self._ready.remove(thread)
        if thread is not self.current:
            self._first.append(thread)

    def _interrupt(self, thread: VirtualThread, error: BaseException) -> None:
        thread.interrupt = error
        self._stop_waiting(thread)

    def _time_out(self, thread: VirtualThread) -> None:
        thread.has_timed_out = True
        self._stop_waiting(thread)

    def _stop_waiting(self, thread: VirtualThread) -> None:
        if thread.awaits is not None:
            thread.awaits.waiters.remove(thread)
            self._get_ready(thread)

    def _get_ready(self, thread: VirtualThread) -> None:
        thread.awaits, thread.alarm = None, 0
        self._ready.append(thread)
