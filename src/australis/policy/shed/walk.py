"""The walk along the curves of outputs: which drop box is opened a little further next (Aurora 4.5).

A step changes the flow downstream of one place, and what others lose by shedding that have outputs in common
with it. Only that is worked out again, so the walk is as quick as its steps reach.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush

from australis.algebra.quality import Points
from australis.policy.shed.flow import Flow
from australis.qos.graphs import slope

STEPS_MAX = 10_000
"""A walk with more steps than the curves have points is caught in rounding errors."""
NEAR = 1e-9
STRIDE = 0.125
"""The most that is shed in one step at a place that has outputs in common with another."""


@dataclass(frozen=True)
class Step:
    """A step: a drop box is opened further, until a curve has its next point."""

    place: str
    before: float
    """The fraction that the place admits before the step, and after it."""
    after: float
    relief: float
    """The workers' time per second that it saves."""
    begins: float
    """The level of loss at which the step begins, and that at which it ends (see `levels`)."""
    ends: float


@dataclass(frozen=True)
class _Shed:
    """What shedding at a place does, per fraction of what comes there."""

    losses: Mapping[str, float]
    """The weighted utility that is lost, by output."""
    shares: Mapping[str, float]
    """The fraction of each output that is lost."""


class Walk:
    """The walk: the fractions admitted so far, by place. Places that touch one another form a group."""

    def __init__(
        self, flow: Flow, curves: Mapping[str, Points], places: Sequence[str], evenness: float
    ) -> None:
        self._flow, self._curves, self._places, self._evenness = flow, curves, places, evenness
        self._weights = {name: goal.quality.weight for name, goal in flow.situation.goals.items()}
        self._number = {place: number for number, place in enumerate(places)}
        self.kept = dict.fromkeys(places, 1.0)
        """The fraction that each place admits."""
        self._arriving, self._costs = flow.arriving(self.kept), flow.costs(self.kept)
        self._delivered = flow.delivered(self.kept)
        self._asked = {name: self._needs(name) for name in flow.ids}
        self._whole = sum(self._asked.values())
        self._known: dict[str, _Shed] = {}
        self._versions = dict.fromkeys(places, 0)
        self._group = _groups(flow, places)
        """The first place of each place's group."""
        self._stride = {first: STRIDE for place, first in self._group.items() if place != first}
        self.groups = tuple(dict.fromkeys(self._group.values()))
        self._ranked: dict[str, list[tuple[float, float, int, int]]] = {each: [] for each in self.groups}
        """The places of each group by level, then by the time recovered; earlier versions no longer count."""
        self._unranked: dict[str, dict[str, None]] = {each: {} for each in self.groups}
        for place, first in self._group.items():
            self._unranked[first][place] = None
        self._steps = 0

    def relieve(self, stage: str, most: float) -> None:
        """Walk until a stage needs no more than it may."""
        while (beyond := self._asked[stage] - most) > NEAR:
            step = self._best_for(stage)
            if step is None or not self.take(step, min(1.0, beyond / step.relief)):
                break

    @property
    def recovered(self) -> float:
        """The workers' time per second that is saved."""
        return self._whole - sum(self._asked.values())

    # --- the next step

    def best(self, group: str) -> Step | None:
        """The step of a group that loses least for the time recovered."""
        ranked, unranked = self._ranked[group], self._unranked[group]
        for place in unranked:
            rank = self._rank(place, self._costs[place])
            if rank is not None:
                heappush(ranked, (*rank, self._number[place], self._versions[place]))
        unranked.clear()
        while ranked:
            _, negative, number, version = ranked[0]
            if version == self._versions[self._places[number]]:
                return self._step(self._places[number], -negative)
            heappop(ranked)
        return None

    def _best_for(self, stage: str) -> Step | None:
        """The step that loses least for the time recovered at one stage."""
        found: list[tuple[float, float, int]] = []
        for place, cost in self._flow.costs_at(stage, self.kept).items():
            rank = self._rank(place, cost) if place in self.kept else None
            if rank is not None:
                found.append((*rank, self._number[place]))
        if not found:
            return None
        _, negative, number = min(found)
        return self._step(self._places[number], -negative)

    def _rank(self, place: str, cost: float) -> tuple[float, float] | None:
        """The level that shedding at a place begins with, then the time recovered; None if there is none."""
        relief = self._arriving[place] * cost
        if self.kept[place] <= 0 or relief <= NEAR:
            return None
        return self._level(place, 0.0, relief), -relief

    def _step(self, place: str, relief: float) -> Step:
        """The next step at a place that saves some time per fraction shed there."""
        before = self.kept[place]
        ends = (self._to_next_point(output, share) for output, share in self._shed(place).shares.items())
        part = min(*ends, self._stride.get(self._group[place], 1.0), before, 1.0)
        after = before - part if before - part > NEAR else 0.0
        begins, ends_at = (self._level(place, each, relief) for each in (0.0, before - after))
        return Step(place, before, after, relief * (before - after), begins, ends_at)

    def _level(self, place: str, part: float, relief: float) -> float:
        """The level of loss at a place once a further part is shed there (see `levels`)."""
        shed, loss = self._shed(place), 0.0
        for output, each in shed.losses.items():
            lost = 1.0 - self._delivered[output] + shed.shares[output] * part
            loss += each * (1.0 + self._evenness * lost)
        return loss / relief if loss > 0 else part - self.kept[place]

    def _shed(self, place: str) -> _Shed:
        if place not in self._known:
            shares = self._flow.shares(place, self._arriving[place], self.kept)
            losses = {output: self._loss(output, share) for output, share in shares.items()}
            self._known[place] = _Shed(losses, shares)
        return self._known[place]

    def _loss(self, output: str, share: float) -> float:
        """The utility that an output loses per fraction shed at a place."""
        steepness = slope(self._curves[output], max(self._delivered[output] - NEAR, 0.0), -1)
        return self._weights[output] * max(0.0, steepness) * share

    def _to_next_point(self, output: str, share: float) -> float:
        """The fraction to shed at a place until an output reaches the next point of its curve."""
        delivered = self._delivered[output]
        below = [x for x, _ in self._curves[output] if x < delivered - NEAR]
        return (delivered - (below[-1] if below else 0.0)) / share if share > 0 else 1.0

    # --- the step

    def take(self, step: Step, part: float = 1.0) -> bool:
        """Take a part of a step; False if it leads nowhere."""
        kept = step.before - part * (step.before - step.after) if part < 1.0 else step.after
        self.kept[step.place] = kept if kept > NEAR else 0.0
        self._follow(step.place)
        self._steps += 1
        return kept < step.before and self._steps < STEPS_MAX

    def _follow(self, place: str) -> None:
        """Work out again what depends on the fraction that a place admits."""
        flow = self._flow
        after = flow.after(place)
        for name in after:
            self._arriving[name] = flow.arriving_at(name, self._arriving, self.kept)
            self._asked[name] = self._needs(name)
            self._delivered |= flow.delivered_from(name, self._arriving, self.kept)
        for name in reversed(flow.before(place)):
            if name != place:
                self._costs[name] = flow.cost_from(name, self._costs, self.kept)
        self._forget(flow.beside(place))

    def _forget(self, stages: Iterable[str]) -> None:
        """Rank places again that a step has touched."""
        for name in stages:
            if name in self.kept:
                self._known.pop(name, None)
                self._versions[name] += 1
                self._unranked[self._group[name]][name] = None

    def _needs(self, stage: str) -> float:
        """The workers' time per second that a stage needs."""
        return self._arriving[stage] * self.kept.get(stage, 1.0) * self._flow.cost(stage)


def _groups(flow: Flow, places: Sequence[str]) -> dict[str, str]:
    """For each place the first one of its group: those that it touches, directly or not."""
    found: dict[str, str] = {}
    known = frozenset(places)
    for first in places:
        pending = [] if first in found else [first]
        while pending:
            place = pending.pop()
            if place not in found:
                found[place] = first
                pending += (each for each in flow.beside(place) if each in known and each not in found)
    return found
