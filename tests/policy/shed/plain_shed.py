"""The plainest shedding, for comparison: a step looks at the whole flow again, and the level is searched."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from copy import copy

from australis.algebra.quality import Points
from australis.policy.load import Situation, Stage
from australis.policy.shed.drop_boxes import LONG_QUEUE_S, DropBox, Shedding, curve
from australis.policy.shed.flow import TRAIN, Fractions, excess
from australis.policy.shed.levels import EVENNESS
from australis.policy.shed.walk import NEAR, STEPS_MAX, STRIDE, Step
from australis.qos.graphs import slope, utility

HALVINGS = 100


class Flow:
    """Tuples per second through the stages: arrivals, and a backlog as if it arrived within a horizon.

    A drop box at a gate also acts on what waits there, so both are thinned alike. Stages that lead only to
    `inactive` outputs, which the scheduler does not serve, use no time, so shedding there gains nothing (the
    first of the two subtleties of Aurora 4.5). Costs are assumed to be `dearer` times the measured ones.
    """

    def __init__(
        self,
        situation: Situation,
        *,
        horizon_s: float = math.inf,
        train: float = TRAIN,
        inactive: Collection[str] = (),
        dearer: float = 1.0,
    ) -> None:
        self.situation = situation
        stages = situation.stages
        self._ids = tuple(stages)
        self._feeds = {
            s.id: tuple((d, n) for d, n in s.feeds.items() if d in stages) for s in stages.values()
        }
        fed = {name for feeds in self._feeds.values() for name, _ in feeds}
        self._inflow = {
            s.id: (s.direct if s.id in fed else s.rate) + excess(s, situation) / horizon_s
            for s in stages.values()
        }
        self._cost = {s.id: dearer * _cost_s(s, train, inactive) for s in stages.values()}
        self._ends = {name: goal.way[-1] for name, goal in situation.goals.items() if goal.way}
        self._downstream = self._all_downstream()
        self._outputs: dict[str, list[str]] = {}
        for name, end in self._ends.items():
            self._outputs.setdefault(end, []).append(name)
        self._whole = self.arriving({})

    def arriving(self, kept: Fractions) -> dict[str, float]:
        """The tuples that arrive at each gate per second."""
        found = dict(self._inflow)
        for name in self._ids:
            self._pass_on(name, found[name] * kept.get(name, 1.0), found)
        return found

    def asked(self, kept: Fractions) -> float:
        """The workers' time needed per second."""
        arriving = self.arriving(kept)
        return sum(arriving[name] * kept.get(name, 1.0) * self._cost[name] for name in self._ids)

    def need(self, kept: Fractions | None = None) -> float:
        """The need beyond the capacity; negative if some is left."""
        return self.asked(kept or {}) - self.situation.capacity

    def cost(self, stage: str) -> float:
        """The cost of an admitted tuple at a stage, in seconds."""
        return self._cost[stage]

    def busy(self, stage: str, kept: Fractions) -> float:
        """The time per second that one stage needs."""
        return self.arriving(kept)[stage] * kept.get(stage, 1.0) * self._cost[stage]

    def costs(self, kept: Fractions, only: str | None = None) -> dict[str, float]:
        """The cost of a tuple admitted at a stage, in seconds: there and downstream, or at `only` one."""
        found: dict[str, float] = {}
        for name in reversed(self._ids):
            own = self._cost[name] if only in (None, name) else 0.0
            found[name] = own + sum(n * kept.get(d, 1.0) * found[d] for d, n in self._feeds[name])
        return found

    def delivered(self, kept: Fractions) -> dict[str, float]:
        """The fraction of its tuples that each output gets; along one path, fractions multiply."""
        arriving = self.arriving(kept)
        return {o: self._part(arriving[end] * kept.get(end, 1.0), end) for o, end in self._ends.items()}

    def shares(self, place: str, arriving: float, kept: Fractions) -> dict[str, float]:
        """The fraction of each output's possible tuples that comes from tuples admitted at a stage."""
        found = dict.fromkeys(self._downstream[place], 0.0)
        found[place] = arriving
        for name in found:
            found[name] *= 1.0 if name == place else kept.get(name, 1.0)
            self._pass_on(name, found[name], found)
        return {
            output: self._part(tuples, end)
            for end, tuples in found.items()
            if tuples
            for output in self._outputs.get(end, ())
        }

    def groups(self, places: Sequence[str]) -> list[frozenset[str]]:
        """Places that lead to stages in common, directly or through others."""
        found: list[frozenset[str]] = []
        for place in places:
            touching = [each for each in found if any(self._touch(place, other) for other in each)]
            found = [each for each in found if each not in touching]
            found.append(frozenset({place}).union(*touching))
        return found

    def _touch(self, one: str, other: str) -> bool:
        return bool(set(self._downstream[one]) & set(self._downstream[other]))

    def _all_downstream(self) -> dict[str, list[str]]:
        """For each stage, itself and those that it feeds, directly or not, in order."""
        place = {name: index for index, name in enumerate(self._ids)}
        found: dict[str, list[str]] = {}
        for name in reversed(self._ids):
            reached = {each for fed, _ in self._feeds[name] for each in found[fed]}
            found[name] = [name, *sorted(reached, key=place.__getitem__)]
        return found

    def _pass_on(self, name: str, tuples: float, found: dict[str, float]) -> None:
        for fed, each in self._feeds[name]:
            found[fed] += tuples * each

    def _part(self, tuples: float, end: str) -> float:
        return tuples / self._whole[end] if self._whole[end] > 0 else 1.0


