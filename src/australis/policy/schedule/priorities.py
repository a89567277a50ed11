"""Schedules that follow the graphs: priorities of outputs by state or feedback, and train lengths (4.3).

Both give every output a priority and choose the stage nearest to it that has tuples waiting. The length of a
train follows from the fixed cost of trains, which long ones spread over more tuples, and from how long the
other outputs can wait while it runs. However low its priority, a stage runs once in a while.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from australis.policy.load import Goal, Situation, Stage
from australis.policy.schedule.schedule import Choice, each_us, nearest, ready, slack, waited, work_us
from australis.qos.graphs import delta, utility

SPREAD = 4.0
"""A train's tuples cost at least this many times the fixed cost of the train, if enough are waiting."""
PATIENCE_US = 5_000_000
"""How long a stage may be passed over, at least; longer if a short train of it takes much time."""
PATIENCE_TRAINS = 20
"""A stage without priority gets at most one part in this many of a worker."""
LONGEST_US = 2_000_000.0
"""The longest that a train should take, if no graph asks for a shorter one."""
LEAST_TUPLE_US = 0.001
"""The least cost of a tuple, whatever was measured."""
RIPE = 0.4
"""The fraction of an output's good zone that its tuples may wait for others to share a train."""
SAMPLES = 8
"""At how many ages of waiting tuples a delay graph is evaluated."""
FLOOR, CEILING = 0.01, 100.0
"""The bounds of priorities by feedback."""


class StateBased:
    """Runs what loses most utility if deferred, per second of a worker's time.

    A deferred stage waits for everything else that waits. While that does no harm, the tuple that leaves its
    good zone first goes first; under overload, what still gains most for its cost. What is too late to gain
    anything gets the remaining time, and a turn once in a while. While others lose utility, tuples that have
    just arrived wait for more, to share the fixed cost of their train.
    """

    def __init__(self) -> None:
        self._turns = Turns()

    def choose(self, situation: Situation, most: int) -> Choice | None:
        overdue = self._turns.overdue(situation)
        if overdue is not None:
            return self._turns.took(situation, Choice(overdue.id, min(most, short_train(overdue))))
        candidates = _candidates(situation).values()
        ranked = {s.id: self._priority(s, goals, situation, most) for s, goals in candidates}
        if not ranked:
            return None
        suffers = [s.id for s, goals in candidates if ranked[s.id][0] > 0 and is_ripe(s, goals, situation)]
        chosen = situation.stages[max(suffers or ranked, key=lambda name: ranked[name])]
        length = train_length(chosen, situation, most)
        return self._turns.took(situation, Choice(chosen.id, length))

    def _priority(
        self, stage: Stage, goals: Iterable[Goal], situation: Situation, most: int
    ) -> tuple[float, float, float]:
        """Utility lost per second of work, then urgency, then age."""
        goals = tuple(goals)
        tuples = min(stage.waiting, train_length(stage, situation, most))
        work = max(work_us(stage, tuples), 1.0) / 1e6
        seconds_of_stream = tuples / stage.rate if stage.rate else 1.0
        others = sum(work_us(each, each.waiting) for each in ready(situation) if each.id != stage.id)
        deferral = others / 1e6 / situation.workers
        lost = sum(g.quality.weight * loss_by(g, stage, situation, work, deferral) for g in goals)
        urgency = min((slack(goal, stage, situation) for goal in goals), default=math.inf)
        late_last = urgency if urgency > 0 else math.inf
        return lost * seconds_of_stream / work, -late_last, waited(stage, situation)


class FeedbackBased:
    """Raises the priorities of outputs that do badly, lowers those in their good zones, and shares by them.

    Outputs get workers' time in proportion to their priorities. An output at the end of its delay graph has
    nothing more to gain, and its priority falls like that of one in its good zone.
    """

    def __init__(self, gain: float = 0.5, every_us: int = 500_000) -> None:
        self._gain, self._every = gain, every_us
        self._turns = Turns()
        self.priorities: dict[str, float] = {}
        self._passes: dict[str, float] = {}
        self._looked = -every_us

    def choose(self, situation: Situation, most: int) -> Choice | None:
        self._look(situation)
        overdue = self._turns.overdue(situation)
        if overdue is not None:
            return self._turns.took(situation, Choice(overdue.id, min(most, short_train(overdue))))
        found = {name: nearest(situation, goal.way) for name, goal in situation.goals.items()}
        waiting = {name: stage for name, stage in found.items() if stage is not None}
        if not waiting:
            stage = next(ready(situation), None)
            return None if stage is None else self._turns.took(situation, Choice(stage.id, most))
        return self._turns.took(situation, self._turn(waiting, situation, most))

    def _turn(self, waiting: Mapping[str, Stage], situation: Situation, most: int) -> Choice:
        """The output that is furthest below its share of time."""
        start = max(min(self._passes.get(name, 0.0) for name in waiting), 0.0)
        passes = {name: max(self._passes.get(name, start), start) for name in waiting}
        chosen = min(waiting, key=lambda name: (passes[name], -self.priorities[name]))
        stage = waiting[chosen]
        length = train_length(stage, situation, most)
        work = max(work_us(stage, min(length, stage.waiting)), 1.0)
        self._passes[chosen] = passes[chosen] + work / self.priorities[chosen]
        return Choice(stage.id, length)

    def _look(self, situation: Situation) -> None:
        """Adjust the priorities, from time to time."""
        for name, goal in situation.goals.items():
            self.priorities.setdefault(name, goal.quality.weight)
        if situation.now - self._looked < self._every:
            return
        self._looked = situation.now
        for name, goal in situation.goals.items():
            self.priorities[name] = self._adjusted(self.priorities[name], goal, situation)

    def _adjusted(self, priority: float, goal: Goal, situation: Situation) -> float:
        end, delay = delta(goal.quality.delay), _delay_now(goal, situation)
        suffers = delay > end and utility(goal.quality.delay, delay) > 0
        factor = (
            1 + self._gain * min(1.0, delay / end - 1 if end else 1.0) if suffers else 1 / (1 + self._gain)
        )
        least = goal.quality.weight if not suffers and delay <= end else FLOOR
        return min(max(priority * factor, least, FLOOR), CEILING)


