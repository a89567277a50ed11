"""Shedding: the drop boxes that recover enough time at the least loss of utility (Aurora 4.5)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from australis.algebra.quality import Points, Quality
from australis.policy.load import Situation, Stage
from australis.policy.shed.fair import fair
from australis.policy.shed.flow import Flow, excess
from australis.policy.shed.levels import EVENNESS, rise
from australis.policy.shed.walk import NEAR, Walk
from australis.qos.graphs import utility

LONG_QUEUE_S = 0.5
"""A queue is long if its excess takes all workers for this many seconds."""
EVENLY: Points = ((0.0, 0.0), (1.0, 1.0))
"""The loss graph of an output that has only a value graph, while nothing is known of its values."""


@dataclass(frozen=True)
class DropBox:
    """A drop box at the gate of a stage: it sheds some of all tuples, or of those that satisfy a predicate.

    `rate` is the fraction of all tuples that it should shed. Without `where` it sheds `share` of all; with
    `where`, on each stream named there, `share` of the tuples for which the predicate is true.
    """

    rate: float
    where: Mapping[str, str] = field(default_factory=dict)
    """The predicate for each stream at the gate that has one."""
    share: float = 1.0

    @classmethod
    def random(cls, rate: float) -> DropBox:
        return cls(rate, {}, rate)


@dataclass(frozen=True)
class Shedding:
    """Drop boxes that meet a need, and their effects."""

    boxes: Mapping[str, DropBox]
    """By the stage at whose gate each is."""
    recovered: float
    """The workers' time per second that is saved."""
    missing: float
    """The remaining need, which may not be shed."""
    delivered: Mapping[str, float]
    """The fraction that each output still gets."""
    lost: Mapping[str, float]
    """The weighted utility that each output loses."""


def curve(quality: Quality, known: Points | None = None) -> Points | None:
    """The utility of an output by the fraction delivered: its loss graph, or else its values' curve.

    None for an output that has neither a loss graph nor a value graph: it never loses a tuple.
    """
    if quality.loss:
        return quality.loss
    return (known or EVENLY) if quality.value else None


def shed(
    flow: Flow,
    need: float,
    values: Mapping[str, Points] | None = None,
    *,
    each: float = math.inf,
    evenness: float = EVENNESS,
    fairness: float = 0.0,
) -> Shedding:
    """The drop boxes that meet a need, step by step along the curves of the outputs.

    The paper goes down the curve with the smallest slope until another one's is smaller. That is optimal if a
    tuple costs the same on its way to every output. Here tuples have known costs, and a place upstream of a
    branch serves several outputs; so each step takes the place that loses the least weighted utility, summed
    over its downstream outputs, per second of workers' time recovered. With equal costs and one output
    downstream of every place this is the paper's order. A step ends where a curve has its next point, the
    place admits nothing more, or the need is met; so a greater need only adds steps, and never loses less.

    Steps that lose about the same are taken together, each in part (see `levels`): with equal graphs outputs
    lose equal fractions. `evenness` says how wide about is; with 0 it is the paper's order, step by step.

    `fairness` weighs how alike outputs are served against the total utility, from 0 to 1 (see `fair`).

    `values` has curves for outputs without a loss graph. No stage may need more than `each` for
    every worker that its trains use at a time, since it runs one train at a time. Such stages are relieved
    first.

    >>> from australis.policy.load import Goal
    >>> a = Goal("a", Quality(loss=((0, 0), (0.8, 1), (1, 1))), ("sa",))
    >>> b = Goal("b", Quality(loss=((0, 0), (1, 1)), weight=0.1), ("sb",))
    >>> stages = {f"s{o}": Stage(f"s{o}", outputs=frozenset(o), rate=1000, tuple_us=1000) for o in "ab"}
    >>> found = shed(Flow(Situation(0, stages, {"a": a, "b": b})), need=0.5)
    >>> {stage: round(box.rate, 6) for stage, box in found.boxes.items()}
    {'sa': 0.2, 'sb': 0.3}
    >>> b = Goal("b", Quality(loss=((0, 0), (1, 1)), weight=1.25), ("sb",))
    >>> found = shed(Flow(Situation(0, stages, {"a": a, "b": b})), need=1.0)
    >>> {stage: round(box.rate, 6) for stage, box in found.boxes.items()}
    {'sa': 0.5, 'sb': 0.5}
    """
    goals = flow.situation.goals
    known = {name: curve(goal.quality, (values or {}).get(name)) for name, goal in goals.items()}
    curves = {name: points for name, points in known.items() if points is not None}
    bent = {name: fair(points, fairness) for name, points in curves.items()}
    walk = Walk(flow, bent, tuple(places(flow, frozenset(curves))), evenness)
    for stage in flow.situation.stages.values() if each < math.inf else ():
        walk.relieve(stage.id, each * stage.abreast)
    rise(walk, need - walk.recovered)
    return _result(walk, flow, curves, need)


def _result(walk: Walk, flow: Flow, curves: Mapping[str, Points], need: float) -> Shedding:
    """Where a walk has come to."""
    delivered, goals = flow.delivered(walk.kept), flow.situation.goals
    boxes = {place: DropBox.random(1.0 - kept) for place, kept in walk.kept.items() if kept < 1.0}
    lost = {
        name: goals[name].quality.weight * (utility(points, 1.0) - utility(points, delivered.get(name, 1.0)))
        for name, points in curves.items()
    }
    missing = need - walk.recovered
    return Shedding(boxes, walk.recovered, missing if missing > NEAR else 0.0, delivered, lost)


def places(flow: Flow, losing: frozenset[str]) -> Iterator[str]:
    """The stages whose gates may have drop boxes: those that lead only to outputs that may lose tuples.

    Of stages that lead to the same outputs, only the first: a tuple that is shed there has cost nothing yet.
    A later one only while it has a long queue at its gate, which shedding upstream would not shorten.
    """
    situation = flow.situation
    upstream: dict[str, set[frozenset[str]]] = {}
    """What the stages upstream of each lead to."""
    for stage in situation.stages.values():
        reached = upstream.pop(stage.id, set())
        follows = stage.outputs in reached
        for fed in stage.feeds:
            upstream.setdefault(fed, set()).update(reached, {stage.outputs})
        if stage.outputs and stage.outputs <= losing and (not follows or _is_long(stage, flow)):
            yield stage.id


def _is_long(stage: Stage, flow: Flow) -> bool:
    situation: Situation = flow.situation
    work_s = excess(stage, situation) * flow.costs_without_shedding[stage.id]
    return work_s > LONG_QUEUE_S * situation.capacity
