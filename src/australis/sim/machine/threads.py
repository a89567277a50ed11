"""Threads for the code under test: locks, conditions, events and clocks; each use is a switch point."""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType

from australis.sim.machine.lives import Awaited, PowerLoss, VirtualThread
from australis.sim.machine.scheduler import Scheduler

START_US = 1_767_225_600_000_000
"""The wall clock at the start of a run, in microseconds since 1970: the first day of 2026."""
TICK_NS = 100
"""How long it takes to read the clock, so that no duration is 0."""


class VirtualLock(Awaited):
    """A re-entrant lock; waiting threads compete when it is released."""

    def __init__(self, scheduler: Scheduler, kind: str = "lock") -> None:
        super().__init__(scheduler.check().life, f"{kind} {scheduler.serial()}")
        self._scheduler = scheduler
        self._owner: VirtualThread | None = None
        self._depth = 0

    def __enter__(self) -> VirtualLock:
        self._take(self._scheduler.switch(self.label, self.life))
        self._depth += 1
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._is_lost(kind):
            return
        self.check_owner()
        self._depth -= 1
        if self._depth == 0:
            self._let_go()
            self._scheduler.switch(self.label, self.life)

    def __str__(self) -> str:
        return self.label if self._owner is None else f"{self.label}, held by {self._owner.name}"

    def check_owner(self) -> VirtualThread:
        """The current thread, which must hold the lock."""
        thread = self._scheduler.check(self.life)
        if self._owner is not thread:
            raise RuntimeError(f"{thread.name} does not hold {self}")
        return thread

    def wait(self, awaited: Awaited, timeout: float | None) -> bool:
        """Wait for something with the lock released, however often it is held; returns whether it came."""
        thread, depth = self.check_owner(), self._depth
        self._depth = 0
        self._let_go()
        woken = self._scheduler.block(awaited, timeout)
        self._take(thread)
        self._depth = depth
        return woken

    def _take(self, thread: VirtualThread) -> None:
        while self._owner is not None and self._owner is not thread:
            self._scheduler.block(self)
        self._owner = thread

    def _let_go(self) -> None:
        self._owner = None
        self._scheduler.wake_all(self)

    def _is_lost(self, kind: type[BaseException] | None) -> bool:
        """Whether an exception passes a block in which the lock was lost, so that nothing need be added."""
        try:
            thread = self._scheduler.check(self.life)
        except PowerLoss:
            if kind is None:
                raise
            return True
        return kind is not None and self._owner is not thread


class VirtualCondition:
    """A condition with its own re-entrant lock."""

    def __init__(self, scheduler: Scheduler) -> None:
        self._lock = VirtualLock(scheduler, "condition")
        self._change = Awaited(self._lock.life, f"{self._lock.label} to change")
        self._scheduler = scheduler

    def __enter__(self) -> VirtualCondition:
        self._lock.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._lock.__exit__(kind, error, trace)

    def wait(self, timeout: float | None = None) -> bool:
        """Wait for a notification, or for a time; returns whether it was notified."""
        return self._lock.wait(self._change, timeout)

    def notify_all(self) -> None:
        """Wake all waiting threads."""
        self._lock.check_owner()
        self._scheduler.wake_all(self._change)
        self._scheduler.switch(f"notify {self._lock.label}", self._lock.life)


class VirtualEvent(Awaited):
    """A flag that threads wait for."""

    def __init__(self, scheduler: Scheduler) -> None:
        super().__init__(scheduler.check().life, f"event {scheduler.serial()}")
        self._scheduler, self._is_set = scheduler, False

    def set(self) -> None:
        """Set the flag."""
        self._scheduler.switch(f"set {self.label}", self.life)
        self._is_set = True
        self._scheduler.wake_all(self)

    def clear(self) -> None:
        """Clear the flag."""
        self._scheduler.switch(f"clear {self.label}", self.life)
        self._is_set = False

    def is_set(self) -> bool:
        """Whether the flag is set."""
        self._scheduler.switch(f"ask {self.label}", self.life)
        return self._is_set

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until the flag is set, or for a time; returns whether it is."""
        self._scheduler.switch(self.label, self.life)
        if not self._is_set:
            return self._scheduler.block(self, timeout)
        return True


class VirtualThreads:
    """Makes threads and their shared objects, all in the life of the calling thread."""

    def __init__(self, scheduler: Scheduler) -> None:
        self._scheduler = scheduler

    def lock(self) -> VirtualLock:
        """A new lock, re-entrant."""
        return VirtualLock(self._scheduler)

    def condition(self) -> VirtualCondition:
        """A new condition."""
        return VirtualCondition(self._scheduler)

    def event(self) -> VirtualEvent:
        """A new event."""
        return VirtualEvent(self._scheduler)

    def start(self, target: Callable[[], None], name: str) -> VirtualThread:
        """Start a thread in the life of the current one."""
        return self._scheduler.start(self._scheduler.check().life, target, name)

    def now_us(self) -> int:
        """The wall clock, in microseconds since 1970."""
        return START_US + self.ticks_ns() // 1_000

    def ticks_ns(self) -> int:
        """A clock for durations."""
        self._scheduler.check()
        self._scheduler.now_ns += TICK_NS
        return self._scheduler.now_ns