def _cost_s(stage: Stage, train: float, inactive: Collection[str]) -> float:
    """The workers' time for a tuple, in seconds, including its share of a train's."""
    if stage.outputs and stage.outputs <= set(inactive):
        return 0.0
    return (stage.tuple_us + stage.train_us / train) / 1e6


def shed(
    flow: Flow,
    need: float,
    values: Mapping[str, Points] | None = None,
    *,
    each: float = math.inf,
    evenness: float = EVENNESS,
) -> Shedding:
    """The drop boxes that meet a need: those of the lowest level of loss at which enough is recovered.

    Stages that need more than `each` are relieved first. Then the level is searched by halving an interval,
    and each time all groups walk up to it, from where they were.
    """
    walk = _Walk(flow, values or {}, evenness)
    for stage in flow.situation.stages.values() if each < math.inf else ():
        walk.relieve(stage.id, each * stage.abreast)
    low, high = -2.0, 1e12
    for _ in range(HALVINGS if need - walk.recovered > NEAR else 0):
        level = (low + high) / 2 if high < 1.0 else math.sqrt(max(low, 1e-9) * high)
        reached = walk.copy()
        reached.until(level)
        low, high = (low, level) if reached.recovered > need else (level, high)
    if need - walk.recovered > NEAR:
        walk.until(low)
        walk.jump(high, need)
    return walk.result(need)


