"""Machines of finite capacity, which process their queues first come first served, and may crash."""

from __future__ import annotations

from math import inf
from typing import Any

from australis.errors import Problem, SimulationError
from australis.sim.kernel.clock import Action, Clock


class VirtualNode:
    """A machine: up or down, and busy until its queue is empty.

    A crash loses what is queued and what is being processed.

    >>> clock, done = Clock(), []
    >>> node = VirtualNode(clock, "n", capacity=2.0)
    >>> node.work(2.0, done.append, "a")
    >>> node.work(4.0, done.append, "b")
    >>> clock.run(until=2.5)
    >>> done, node.queued
    (['a'], 1)
    >>> node.crash()
    >>> node.restart()
    >>> clock.run()
    >>> done, node.queued
    (['a'], 0)
    """

    def __init__(self, clock: Clock, name: str, capacity: float = 1.0) -> None:
        if not 0 < capacity < inf:
            raise SimulationError(Problem(name, f"has the capacity {capacity:g}", "a number above 0"))
        self.name, self.capacity = name, capacity
        self.up = True
        self.life = 0
        """How often it has crashed: work that was begun in another life is never completed."""
        self.queued = 0
        """The pieces of work that wait or are in progress."""
        self._clock = clock
        self._free = 0.0

    def work(self, amount: float, done: Action, *arguments: Any) -> None:
        """Queue a piece of work, and call the action when it is done; nothing happens if it is down."""
        if self.up:
            self._free = max(self._free, self._clock.now) + amount / self.capacity
            self.queued += 1
            self._clock.at(self._free, self._done, self.life, done, arguments)

    def _done(self, life: int, done: Action, arguments: tuple[Any, ...]) -> None:
        if life == self.life and self.up:
            self.queued -= 1
            done(*arguments)

    def crash(self) -> None:
        """Lose the queue, and stop."""
        self.up = False
        self.life += 1
        self.queued = 0
        self._free = 0.0

    def restart(self) -> None:
        """Start again, with an empty queue."""
        self.up = True
