"""Schedules that follow the graphs: priorities of outputs by state or feedback, and train lengths (4.3).

Both give every output a priority and choose the stage nearest to it that has tuples waiting. The length of a
train follows from the fixed cost of trains, which long ones spread over more tuples, and from how long the
other outputs can wait while it runs. However low its priority, a stage runs once in a while.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from australis.policy.columns import Columns, Flags, Integers
from australis.policy.load import Situation, Stage
from australis.policy.schedule.schedule import Choice, each_us, work_us
from australis.qos.graphs import Numbers

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
        columns = situation.columns
        overdue = self._turns.overdue(columns)
        if overdue is not None:
            return self._turns.took(columns, overdue, min(most, int(short_trains(columns)[overdue])))
        if not len(columns.ready):
            return None
        ranked = ranks(columns, situation.workers, most)
        suffers = columns.is_ready & (ranked[0] > 0) & are_ripe(columns)
        chosen = _greatest(ranked, np.flatnonzero(suffers) if suffers.any() else columns.ready)
        length = int(train_lengths(columns, situation.workers, most)[chosen])
        return self._turns.took(columns, chosen, length)


def _greatest(keys: tuple[Numbers, ...], among: Integers) -> int:
    """The first of some stages with the greatest key; the next one decides between equals."""
    for key in keys:
        values = key[among]
        among = among[values == values.max()]
    return int(among[0])


def ranks(columns: Columns, workers: int, most: int) -> tuple[Numbers, Numbers, Numbers]:
    """For each stage that could run: utility lost per second of work, then urgency, then age."""
    goals = np.flatnonzero(columns.nearest >= 0)
    stages, count = columns.nearest[goals], len(columns.layout.stages)
    tuples = np.minimum(columns.waiting, train_lengths(columns, workers, most)).astype(np.float64)
    work = np.maximum(work_us(columns, tuples), 1.0) / 1e6
    rated = columns.rate != 0
    with np.errstate(over="ignore"):
        # A rate may be next to nothing: then a train has the tuples of an eternity.
        seconds_of_stream = np.where(rated, tuples / np.where(rated, columns.rate, 1.0), 1.0)
    whole = np.where(columns.is_ready, work_us(columns, columns.waiting.astype(np.float64)), 0.0)
    deferral = (math.fsum(whole.tolist()) - whole) / 1e6 / workers
    lost = columns.layout.weight[goals] * losses(columns, stages, goals, work[stages], deferral[stages])
    lost_by_stage = np.bincount(stages, lost, minlength=count)
    slack = columns.allowed_s[goals] - columns.waited_s(stages, goals)
    urgency = np.full(count, np.inf)
    np.minimum.at(urgency, stages, slack)
    late_last = np.where(urgency > 0, urgency, np.inf)
    seconds_of_stream[lost_by_stage == 0] = 0.0
    return lost_by_stage * seconds_of_stream / work, -late_last, columns.waited_s(np.arange(count))


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
        columns = situation.columns
        self._look(columns)
        overdue = self._turns.overdue(columns)
        if overdue is not None:
            return self._turns.took(columns, overdue, min(most, int(short_trains(columns)[overdue])))
        if not len(columns.ready):
            return None
        found = zip(columns.layout.goals, columns.nearest.tolist(), strict=True)
        waiting = {name: stage for name, stage in found if stage >= 0}
        if not waiting:
            return self._turns.took(columns, int(columns.ready[0]), most)
        lengths = train_lengths(columns, situation.workers, most)
        chosen = self._turn(waiting, columns, lengths)
        return self._turns.took(columns, chosen, int(lengths[chosen]))

    def _turn(self, waiting: Mapping[str, int], columns: Columns, lengths: Integers) -> int:
        """The stage of the output that is furthest below its share of time."""
        start = max(min(self._passes.get(name, 0.0) for name in waiting), 0.0)
        passes = {name: max(self._passes.get(name, start), start) for name in waiting}
        chosen = min(waiting, key=lambda name: (passes[name], -self.priorities[name]))
        stage = waiting[chosen]
        tuples = np.minimum(lengths, columns.waiting).astype(np.float64)
        work = max(float(work_us(columns, tuples)[stage]), 1.0)
        self._passes[chosen] = passes[chosen] + work / self.priorities[chosen]
        return stage

    def _look(self, columns: Columns) -> None:
        """Adjust the priorities, from time to time."""
        layout = columns.layout
        for name in layout.goals:
            if name not in self.priorities:
                self.priorities[name] = layout.qualities[name].weight
        if columns.now - self._looked < self._every:
            return
        self._looked = columns.now
        known = np.array([self.priorities[name] for name in layout.goals], np.float64)
        self.priorities |= zip(layout.goals, self._adjusted(known, columns).tolist(), strict=True)

    def _adjusted(self, known: Numbers, columns: Columns) -> Numbers:
        layout, delay = columns.layout, _delays_now(columns)
        every = np.arange(len(known))
        suffers = (delay > layout.delta) & (layout.graphs.utilities(every, delay[:, None])[:, 0] > 0)
        end = np.where(suffers & (layout.delta > 0), layout.delta, 1.0)
        beyond = np.where(layout.delta > 0, delay / end - 1, 1.0)
        factor = np.where(suffers, 1 + self._gain * np.minimum(1.0, beyond), 1 / (1 + self._gain))
        least = np.where(~suffers & (delay <= layout.delta), layout.weight, FLOOR)
        return np.minimum(np.maximum(np.maximum(known * factor, least), FLOOR), CEILING)


class Turns:
    """When each stage last ran: no stage is passed over for ever."""

    def __init__(self) -> None:
        self._stages: tuple[str, ...] = ()
        self._since = np.zeros(0, np.int64)
        self._is_known: Flags = np.zeros(0, np.bool_)

    def overdue(self, columns: Columns) -> int | None:
        """A stage that has been passed over for too long: the one that is most overdue."""
        self._fit(columns)
        begins = ~(columns.is_ready & self._is_known)
        self._since[begins], self._is_known[:] = columns.now, True
        beyond = (columns.now - self._since) - patiences_us(columns)
        if not len(columns.ready):
            return None
        worst = int(columns.ready[np.argmax(beyond[columns.ready])])
        return worst if beyond[worst] > 0 else None

    def took(self, columns: Columns, stage: int, most: int) -> Choice:
        """The choice of a stage, which has its turn now."""
        self._since[stage] = columns.now
        return Choice(columns.layout.stages[stage], most)

    def _fit(self, columns: Columns) -> None:
        """Follow other stages; those that stay keep their turns."""
        stages = columns.layout.stages
        if self._stages is stages or self._stages == stages:
            return
        known = dict(zip(self._stages, self._since.tolist(), strict=True))
        self._stages = stages
        self._since = np.array([known.get(name, 0) for name in stages], np.int64)
        self._is_known = np.array([name in known for name in stages], np.bool_)


def patiences_us(columns: Columns) -> Numbers:
    """How long each stage may be passed over."""
    return np.maximum(PATIENCE_US, PATIENCE_TRAINS * work_us(columns, short_trains(columns)))


def short_trains(columns: Columns) -> Numbers:
    """For each stage, the tuples of a train that is just worth its fixed cost."""
    return _short(columns.train_us, each_us(columns))


def _short(train_us: Numbers, each_us: Numbers) -> Numbers:
    """The tuples of trains that are just worth their fixed cost.

    >>> _short(np.array([30_000.0]), np.array([10.0]))
    array([12000.])
    """
    return np.maximum(1.0, np.ceil(SPREAD * train_us / np.maximum(each_us, LEAST_TUPLE_US)))


def are_ripe(columns: Columns) -> Flags:
    """The stages whose trains are worth their fixed cost, or cannot wait until they are."""
    goals = np.flatnonzero(columns.nearest >= 0)
    stages = columns.nearest[goals]
    in_hurry = columns.waited_s(stages, goals) >= RIPE * columns.allowed_s[goals]
    found: Flags = columns.waiting >= short_trains(columns)
    found[stages[in_hurry]] = True
    return found


def train_lengths(columns: Columns, workers: int, most: int) -> Integers:
    """The tuples of each stage's trains: as many as other outputs can wait for, but worth the fixed cost."""
    return _lengths(columns.tuple_us, columns.train_us, each_us(columns), columns.patience_s, workers, most)


