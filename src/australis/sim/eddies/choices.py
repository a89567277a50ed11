"""What copies of operators tell of themselves, and where tuples go by it; compiled.

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
smoothed = inner(statistics.smoothed)
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
def tell(world: Any, number: int, how: Any) -> None:
    """A copy tells the others of itself: a new score; an interval of measurement ends."""
    now = world.counts[0].now
    queue_changed(world, number, 0)
    copy = world.copies[number]
    queue = copy.area / (now - copy.told) if now > copy.told else float(copy.queued)
    if copy.queued > how.ticket_limit:
        copy.ticket = 0
    if copy.served:
        copy.selectivity = smoothed(copy.selectivity, copy.emitted / copy.served)
        copy.cost = copy.worked / copy.served
    copy.score = _score(how.score, queue, copy.ticket, copy.selectivity, copy.cost)
    copy.otherwise = _shortness(queue, copy.ticket, copy.selectivity, copy.cost)
    copy.came = copy.served = copy.emitted = 0
    copy.worked = copy.area = 0.0
    copy.told = now


@inner
def sent_on(world: Any, tup: int, weighted: bool, rng: Any) -> bool:
    """Choose what a tuple visits next, and where; there is nothing to choose if it has visited all."""
    size = _gathered(world, tup)
    if size == 0:
        return False
    found = _picked(world, size, weighted, rng) if size > 1 else 0
    world.tuples[tup].visit = world.ready[found]
    world.tuples[tup].to = world.whom[found]
    return True


@inner
def _gathered(world: Any, tup: int) -> int:
    """Find the copies that a tuple may visit next, and how many these are."""
    visited = world.tuples[tup].visited
    stream = world.streams[world.tuples[tup].stream]
    size = 0
    for place in range(stream.first, stream.last):
        visit = world.visits[place]
        if not (visited >> (place - stream.first)) & 1 and (visit.before & visited) == visit.before:
            number = world.firsts[visit.operator]
            while number != NONE:
                world.ready[size] = place
                world.whom[size] = number
                world.scores[size] = world.copies[number].score
                number = world.copies[number].sibling
                size += 1
    return size


@inner
def _picked(world: Any, size: int, weighted: bool, rng: Any) -> int:
    scores = world.scores
    for place in range(size):
        if scores[place] > 0:
            return _chosen(scores[:size], weighted, rng.random())
    for place in range(size):
        scores[place] = world.copies[world.whom[place]].otherwise
    return _chosen(scores[:size], False, rng.random())
