"""Schedules: which stage runs next, and how long a train it takes (Aurora 4.3).

The schedules here ignore quality of service and serve for comparison; `priorities` has those that follow the
graphs of the outputs. A schedule picks among candidates: stages that have something to do and are not already
busy.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from australis.policy.load import Goal, Situation, Stage
from australis.qos.graphs import delta


@dataclass(frozen=True)
class Choice:
    """A stage to run, and the most tuples that the train may take.

    `downstream` are the stages to which the train continues without a queue, as one superbox with the first.
    """

    stage: str
    most: int
    downstream: tuple[str, ...] = ()

    @property
    def stages(self) -> tuple[str, ...]:
        return (self.stage, *self.downstream)


class Schedule(Protocol):
    """Chooses among the stages that have something to do."""

    def choose(self, situation: Situation, most: int) -> Choice | None:
        """What to run next, with a train of at most `most` tuples; None if nothing can run."""


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
        allowed = min((delta(goal.quality.delay) - goal.lag for goal in goals), default=float("inf"))
        arrived = _arrived(stage, situation)
        return arrived + allowed * 1e6, arrived


class RoundRobin:
    """The outputs take turns; for an output, runs the stage nearest to it that has tuples waiting.

    `ways` has for each output the stages that lead to it, nearest last.

    >>> turns = RoundRobin({"alarm": ["filter", "count"], "log": ["filter"]})
    >>> stages = {"filter": Stage("filter", waiting=7), "count": Stage("count", waiting=2)}
    >>> [turns.choose(Situation(0, stages, {}), most=9).stage for _ in range(3)]
    ['count', 'filter', 'count']
    >>> turns.choose(Situation(0, stages, {}, busy=frozenset(stages)), most=9) is None
    True
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
    """The worker's time that a train takes.

    >>> [work_us(Stage("count", train_us=50, tuple_us=10, sheds=part), 100) for part in (0.0, 0.5)]
    [1050.0, 555.0]
    """
    return stage.train_us + tuples * each_us(stage)


def each_us(stage: Stage) -> float:
    """The worker time per tuple that waits at a stage, admitted or shed."""
    return (1.0 - stage.sheds) * stage.tuple_us + stage.sheds * stage.shed_us


def waited(stage: Stage, situation: Situation) -> float:
    """How long the oldest tuple at a stage has waited, in seconds."""
    return max(0.0, (situation.now - _arrived(stage, situation)) / 1e6)


def slack(goal: Goal, stage: Stage, situation: Situation) -> float:
    """How long a stage's oldest tuple can still wait without leaving an output's good zone, in seconds."""
    return delta(goal.quality.delay) - goal.lag - waited(stage, situation)


def _arrived(stage: Stage, situation: Situation) -> int:
    return situation.now if stage.oldest is None else stage.oldest
