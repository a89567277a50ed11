"""Shedding: the drop boxes that recover enough time at the least loss of utility (Aurora 4.5)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from australis.algebra.quality import Points, Quality
from australis.policy.load import Situation, Stage
from australis.policy.shed.flow import Flow, excess
from australis.qos.graphs import slope, utility

LONG_QUEUE_S = 0.5
"""A queue is long if its excess takes all workers for this many seconds."""
EVENLY: Points = ((0.0, 0.0), (1.0, 1.0))
"""The loss graph of an output that has only a value graph, while nothing is known of its values."""
STEPS_MAX = 10_000
"""A walk with more steps than the curves have points is caught in rounding errors."""
_NEAR = 1e-9


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
    flow: Flow, need: float, values: Mapping[str, Points] | None = None, *, each: float = math.inf
) -> Shedding:
    """The drop boxes that meet a need, step by step along the curves of the outputs.

    The paper goes down the curve with the smallest slope until another one's is smaller. That is optimal if a
    tuple costs the same on its way to every output. Here tuples have known costs, and a place upstream of a
    branch serves several outputs; so each step takes the place that loses the least weighted utility, summed
    over its downstream outputs, per second of workers' time recovered. With equal costs and one output
    downstream of every place this is the paper's order. A step ends where a curve has its next point, the
    place admits nothing more, or the need is met; so a greater need only adds steps, and never loses less.

    `values` has curves for outputs without a loss graph. No stage may need more than `each`: a stage that
    runs one train at a time cannot use more workers. Such stages are relieved first.

    >>> from australis.policy.load import Goal
    >>> a = Goal("a", Quality(loss=((0, 0), (0.8, 1), (1, 1))), ("sa",))
    >>> b = Goal("b", Quality(loss=((0, 0), (1, 1)), weight=0.1), ("sb",))
    >>> stages = {f"s{o}": Stage(f"s{o}", outputs=frozenset(o), rate=1000, tuple_us=1000) for o in "ab"}
    >>> found = shed(Flow(Situation(0, stages, {"a": a, "b": b})), need=0.5)
    >>> {stage: round(box.rate, 6) for stage, box in found.boxes.items()}
    {'sa': 0.2, 'sb': 0.3}
    """
    walk = _Walk(flow, values or {})
    for stage in flow.situation.stages if each < math.inf else ():
        walk.relieve(stage, each)
    walk.until(need)
    return walk.result(need)


class _Walk:
    """The walk along the curves: the fractions admitted so far, by place."""

    def __init__(self, flow: Flow, values: Mapping[str, Points]) -> None:
        self._flow, self._goals = flow, flow.situation.goals
        curves = {name: curve(goal.quality, values.get(name)) for name, goal in self._goals.items()}
        self._curves = {name: points for name, points in curves.items() if points is not None}
        self._places = tuple(places(flow, frozenset(self._curves)))
        self._kept = dict.fromkeys(self._places, 1.0)
        self._whole = flow.asked({})
        self._steps = 0

    def relieve(self, stage: str, most: float) -> None:
        """Walk until a stage needs no more than it may."""
        while (beyond := self._flow.busy(stage, self._kept) - most) > _NEAR and self._step(beyond, stage):
            pass

    def until(self, need: float) -> None:
        """Walk until a given time is recovered."""
        while (rest := need - self.recovered) > _NEAR and self._step(rest):
            pass

    @property
    def recovered(self) -> float:
        return self._whole - self._flow.asked(self._kept)

    def _step(self, need: float, only: str | None = None) -> bool:
        """Take the cheapest step, by the time recovered in total or at one stage; False if there is none."""
        delivered, arriving = self._flow.delivered(self._kept), self._flow.arriving(self._kept)
        costs = self._flow.costs(self._kept, only)
        best: tuple[float, float, str, dict[str, float]] | None = None
        for place in self._places:
            relief = arriving[place] * costs[place]
            if self._kept[place] > 0 and relief > _NEAR:
                shares = self._flow.shares(place, arriving[place], self._kept)
                loss = sum(self._loss(output, delivered[output], shares[output]) for output in shares)
                if best is None or (loss / relief, -relief) < best[:2]:
                    best = (loss / relief, -relief, place, shares)
        if best is None:
            return False
        _, negative, place, shares = best
        ends = (self._to_next_point(output, delivered[output], share) for output, share in shares.items())
        before = self._kept[place]
        kept = before - min(need / -negative, *ends, before)
        self._kept[place] = kept if kept > _NEAR else 0.0
        self._steps += 1
        return self._kept[place] < before and self._steps < STEPS_MAX

    def _loss(self, output: str, delivered: float, share: float) -> float:
        """The utility that an output loses per fraction shed at a place."""
        steepness = slope(self._curves[output], max(delivered - _NEAR, 0.0), -1)
        return self._goals[output].quality.weight * max(0.0, steepness) * share

    def _to_next_point(self, output: str, delivered: float, share: float) -> float:
        """The fraction to shed at a place until an output reaches the next point of its curve."""
        below = [x for x, _ in self._curves[output] if x < delivered - _NEAR]
        return (delivered - (below[-1] if below else 0.0)) / share if share > 0 else 1.0

    def result(self, need: float) -> Shedding:
        delivered = self._flow.delivered(self._kept)
        boxes = {place: DropBox.random(1.0 - kept) for place, kept in self._kept.items() if kept < 1.0}
        lost = {
            name: self._goals[name].quality.weight
            * (utility(points, 1.0) - utility(points, delivered.get(name, 1.0)))
            for name, points in self._curves.items()
        }
        missing = need - self.recovered
        return Shedding(boxes, self.recovered, missing if missing > _NEAR else 0.0, delivered, lost)


def places(flow: Flow, losing: frozenset[str]) -> Iterator[str]:
    """The stages whose gates may have drop boxes: those that lead only to outputs that may lose tuples.

    Of stages that lead to the same outputs, only the first: a tuple that is shed there has cost nothing yet.
    A later one only while it has a long queue at its gate, which shedding upstream would not shorten.
    """
    situation = flow.situation
    downstream: set[tuple[str, frozenset[str]]] = set()
    for stage in situation.stages.values():
        follows = (stage.id, stage.outputs) in downstream
        reached = {outputs for name, outputs in downstream if name == stage.id} | {stage.outputs}
        downstream |= {(fed, outputs) for fed in stage.feeds for outputs in reached}
        if stage.outputs and stage.outputs <= losing and (not follows or _is_long(stage, flow)):
            yield stage.id


def _is_long(stage: Stage, flow: Flow) -> bool:
    situation: Situation = flow.situation
    work_s = excess(stage, situation) * flow.costs({})[stage.id]
    return work_s > LONG_QUEUE_S * situation.capacity
