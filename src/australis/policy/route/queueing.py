"""The queueing model of a distributed eddy: rates, response times, and the most that a routing can handle.

Each operator is an M/M/1 server; from an operator, a tuple goes to one of those that it may visit next, with
a probability in proportion to weights. (Distributed eddies, section 4.1.)
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise, permutations
from math import fsum, inf

from australis.policy.route.plan import DistributedPlan, Operator, RoutedStream

Weights = Mapping[tuple[str, str], float]
"""How much of what leaves an operator or a source goes to another (the paper's c): by (from, to)."""
Path = tuple[str, ...]
"""The source and the operators that a tuple visits, in order: its execution history."""

MOST_QUEUED = 10_000
"""The queue length at which an operator counts as overloaded (the paper's MaxQ)."""


@dataclass(frozen=True)
class Rates:
    """Tuples per unit of time: what arrives at each operator, and at the sink by each path."""

    operators: Mapping[str, float]
    sink: Mapping[Path, float]


def compute_rate(plan: DistributedPlan, weights: Weights, rates: Mapping[str, float]) -> Rates:
    """The arrival rates, if each stream enters at its rate (the paper's Figure 4.1).

    >>> from australis.policy.route.examples import S3
    >>> first = weights_of([("op0", "op2", "op1", "op3")])
    >>> compute_rate(S3, first, {"op0": 100.0}).operators
    {'op1': 20.0, 'op2': 100.0, 'op3': 10.0}
    """
    arriving = dict.fromkeys(plan.operators, 0.0)
    sink: dict[Path, float] = {}
    for stream in plan.streams:
        branches: deque[tuple[Path, float]] = deque([((stream.id,), rates[stream.id])])
        while branches:
            path, rate = branches.popleft()
            ready = stream.ready(frozenset(path[1:]))
            if not ready:
                sink[path] = rate
            for op, part in probabilities(path[-1], ready, weights):
                arriving[op] += rate * part
                made = rate * part * plan.operators[op].made_of(stream.id)
                branches.append(((*path, op), made))
    return Rates(arriving, sink)


def probabilities(at: str, ready: Sequence[str], weights: Weights) -> list[tuple[str, float]]:
    """Where a tuple goes next; uniformly, if all weights are 0."""
    found = [weights.get((at, op), 0.0) for op in ready]
    whole = fsum(found)
    if not whole:
        return [(op, 1 / len(ready)) for op in ready]
    return [(op, weight / whole) for op, weight in zip(ready, found, strict=True) if weight]


def residence_time(operator: Operator, rate: float) -> float:
    """How long a tuple is at an operator, waiting and processed (the paper's Tr); infinite if overloaded."""
    busy = rate * operator.service_time
    return operator.service_time / (1 - busy) if busy < 1 else inf


def queue_length(operator: Operator, rate: float) -> float:
    """The average number of tuples at an operator (the paper's qlen)."""
    busy = rate * operator.service_time
    return busy / (1 - busy) if busy < 1 else inf


def average_response_time(plan: DistributedPlan, found: Rates) -> float:
    """ART: the time from source to sink of the tuples that reach it."""
    times = {id_: residence_time(op, found.operators[id_]) for id_, op in plan.operators.items()}
    spent = (rate * fsum(times[op] for op in path[1:]) for path, rate in found.sink.items())
    return fsum(spent) / fsum(found.sink.values())


def shares(plan: DistributedPlan, rate: float = 1.0) -> dict[str, float]:
    """The rate of each stream, given a total rate."""
    return {stream.id: stream.share * rate for stream in plan.streams}


def maximum_data_rate(plan: DistributedPlan, weights: Weights, most_queued: float = MOST_QUEUED) -> float:
    """MDR: the rate of all sources together at which the first queue gets too long.

    Rates grow in proportion, so the operator closest to its limit decides.
    """
    arriving = compute_rate(plan, weights, shares(plan)).operators
    return min(
        (throughput(op, most_queued) / arriving[id_] for id_, op in plan.operators.items() if arriving[id_]),
        default=inf,
    )


def throughput(operator: Operator, most_queued: float = MOST_QUEUED) -> float:
    """The rate at which an operator's queue reaches its maximum length."""
    return 1 / (1 + 1 / most_queued) / operator.service_time


def weights_of(paths: Sequence[Path]) -> dict[tuple[str, str], float]:
    """Weights that send tuples along some paths only."""
    return {step: 1.0 for path in paths for step in pairwise(path)}


def paths_of(stream: RoutedStream) -> list[Path]:
    """All the paths that tuples of a stream can take."""
    return [
        (stream.id, *order)
        for order in permutations(stream.visits)
        if all(stream.visits[op] <= set(order[:index]) for index, op in enumerate(order))
    ]
