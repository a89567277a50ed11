"""Random applications: chains of tasks, from one source or two, with branches that are merged."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from random import Random

from australis.policy.hotspot import Task
from australis.sim.hotspot.overlay import PlacedTask


@dataclass(frozen=True)
class Application:
    """Tasks between sources and a receiver."""

    sources: tuple[str, ...]
    """Their streams."""
    tasks: tuple[Task, ...]
    out: str
    """The stream of the receiver."""
    paths: int
    """How many paths a tuple takes."""

    def without_state(self, tasks: Collection[str]) -> Application:
        """The same with stateless tasks, except those that read several streams."""
        plain = tuple(
            task._replace(stateful=len(task.reads) > 1 or task.id not in tasks) for task in self.tasks
        )
        return replace(self, tasks=plain)

    def placed(self, offers: dict[str, tuple[str, ...]], chance: Random) -> list[PlacedTask]:
        """An operator for each task, and a peer that offers it; the receiver is on any peer."""
        found = []
        for task in self.tasks:
            peer = chance.choice([each for each in sorted(offers) if offers[each]])
            found.append(PlacedTask(chance.choice(offers[peer]), peer, task))
        return [*found, PlacedTask("receive", chance.choice(sorted(offers)), self.receive)]

    @property
    def receive(self) -> Task:
        """The task that receives the tuples."""
        return Task(f"{self.out}:receive", (self.out,), ())


def chain(name: str, length: int, sources: int = 1) -> Application:
    """A chain of tasks.

    >>> [(task.reads, task.writes) for task in chain("app", 2).tasks]
    [(('app.in0',), ('app.0',)), (('app.0',), ('app.1',))]
    """
    inflow = tuple(f"{name}.in{number}" for number in range(sources))
    tasks, reads = [], inflow
    for stage in range(length):
        writes = (f"{name}.{stage}",)
        tasks.append(Task(writes[0], reads, writes))
        reads = writes
    return Application(inflow, tuple(tasks), reads[0], 1)


def diamond(name: str, length: int, sources: int = 1) -> Application:
    """A chain of tasks after a branch that is merged."""
    inflow = tuple(f"{name}.in{number}" for number in range(sources))
    first = Task(f"{name}.split", inflow, (f"{name}.a", f"{name}.b"))
    sides = [Task(f"{each}x", (each,), (f"{each}x",)) for each in first.writes]
    rest = chain(name, length).tasks
    joined = Task(rest[0].id, tuple(side.id for side in sides), rest[0].writes)
    return Application(inflow, (first, *sides, joined, *rest[1:]), rest[-1].writes[0], 2)


def drawn(name: str, chance: Random) -> Application:
    """A random one of the two."""
    make = diamond if chance.random() < 0.3 else chain
    found = make(name, chance.randint(1, 3), chance.choice((1, 1, 2)))
    return found.without_state([task.id for task in found.tasks if chance.random() < 0.5])
