"""Foresight: which outputs are late, and which will be late, judging by their queues."""

from __future__ import annotations

import math
from collections.abc import Collection

from australis.policy.load import Goal, Situation
from australis.policy.schedule import waited
from australis.policy.shed.flow import Flow, Fractions, allowed_s
from australis.qos.graphs import delta


def is_late(goal: Goal) -> bool:
    """Whether an output is outside of its good zone and shedding can help: windows alone do not use it up.

    >>> from australis.algebra.quality import Quality
    >>> quality = Quality(delay=((0, 1), (2, 1), (9, 0)))
    >>> [is_late(Goal("a", quality, delay=3.0, lag=lag)) for lag in (0.5, 2.5)]
    [True, False]
    """
    late = goal.delay is not None and goal.delay > delta(goal.quality.delay)
    return late and allowed_s(goal) < math.inf


def longest_wait(flow: Flow, kept: Fractions, inactive: Collection[str] = ()) -> float:
    """The longest wait for a served output, as a part of what it allows: beyond 1 it will be late."""
    goals, all_s = flow.situation.goals, work_waiting_s(flow, kept)
    allowed = {name: allowed_s(goal) for name, goal in goals.items() if name not in inactive}
    return max(
        (_delay_s(goals[name], flow, kept, all_s) / s for name, s in allowed.items() if s < math.inf),
        default=0.0,
    )


def tightest_s(situation: Situation, inactive: Collection[str] = ()) -> float:
    """The shortest good zone of the served outputs that shedding can help."""
    served = (goal for name, goal in situation.goals.items() if name not in inactive)
    return min((delta(goal.quality.delay) for goal in served if allowed_s(goal) < math.inf), default=math.inf)


def _delay_s(goal: Goal, flow: Flow, kept: Fractions, all_s: float) -> float:
    """The longest wait of the tuples on their way to an output.

    In a queue, the first tuple has waited longest, and the last has all others before it: those of its own
    path, one train at a time, and those of all outputs with deadlines, for all workers.
    """
    situation = flow.situation
    delay_s = after_s = 0.0
    for name in reversed([name for name in goal.way if name in situation.stages]):
        stage = situation.stages[name]
        if stage.waiting:
            worker = min(stage.abreast, situation.workers) * _worker(situation)
            work_s = stage.waiting * kept.get(name, 1.0) * flow.cost(name) / worker
            delay_s = max(delay_s, waited(stage, situation, goal) + after_s, work_s + after_s, all_s)
            after_s += work_s
    return delay_s


def work_waiting_s(flow: Flow, kept: Fractions) -> float:
    """How long all workers need for what waits for outputs with deadlines."""
    situation, costs = flow.situation, flow.costs(kept)
    hurried = {name for name, goal in situation.goals.items() if allowed_s(goal) < math.inf}
    work_s = (
        stage.waiting * kept.get(stage.id, 1.0) * costs[stage.id]
        for stage in situation.stages.values()
        if stage.outputs & hurried
    )
    return sum(work_s) / max(situation.capacity, 1e-9)


def _worker(situation: Situation) -> float:
    return max(min(1, situation.workers) * situation.headroom, 1e-9)
