"""What operators report, and where tuples go as a result; compiled.

The score of a policy and the choice among scores are the plain functions of `australis.policy.route`. The
compiled code is not cached between processes, since numba would not notice that a policy has changed.
"""

from __future__ import annotations

from typing import Any

from australis.policy.route import policies, statistics
from australis.sim.route.compiled.heap import inner
from australis.sim.route.compiled.layout import NONE
from australis.sim.route.compiled.queues import count_queue

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
    """Let an operator report to the others: a new score; a measurement interval ends."""
    count_queue(world, number)
    now, operator = world.counts[0].now, world.operators[number]
    if now > operator.told:
        operator.queue = smoothed(operator.queue, operator.area / (now - operator.told))
    if operator.queued > how.ticket_limit:
        operator.ticket = 0
    if operator.served:
        operator.selectivity = smoothed(operator.selectivity, operator.emitted / operator.served)
        # Copies work in parallel, each on as many tuples as it has resources.
        operator.cost = operator.worked / (operator.served * operator.copies)
    _update_score(world, number, how.score)
    operator.served = operator.emitted = 0
    operator.worked = operator.area = 0.0
    operator.told = now


@inner
def _update_score(world: Any, number: int, score: int) -> None:
    told = world.operators[number]
    told.score = _score(score, told.queue, told.ticket, told.selectivity, told.cost)
    told.otherwise = _shortness(told.queue, told.ticket, told.selectivity, told.cost)


@inner
def choose_visit(world: Any, tup: int, weighted: bool, rng: Any) -> bool:
    """Choose what a tuple visits next, and where; there is no choice if it has visited all."""
    size = _gather(world, tup)
    if size == 0:
        return False
    visit = world.ready[_pick(world, size, weighted, rng) if size > 1 else 0]
    world.tuples[tup].visit = visit
    world.tuples[tup].to = _copy(world, world.visits[visit].operator, rng)
    return True


@inner
def _gather(world: Any, tup: int) -> int:
    """Find the operators that a tuple may visit next; returns how many."""
    visited = world.tuples[tup].visited
    stream = world.streams[world.tuples[tup].stream]
    size = 0
    for place in range(stream.first, stream.last):
        visit = world.visits[place]
        if not (visited >> (place - stream.first)) & 1 and (visit.before & visited) == visit.before:
            world.ready[size] = place
            world.scores[size] = world.operators[visit.operator].score
            size += 1
    return size


@inner
def _pick(world: Any, size: int, weighted: bool, rng: Any) -> int:
    scores = world.scores
    for place in range(size):
        if scores[place] > 0:
            return _chosen(scores[:size], weighted, rng.random())
    for place in range(size):
        scores[place] = world.operators[world.visits[world.ready[place]].operator].otherwise
    return _chosen(scores[:size], False, rng.random())


@inner
def _copy(world: Any, operator: int, rng: Any) -> int:
    """A random copy of an operator, in proportion to its resources."""
    copy = world.operators[operator].copy
    if world.operators[operator].copies == 1:
        return copy
    left = rng.random() * _speed(world, copy) - 1 / world.copies[copy].service
    while left >= 0 and world.copies[copy].sibling != NONE:
        copy = world.copies[copy].sibling
        left -= 1 / world.copies[copy].service
    return copy


@inner
def _speed(world: Any, number: int) -> float:
    """The tuples that a copy and those after it can process per unit of time."""
    speed = 0.0
    while number != NONE:
        speed += 1 / world.copies[number].service
        number = world.copies[number].sibling
    return speed
