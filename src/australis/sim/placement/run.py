"""One run: a placement daemon on each site, which sees smoothed rates and moves boxes while all goes on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random

from australis.policy.place.daemon import Daemon, Manners
from australis.policy.place.messages import (
    Answer,
    Answered,
    Begin,
    Command,
    Done,
    Event,
    Looked,
    Offer,
    Offered,
)
from australis.policy.place.moves import Move, Split
from australis.policy.place.slide import Slide
from australis.policy.place.survey import Survey
from australis.sim.kernel.clock import Clock
from australis.sim.kernel.journal import Journal
from australis.sim.placement.flows import NOTHING, Amount, Flows
from australis.sim.placement.workload import Rates, Setting, survey

STEP_S = 1.0
LOOK_S = 5.0
"""How often daemons look."""
SMOOTHING = 0.5
"""What a new measurement counts against all before."""
LATENCY_S = 1.0
"""What every move takes beside the time to carry its state: to hold, to drain, to bind."""
CURVE_S = 20.0
"""Over so many seconds what is drawn is a mean."""
RETURN_S = 900.0
"""A box that is back within this time has gone to and fro."""


@dataclass(frozen=True)
class Outcome:
    """What came of a run."""

    delivered: float
    """Of what came in, the part that was delivered by the end."""
    delay_s: float
    """The mean time from input to output of what was delivered."""
    backlog: float
    """The tuples that wait, as a mean over time."""
    traffic: float
    """Bytes in a second over all lines, states that move included, as a mean over time."""
    overloaded: float
    """The sites that are asked for more than they can do, as a mean over time."""
    slides: int
    splits: int
    returns: int
    """Boxes that were soon back where they had come from."""
    last_move_s: float
    delays: tuple[tuple[float, float], ...]
    """The mean delay of what was delivered, with the second of the run."""
    moves: tuple[str, ...] = ()


class Run:
    """One run of a setting, drawn by a seed; without manners nothing ever moves."""

    def __init__(self, setting: Setting, seed: int, manners: Manners | None) -> None:
        self._setting = setting
        self._rates = Rates(setting, Random(seed))
        self._clock = Clock()
        self.flows = Flows(survey(setting))
        self._daemons = {} if manners is None else {s: Daemon(s, manners) for s in self.flows.survey.sites}
        self.journal = Journal()
        self._seen = dict(self.flows.survey.rates)
        self._tally = Tally(self.flows.survey)
        self._moving: list[frozenset[str]] = []

    def outcome(self) -> Outcome:
        """Let it run."""
        self._clock.every(STEP_S, self._step, first=0.0)
        self._clock.every(LOOK_S, self._look)
        self._clock.run(until=self._setting.seconds)
        return self._tally.outcome(self._setting.seconds)

    def _step(self) -> None:
        now = self._clock.now
        rates = self._rates.at(now)
        for name, rate in rates.items():
            self._seen[name] += SMOOTHING / LOOK_S * STEP_S * (rate - self._seen[name])
        done = self.flows.step(now, STEP_S, rates)
        self._tally.stepped(now, rates, done.delivered, sum(done.carried.values()), self.flows)

    # --- daemons

    def _look(self) -> None:
        for site in self._daemons:
            self._tell(site, Looked(self._clock.now, self._known()))

    def _known(self) -> Survey:
        return replace(self.flows.survey, rates=dict(self._seen))

    def _tell(self, site: str, event: Event) -> None:
        commands = self._daemons[site].handle(event)
        self.journal.write(self._clock.now, site, event, commands)
        self._obey(site, commands)

    def _obey(self, site: str, commands: Sequence[Command]) -> None:
        now = self._clock.now
        for command in commands:
            match command:
                case Offer(target, serial, move):
                    self._tell(target, Offered(now, site, serial, move, self._known()))
                case Answer(target, serial, accepted):
                    self._tell(target, Answered(now, site, serial, accepted))
                case Begin(move):
                    self._begin(move)

    # --- moves

    def _begin(self, move: Move) -> None:
        """Hold the boxes while what they remember is carried over."""
        here = self.flows.survey
        size = move.state_bytes(here)
        width = here.lines.get((move.source, move.target))
        held = move.touched & here.network.boxes.keys()
        self._moving.append(held)
        self._hold()
        self._tally.moved(self._clock.now, move, size)
        self._clock.after(LATENCY_S + (size / width if width else 0.0), self._end, move, held)

    def _hold(self) -> None:
        self.flows.held = frozenset().union(*self._moving)

    def _end(self, move: Move, held: frozenset[str]) -> None:
        # Between offer and end another site may have changed the network; a slide is still what it was.
        fits = not isinstance(move, Split) or _is_current(move, self.flows.survey)
        if fits:
            copies = {}
            if isinstance(move, Split):
                copies[move.parting.copy] = (move.parting.box, 1 - move.portion.kept)
            self.flows.change(move.apply(self.flows.survey), copies)
        self._moving.remove(held)
        self._hold()
        for site in (move.source, move.target):
            self._tell(site, Done(self._clock.now, move, fits))


def _is_current(move: Split, survey: Survey) -> bool:
    """Whether a split that was thought of for a network still fits it: its box reads what it read."""
    box, put = survey.network.boxes.get(move.parting.box), move.parting.put
    first = put[move.parting.routes[0]].sources
    return (
        box is not None and set(first) <= set(box.sources) and move.parting.copy not in survey.network.boxes
    )


class Tally:
    """What is counted during a run."""

    def __init__(self, survey: Survey) -> None:
        self._survey = survey
        self._gains = {
            name: sum(
                replace(survey, rates={name: 1.0}).flows[o.source] for o in survey.network.outputs.values()
            )
            for name in survey.rates
        }
        """What of a tuple of an input comes out in the end, on all outputs."""
        self._due = self._got = self._late = 0.0
        self._backlog = self._bytes = self._overloaded = 0.0
        self._steps = 0
        self._moves: list[tuple[float, Move]] = []
        self._left: dict[tuple[str, str], float] = {}
        self._returns = 0
        self._curve: dict[int, list[float]] = {}

    def stepped(
        self, now: float, rates: dict[str, float], delivered: Mapping[str, Amount], size: float, flows: Flows
    ) -> None:
        """One step."""
        got = NOTHING
        for amount in delivered.values():
            got = got.plus(amount)
        late = got.tuples * now - got.born
        self._steps += 1
        self._due += STEP_S * sum(rate * self._gains[name] for name, rate in rates.items())
        self._got += got.tuples
        self._late += late
        self._backlog += flows.backlog
        self._bytes += size
        loads = replace(flows.survey, rates=rates).loads.values()
        self._overloaded += sum(load > 1.0 for load in loads)
        tuples_late = self._curve.setdefault(int(now // CURVE_S), [0.0, 0.0])
        tuples_late[0] += got.tuples
        tuples_late[1] += late

    def moved(self, now: float, move: Move, size: float) -> None:
        """A move that begins."""
        self._moves.append((now, move))
        self._bytes += size
        if isinstance(move, Slide):
            for box_id in move.boxes:
                left = self._left.get((box_id, move.target))
                self._returns += left is not None and now - left < RETURN_S
                self._left[box_id, move.source] = now

    def outcome(self, seconds: float) -> Outcome:
        """All of it."""
        slides = sum(isinstance(move, Slide) for _, move in self._moves)
        curve = sorted(self._curve.items())
        return Outcome(
            self._got / self._due,
            self._late / self._got,
            self._backlog / self._steps,
            self._bytes / seconds,
            self._overloaded / self._steps,
            slides,
            len(self._moves) - slides,
            self._returns,
            self._moves[-1][0] if self._moves else 0.0,
            tuple((place * CURVE_S, late / tuples if tuples else 0.0) for place, (tuples, late) in curve),
            tuple(f"{time:.0f} s: {move}" for time, move in self._moves),
        )
