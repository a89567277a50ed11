"""Up to k crashes, in networks with branches and merges; and what must hold."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random

from australis.errors import Problem, SimulationError
from australis.policy.machines import Journal
from australis.sim.recover.lives import Disk
from australis.sim.recover.network import computed, drawn
from australis.sim.recover.world import Setting, World

BUSY_S = 12.0
"""How long sources send, and servers crash."""
LIMIT_S = 100.0
"""When everything must have been delivered."""
LATER = 160
"""The tuples that each source sends afterwards, two per second, as long as needed."""
QUEUED = 40
"""The most tuples per path in a queue at the end."""


@dataclass(frozen=True)
class Trial:
    """The result of a seed for which everything held."""

    seed: int
    k: int
    servers: int
    tuples: int
    crashes: int
    """Machines that failed for good, and servers that were suspected, or came back with an old disk."""
    failed: int
    """Servers that failed with their machines."""
    begun: int
    """Servers that were begun again with nothing."""
    restarts: int
    """Machines that came back with their disks."""
    amnesias: int
    """Those whose disks were old."""
    refused: int
    events: int


class BadWorld:
    """A random network, and the machines that crash."""

    def __init__(
        self,
        seed: int,
        *,
        k: int | None = None,
        crashes: int | None = None,
        journal: Journal | None = None,
        restores: bool = False,
    ) -> None:
        self.seed, self._chance = seed, Random(seed)
        draw = self._chance
        self._network = drawn(draw)
        self._k = draw.randint(1, 3) if k is None else k
        setting = Setting(
            k=self._k,
            flow_s=draw.choice((0.3, 1.0, 3.0)),
            arrays=draw.random() < 0.3,
            timeout_s=draw.choice((4.0, 6.0)),
            delay_s=draw.choice((0.01, 0.5)),
            loss=draw.choice((0.0, 0.1)),
        )
        self.world = World(self._network, setting, draw, journal=journal, restores=restores)
        self._count = draw.randint(20, 50)
        self._wanted = sum(map(len, computed(self._network, self._count).values()))
        self._crashes = self._failed = self._restarts = self._amnesias = 0
        self._old: dict[str, Disk] = {}
        self._plan(draw.randint(0, self._k) if crashes is None else crashes)

    def _plan(self, crashes: int) -> None:
        clock, draw = self.world.clock, self._chance
        for source in self._network.sources:
            for number, time in enumerate(sorted(draw.uniform(0, BUSY_S) for _ in range(self._count)), 1):
                clock.at(time, self.world.emit, source, number)
            for number in range(LATER):
                clock.at(BUSY_S + number / 2, self.world.emit, source, self._count + number + 1)
        together = draw.uniform(0, BUSY_S) if draw.random() < 0.3 else None
        for _ in range(crashes):
            clock.at(together or draw.uniform(0, BUSY_S), self._crash)
        for _ in range(draw.randrange(3)):
            clock.at(draw.uniform(0, BUSY_S), self._power_off)
        clock.at(draw.uniform(0, BUSY_S), self._copy)

    # --- failures

    def _crash(self) -> None:
        """A machine fails, or comes back with an old disk; or a server is only suspected to have failed."""
        name = self._chosen()
        if name is None:
            return
        guard = self.world.runners.get(self._network.reads(name)[0].source)
        self._crashes += 1
        how = self._chance.random()
        if guard and how < 0.2:
            self.world.begin(name, guard.node)
            self._failed += 1
        elif how < 0.4 and name in self._old and self.world.runners[name].node.name == name:
            self._amnesias += 1
            self._failed += self._off({name: self._old.pop(name)}, name)
        else:
            self._failed += len(self.world.crash(name))

    def _power_off(self) -> None:
        """A machine fails, and comes back with its disk: nothing is lost, so this is no failure."""
        name = self._chosen()
        if name is not None:
            self._restarts += 1
            self._off(None, name)

    def _off(self, disks: dict[str, Disk] | None, name: str) -> int:
        node = self.world.runners[name].node
        gone = self.world.crash(name)
        back = disks if disks is not None else {each: runner.saved() for each, runner in gone.items()}
        self.world.clock.after(self._chance.choice((0.1, 1.0)), self.world.restart, back, node)
        return len(gone)

    def _copy(self) -> None:
        """A disk is copied, which one day comes back in place of the newest."""
        name = self._chosen()
        if name is not None:
            self._old[name] = self.world.runners[name].saved().copy()

    def _chosen(self) -> str | None:
        there = sorted(name for name in self._network.servers if self._is_alone(name))
        return self._chance.choice(there) if there else None

    def _is_alone(self, name: str) -> bool:
        """Whether a server is alive, and not on the machine of a source, which does not fail."""
        runner = self.world.runners.get(name)
        return runner is not None and runner.node.name not in self._network.sources

    # --- what must hold

    def run(self) -> Trial:
        """Run until everything is delivered, and the queues are short again."""
        clock, world = self.world.clock, self.world
        while clock.now < LIMIT_S:
            clock.run(until=clock.now + 5.0)
            if clock.now > BUSY_S and self._delivered() >= self._wanted and self._longest() <= QUEUED:
                break
        self._check()
        refused = world.refused.total() + sum(each.machine.refused.total() for each in world.runners.values())
        return Trial(
            self.seed,
            self._k,
            len(self._network.servers),
            self._wanted,
            self._crashes,
            self._failed,
            len(world.began),
            self._restarts,
            self._amnesias,
            refused,
            clock.happened,
        )

    def _longest(self) -> float:
        """The most tuples in a queue, per path."""
        return max(kept / len(self._network.paths[arc]) for arc, kept in self.world.kept().items())

    def _delivered(self) -> int:
        return sum(number <= self._count for each in self.world.deliveries.values() for _, number in each)

    def _check(self) -> None:
        numbers = [number for each in self.world.deliveries.values() for _, number in each]
        for arc, expected in computed(self._network, max([self._count, *numbers])).items():
            found = {tup: value for tup, (_, value) in self.world.deliveries.get(arc, {}).items()}
            lost = sorted(tup for tup in expected if tup[1] <= self._count and tup not in found)
            wrong = sorted(tup for tup in found if found[tup] != expected.get(tup))
            if lost or wrong:
                what = f"of {arc} lost {lost[:5]}, wrong {wrong[:5]} ({len(lost)} and {len(wrong)})"
                raise SimulationError(Problem(f"seed {self.seed}", what, "every message"))
        if len(self.world.began) > self._failed:
            what = f"restarted {len(self.world.began)} servers"
            raise SimulationError(Problem(f"seed {self.seed}", what, f"{self._failed}, which failed"))
        if self._longest() > QUEUED:
            what = f"keeps {self._longest():g} tuples of a path"
            raise SimulationError(Problem(f"seed {self.seed}", what, f"at most {QUEUED} in the end"))


def tried(seed: int, *, write: Callable[[bytes], object] | None = None) -> Trial:
    """Crash up to k servers, and check that no tuple was lost, and that each was right."""
    return BadWorld(seed, journal=Journal(write) if write else None).run()
