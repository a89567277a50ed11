"""Migrations in an unreliable world: lost, delayed and duplicated messages, crashes; and what must hold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from random import Random
from typing import Any

from australis.errors import Problem, SimulationError
from australis.policy.hotspot import Loads, Manners
from australis.policy.hotspot import messages as m
from australis.sim.hotspot.applications import Application, drawn
from australis.sim.hotspot.overlay import Overlay
from australis.sim.hotspot.station import Station
from australis.sim.kernel import Faults, Links

Write = Callable[[bytes], object]
BUSY_S = 30.0
"""How long sources send, peers crash and loads change."""
LIMIT_S = 600.0
"""When everything must have settled."""
TICK_S, LOOK_S, PATIENCE = 1.0, 2.0, 3
MANNERS = Manners(remind_us=10_000_000)


@dataclass(frozen=True)
class Trial:
    """The result of a seed for which everything held."""

    seed: int
    tuples: int
    moves: int
    returns: int
    crashes: int
    suspicions: int
    refused: int
    fenced: int
    events: int


class BadWorld:
    """A random world: few peers, loads that jump, links and peers that fail.

    Without faults nothing is repeated, either: then the protocol's own numbers have to suffice.
    """

    def __init__(
        self,
        seed: int,
        *,
        faults: bool = True,
        old: bool = False,
        write: Write | None = None,
        restores: bool = False,
    ) -> None:
        self.seed, self._chance, self._faults = seed, Random(seed), faults
        draw = self._chance
        operators = [f"op{number}" for number in range(draw.randint(1, 3))]
        offers = {f"p{number}": _some(operators, draw) for number in range(draw.randint(4, 7))}
        offers["p0"] = tuple(operators)
        loss, delay = draw.choice((0.0, 0.05, 0.2)), draw.choice((0.0, 0.5, 3.0))
        bad = Faults(loss, duplication=0.1, delay=delay) if faults else Faults()
        links = Links(latency=0.05, faults=bad)
        costs = dict.fromkeys(operators, 0.05)
        how: dict[str, Any] = {"write": write, "keeps": faults, "restores": restores}
        self.overlay = Overlay(offers, costs, manners=MANNERS, links=links, chance=draw, **how)
        self._sources: dict[str, str] = {}
        self._expected: dict[str, Counter[tuple[str, int]]] = {}
        """The tuples that each receiver must have, and how often."""
        self._crashes = self._suspicions = 0
        self._forgetful = draw.choice(sorted(offers)) if old else ""
        """The peer whose policy returns from old snapshots."""
        for number in range(draw.randint(1, 3)):
            self._begin(drawn(f"app{number}", draw), offers)
        self._plan(sorted(offers))

    # --- what happens

    def _begin(self, application: Application, offers: dict[str, tuple[str, ...]]) -> None:
        draw, count = self._chance, self._chance.randint(10, 30)
        sources = {stream: draw.choice(sorted(offers)) for stream in application.sources}
        self.overlay.place(application.placed(offers, draw), sources)
        self._sources |= sources
        origins = [(stream, number) for stream in sources for number in range(1, count + 1)]
        self._expected[application.out] = Counter(dict.fromkeys(origins, application.paths))
        for stream in sources:
            for number, time in enumerate(sorted(draw.uniform(0, BUSY_S) for _ in range(count)), 1):
                self.overlay.clock.at(time, self._emit, stream, number)

    def _emit(self, stream: str, number: int) -> None:
        self.overlay.stations[self._sources[stream]].emit(stream, ((stream, number), 0))

    def _plan(self, peers: list[str]) -> None:
        clock, draw = self.overlay.clock, self._chance
        for peer in peers:
            patience = PATIENCE if self._faults else None
            clock.every(TICK_S, self.overlay.stations[peer].ticked, patience, first=draw.random())
            clock.every(TICK_S, self._measure, peer, first=draw.random())
            clock.every(LOOK_S, self._look, peer, first=1 + draw.random())
            for _ in range(8):
                clock.at(draw.uniform(0, BUSY_S), self._load, peer, draw.choice((0.0, 1.0, 3.0, 6.0)))
        if not self._faults:
            return
        for _ in range(draw.choice((0, 1, 2, 4))):
            clock.at(draw.uniform(1, BUSY_S), self._crash, draw.choice(peers), draw.uniform(0.2, 8.0))
        for _ in range(draw.choice((0, 0, 2))):
            clock.at(draw.uniform(1, BUSY_S), self._suspect, draw.choice(peers))

    def _measure(self, peer: str) -> None:
        station = self.overlay.stations[peer]
        station.measured(TICK_S, minute_s=2.0)
        station.tell(m.Measured(station.loads))

    def _look(self, peer: str) -> None:
        if self.overlay.clock.now < BUSY_S:
            self.overlay.stations[peer].tell(m.Look())

    def _load(self, peer: str, background: float) -> None:
        self.overlay.stations[peer].background = background

    def _crash(self, peer: str, down_s: float) -> None:
        """A peer returns after a while; one that has nothing that others need may be gone for good."""
        station, clock = self.overlay.stations[peer], self.overlay.clock
        if station.node.up:
            self._crashes += 1
            station.crash()
            clock.after(1.5, self._noticed, peer)
            clock.after(down_s, self._restart, peer, self._chance.random() < 0.7)

    def _is_needed(self, peer: str) -> bool:
        """Whether it has a task or a source, or a state may be on its way to it."""
        station = self.overlay.stations[peer]
        others = self.overlay.stations.values()
        sent = any(peer in other.policy.holdings.moved.values() for other in others)
        return bool(station.counts or station.outlets or sent)

    def _noticed(self, peer: str) -> None:
        if not self.overlay.stations[peer].node.up:
            self._suspect(peer)
            self._members()

    def _suspect(self, peer: str) -> None:
        self._suspicions += 1
        self.overlay.tell_all(m.Failed(peer))

    def _restart(self, peer: str, gone: bool) -> None:
        """Restart a peer; one gone for good only if it is needed, since lost states are for recovery."""
        if gone and not self._is_needed(peer):
            self.overlay.clock.after(5.0, self._restart, peer, gone)
        else:
            station = self.overlay.stations[peer]
            station.restart(back=self._chance.randint(1, 40) if peer == self._forgetful else 0)
            self._members()
            if station.name == self._forgetful:
                self.overlay.clock.after(15.0, self._look_fenced, station)

    def _look_fenced(self, station: Station) -> None:
        """One that has forgotten what it did is out of service; what it had is for recovery."""
        if station.host.fenced is not None and station.node.up:
            station.crash()
            self._noticed(station.name)

    def _members(self) -> None:
        there = tuple(name for name, each in self.overlay.stations.items() if each.node.up)
        if there:
            self.overlay.tell_all(m.Members(there))

    # --- what must hold

    def run(self) -> Trial:
        """Run until everything has settled."""
        clock = self.overlay.clock
        while clock.now < (LIMIT_S if not self._forgetful else 3 * BUSY_S):
            clock.run(until=clock.now + 10.0)
            if clock.now > BUSY_S and self._rests():
                break
        for what, expected in self._wrong():
            raise SimulationError(Problem(f"seed {self.seed}", what, expected))
        moves, returns = len(self.overlay.moves), len(self.overlay.returns())
        tuples = sum(each.total() for each in self._expected.values())
        return Trial(
            self.seed,
            tuples,
            moves,
            returns,
            self._crashes,
            self._suspicions,
            sum(each.host.refusals for each in self.overlay.stations.values()),
            len(self.fenced),
            self.overlay.clock.happened,
        )

    def _rests(self) -> bool:
        there = [each for each in self.overlay.stations.values() if each.node.up]
        delivered = sum(len(each) for each in self.overlay.deliveries.values())
        return (
            delivered >= sum(each.total() for each in self._expected.values())
            and not any(each.policy.busy for each in there)
            and not any(outlet.kept for each in there for outlet in each.outlets.values())
        )

    def _wrong(self) -> Iterator[tuple[str, str]]:
        """What is wrong, and what was expected."""
        if self._forgetful:
            yield from self._wrong_homes()
            return
        yield from self._wrong_tuples()
        homes = Counter(task for each in self.overlay.stations.values() for task in each.counts)
        for task, count in homes.items():
            if count > 1:
                yield f"{task} is executed {count} times", "once"
        for name, station in self.overlay.stations.items():
            if station.node.up and station.policy.busy:
                yield f"{name} still migrates: {station.policy.departure.phase}", "an end"
        for before, move in self.overlay.returns():
            heavier = _heavier(before.source_loads, before.target_loads)
            if not heavier or not _heavier(move.source_loads, move.target_loads):
                yield f"{move} took back {before}", "no ping-pong"

    def _wrong_homes(self) -> Iterator[tuple[str, str]]:
        """Tasks that two peers believe to have, of those that have not forgotten anything."""
        live = (each for name, each in self.overlay.stations.items() if name not in self.fenced)
        sure = [each.policy for each in live if not each.policy.is_asking]
        homes = Counter(task for each in sure for of in each.holdings.tasks.values() for task in of)
        for task, count in homes.items():
            if count > 1:
                yield f"{task} is held by {count} policies", "one"

    @property
    def fenced(self) -> set[str]:
        """The peers that are out of service."""
        return {name for name, each in self.overlay.stations.items() if each.host.fenced is not None}

    def _wrong_tuples(self) -> Iterator[tuple[str, str]]:
        for stream, expected in self._expected.items():
            found = self.overlay.deliveries.get(stream, [])
            tuples = Counter(each.origin for each in found)
            if tuples != expected:
                yield f"{stream} lost {expected - tuples} and doubled {tuples - expected}", "each tuple once"
            if [each.written for each in found] != list(range(1, len(found) + 1)):
                yield (
                    f"{stream} was written by a task that lost its state",
                    "a state that moves with its task",
                )


def _some(operators: list[str], chance: Random) -> tuple[str, ...]:
    return tuple(operator for operator in operators if chance.random() < 0.8)


def _heavier(source: Loads, target: Loads | None) -> bool:
    """Whether the source had more load than the target, now and over the period."""
    minutes = MANNERS.criteria.minutes
    return target is not None and source.one > target.one and source.over(minutes) > target.over(minutes)


def tried(seed: int, *, faults: bool = True, old: bool = False, write: Write | None = None) -> Trial:
    """Run an unreliable world, and check that nothing was lost, duplicated or moved to and fro.

    With old snapshots the policy of one peer forgets: what it had may be lost, but no task is in two places.
    """
    return BadWorld(seed, faults=faults, old=old, write=write).run()