@dataclass
class Turns:
    """When each stage last ran: no stage is passed over for ever."""

    def __post_init__(self) -> None:
        self._since: dict[str, int] = {}

    def overdue(self, situation: Situation) -> Stage | None:
        """A stage that has been passed over for too long: the one that is most overdue."""
        for stage in situation.stages.values():
            if not stage.waiting or stage.id in situation.busy:
                self._since[stage.id] = situation.now
        beyond = {s.id: self._waited(s, situation) - patience_us(s) for s in ready(situation)}
        worst = max(beyond, key=lambda name: beyond[name], default=None)
        return situation.stages[worst] if worst is not None and beyond[worst] > 0 else None

    def took(self, situation: Situation, choice: Choice) -> Choice:
        """Note that a stage has its turn."""
        self._since[choice.stage] = situation.now
        return choice

    def _waited(self, stage: Stage, situation: Situation) -> int:
        return situation.now - self._since.setdefault(stage.id, situation.now)


def patience_us(stage: Stage) -> float:
    """How long a stage may be passed over."""
    return max(PATIENCE_US, PATIENCE_TRAINS * work_us(stage, short_train(stage)))


def short_train(stage: Stage) -> int:
    """The tuples of a train that is just worth its fixed cost.

    >>> short_train(Stage("count", train_us=30_000, tuple_us=10))
    12000
    """
    return max(1, math.ceil(SPREAD * stage.train_us / max(each_us(stage), LEAST_TUPLE_US)))


def is_ripe(stage: Stage, goals: Iterable[Goal], situation: Situation) -> bool:
    """Whether a train is worth its fixed cost, or cannot wait until it is."""
    age = waited(stage, situation)
    in_hurry = any(age >= RIPE * (delta(goal.quality.delay) - goal.lag) for goal in goals)
    return in_hurry or stage.waiting >= short_train(stage)


def train_length(stage: Stage, situation: Situation, most: int) -> int:
    """The tuples of a train: as many as the other outputs can wait for, but worth the train's fixed cost."""
    if not stage.tuple_us:
        return most
    tuple_us = max(each_us(stage), LEAST_TUPLE_US)
    patient = [s for s in _slacks(stage, situation) if s > 0]
    allowed = min([LONGEST_US, *(0.5e6 * each * situation.workers for each in patient)])
    fitting = int((allowed - stage.train_us) / tuple_us)
    return max(1, min(most, max(fitting, short_train(stage))))


def loss_by(goal: Goal, stage: Stage, situation: Situation, work: float, deferral: float) -> float:
    """The utility that a waiting tuple of an output loses, on average, if it is deferred by some seconds.

    At a drop box, tuples that are already too late count like others: they delay tuples that could be in
    time, and that is why some of them were shed.
    """
    points, oldest = goal.quality.delay, waited(stage, situation)
    if stage.sheds:
        oldest = min(oldest, max(0.0, delta(points) - goal.lag - work))
    ages = [oldest * (index + 0.5) / SAMPLES for index in range(SAMPLES)]
    soon = [age + goal.lag + work for age in ages]
    return sum(utility(points, age) - utility(points, age + deferral) for age in soon) / SAMPLES


def _slacks(stage: Stage, situation: Situation) -> Iterable[float]:
    """How long the oldest tuples at the other stages can wait; if none is ready, those that come next."""
    for other in situation.stages.values():
        if other.id != stage.id:
            is_ready = other.waiting and other.id not in situation.busy
            for name in other.outputs & situation.goals.keys():
                goal = situation.goals[name]
                yield slack(goal, other, situation) if is_ready else delta(goal.quality.delay) - goal.lag


def _candidates(situation: Situation) -> dict[str, tuple[Stage, list[Goal]]]:
    """For each stage that could run, the outputs that it is the nearest stage to."""
    found: dict[str, tuple[Stage, list[Goal]]] = {s.id: (s, []) for s in ready(situation)}
    for goal in situation.goals.values():
        stage = nearest(situation, goal.way)
        if stage is not None:
            found[stage.id][1].append(goal)
    return found


def _delay_now(goal: Goal, situation: Situation) -> float:
    """How late an output is: by what it delivered, or by what waits for it if that is worse."""
    stage = nearest(situation, goal.way)
    waiting = waited(stage, situation) + goal.lag if stage is not None else 0.0
    return max(goal.delay or 0.0, waiting)
