"""Placement in an unreliable world: letters are lost, late and doubled, sites crash, moves fail."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from random import Random
from typing import Any

from australis.algebra.network import Network
from australis.errors import Problem, SimulationError
from australis.policy.machines import Journal, Started
from australis.policy.place import (
    Begin,
    Daemon,
    Dismiss,
    Done,
    Expect,
    Limits,
    Manners,
    Move,
    Slide,
    Split,
    Unsplit,
    carry_s,
)
from australis.reference.network import ReferenceRun
from australis.sim.kernel import Clock, Faults, Links, MachineHost, Net
from australis.sim.place.ground import Ground, Joining
from australis.sim.place.networks import random_survey
from australis.sim.place.pieces import measured_at

TICK_S = 1.0
BUSY_S, QUIET_S, LIMIT_S = 120.0, 25.0, 600.0
"""How long loads change and sites crash; how long nothing must move then; when that must be so."""
MANNERS = Manners(
    Limits(),
    persists_s=2.0,
    settle_s=2.0,
    rest_s=5.0,
    remembered_s=60.0,
    patience_s=6.0,
    stale_s=6.0,
    calm_s=8.0,
)


@dataclass(frozen=True)
class Trial:
    """The result of a seed for which everything held."""

    seed: int
    slides: int
    splits: int
    unsplits: int
    failed: int
    """Moves that failed while they were under way."""
    declined: int
    """Moves that a host did not admit, since its daemon had forgotten or given up what it expected."""
    crashes: int
    amnesias: int
    """Restarts from an old snapshot."""
    refused: int
    events: int


class BadPlaces:
    """Some sites that slide and split the boxes of a network while its load changes."""

    def __init__(self, seed: int, *, journal: Journal | None = None, restores: bool = False) -> None:
        self.seed, self._chance = seed, Random(seed)
        draw = self._chance
        self.clock = Clock()
        self.is_calm = draw.random() < 0.3
        """Whether all letters arrive soon, and nobody crashes."""
        loss, delay = (
            (0.0, 0.01) if self.is_calm else (draw.choice((0.05, 0.2, 0.4)), draw.choice((0.1, 2.0)))
        )
        faults = Faults(loss, duplication=0.0 if self.is_calm else 0.2, delay=delay)
        self.net = Net(self.clock, draw, Links(0.005, faults=faults), self._arrived)
        survey = random_survey(draw)
        self.before = survey.network
        self.ground = Ground(survey, MANNERS.limits.assumed)
        self._how: dict[str, Any] = {"journal": journal, "keeps": True, "restores": restores}
        self.hosts = {site: self._host(site) for site in survey.sites}
        self.counts: Counter[str] = Counter()
        self._results: dict[tuple[str, Any], tuple[Begin, bool | None]] = {}
        """Of each move that was ever begun: what it was, and how it ended."""
        self._expected: dict[tuple[str, str], Any] = {}
        self._moving: dict[tuple[str, Any], frozenset[str]] = {}
        self.moves: list[tuple[float, Move | Joining]] = []
        self._plan()

    def _host(self, site: str) -> MachineHost:
        own = self.ground.survey.sites[site]

        def make(incarnation: int) -> Daemon:
            return Daemon(site, own, MANNERS, incarnation)

        def carry(command: Any) -> None:
            self._carry(site, command)

        return MachineHost(self.clock, make, carry, net=self.net, **self._how)

    def _plan(self) -> None:
        clock, draw = self.clock, self._chance
        for site, host in self.hosts.items():
            clock.at(0.0, host.tell, Started())
            clock.every(TICK_S, self._tick, site, first=0.1 + draw.random())
        clock.at(0.0, self._tell_news)
        for _ in range(draw.randrange(4, 9)):
            clock.at(draw.uniform(0, BUSY_S), self._shift)
        if not self.is_calm:
            for _ in range(draw.randrange(8)):
                back = draw.choice((0, 0, draw.randrange(1, 30)))
                clock.at(draw.uniform(0, BUSY_S), self._crash, draw.choice(list(self.hosts)), back)

    # --- what happens

    def _arrived(self, source: str, target: str, letter: bytes) -> None:
        self.hosts[target].heard(source, letter)

    def _tick(self, site: str) -> None:
        self.hosts[site].tell(measured_at(self.ground.survey, site, self.ground.runs(site)))

    def _shift(self) -> None:
        """Other rates."""
        rates = {name: self._chance.choice((100.0, 2000.0, 6000.0)) for name in self.ground.survey.rates}
        self.ground.survey = replace(self.ground.survey, rates=rates)

    def _tell_news(self) -> None:
        for site, runs in self.ground.news().items():
            self.hosts[site].tell(runs)

    def _crash(self, site: str, back: int) -> None:
        host = self.hosts[site]
        if host.up:
            self.counts["crashes"] += 1
            self.counts["amnesias"] += back > 0
            host.crash()
            self.clock.after(self._chance.choice((0.1, 3.0, 10.0)), self._restart, site, back)

    def _restart(self, site: str, back: int) -> None:
        host = self.hosts[site]
        host.restart(back=back)
        # A node tells first what runs there: that may have changed since the snapshot.
        host.tell(self.ground.runs(site))

    # --- what daemons command

    def _carry(self, site: str, command: Any) -> None:
        match command:
            case Expect():
                self._expect(site, command)
            case Dismiss(giver=giver, serial=serial):
                if self._expected.get((site, giver)) == serial:
                    del self._expected[site, giver]
            case Slide() | Split() | Unsplit():
                self._begin(site, command)

    def _expect(self, site: str, command: Expect) -> None:
        self._expected[site, command.giver] = command.serial
        machine = self.hosts[site].machine
        survey = machine.chart.survey(frozenset())
        own = survey.loads[site] if survey is not None else machine.chart.measured.other_work
        asked = own + machine.taker.promised / machine.chart.own.capacity
        if asked > MANNERS.limits.low + 1e-6:
            raise self._wrong(f"{site} has promised to take up to {asked:.2f}", f"{MANNERS.limits.low}")

    def _begin(self, site: str, command: Begin) -> None:
        key = site, command.serial
        known = self._results.get(key)
        if known is not None:
            self._again(site, command, known)
            return
        self._results[key] = command, None
        move = self.ground.move(site, command)
        if move is None or not self._is_admitted(site, command, move):
            self.counts["declined"] += 1
            if self.is_calm:
                raise self._wrong(f"{site} begins {command}, which cannot be", "what was agreed")
            self.clock.after(0.01, partial(self._over, key, succeeded=False))
            return
        self._moving[key] = move.touched
        time = 0.3 + carry_s(self.ground.survey, move) + self._chance.choice((0.5, 6.0))
        self.clock.after(time, self._end, key)

    def _again(self, site: str, command: Begin, known: tuple[Begin, bool | None]) -> None:
        was, succeeded = known
        if was != command:
            raise self._wrong(f"{site} uses {command.serial} for {was} and for {command}", "one move")
        if succeeded is not None:
            self.hosts[site].tell(Done(command.serial, succeeded))

    def _is_admitted(self, site: str, command: Begin, move: Move | Joining) -> bool:
        """Whether the target expects a move, and nothing else moves its boxes."""
        held = frozenset().union(*self._moving.values())
        return self._expected.get((command.to, site)) == command.serial and not held & move.touched

    def _end(self, key: tuple[str, Any]) -> None:
        site, command = key[0], self._results[key][0]
        del self._moving[key]
        failed = not self.is_calm and (
            not self.hosts[site].up or not self.hosts[command.to].up or self._chance.random() < 0.25
        )
        move = None if failed else self.ground.move(site, command)
        self.counts["failed"] += move is None
        if move is not None:
            self.ground.done(move)
            self.moves.append((self.clock.now, move))
            self.counts[type(command).__name__] += 1
            self._tell_news()
        self._over(key, succeeded=move is not None)

    def _over(self, key: tuple[str, Any], *, succeeded: bool) -> None:
        self._results[key] = self._results[key][0], succeeded
        self.hosts[key[0]].tell(Done(key[1], succeeded))

    # --- what must hold

    def run(self) -> Trial:
        """Run until nothing moves any more, and check what is left."""
        while not self._rests():
            if self.clock.now > LIMIT_S:
                last = "; ".join(str(move) for _, move in self.moves[-4:])
                raise self._wrong(f"boxes still move: {last}", "rest, since loads are constant")
            self.clock.run(until=self.clock.now + 5.0)
        self._check_meaning()
        counts = self.counts
        return Trial(
            self.seed,
            counts["Slide"],
            counts["Split"],
            counts["Unsplit"],
            counts["failed"],
            counts["declined"],
            counts["crashes"],
            counts["amnesias"],
            sum(host.refusals for host in self.hosts.values()),
            self.clock.happened,
        )

    def _rests(self) -> bool:
        last = self.moves[-1][0] if self.moves else 0.0
        if self.clock.now < BUSY_S + QUIET_S or self.clock.now - last < QUIET_S or self._moving:
            return False
        machines = [host.machine for host in self.hosts.values()]
        return all(host.up for host in self.hosts.values()) and not any(
            each.taker.promises or (each.giver.open is not None and each.giver.open.begun)
            for each in machines
        )

    def _check_meaning(self) -> None:
        """What is split computes the same, and put together again it is what it was."""
        rows = [
            {"k": self._chance.randrange(80), "at": at, "v": self._chance.randrange(6)}
            for at in range(0, 60, 2)
        ]
        now = self.ground.survey.network
        if _emitted(self.before, rows) != _emitted(now, rows):
            raise self._wrong("the network does not compute what it did", "the same tuples")
        for split in self.ground.undone():
            now = split.parting.undo(now)
        if now != self.before:
            raise self._wrong("the network is another one without its splits", "what was deployed")

    def _wrong(self, what: str, expected: str) -> SimulationError:
        return SimulationError(Problem(f"seed {self.seed}, {self.clock.now:g} s", what, expected))


def _emitted(network: Network, rows: list[dict[str, int]]) -> Counter[tuple[str, str]]:
    run = ReferenceRun(network)
    found = [each for row in rows for name in network.inputs for each in run.push(name, row, ts=0, now=0)]
    return Counter((each.output, str(dict(each.values))) for each in [*found, *run.flush(now=0)])


def tried(seed: int, *, write: Callable[[bytes], object] | None = None) -> Trial:
    """Run an unreliable world, and check that boxes are where it was agreed, and come to rest."""
    return BadPlaces(seed, journal=Journal(write) if write else None).run()
