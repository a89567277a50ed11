"""Flow: the tuples through the stages of a node, and the workers' time that they need (Aurora 4.4)."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from functools import cached_property

from australis.policy.load import Goal, Situation, Stage
from australis.qos.graphs import delta

TRAIN = 100_000.0
"""The tuples that share the fixed cost of a train, unless another number is passed in."""
HORIZON_S = 2.0
"""In how many seconds a backlog should be processed."""
TOLERATED = 0.5
"""How much of an output's good zone may be spent waiting before waiting tuples count as a backlog."""

Fractions = Mapping[str, float]
"""The fraction that the drop boxes of a stage admit, by stage; 1 without drop boxes."""


class Flow:
    """Tuples per second through the stages: arrivals, and a backlog as if it arrived within a horizon.

    A drop box at a gate also acts on what waits there, so both are thinned alike. Stages that lead only to
    `inactive` outputs, which the scheduler does not serve, use no time, so shedding there gains nothing (the
    first of the two subtleties of Aurora 4.5). Costs are assumed to be `dearer` times the measured ones.

    >>> stages = {
    ...     "parse": Stage("parse", {"count": 0.5}, rate=1000, tuple_us=400),
    ...     "count": Stage("count", tuple_us=1000),
    ... }
    >>> flow = Flow(Situation(0, stages, {}))
    >>> flow.asked({}), flow.asked({"parse": 0.5})
    (0.9, 0.45)
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
        self.ids = tuple(stages)
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
        self._places = {name: number for number, name in enumerate(self.ids)}
        self._feeders: dict[str, list[tuple[str, float]]] = {name: [] for name in self.ids}
        for name, feeds in self._feeds.items():
            for each, tuples in feeds:
                self._feeders[each].append((name, tuples))
        self._after: dict[str, list[str]] = {}
        self._outputs: dict[str, list[str]] = {}
        for name, end in self._ends.items():
            self._outputs.setdefault(end, []).append(name)
        self._whole = self.arriving({})

    def arriving(self, kept: Fractions) -> dict[str, float]:
        """The tuples that arrive at each gate per second."""
        found = dict(self._inflow)
        for name in self.ids:
            self._pass_on(name, found[name] * kept.get(name, 1.0), found)
        return found

    def arriving_at(self, stage: str, arriving: Fractions, kept: Fractions) -> float:
        """The tuples that arrive at one gate per second, given those that arrive before it."""
        found = self._inflow[stage]
        for feeder, each in self._feeders[stage]:
            found += arriving[feeder] * kept.get(feeder, 1.0) * each
        return found

    def asked(self, kept: Fractions) -> float:
        """The workers' time needed per second."""
        arriving = self.arriving(kept)
        return sum(arriving[name] * kept.get(name, 1.0) * self._cost[name] for name in self.ids)

    def need(self, kept: Fractions | None = None) -> float:
        """The need beyond the capacity; negative if some is left."""
        return self.asked(kept or {}) - self.situation.capacity

    def cost(self, stage: str) -> float:
        """The cost of an admitted tuple at a stage, in seconds."""
        return self._cost[stage]

    @cached_property
    def costs_without_shedding(self) -> dict[str, float]:
        """The cost of a tuple admitted at a stage, there and downstream, if nothing is shed."""
        return self.costs({})

    def costs(self, kept: Fractions) -> dict[str, float]:
        """The cost of a tuple admitted at a stage, in seconds: there and downstream."""
        found: dict[str, float] = {}
        for name in reversed(self.ids):
            found[name] = self.cost_from(name, found, kept)
        return found

    def cost_from(self, stage: str, costs: Fractions, kept: Fractions) -> float:
        """The cost of a tuple admitted at one stage, given those of stages downstream."""
        return self._cost[stage] + self._passed_on(stage, costs, kept)

    def costs_at(self, stage: str, kept: Fractions) -> dict[str, float]:
        """The cost at one stage of a tuple admitted there, or at a stage upstream."""
        found = {stage: self._cost[stage]}
        for name in reversed(self.before(stage)[:-1]):
            found[name] = 0.0 + self._passed_on(name, found, kept)
        return found

    def _passed_on(self, stage: str, costs: Fractions, kept: Fractions) -> float:
        """What a tuple admitted at a stage costs at those that it feeds."""
        return sum(n * kept.get(d, 1.0) * costs.get(d, 0.0) for d, n in self._feeds[stage])

    def delivered(self, kept: Fractions) -> dict[str, float]:
        """The fraction of its tuples that each output gets; along one path, fractions multiply."""
        arriving = self.arriving(kept)
        return {o: self._part(arriving[end] * kept.get(end, 1.0), end) for o, end in self._ends.items()}

    def delivered_from(self, stage: str, arriving: Fractions, kept: Fractions) -> dict[str, float]:
        """The fraction of their tuples that the outputs of one stage get."""
        outputs = self._outputs.get(stage)
        return (
            dict.fromkeys(outputs, self._part(arriving[stage] * kept.get(stage, 1.0), stage))
            if outputs
            else {}
        )

    def shares(self, place: str, arriving: float, kept: Fractions) -> dict[str, float]:
        """The fraction of each output's possible tuples that comes from tuples admitted at a stage."""
        found = dict.fromkeys(self.after(place), 0.0)
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

    def after(self, place: str) -> list[str]:
        """A stage and those that it feeds, directly or not, in order."""
        if place not in self._after:
            self._after[place] = self._reached([place], self._feeds)
        return self._after[place]

    def before(self, place: str) -> list[str]:
        """A stage and those that feed it, directly or not, in order."""
        return self._reached([place], self._feeders)

    def beside(self, place: str) -> list[str]:
        """The stages that lead where a stage leads, itself included, in order."""
        return self._reached(self.after(place), self._feeders)

    def _reached(self, first: list[str], links: Mapping[str, Sequence[tuple[str, float]]]) -> list[str]:
        """Some stages and all that links lead to from them, in order."""
        found, pending = set(first), list(first)
        while pending:
            linked = {name for name, _ in links[pending.pop()]} - found
            found |= linked
            pending += linked
        return sorted(found, key=self._places.__getitem__)

    def _pass_on(self, name: str, tuples: float, found: dict[str, float]) -> None:
        for fed, each in self._feeds[name]:
            found[fed] += tuples * each

    def _part(self, tuples: float, end: str) -> float:
        return tuples / self._whole[end] if self._whole[end] > 0 else 1.0


