"""Routing policies: to which of the operators that a tuple may visit next it goes (section 4.3).

A policy scores each operator by what it last told of itself. The greedy ones take the highest score, the
weighted ones any, with a probability in proportion to its score. A score is a plain function of numbers, so
that the simulator compiles the very same one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from australis.policy.route.statistics import OperatorStatistics

Score = Callable[[float, float, float, float], float]
"""How good it is to go to an operator, by its queue, ticket, selectivity and cost; never below 0."""


def shortness(queue: float, ticket: float, selectivity: float, cost: float) -> float:
    """The shorter the queue the better: back-pressure."""
    return 1 / (1 + queue)


def tickets(queue: float, ticket: float, selectivity: float, cost: float) -> float:
    """The more an operator has eaten the better."""
    return ticket


def benefit(queue: float, ticket: float, selectivity: float, cost: float) -> float:
    """The chance to be rid of the tuple, for the time that it takes."""
    return max(0.0, 1 - selectivity) / cost


def benefit_queued(queue: float, ticket: float, selectivity: float, cost: float) -> float:
    """The chance to be rid of the tuple, for the time that it takes and waits."""
    return max(0.0, 1 - selectivity) / ((1 + queue) * cost)


def benefit_squared(queue: float, ticket: float, selectivity: float, cost: float) -> float:
    """Squared, since who joins a queue also delays those behind."""
    found = max(0.0, 1 - selectivity) / cost
    return found * found


def benefit_queued_squared(queue: float, ticket: float, selectivity: float, cost: float) -> float:
    """Squared, since who joins a queue also delays those behind."""
    found = max(0.0, 1 - selectivity) / ((1 + queue) * cost)
    return found * found


@dataclass(frozen=True)
class Policy:
    """A way to choose where a tuple goes next."""

    name: str
    score: Score
    weighted: bool = False
    otherwise: Score = shortness
    """What decides where no operator has any score."""

    def choose(self, ready: Sequence[str], known: Mapping[str, OperatorStatistics], chance: float) -> str:
        """One of the operators that are ready; `chance` is a number of at least 0 and less than 1.

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


def chosen(scores: Sequence[float], weighted: bool, chance: float) -> int:
    """The place of the choice among scores: by weight, or the highest, chance deciding among equals.

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
    # Sums of floats may leave a little behind the last weight.
    return last


Q = Policy("Q", shortness)
T = Policy("T", tickets)
SC = Policy("SC", benefit)
WSC = Policy("WSC", benefit_squared, weighted=True)
SCQ = Policy("SCQ", benefit_queued)
WSCQ = Policy("WSCQ", benefit_queued_squared, weighted=True)

POLICIES: dict[str, Policy] = {policy.name: policy for policy in (T, Q, SC, WSC, SCQ, WSCQ)}
"""All of them, in the order of the paper's tables."""
