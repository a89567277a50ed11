"""Lives: the processes of a simulation, their threads, what they wait for, and power loss."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from australis.sim.machine.scheduler import Scheduler


class PowerLoss(BaseException):
    """Raised by every operation of a life that is over, and by every use of its objects."""


class Life:
    """One incarnation of the simulated process."""

    def __init__(self, scheduler: Scheduler, name: str, crash_at: int | None = None) -> None:
        self.name = name
        self.is_over = False
        self.switches = 0
        """How many switch points its threads have reached."""
        self.crash_at = crash_at
        """The switch point at which it crashes, if it does."""
        self.threads: list[VirtualThread] = []
        """The threads that have not ended."""
        self._scheduler = scheduler

    def start(self, target: Callable[[], None], name: str) -> VirtualThread:
        """Start a thread in this life; the threads that it starts belong to the same life."""
        return self._scheduler.start(self, target, name)

    def end(self) -> None:
        """Lose power: threads of this life have no further effect, and all have ended on return."""
        self._scheduler.end_life(self, power=True)

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until all threads have ended; returns whether they have."""
        deadline = self._scheduler.deadline_ns(timeout)
        while self.threads:
            left = None if deadline is None else (deadline - self._scheduler.now_ns) / 1e9
            if left is not None and left <= 0:
                return False
            self.threads[0].join(left)
        return True


class Awaited:
    """Something that threads wait for, and the life that it belongs to."""

    def __init__(self, life: Life, label: str) -> None:
        self.life, self.label = life, label
        self.waiters: list[VirtualThread] = []

    def __str__(self) -> str:
        return self.label


class VirtualThread:
    """A real thread that runs only while it holds the baton."""

    def __init__(self, scheduler: Scheduler, life: Life, name: str, number: int) -> None:
        self.name, self.life, self.number = name, life, number
        self.is_over = False
        self.failure: BaseException | None = None
        """The exception that ended it, unless its life was over."""
        self.priority = 0.0
        self.ident = 0
        self.baton = threading.Lock()
        self.baton.acquire()
        self.awaits: Awaited | None = None
        self.alarm = 0
        """The number of the timeout that it waits with; 0 without one."""
        self.has_timed_out = False
        self.interrupt: BaseException | None = None
        """What it raises when it next runs."""
        self.losses = 0
        """How often a power loss was raised in it."""
        self.ending = Awaited(scheduler.harness, f"the end of {name}")
        self._scheduler = scheduler

    def join(self, timeout: float | None = None) -> None:
        """Wait until it has ended, with or without its life."""
        self._scheduler.switch(f"join {self.number}")
        if not self.is_over:
            self._scheduler.block(self.ending, timeout)

    def is_alive(self) -> bool:
        """Whether it has not ended."""
        self._scheduler.switch(f"is_alive {self.number}")
        return not self.is_over