def train_length(stage: Stage, situation: Situation, most: int) -> int:
    """The tuples of a train of one stage, at other costs than those of the situation."""
    patience_s = situation.columns.patience_s[situation.columns.layout.stage[stage.id]]
    costs = np.array([[stage.tuple_us], [stage.train_us], [each_us(stage)], [patience_s]], np.float64)
    return int(_lengths(costs[0], costs[1], costs[2], costs[3], situation.workers, most)[0])


def _lengths(
    tuple_us: Numbers, train_us: Numbers, each_us: Numbers, patience_s: Numbers, workers: int, most: int
) -> Integers:
    allowed = np.minimum(LONGEST_US, 0.5e6 * patience_s * workers)
    fitting = np.trunc((allowed - train_us) / np.maximum(each_us, LEAST_TUPLE_US))
    lengths = np.maximum(1.0, np.minimum(most, np.maximum(fitting, _short(train_us, each_us))))
    return np.where(tuple_us == 0, most, lengths).astype(np.int64)


def losses(columns: Columns, stages: Integers, goals: Integers, work: Numbers, deferral: Numbers) -> Numbers:
    """The utility that a waiting tuple of outputs loses, on average, if stages are deferred by some seconds.

    At a drop box, tuples that are already too late count like others: they delay tuples that could be in
    time, and that is why some of them were shed.
    """
    lag, oldest = columns.lag[goals], columns.waited_s(stages, goals)
    shed = np.minimum(oldest, np.maximum(0.0, columns.allowed_s[goals] - work))
    oldest = np.where(columns.sheds[stages] != 0, shed, oldest)
    ages = oldest[:, None] * (np.arange(SAMPLES) + 0.5) / SAMPLES
    soon = ages + lag[:, None] + work[:, None]
    graphs = columns.layout.graphs
    lost = graphs.utilities(goals, soon) - graphs.utilities(goals, soon + deferral[:, None])
    # One after the other: the sum must not depend on how arrays are added up.
    return np.add.accumulate(lost, axis=1)[:, -1] / SAMPLES


def _delays_now(columns: Columns) -> Numbers:
    """How late each output is: by what it delivered, or by what waits for it if that is worse."""
    found, goals = columns.delay.copy(), np.flatnonzero(columns.nearest >= 0)
    waiting = columns.waited_s(columns.nearest[goals], goals) + columns.lag[goals]
    found[goals] = np.maximum(found[goals], waiting)
    return found
