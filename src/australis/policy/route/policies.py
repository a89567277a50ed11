"""Routing policies: which of the possible operators a tuple visits next (section 4.3).

A policy scores each operator by its last report. Greedy policies take the highest score, weighted ones any,
with a probability in proportion to its score. A score is a plain function of numbers, so that the simulator
compiles the same function.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from australis.policy.route.statistics import OperatorStatistics

Score = Callable[[float, float, float, float], float]
"""The benefit of visiting an operator, by its queue, ticket, selectivity and cost; never below 0."""


def shortness(queue: float, ticket: float, selectivity: float, cost: float) -> float:
    """The shorter the queue the better: back-pressure."""
    return 1 / (1 + queue)


def tickets(queue: float, ticket: float, selectivity: float, cost: float) -> float:
    """The more tuples an operator has consumed the better."""
    return ticket


def benefit(queue: float, ticket: float, selectivity: float, cost: float) -> float:
    """The chance to eliminate the tuple, per processing time."""
    return max(0.0, 1 - selectivity) / cost


def benefit_queued(queue: float, ticket: float, selectivity: float, cost: float) -> float:
    """The chance to eliminate the tuple, per processing and waiting time."""
    return max(0.0, 1 - selectivity) / ((1 + queue) * cost)


def benefit_squared(queue: float, ticket: float, selectivity: float, cost: float) -> float:
    """Squared, since a tuple that joins a queue also delays those after it."""
    found = max(0.0, 1 - selectivity) / cost
    return found * found


def benefit_queued_squared(queue: float, ticket: float, selectivity: float, cost: float) -> float:
    """Squared, since a tuple that joins a queue also delays those after it."""
    found = max(0.0, 1 - selectivity) / ((1 + queue) * cost)
    return found * found


@dataclass(frozen=True)
class Policy:
    """A way to choose where a tuple goes next."""

    name: str
    score: Score
    weighted: bool = False
    otherwise: Score = shortness
    """The policy that decides if no operator has a score."""

    def choose(self, ready: Sequence[str], known: Mapping[str, OperatorStatistics], chance: float) -> str:
        """One of the operators that are ready; `chance` is a random number from 0 to 1, exclusive.

        >>> known = {"cheap": OperatorStatistics(queue=9, selectivity=0.5, cost=1),
        ...          "dear": OperatorStatistics(queue=0, selectivity=0.5, cost=2)}
        >>> [policy.choose(["cheap", "dear"], known, 0.9) for policy in (SC, SCQ, WSC, WSCQ)]
        ['cheap', 'dear', 'dear', 'dear']
        """
        told = [known[op] for op in ready]
        scores = [self.score(each.queue, each.ticket, each.selectivity, each.cost) for each in told]
        if max(scores) > 0:
            return ready[chosen(scores, self.weighted, chance)]
        scores = [self.otherwise(each.queue, each.ticket, each.selectivity, each.cost) for each in told]
        return ready[chosen(scores, False, chance)]


def shares(scores: Sequence[float], weighted: bool) -> tuple[float, ...]:
    """The probabilities with which `chosen` chooses: how a train of tuples is divided.

    >>> shares([1, 3], True), shares([1, 3], False), shares([2, 2, 0], False)
    ((0.25, 0.75), (0.0, 1.0), (0.5, 0.5, 0.0))
    """
    best = max(scores)
    weights = [score if weighted else float(score == best) for score in scores]
    whole = sum(weights)
    return tuple(weight / whole for weight in weights)


def chosen(scores: Sequence[float], weighted: bool, chance: float) -> int:
    """The index of the choice among scores: by weight, or the highest, with ties broken at random.

    >>> chosen([1, 3], True, 0.2), chosen([1, 3], True, 0.3), chosen([1, 3], False, 0.2)
    (0, 1, 1)
    """
    best = whole = 0.0
    for score in scores:
        best = max(best, score)
    for score in scores:
        whole += score if weighted else (1.0 if score == best else 0.0)
    left, last = chance * whole, 0
    for place, score in enumerate(scores):
        weight = score if weighted else (1.0 if score == best else 0.0)
        if left < weight:
            return place
        left -= weight
        last = place if weight > 0 else last
    # Sums of floats may fall a little short of the last weight.
    return last


Q = Policy("Q", shortness)
T = Policy("T", tickets)
SC = Policy("SC", benefit)
WSC = Policy("WSC", benefit_squared, weighted=True)
SCQ = Policy("SCQ", benefit_queued)
WSCQ = Policy("WSCQ", benefit_queued_squared, weighted=True)

POLICIES: dict[str, Policy] = {policy.name: policy for policy in (T, Q, SC, WSC, SCQ, WSCQ)}
"""All of them, in the order of the paper's tables."""
