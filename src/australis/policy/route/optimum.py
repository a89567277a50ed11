"""The best routing by the queueing model, and the best division of shared resources."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import fsum, inf, sqrt

import numpy as np

from australis.errors import PolicyError, Problem
from australis.policy.route.plan import DistributedPlan
from australis.policy.route.queueing import (
    MOST_QUEUED,
    Weights,
    average_response_time,
    compute_rate,
    maximum_data_rate,
    shares,
    throughput,
)
from australis.policy.route.search import Search, Vector

NEARLY_BUSY = 0.9999
"""Beyond this utilisation residence times grow linearly, so that an overloaded trial is bad, not absurd."""


@dataclass(frozen=True)
class Optimum:
    """The best value that can be reached, with its weights and the resources of each operator."""

    value: float
    weights: Weights
    resources: Mapping[str, float]


def best_data_rate(plan: DistributedPlan, most_queued: float = MOST_QUEUED) -> Optimum:
    """The routing with the highest MDR, with fixed resources.

    >>> from australis.policy.route.examples import J3
    >>> best = best_data_rate(J3)
    >>> round(best.value, 1), round(best.weights["op1", "op3"], 2)
    (153.4, 0.24)
    """
    search = Search(plan)
    ends = np.array([throughput(op, most_queued) for op in plan.operators.values()])

    def found_from(start: Vector) -> Vector:
        unit = maximum_data_rate(plan, search.weights(start), most_queued)
        return search.minimized(
            lambda point: -float(point[-1]),
            np.append(start, 1.0),
            lambda point: 1 - point[-1] * unit * search.arrivals(point) / ends,
        )

    tried = [search.weights(each) for start in search.starts() for each in (start, found_from(start))]
    reached = [maximum_data_rate(plan, weights, most_queued) for weights in tried]
    best = int(np.argmax(reached))
    return Optimum(reached[best], tried[best], _resources(plan))


def best_response_time(plan: DistributedPlan, rate: float) -> Optimum:
    """The routing with the lowest ART at a rate of all sources together, with fixed resources."""
    widest = best_data_rate(plan, inf)
    _refuse_too_much(rate, widest.value)
    search = Search(plan)
    service = np.array([op.service_time for op in plan.operators.values()])
    visitors = np.array([plan.visitors[op] for op in plan.operators])

    def response_time(point: Vector) -> float:
        return float(visitors @ (service * _stretch(rate * search.arrivals(point) * service)))

    starts = [search.point(widest.weights), *search.starts()]
    tried = [search.weights(e) for start in starts for e in (start, search.minimized(response_time, start))]
    reached = [_response_time(plan, weights, rate) for weights in tried]
    best = int(np.argmin(reached))
    return Optimum(reached[best], tried[best], _resources(plan))


def best_shared_data_rate(
    plan: DistributedPlan, resources: float, most_queued: float = MOST_QUEUED
) -> Optimum:
    """The routing and the division of shared resources with the highest MDR.

    However tuples are routed, it is best to give operators resources in proportion to their work, so the best
    routing is the one with the least work per tuple.

    >>> from australis.policy.route.examples import DS3, DS3_RESOURCES
    >>> best = best_shared_data_rate(DS3, DS3_RESOURCES)
    >>> round(best.value), {op: round(units) for op, units in best.resources.items()}
    (588, {'op1': 12, 'op2': 59, 'op3': 29})
    """
    weights, work = least_work(plan)
    whole = fsum(work.values())
    rate = resources / whole / (1 + 1 / most_queued)
    return Optimum(rate, weights, {op: resources * part / whole for op, part in work.items()})


def best_shared_response_time(plan: DistributedPlan, rate: float, resources: float) -> Optimum:
    """The routing and the division of shared resources with the lowest ART.

    The resources that the work leaves over are divided in proportion to the roots of work times visitors
    (Lagrange), and the more is left the better: again the best routing is the one with the least work per
    tuple.
    """
    weights, work = least_work(plan)
    _refuse_too_much(rate, resources / fsum(work.values()))
    spare = resources - rate * fsum(work.values())
    roots = {id_: sqrt(plan.visitors[id_] * op.work) for id_, op in plan.operators.items()}
    whole = fsum(roots.values())
    given = {op: rate * work[op] + spare * root / whole for op, root in roots.items()}
    return Optimum(whole * whole / spare, weights, given)


def least_work(plan: DistributedPlan) -> tuple[Weights, Mapping[str, float]]:
    """The routing under which a tuple takes the least resources, and what it takes at each operator."""
    search = Search(plan)
    work = np.array([op.work for op in plan.operators.values()])

    def taken(point: Vector) -> float:
        return float(work @ search.arrivals(point))

    best = min((search.minimized(taken, start) for start in search.starts()), key=taken)
    parts = work * search.arrivals(best)
    return search.weights(best), {op: float(part) for op, part in zip(plan.operators, parts, strict=True)}


def _refuse_too_much(rate: float, most: float) -> None:
    if not rate < most:
        raise PolicyError(Problem("rate", f"{rate:g} is more than any routing can take", f"under {most:.4g}"))


def _stretch(busy: Vector) -> Vector:
    """Residence time relative to service time, at operators that are busy for these fractions of the time."""
    near = np.minimum(busy, NEARLY_BUSY)
    straight: Vector = (busy - near) / (1 - near) ** 2
    return 1 / (1 - near) + straight


def _response_time(plan: DistributedPlan, weights: Weights, rate: float) -> float:
    return average_response_time(plan, compute_rate(plan, weights, shares(plan, rate)))


def _resources(plan: DistributedPlan) -> dict[str, float]:
    return {id_: op.resources for id_, op in plan.operators.items()}
