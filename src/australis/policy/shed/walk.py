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


@dataclass(frozen=True)
class _Shed:
    """What shedding at a place does, per fraction of what comes there."""

    loss: float
    """The weighted utility that is lost."""
    shares: Mapping[str, float]
    """The fraction of each output that is lost."""


class Walk:
    """The walk: the fractions admitted so far, by place."""

    def __init__(self, flow: Flow, curves: Mapping[str, Points], places: Sequence[str]) -> None:
        self._flow, self._curves, self._places = flow, curves, places
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
        self._ranked: list[tuple[float, float, int, int]] = []
        """The places by what they lose per time recovered; earlier versions of a place no longer count."""
        self._unranked = dict.fromkeys(places)
        self._steps = 0

    def relieve(self, stage: str, most: float) -> None:
        """Walk until a stage needs no more than it may."""
        while (beyond := self._asked[stage] - most) > NEAR and self._step(beyond, self._best_for(stage)):
            pass

    def until(self, need: float) -> None:
        """Walk until a given time is recovered."""
        while (rest := need - self.recovered) > NEAR and self._step(rest, self._best()):
            pass

    @property
    def recovered(self) -> float:
        """The workers' time per second that is saved."""
        return self._whole - sum(self._asked.values())

    # --- the next step

    def _best(self) -> tuple[str, float] | None:
        """The place that loses least for the time recovered in total, and that time."""
        for place in self._unranked:
            rank = self._rank(place, self._costs[place])
            if rank is not None:
                heappush(self._ranked, (*rank, self._number[place], self._versions[place]))
        self._unranked = {}
        while self._ranked:
            _, negative, number, version = self._ranked[0]
            if version == self._versions[self._places[number]]:
                return self._places[number], -negative
            heappop(self._ranked)
        return None

    def _best_for(self, stage: str) -> tuple[str, float] | None:
        """The place that loses least for the time recovered at one stage, and that time."""
        found: list[tuple[float, float, int]] = []
        for place, cost in self._flow.costs_at(stage, self.kept).items():
            rank = self._rank(place, cost) if place in self.kept else None
            if rank is not None:
                found.append((*rank, self._number[place]))
        if not found:
            return None
        _, negative, number = min(found)
        return self._places[number], -negative

    def _rank(self, place: str, cost: float) -> tuple[float, float] | None:
        """What a place loses per time recovered, then that time; None if it can recover none."""
        relief = self._arriving[place] * cost
        if self.kept[place] <= 0 or relief <= NEAR:
            return None
        return self._shed(place).loss / relief, -relief

    def _shed(self, place: str) -> _Shed:
        if place not in self._known:
            shares = self._flow.shares(place, self._arriving[place], self.kept)
            loss = sum(self._loss(output, share) for output, share in shares.items())
            self._known[place] = _Shed(loss, shares)
        return self._known[place]

    def _loss(self, output: str, share: float) -> float:
        """The utility that an output loses per fraction shed at a place."""
        steepness = slope(self._curves[output], max(self._delivered[output] - NEAR, 0.0), -1)
        return self._weights[output] * max(0.0, steepness) * share

    # --- the step

    def _step(self, need: float, best: tuple[str, float] | None) -> bool:
        """Shed more at a place; False if there is none, or nothing more can be shed there."""
        if best is None:
            return False
        place, relief = best
        ends = (self._to_next_point(output, share) for output, share in self._shed(place).shares.items())
        before = self.kept[place]
        kept = before - min(need / relief, *ends, before)
        self.kept[place] = kept if kept > NEAR else 0.0
        self._follow(place)
        self._steps += 1
        return self.kept[place] < before and self._steps < STEPS_MAX

    def _to_next_point(self, output: str, share: float) -> float:
        """The fraction to shed at a place until an output reaches the next point of its curve."""
        delivered = self._delivered[output]
        below = [x for x, _ in self._curves[output] if x < delivered - NEAR]
        return (delivered - (below[-1] if below else 0.0)) / share if share > 0 else 1.0

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
                self._unranked[name] = None

    def _needs(self, stage: str) -> float:
        """The workers' time per second that a stage needs."""
        return self._arriving[stage] * self.kept.get(stage, 1.0) * self._flow.cost(stage)