def excess(stage: Stage, situation: Situation) -> float:
    """The waiting tuples beyond what the outputs of a stage tolerate; without delay graphs, any may wait.

    >>> excess(Stage("count", waiting=900, rate=100), Situation(0, {}, {}))
    0.0
    """
    goals = (situation.goals[name] for name in stage.outputs if name in situation.goals)
    tolerated_s = min(map(_tolerated_s, goals), default=math.inf)
    return 0.0 if math.isinf(tolerated_s) else max(0.0, stage.waiting - stage.rate * tolerated_s)


def _tolerated_s(goal: Goal) -> float:
    """How long an output's tuples may wait at each of the stages on their way."""
    return TOLERATED * allowed_s(goal) / max(1, len(goal.way))


def allowed_s(goal: Goal) -> float:
    """How long an output's tuples may wait; infinite, if windows alone use up its good zone."""
    rest_s = delta(goal.quality.delay) - goal.lag
    return rest_s if rest_s > 0 else math.inf


def _cost_s(stage: Stage, train: float, inactive: Collection[str]) -> float:
    """The workers' time for a tuple, in seconds, including its share of a train's."""
    if stage.outputs and stage.outputs <= set(inactive):
        return 0.0
    return (stage.tuple_us + stage.train_us / train) / 1e6
