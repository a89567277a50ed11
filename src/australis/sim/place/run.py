"""One run: a placement daemon on each site, which is told what is measured there, and moves boxes."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any

from australis.policy.machines import Journal, Started
from australis.policy.place import (
    Begin,
    Daemon,
    Done,
    Manners,
    Move,
    Slide,
    Split,
    Splitting,
    Unsplit,
    carry_s,
)
from australis.sim.kernel import Clock, Links, MachineHost, Net
from australis.sim.place.flows import Flows
from australis.sim.place.ground import Ground, Joining
from australis.sim.place.pieces import measured_at
from australis.sim.place.tally import Outcome, Tally
from australis.sim.place.workload import Rates, Setting, survey

STEP_S = 1.0
LOOK_S = 5.0
"""How often sites measure, report and decide."""
MEMORY_S = 10.0
"""The time over which the rates that are measured are smoothed."""
LATENCY_S = 1.0
"""The fixed time of every move, besides the transfer of its state: to hold, to drain, to bind."""
LETTER_S = 0.01
"""How long a letter takes."""


class Run:
    """One run of a setting, determined by a seed; without manners nothing ever moves."""

    def __init__(
        self, setting: Setting, seed: int, manners: Manners | None, journal: Journal | None = None
    ) -> None:
        self._setting = setting
        self._rates = Rates(setting, Random(seed))
        self._clock = Clock()
        self.flows = Flows(survey(setting))
        here = self.flows.survey
        self._ground = Ground(here, (manners or Manners()).limits.assumed)
        self._net = Net(self._clock, Random(seed), Links(LETTER_S), self._arrived)
        self.hosts = {} if manners is None else {s: self._host(s, manners, journal) for s in here.sites}
        self._seen = dict(here.rates)
        self._tally = Tally(here)
        self._moving: list[frozenset[str]] = []

    def _host(self, site: str, manners: Manners, journal: Journal | None) -> MachineHost:
        own = self.flows.survey.sites[site]

        def make(incarnation: int) -> Daemon:
            return Daemon(site, own, manners, incarnation)

        def carry(command: Any) -> None:
            if isinstance(command, Slide | Split | Unsplit):
                self._begin(site, command)

        return MachineHost(self._clock, make, carry, net=self._net, journal=journal)

    def outcome(self) -> Outcome:
        """Run, and return the result."""
        for host in self.hosts.values():
            self._clock.at(0.0, host.tell, Started())
        if self.hosts:
            self._clock.at(0.0, self._tell_news)
            self._clock.every(LOOK_S, self._look)
        self._clock.every(STEP_S, self._step, first=0.0)
        self._clock.run(until=self._setting.seconds)
        return self._tally.outcome()

    def _step(self) -> None:
        now = self._clock.now
        rates = self._rates.at(now)
        for name, rate in rates.items():
            self._seen[name] += STEP_S / MEMORY_S * (rate - self._seen[name])
        done = self.flows.step(now, STEP_S, rates)
        self._tally.note_step(now, STEP_S, rates, done, self.flows)

    # --- daemons

    def _arrived(self, source: str, target: str, letter: bytes) -> None:
        self.hosts[target].heard(source, letter)

    def _look(self) -> None:
        seen = replace(self._ground.survey, rates=dict(self._seen))
        for site, host in self.hosts.items():
            host.tell(measured_at(seen, site, self._ground.runs(site)))

    def _tell_news(self) -> None:
        for site, runs in self._ground.news().items():
            self.hosts[site].tell(runs)

    # --- moves

    def _begin(self, site: str, command: Begin) -> None:
        """Hold the boxes while their state is transferred."""
        here = self._ground.survey
        move = self._ground.move(site, command)
        if move is None:
            self._clock.after(LATENCY_S, self.hosts[site].tell, Done(command.serial, succeeded=False))
            return
        held = move.touched & here.network.boxes.keys()
        self._moving.append(held)
        self._hold()
        self._tally.note_move(self._clock.now, move, move.state_bytes(here))
        self._clock.after(LATENCY_S + carry_s(here, move), self._end, site, command, held)

    def _hold(self) -> None:
        self.flows.held = frozenset().union(*self._moving)

    def _end(self, site: str, command: Begin, held: frozenset[str]) -> None:
        # Meanwhile, another site may have changed the network around the boxes.
        move = self._ground.move(site, command)
        if move is not None:
            self._change(move)
        self._moving.remove(held)
        self._hold()
        self._tell_news()
        self.hosts[site].tell(Done(command.serial, move is not None))

    def _change(self, move: Move | Joining) -> None:
        copies, heirs = {}, move.heirs(self._ground.survey) if isinstance(move, Joining) else {}
        if isinstance(move, Splitting):
            copies[move.parting.copy] = (move.parting.box, 1 - move.portion.kept)
        self._ground.done(move)
        self.flows.change(self._ground.survey, copies, heirs)
