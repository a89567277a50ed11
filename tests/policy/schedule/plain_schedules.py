"""The plainest schedules: each stage and each output is compared with all others, one by one."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from australis.policy.load import Goal, Situation, Stage
from australis.policy.schedule.construction import IN_TIME
from australis.policy.schedule.priorities import (
    CEILING,
    FLOOR,
    LEAST_TUPLE_US,
    LONGEST_US,
    PATIENCE_TRAINS,
    PATIENCE_US,
    RIPE,
    SAMPLES,
    SPREAD,
)
from australis.policy.schedule.schedule import Choice
from australis.policy.schedule.views import TRAIN_MOST
from australis.qos.graphs import delta, utility


def ready(situation: Situation) -> Iterator[Stage]:
    """The stages that could run now."""
    return (s for s in situation.stages.values() if s.waiting and s.id not in situation.busy)


def nearest(situation: Situation, way: Sequence[str]) -> Stage | None:
    """Of the stages that lead to an output, the one nearest to it that could run."""
    stages = (situation.stages[name] for name in reversed(way))
    return next((s for s in stages if s.waiting and s.id not in situation.busy), None)


class Fifo:
    """The stage whose oldest tuple has waited longest."""

    def choose(self, situation: Situation, most: int) -> Choice | None:
        oldest = min(ready(situation), key=lambda stage: _arrived(stage, situation), default=None)
        return None if oldest is None else Choice(oldest.id, most)


class LongestQueue:
    """The stage with the most tuples waiting."""

    def choose(self, situation: Situation, most: int) -> Choice | None:
        longest = max(ready(situation), key=lambda stage: stage.waiting, default=None)
        return None if longest is None else Choice(longest.id, most)


class EarliestDeadline:
    """The stage with the tuple that will leave the good zone of an output's delay graph first."""

    def choose(self, situation: Situation, most: int) -> Choice | None:
        first = min(ready(situation), key=lambda stage: self._deadline(stage, situation), default=None)
        return None if first is None else Choice(first.id, most)

    def _deadline(self, stage: Stage, situation: Situation) -> tuple[float, float]:
        goals = (situation.goals[name] for name in stage.outputs if name in situation.goals)
        leaves = (
            _arrived(stage, situation, goal) + (delta(goal.quality.delay) - goal.lag) * 1e6 for goal in goals
        )
        return min(leaves, default=float("inf")), _arrived(stage, situation)


class RoundRobin:
    """The outputs take turns; for an output, runs the stage nearest to it that has tuples waiting.

    `ways` has for each output the stages that lead to it, nearest last.
    """

    def __init__(self, ways: Mapping[str, Collection[str]]) -> None:
        self._ways = [tuple(way) for way in ways.values()]
        self._turn = 0

    def choose(self, situation: Situation, most: int) -> Choice | None:
        """The next output's choice, or that of the first output after it that has one."""
        for step in range(len(self._ways)):
            turn = (self._turn + step) % len(self._ways)
            stage = nearest(situation, self._ways[turn])
            if stage is not None:
                self._turn = turn + 1
                return Choice(stage.id, most)
        return None


def work_us(stage: Stage, tuples: float) -> float:
    """The worker's time that a train takes."""
    return stage.train_us + tuples * each_us(stage)


def each_us(stage: Stage) -> float:
    """The worker time per tuple that waits at a stage, admitted or shed."""
    return (1.0 - stage.sheds) * stage.tuple_us + stage.sheds * stage.shed_us


def waited(stage: Stage, situation: Situation, goal: Goal | None = None) -> float:
    """How long the oldest tuple at a stage has waited, in seconds; for an output, as its delays count."""
    return max(0.0, (situation.now - _arrived(stage, situation, goal)) / 1e6)


def slack(goal: Goal, stage: Stage, situation: Situation) -> float:
    """How long a stage's oldest tuple can still wait without leaving an output's good zone, in seconds."""
    return delta(goal.quality.delay) - goal.lag - waited(stage, situation, goal)


