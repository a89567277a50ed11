"""Flow: the tuples through the stages of a node, and the workers' time that they need (Aurora 4.4)."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping

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
