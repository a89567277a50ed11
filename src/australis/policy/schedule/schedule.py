"""Schedules: which stage runs next, and how long a train it takes (Aurora 4.3).

The schedules here ignore quality of service and serve for comparison; `priorities` has those that follow the
graphs of the outputs. A schedule picks among candidates: stages that have something to do and are not already
busy.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from australis.policy.columns import Columns
from australis.policy.load import Goal, Situation, Stage
from australis.qos.graphs import Numbers


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


class Fifo:
    """The stage whose oldest tuple has waited longest."""

    def choose(self, situation: Situation, most: int) -> Choice | None:
        columns = situation.columns
        return _first(columns, columns.oldest[columns.ready], most)


class LongestQueue:
    """The stage with the most tuples waiting."""

    def choose(self, situation: Situation, most: int) -> Choice | None:
        columns = situation.columns
        return _first(columns, -columns.waiting[columns.ready], most)


class EarliestDeadline:
    """The stage with the tuple that will leave the good zone of an output's delay graph first."""

    def choose(self, situation: Situation, most: int) -> Choice | None:
        columns = situation.columns
        pairs = columns.layout.downstream
        counts = columns.layout.counts_since_trigger[pairs.second]
        arrived = np.where(counts, columns.triggered[pairs.first], columns.oldest[pairs.first])
        leaves = arrived + columns.allowed_s[pairs.second] * 1e6
        deadlines = pairs.least(leaves, len(columns.layout.stages), np.inf)[columns.ready]
        earliest = np.where(deadlines == deadlines.min(initial=np.inf), columns.oldest[columns.ready], LATEST)
        return _first(columns, earliest, most)


LATEST = np.iinfo(np.int64).max


def _first(columns: Columns, values: npt.NDArray[Any], most: int) -> Choice | None:
    """The first of the stages that could run with the least value."""
    if not len(values):
        return None
    return Choice(columns.layout.stages[columns.ready[np.argmin(values)]], most)


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
            stage = self._nearest(situation.columns, turn)
            if stage is not None:
                self._turn = turn + 1
                return Choice(stage, most)
        return None

    def _nearest(self, columns: Columns, turn: int) -> str | None:
        """The stage nearest to an output that could run."""
        stages = columns.layout.stage
        return next((name for name in reversed(self._ways[turn]) if columns.is_ready[stages[name]]), None)


Figure = TypeVar("Figure", float, Numbers)


def work_us(costs: Stage | Columns, tuples: Figure) -> Figure:
    """The worker's time that a train takes: of one stage, or of each.

    >>> [work_us(Stage("count", train_us=50, tuple_us=10, sheds=part), 100) for part in (0.0, 0.5)]
    [1050.0, 555.0]
    """
    found: Figure = costs.train_us + tuples * each_us(costs)
    return found


def each_us(costs: Stage | Columns) -> Any:
    """The worker time per tuple that waits at a stage, admitted or shed."""
    return (1.0 - costs.sheds) * costs.tuple_us + costs.sheds * costs.shed_us


def waited(stage: Stage, situation: Situation, goal: Goal | None = None) -> float:
    """How long the oldest tuple at a stage has waited, in seconds; for an output, as its delays count.

    >>> from australis.algebra.quality import Quality
    >>> stage = Stage("count", waiting=1, oldest=1_000_000, triggered=8_000_000)
    >>> goals = [Goal("all", Quality()), Goal("alarms", Quality(since="trigger"))]
    >>> [waited(stage, Situation(9_000_000, {}, {}), goal) for goal in goals]
    [8.0, 1.0]
    """
    return max(0.0, (situation.now - _arrived(stage, situation, goal)) / 1e6)


def _arrived(stage: Stage, situation: Situation, goal: Goal | None = None) -> int:
    """When the oldest tuple at a stage arrived, or was caused, if an output counts delays from then."""
    if goal is not None and goal.quality.counts_since_trigger and stage.triggered is not None:
        return stage.triggered
    return situation.now if stage.oldest is None else stage.oldest
