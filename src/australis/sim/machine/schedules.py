"""Schedules: which of the runnable threads runs next."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, Protocol

from australis.sim.machine.chance import PRIORITIES, Chances

if TYPE_CHECKING:
    from australis.sim.machine.lives import VirtualThread


class Schedule(Protocol):
    """A way to choose."""

    def enter(self, thread: VirtualThread) -> None:
        """Note a new thread."""

    def choose(self, ready: list[VirtualThread], current: VirtualThread) -> VirtualThread:
        """One of the runnable threads, perhaps the current one."""


class Uniform:
    """Every thread has the same chance; with a chance to `stay`, the current one continues."""

    def __init__(self, random: Random, stay: float = 0.0) -> None:
        self._random, self._stay = random, stay

    def enter(self, thread: VirtualThread) -> None:
        """Nothing to note."""

    def choose(self, ready: list[VirtualThread], current: VirtualThread) -> VirtualThread:
        if len(ready) == 1:
            return ready[0]
        if self._stay and current in ready and self._random.random() < self._stay:
            return current
        return ready[int(self._random.random() * len(ready))]


class Priorities:
    """Runs the thread of the highest priority; at random points the current one gets the lowest.

    This is probabilistic concurrency testing (Burckhardt et al., ASPLOS 2010): it lets one thread run far
    ahead of another, which a uniform choice hardly ever does. Changes continue, so no thread starves.
    """

    def __init__(self, random: Random, change_every: int) -> None:
        self._random, self._change_every = random, change_every
        self._lowest = 0.0
        self._steps_left = self._draw_steps()

    def enter(self, thread: VirtualThread) -> None:
        """Give a thread its first priority."""
        thread.priority = self._random.random()

    def choose(self, ready: list[VirtualThread], current: VirtualThread) -> VirtualThread:
        self._steps_left -= 1
        if self._steps_left <= 0:
            self._steps_left = self._draw_steps()
            self._lowest -= 1
            current.priority = self._lowest
        return max(ready, key=_priority)

    def _draw_steps(self) -> int:
        return 1 + int(self._random.expovariate(1 / self._change_every))


def _priority(thread: VirtualThread) -> float:
    return thread.priority


def schedule_of(chances: Chances, random: Random) -> Schedule:
    """The schedule named by the settings of a run."""
    if chances.schedule == PRIORITIES:
        return Priorities(random, chances.change_every)
    return Uniform(random, chances.stay)