def _arrived(stage: Stage, situation: Situation, goal: Goal | None = None) -> int:
    """When the oldest tuple at a stage arrived, or was caused, if an output counts delays from then."""
    if goal is not None and goal.quality.counts_since_trigger and stage.triggered is not None:
        return stage.triggered
    return situation.now if stage.oldest is None else stage.oldest


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
    """The tuples of a train that is just worth its fixed cost."""
    return max(1, math.ceil(SPREAD * stage.train_us / max(each_us(stage), LEAST_TUPLE_US)))


def is_ripe(stage: Stage, goals: Iterable[Goal], situation: Situation) -> bool:
    """Whether a train is worth its fixed cost, or cannot wait until it is."""
    in_hurry = any(
        waited(stage, situation, goal) >= RIPE * (delta(goal.quality.delay) - goal.lag) for goal in goals
    )
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
    points, oldest = goal.quality.delay, waited(stage, situation, goal)
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
    waiting = waited(stage, situation, goal) + goal.lag if stage is not None else 0.0
    return max(goal.delay or 0.0, waiting)


def constructed(choice: Choice, situation: Situation) -> Choice:
    """The choice with the stages to which its train can continue."""
    everything = tuple(_reached(choice.stage, situation))
    if _is_in_time(choice, everything, situation):
        return replace(choice, downstream=everything)
    goals = [goal for goal in situation.goals.values() if choice.stage in goal.way]
    if not goals:
        return choice
    best = max(goals, key=lambda goal: (goal.quality.weight, -delta(goal.quality.delay)))
    downstream = tuple(_along(choice.stage, best, everything))
    return replace(choice, downstream=downstream, most=_length(choice, downstream, situation))


def _length(choice: Choice, downstream: tuple[str, ...], situation: Situation) -> int:
    """The tuples of a train that passes several stages: their costs add up."""
    stages = [situation.stages[name] for name in (choice.stage, *downstream)]
    costs = {what: sum(getattr(each, what) for each in stages) for what in ("tuple_us", "train_us")}
    return train_length(replace(stages[0], **costs), situation, choice.most)


def _reached(first: str, situation: Situation) -> Iterator[str]:
    """The stages downstream to which a train can continue: everything that feeds them is on the train."""
    aboard, stages = {first}, situation.stages
    feeders = {s.id: {f.id for f in stages.values() if s.id in f.feeds} for s in stages.values()}
    for stage in stages.values():
        fed = feeders[stage.id]
        if fed and fed <= aboard and _is_free(stage, stages[first], situation):
            aboard.add(stage.id)
            yield stage.id


def _is_free(stage: Stage, first: Stage, situation: Situation) -> bool:
    abreast = not stage.waiting and stage.head == first.head
    return stage.joins and abreast and stage.id not in situation.busy


def _is_in_time(choice: Choice, downstream: tuple[str, ...], situation: Situation) -> bool:
    """Whether everything waiting at the first stage can pass all stages within the outputs' good zones."""
    stages = [situation.stages[name] for name in (choice.stage, *downstream)]
    first = stages[0]
    work_s = sum(work_us(stage, first.waiting) for stage in stages) / 1e6
    goals = (goal for goal in situation.goals.values() if first.id in goal.way)
    return first.waiting <= choice.most and all(
        waited(first, situation, goal) + work_s <= IN_TIME * (delta(goal.quality.delay) - goal.lag)
        for goal in goals
    )


def _along(first: str, goal: Goal, reached: tuple[str, ...]) -> Iterator[str]:
    """The stages from one to an output, as far as they are reached without a gap."""
    for name in goal.way[goal.way.index(first) + 1 :]:
        if name not in reached:
            return
        yield name


def without_views(situation: Situation) -> Situation:
    """The situation without the stages that lead only to views."""
    stages = {
        name: stage if stage.view is None else replace(stage, waiting=0)
        for name, stage in situation.stages.items()
    }
    return replace(situation, stages=stages)


def next_view(situation: Situation, most: int) -> Choice | None:
    """The most important view that could run; of several, the one with the smallest head."""
    views = [stage for stage in ready(situation) if stage.view]
    best = max(views, key=lambda stage: (stage.view or 0.0, -stage.head), default=None)
    return None if best is None else Choice(best.id, min(most, TRAIN_MOST))
