"""Trade in an unreliable world: letters are lost, late and doubled, participants crash and forget."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from itertools import accumulate
from random import Random
from typing import Any

from australis.errors import Problem, SimulationError
from australis.policy.machines import Fence, Journal, Started
from australis.policy.trade import (
    Came,
    Contract,
    CostCurve,
    Ended,
    Gave,
    Gone,
    Installed,
    Moved,
    Movement,
    Participant,
    Regained,
    Settings,
    Take,
    Task,
    Took,
    money_is_conserved,
    nobody_is_worse_off,
)
from australis.sim.kernel import Clock, Faults, Links, MachineHost, Net
from australis.sim.trade.world import has_taken

NAMES = ("a", "b", "c", "d")
BUSY_S, LIMIT_S = 4.0, 60.0
"""How long there are faults and clients; when all must be at rest."""


@dataclass(frozen=True)
class Trial:
    """The result of a seed for which everything held."""

    seed: int
    movements: int
    failed: int
    """Movements that the taker could not carry out."""
    crashes: int
    amnesias: int
    """Restarts from an old snapshot."""
    fenced: int
    refused: int
    events: int


class BadMarket:
    """Four participants that may give to each other, at prices at which some would."""

    def __init__(self, seed: int, *, journal: Journal | None = None, restores: bool = False) -> None:
        self.seed, self._chance = seed, Random(seed)
        self._journal, self._restores = journal, restores
        draw = self._chance
        self.clock = Clock()
        faults = Faults(draw.choice((0.0, 0.1, 0.3)), duplication=0.2, delay=draw.choice((0.01, 0.3)))
        self.net = Net(self.clock, draw, Links(0.005, faults=faults), self._arrived)
        self.tasks: set[str] = set()
        self.movements: list[Movement] = []
        self._given: dict[tuple[str, tuple[Task, ...]], int] = {}
        self._counts: Counter[str] = Counter()
        self._gone: set[str] = set()
        agreed = [_contract(one, other, draw) for one in NAMES for other in NAMES if one != other]
        self.hosts = {name: self._host(place, name, agreed) for place, name in enumerate(NAMES)}
        self._plan(old=draw.random() < 0.3)

    def _host(self, place: int, name: str, agreed: list[Contract]) -> MachineHost:
        draw = self._chance
        cost = CostCurve(tuple(accumulate(draw.randrange(1, 30) for _ in range(25))), draw.choice((1, 1, 3)))
        tasks = [Task(f"{name}{each}", draw.randrange(1, 5)) for each in range(draw.choice((0, 3, 7)))]
        self.tasks.update(task.id for task in tasks)
        own = [each for each in agreed if name in (each.giver, each.taker)]
        settings = Settings(100_000, 10_000 * place, patience=250_000, notify=draw.random() < 0.5)

        def make(incarnation: int) -> Participant:
            return Participant(name, cost, own, tasks, settings, incarnation)

        def carry(command: Any) -> None:
            self._carry(name, command)

        how = {"keeps": True, "restores": self._restores}
        return MachineHost(self.clock, make, carry, net=self.net, journal=self._journal, **how)

    def _plan(self, *, old: bool) -> None:
        clock, draw = self.clock, self._chance
        for host in self.hosts.values():
            clock.at(0.0, host.tell, Started())
        for number in range(draw.randrange(12)):
            clock.at(draw.uniform(0, BUSY_S), self._come, draw.choice(NAMES), number)
            clock.at(draw.uniform(0, BUSY_S), self._end, draw.choice(NAMES))
        # What two have forgotten, nobody may remember: only one of them gets old snapshots.
        forgetful = draw.choice(NAMES) if old else ""
        for _ in range(draw.randrange(6)):
            name = draw.choice(NAMES)
            back = draw.randrange(1, 12) if name == forgetful else 0
            clock.at(draw.uniform(0, BUSY_S), self._crash, name, back)

    # --- what happens

    def _arrived(self, source: str, target: str, letter: bytes) -> None:
        self.hosts[target].heard(source, letter)

    def _come(self, name: str, number: int) -> None:
        task = Task(f"new{number}", self._chance.randrange(1, 4))
        if self.hosts[name].up:
            self.tasks.add(task.id)
            self.hosts[name].tell(Came(task))

    def _end(self, name: str) -> None:
        host = self.hosts[name]
        task = next(iter(host.machine.holding.tasks), None)
        if host.up and task is not None and not self._counts["amnesias"]:
            self.tasks.discard(task)
            host.tell(Ended(task))

    def _crash(self, name: str, back: int) -> None:
        host = self.hosts[name]
        if host.up and host.fenced is None:
            self._counts["crashes"] += 1
            self._counts["amnesias"] += back > 0
            host.crash()
            self.clock.after(self._chance.uniform(0.01, 1.0), self._restart, host, back)

    def _restart(self, host: MachineHost, back: int) -> None:
        host.restart(back=back)
        # Who is gone for good is for its node to know, whatever the machine remembers.
        for name in sorted(self._gone):
            host.tell(Gone(name))

    def _carry(self, who: str, command: Any) -> None:
        match command:
            case Take(giver, serial):
                succeeded = self._chance.random() < 0.9
                self._counts["failed"] += not succeeded
                self.clock.after(0.02, self._installed, who, Installed(giver, serial, succeeded))
            case Gave(_, tasks, _, saving):
                self._given[who, tasks] = saving
            case Took():
                self._took(who, command)
            case Fence():
                self.clock.after(1.0, self._leave, who)
            case Regained():
                pass

    def _installed(self, who: str, done: Installed) -> None:
        self.hosts[who].tell(done)

    def _leave(self, who: str) -> None:
        """One that was taken out of service is gone for good."""
        self._gone.add(who)
        self.hosts[who].crash()
        for name, host in self.hosts.items():
            if name not in self._gone:
                host.tell(Gone(who))

    def _took(self, taker: str, took: Took) -> None:
        load = sum(task.load for task in took.tasks)
        saving = self._given[took.giver, took.tasks]
        movement = Movement(took.giver, taker, load, took.price, saving, took.cost)
        nobody_is_worse_off(movement)
        self.movements.append(movement)

    # --- what must hold

    def run(self) -> Trial:
        """Run until all is at rest, and check on the way."""
        while self.clock.now < LIMIT_S:
            self.clock.run(until=self.clock.now + 0.1)
            self.check()
            if self.clock.now > BUSY_S + 2.0 and self._rests():
                break
        else:
            raise self._wrong("something is promised or on its way", "an end of it")
        fenced = sum(host.fenced is not None for host in self.hosts.values())
        refused = sum(sum((host.refused + host.machine.refused).values()) for host in self.hosts.values())
        counts = self._counts
        return Trial(
            self.seed,
            len(self.movements),
            counts["failed"],
            counts["crashes"],
            counts["amnesias"],
            fenced,
            refused,
            self.clock.happened,
        )

    def _rests(self) -> bool:
        live = [host.machine for host in self.hosts.values() if host.fenced is None]
        busy = any(each.giver.moving or each.taker.promises or each.is_asking for each in live)
        return not busy and all(host.up or host.fenced for host in self.hosts.values())

    def check(self) -> None:
        """Every task is somewhere, once; so is all money. Who has forgotten does no harm to others."""
        live = [
            host.machine
            for host in self.hosts.values()
            if host.fenced is None and not (host.machine.is_asking and self._counts["amnesias"])
        ]
        here = Counter(task for each in live for task in each.holding.tasks)
        moving = self._on_the_way(live)
        here.update(task.id for moved in moving for task in moved.tasks)
        twice = sorted(task for task, count in here.items() if count > 1)
        if twice:
            raise self._wrong(f"{twice} are in two places", "each in one")
        for each in live:
            if each.holding.load != sum(task.load for task in each.holding.tasks.values()):
                raise self._wrong(f"{each.name} has miscounted its load", "the sum of its tasks")
        if not self._counts["amnesias"]:
            if sorted(here) != sorted(self.tasks):
                raise self._wrong(f"{sorted(self.tasks - here.keys())} are nowhere", "each somewhere")
            money_is_conserved((each.holding.balance for each in live), (each.payment for each in moving))

    def _on_the_way(self, live: list[Participant]) -> list[Moved]:
        """What has been given, and not taken."""
        return [
            moved
            for each in live
            if (moved := each.giver.moving)
            and not has_taken(self.hosts[each.giver.partner].machine, each.name, moved)
        ]

    def _wrong(self, what: str, expected: str) -> SimulationError:
        return SimulationError(Problem(f"seed {self.seed}, {self.clock.now:g} s", what, expected))


def _contract(giver: str, taker: str, draw: Random) -> Contract:
    low = draw.randrange(250)
    return Contract(giver, taker, low, low + draw.choice((0, 10, 60)))


def tried(seed: int, *, write: Callable[[bytes], object] | None = None) -> Trial:
    """Run an unreliable market, and check that nothing was lost, doubled or paid for twice."""
    return BadMarket(seed, journal=Journal(write) if write else None).run()
