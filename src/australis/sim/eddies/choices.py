"""What operators tell of themselves, and where tuples go by it; compiled.

The score of a policy and the choice among scores are the plain functions of `australis.policy.route`. The
compiled code is not kept between processes, since numba would not notice that a policy has changed.
"""

from __future__ import annotations

from typing import Any

from australis.policy.route import policies, statistics
from australis.sim.eddies.heap import inner
from australis.sim.eddies.layout import NONE
from australis.sim.eddies.queues import queue_changed

_chosen = inner(policies.chosen)
_smoothed = inner(statistics.smoothed)
_shortness = inner(policies.shortness)
_tickets = inner(policies.tickets)
_benefit = inner(policies.benefit)
_benefit_squared = inner(policies.benefit_squared)
_benefit_queued = inner(policies.benefit_queued)
_benefit_queued_squared = inner(policies.benefit_queued_squared)
SCORES = (
    policies.shortness,
    policies.tickets,
    policies.benefit,
    policies.benefit_squared,
    policies.benefit_queued,
    policies.benefit_queued_squared,
)
"""The scores that the loop knows, by number."""


@inner
def _score(number: int, queue: float, ticket: float, selectivity: float, cost: float) -> float:
    if number == 0:
        return _shortness(queue, ticket, selectivity, cost)
    if number == 1:
        return _tickets(queue, ticket, selectivity, cost)
    if number == 2:
        return _benefit(queue, ticket, selectivity, cost)
    if number == 3:
        return _benefit_squared(queue, ticket, selectivity, cost)
    if number == 4:
        return _benefit_queued(queue, ticket, selectivity, cost)
    return _benefit_queued_squared(queue, ticket, selectivity, cost)


@inner
def tell(world: Any, op: int, how: Any) -> None:
    """An operator tells the others of itself: a new score; an interval of measurement ends."""
    now = world.counts[0].now
    queue_changed(world, op, 0)
    operator = world.operators[op]
    queue = operator.area / (now - operator.told) if now > operator.told else float(operator.queued)
    if operator.queued > how.ticket_limit:
        operator.ticket = 0
    if operator.served:
        operator.selectivity = _smoothed(operator.selectivity, operator.emitted / operator.served)
        operator.cost = operator.worked / operator.served
    operator.score = _score(how.score, queue, operator.ticket, operator.selectivity, operator.cost)
    operator.otherwise = _shortness(queue, operator.ticket, operator.selectivity, operator.cost)
    operator.served = operator.emitted = 0
    operator.worked = operator.area = 0.0
    operator.told = now


@inner
def next_visit(world: Any, tup: int, weighted: bool, rng: Any) -> int:
    """Where a tuple goes next, as a place among its visits; none if it has visited all."""
    visited = world.tuples[tup].visited
    stream = world.streams[world.tuples[tup].stream]
    ready, scores = world.ready, world.scores
    size, best = 0, 0.0
    for place in range(stream.first, stream.last):
        visit = world.visits[place]
        if not (visited >> (place - stream.first)) & 1 and (visit.before & visited) == visit.before:
            ready[size] = place
            scores[size] = world.operators[visit.operator].score
            best = max(best, scores[size])
            size += 1
    if size < 2:
        return ready[0] if size else NONE
    if best > 0:
        return ready[_chosen(scores[:size], weighted, rng.random())]
    for place in range(size):
        scores[place] = world.operators[world.visits[ready[place]].operator].otherwise
    return ready[_chosen(scores[:size], False, rng.random())]
