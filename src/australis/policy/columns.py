"""Stages and outputs as columns: what a choice among many compares at once, as arrays over all of them.

A `Layout` is what stays the same while a plan runs; `Columns` are the figures of one moment.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from australis.algebra.quality import Quality
from australis.qos.graphs import Graphs, Numbers, delta

if TYPE_CHECKING:
    from australis.policy.load import Goal, Stage

Integers = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]


class Layout:
    """The stages and outputs of a plan by number, and what leads where."""

    def __init__(
        self,
        outputs: Mapping[str, Collection[str]],
        feeds: Mapping[str, Iterable[str]],
        ways: Mapping[str, Sequence[str]],
        qualities: Mapping[str, Quality],
    ) -> None:
        """Stages come with the outputs downstream and with what they feed, outputs with their ways."""
        self.stages, self.goals = tuple(outputs), tuple(ways)
        self.stage = {name: number for number, name in enumerate(self.stages)}
        self.goal = {name: number for number, name in enumerate(self.goals)}
        self.qualities = qualities
        self._outputs, self._feeds, self._ways = outputs, feeds, ways

    def work_out(self) -> None:
        """Work out what every choice asks for, before there is one."""
        for part in (self.downstream, self.ways, self.graphs, self.delta, self.weight, self._through):
            assert part is not None
        assert self.counts_since_trigger is not None
        assert self.feeders is not None

    @cached_property
    def feeders(self) -> tuple[frozenset[int], ...]:
        """The stages that feed each stage."""
        found: list[set[int]] = [set() for _ in self.stages]
        for number, name in enumerate(self.stages):
            for fed in self._feeds[name]:
                if fed in self.stage:
                    found[self.stage[fed]].add(number)
        return tuple(frozenset(each) for each in found)

    @cached_property
    def fed(self) -> tuple[tuple[int, ...], ...]:
        """The stages that each stage feeds."""
        known = (
            (self.stage[each] for each in self._feeds[name] if each in self.stage) for name in self.stages
        )
        return tuple(tuple(each) for each in known)

    @cached_property
    def downstream(self) -> Pairs:
        """Every stage with each output downstream of it."""
        found = (
            [self.goal[each] for each in self._outputs[name] if each in self.goal] for name in self.stages
        )
        return Pairs.of(list(found))

    @cached_property
    def ways(self) -> Pairs:
        """Every output with each stage on the way to it, the nearest first."""
        found = ([self.stage[each] for each in reversed(self._ways[name])] for name in self.goals)
        return Pairs.of(list(found))

    def through(self, stage: int) -> Integers:
        """The outputs on whose way a stage is."""
        return self._through[1][slice(*self._through[0][stage : stage + 2])]

    @cached_property
    def _through(self) -> tuple[Integers, Integers]:
        """Where the outputs of each stage begin, and the outputs, stage by stage."""
        ways = self.ways
        order = np.argsort(ways.second, kind="stable")
        starts = np.searchsorted(ways.second[order], np.arange(len(self.stages) + 1))
        return starts, ways.first[order]

    @cached_property
    def delta(self) -> Numbers:
        """Where the good zone of each output ends."""
        return np.array([delta(self.qualities[name].delay) for name in self.goals], np.float64)

    @cached_property
    def weight(self) -> Numbers:
        return np.array([self.qualities[name].weight for name in self.goals], np.float64)

    @cached_property
    def counts_since_trigger(self) -> Flags:
        return np.array([self.qualities[name].counts_since_trigger for name in self.goals], np.bool_)

    @cached_property
    def graphs(self) -> Graphs:
        """The delay graphs of the outputs."""
        return Graphs([self.qualities[name].delay for name in self.goals])


@dataclass(frozen=True)
class Pairs:
    """Pairs of numbers, grouped by the first."""

    first: Integers
    second: Integers
    starts: Integers
    """Where each group begins."""
    groups: Integers
    """The first number of each group; some numbers may have none."""

    @classmethod
    def of(cls, groups: Sequence[Sequence[int]]) -> Pairs:
        """Each number with those that belong to it."""
        sizes = np.array([len(each) for each in groups], np.int64)
        first = np.repeat(np.arange(len(groups)), sizes)
        second = np.fromiter(chain.from_iterable(groups), np.int64, len(first))
        known = np.flatnonzero(sizes)
        return cls(first, second, (np.cumsum(sizes) - sizes)[known], known)

    def least(self, values: npt.NDArray[Any], count: int, otherwise: float) -> npt.NDArray[Any]:
        """The least value of each group."""
        found = np.full(count, otherwise, values.dtype)
        if len(self.groups):
            found[self.groups] = np.minimum.reduceat(values, self.starts)
        return found


@dataclass(frozen=True, eq=False)
class Columns:
    """The stages and outputs of a layout at one moment; see `Stage` and `Goal` for what the figures mean."""

    layout: Layout
    now: int
    waiting: Integers
    oldest: Integers
    """The moment itself, where nothing waits."""
    triggered: Integers
    """The same as `oldest`, where that is what counts."""
    rate: Numbers
    tuple_us: Numbers
    train_us: Numbers
    sheds: Numbers
    shed_us: Numbers
    head: Integers
    view: Numbers
    """Not a number, where a stage leads to more than views."""
    is_busy: Flags
    lag: Numbers
    delay: Numbers
    """0, where nothing was delivered."""

    @classmethod
    def of(
        cls, now: int, stages: Mapping[str, Stage], goals: Mapping[str, Goal], busy: Collection[str]
    ) -> Columns:
        """The columns of stages and outputs."""
        layout = Layout(
            {name: stage.outputs for name, stage in stages.items()},
            {name: stage.feeds for name, stage in stages.items()},
            {name: goal.way for name, goal in goals.items()},
            {name: goal.quality for name, goal in goals.items()},
        )
        each, ends = stages.values(), goals.values()
        oldest = [now if stage.oldest is None else stage.oldest for stage in each]
        return cls(
            layout,
            now,
            np.array([stage.waiting for stage in each], np.int64),
            np.array(oldest, np.int64),
            np.array(
                [o if s.triggered is None else s.triggered for s, o in zip(each, oldest, strict=True)],
                np.int64,
            ),
            np.array([stage.rate for stage in each], np.float64),
            np.array([stage.tuple_us for stage in each], np.float64),
            np.array([stage.train_us for stage in each], np.float64),
            np.array([stage.sheds for stage in each], np.float64),
            np.array([stage.shed_us for stage in each], np.float64),
            np.array([stage.head for stage in each], np.int64),
            np.array([np.nan if stage.view is None else stage.view for stage in each], np.float64),
            np.array([stage.id in busy for stage in each], np.bool_),
            np.array([goal.lag for goal in ends], np.float64),
            np.array([goal.delay or 0.0 for goal in ends], np.float64),
        )

    @cached_property
    def is_ready(self) -> Flags:
        """The stages that could run now."""
        return (self.waiting > 0) & ~self.is_busy

    @cached_property
    def ready(self) -> Integers:
        """The numbers of the stages that could run now."""
        return np.flatnonzero(self.is_ready)

    @cached_property
    def nearest(self) -> Integers:
        """For each output, the nearest stage on its way that could run; -1 if there is none."""
        ways, nobody = self.layout.ways, len(self.layout.ways.second)
        places = np.where(self.is_ready[ways.second], np.arange(nobody), nobody)
        found = ways.least(places, len(self.layout.goals), nobody)
        stages: Integers = np.append(ways.second, -1)[found]
        return stages

    @cached_property
    def allowed_s(self) -> Numbers:
        """How long the tuples of each output may wait at gates."""
        return self.layout.delta - self.lag

    def waited_s(self, stages: Integers, goals: Integers | None = None) -> Numbers:
        """How long the oldest tuple at each of some stages has waited; for outputs, as their delays count."""
        arrived = self.oldest[stages]
        if goals is not None:
            arrived = np.where(self.layout.counts_since_trigger[goals], self.triggered[stages], arrived)
        return np.maximum(0.0, (self.now - arrived) / 1e6)

    @cached_property
    def patience_s(self) -> Numbers:
        """How long trains of each stage may keep the other stages waiting: infinite, if these do not care.

        The oldest tuples at other stages can wait as long as they stay in their outputs' good zones; if none
        is ready, those that come next.
        """
        pairs, count = self.layout.downstream, len(self.layout.stages)
        waited = np.where(self.is_ready[pairs.first], self.waited_s(pairs.first, pairs.second), 0.0)
        slack = self.allowed_s[pairs.second] - waited
        least = pairs.least(np.where(slack > 0, slack, np.inf), count, np.inf)
        if count == 0:
            return least
        first = int(np.argmin(least))
        found = np.full(count, least[first])
        found[first] = min(least[:first].min(initial=np.inf), least[first + 1 :].min(initial=np.inf))
        return found