class _Walk:
    """The walk along the curves: the fractions admitted so far, by place."""

    def __init__(self, flow: Flow, values: Mapping[str, Points], evenness: float) -> None:
        self._flow, self._goals, self._evenness = flow, flow.situation.goals, evenness
        curves = {name: curve(goal.quality, values.get(name)) for name, goal in self._goals.items()}
        self._curves = {name: points for name, points in curves.items() if points is not None}
        self._places = tuple(places(flow, frozenset(self._curves)))
        self._groups = flow.groups(self._places)
        self._kept = dict.fromkeys(self._places, 1.0)
        self._whole = flow.asked({})
        self._steps = 0

    def copy(self) -> _Walk:
        found = copy(self)
        found._kept = dict(self._kept)
        return found

    def relieve(self, stage: str, most: float) -> None:
        """Walk until a stage needs no more than it may."""
        while (beyond := self._flow.busy(stage, self._kept) - most) > NEAR:
            step = self._best(self._places, stage)
            if step is None or not self._take(step, min(1.0, beyond / step.relief)):
                break

    def until(self, level: float) -> None:
        """Let all groups walk until their next step begins above a level."""
        for group in self._groups:
            while (step := self._best(group)) is not None and step.begins <= level:
                width = step.ends - step.begins
                part = (level - step.begins) / width if width > 0 else 1.0
                if not self._take(step, min(part, 1.0)) or part < 1.0:
                    break

    def jump(self, level: float, need: float) -> None:
        """Take steps that begin about at a level, until a given time is recovered."""
        for group in self._groups:
            while (rest := need - self.recovered) > NEAR and (step := self._best(group)) is not None:
                if step.begins > level + 1e-6 or not self._take(step, min(1.0, rest / step.relief)):
                    break

    @property
    def recovered(self) -> float:
        return self._whole - self._flow.asked(self._kept)

    def _best(self, among: Collection[str], only: str | None = None) -> Step | None:
        """The step of the lowest level, by the time recovered in total or at one stage."""
        arriving, costs = self._flow.arriving(self._kept), self._flow.costs(self._kept, only)
        reliefs = {place: arriving[place] * costs[place] for place in self._places if place in among}
        steps = [
            (self._level(place, 0.0, relief), -relief, number, place)
            for number, (place, relief) in enumerate(reliefs.items())
            if self._kept[place] > 0 and relief > NEAR
        ]
        if not steps:
            return None
        begins, negative, _, place = min(steps)
        before = self._kept[place]
        crowded = any(len(group) > 1 and place in group for group in self._groups)
        part = min(*self._ends(place), STRIDE if crowded else 1.0, before, 1.0)
        after = before - part if before - part > NEAR else 0.0
        ends = self._level(place, before - after, -negative)
        return Step(place, before, after, -negative * (before - after), begins, ends)

    def _take(self, step: Step, part: float) -> bool:
        kept = step.before - part * (step.before - step.after) if part < 1.0 else step.after
        self._kept[step.place] = kept if kept > NEAR else 0.0
        self._steps += 1
        return kept < step.before and self._steps < STEPS_MAX

    def _level(self, place: str, part: float, relief: float) -> float:
        """What a place loses per time recovered, raised by what its outputs have lost already."""
        delivered, shares = self._flow.delivered(self._kept), self._shares(place)
        loss = sum(
            self._loss(output, delivered[output], share)
            * (1.0 + self._evenness * (1.0 - delivered[output] + share * part))
            for output, share in shares.items()
        )
        return loss / relief if loss > 0 else part - self._kept[place]

    def _shares(self, place: str) -> dict[str, float]:
        return self._flow.shares(place, self._flow.arriving(self._kept)[place], self._kept)

    def _loss(self, output: str, delivered: float, share: float) -> float:
        """The utility that an output loses per fraction shed at a place."""
        steepness = slope(self._curves[output], max(delivered - NEAR, 0.0), -1)
        return self._goals[output].quality.weight * max(0.0, steepness) * share

    def _ends(self, place: str) -> Iterator[float]:
        """The fractions to shed at a place until an output reaches the next point of its curve."""
        delivered = self._flow.delivered(self._kept)
        for output, share in self._shares(place).items():
            below = [x for x, _ in self._curves[output] if x < delivered[output] - NEAR]
            yield (delivered[output] - (below[-1] if below else 0.0)) / share if share > 0 else 1.0

    def result(self, need: float) -> Shedding:
        delivered = self._flow.delivered(self._kept)
        boxes = {place: DropBox.random(1.0 - kept) for place, kept in self._kept.items() if kept < 1.0}
        lost = {
            name: self._goals[name].quality.weight
            * (utility(points, 1.0) - utility(points, delivered.get(name, 1.0)))
            for name, points in self._curves.items()
        }
        missing = need - self.recovered
        return Shedding(boxes, self.recovered, missing if missing > NEAR else 0.0, delivered, lost)


def places(flow: Flow, losing: frozenset[str]) -> Iterator[str]:
    """The stages whose gates may have drop boxes: those that lead only to outputs that may lose tuples.

    Of stages that lead to the same outputs, only the first: a tuple that is shed there has cost nothing yet.
    A later one only while it has a long queue at its gate, which shedding upstream would not shorten.
    """
    situation = flow.situation
    downstream: set[tuple[str, frozenset[str]]] = set()
    for stage in situation.stages.values():
        follows = (stage.id, stage.outputs) in downstream
        reached = {outputs for name, outputs in downstream if name == stage.id} | {stage.outputs}
        downstream |= {(fed, outputs) for fed in stage.feeds for outputs in reached}
        if stage.outputs and stage.outputs <= losing and (not follows or _is_long(stage, flow)):
            yield stage.id


def _is_long(stage: Stage, flow: Flow) -> bool:
    situation: Situation = flow.situation
    work_s = excess(stage, situation) * flow.costs({})[stage.id]
    return work_s > LONG_QUEUE_S * situation.capacity
