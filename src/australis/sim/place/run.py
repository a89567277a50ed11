"""One run: a placement daemon on each site, which sees smoothed rates and moves boxes during operation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from random import Random

from australis.policy.place import (
    Answer,
    Answered,
    Begin,
    Command,
    Daemon,
    Done,
    Event,
    Looked,
    Manners,
    Move,
    Offer,
    Offered,
    Splitting,
    carry_s,
)
from australis.sim.kernel import Clock, Journal
from australis.sim.place.flows import Flows
from australis.sim.place.tally import Outcome, Tally
from australis.sim.place.workload import Rates, Setting, survey

STEP_S = 1.0
LOOK_S = 5.0
"""How often daemons decide."""
MEMORY_S = 10.0
"""The time over which the rates that daemons see are smoothed."""
LATENCY_S = 1.0
"""The fixed time of every move, besides the transfer of its state: to hold, to drain, to bind."""


class Run:
    """One run of a setting, determined by a seed; without manners nothing ever moves."""

    def __init__(
        self, setting: Setting, seed: int, manners: Manners | None, journal: Journal | None = None
    ) -> None:
        self._setting = setting
        self._rates = Rates(setting, Random(seed))
        self._clock = Clock()
        self.flows = Flows(survey(setting))
        self._daemons = {} if manners is None else {s: Daemon(s, manners) for s in self.flows.survey.sites}
        self._journal = journal
        self._seen = dict(self.flows.survey.rates)
        self._known = self.flows.survey
        """The survey that daemons see."""
        self._tally = Tally(self.flows.survey)
        self._moving: list[frozenset[str]] = []

    def outcome(self) -> Outcome:
        """Run, and return the result."""
        self._clock.every(STEP_S, self._step, first=0.0)
        self._clock.every(LOOK_S, self._look)
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

    def _look(self) -> None:
        self._known = replace(self.flows.survey, rates=dict(self._seen))
        for site in self._daemons:
            self._tell(site, Looked(self._clock.now, self._known))

    def _tell(self, site: str, event: Event) -> None:
        commands = self._daemons[site].handle(event)
        if self._journal is not None:
            self._journal.write(self._clock.now, site, event, commands)
        self._obey(site, commands)

    def _obey(self, site: str, commands: Sequence[Command]) -> None:
        now = self._clock.now
        for command in commands:
            match command:
                case Offer(target, serial, move):
                    self._tell(target, Offered(now, site, serial, move, self._known))
                case Answer(target, serial, accepted):
                    self._tell(target, Answered(now, site, serial, accepted))
                case Begin(move):
                    self._begin(move)

    # --- moves

    def _begin(self, move: Move) -> None:
        """Hold the boxes while their state is transferred."""
        here = self.flows.survey
        held = move.touched & here.network.boxes.keys()
        self._moving.append(held)
        self._hold()
        self._tally.note_move(self._clock.now, move, move.state_bytes(here))
        self._clock.after(LATENCY_S + carry_s(here, move), self._end, move, held)

    def _hold(self) -> None:
        self.flows.held = frozenset().union(*self._moving)

    def _end(self, move: Move, held: frozenset[str]) -> None:
        here, copies = self.flows.survey, {}
        if isinstance(move, Splitting):
            copies[move.parting.copy] = (move.parting.box, 1 - move.portion.kept)
        # Between offer and end, another site may have changed the network upstream of the box.
        fits = not isinstance(move, Splitting) or move.parting.fits(here.network)
        if fits:
            self.flows.change(move.apply(here), copies)
        self._moving.remove(held)
        self._hold()
        for site in (move.source, move.target):
            self._tell(site, Done(self._clock.now, move, fits))
