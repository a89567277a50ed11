"""Tuples in the virtual world, the queues where they wait, and the nodes that work them off; compiled."""

from __future__ import annotations

from typing import Any

from australis.sim.eddies.heap import inner, planned
from australis.sim.eddies.layout import NONE, SERVED


@inner
def born(world: Any, time: float, stream: int, visited: int) -> int:
    """A new tuple, or none if there is no room."""
    count = world.counts[0]
    tup = count.spare
    if tup == NONE:
        count.full = 1
        return NONE
    count.spare = world.tuples[tup].next
    world.tuples[tup].born = time
    world.tuples[tup].stream = stream
    world.tuples[tup].visited = visited
    return tup


@inner
def gone(world: Any, tup: int) -> None:
    world.tuples[tup].next = world.counts[0].spare
    world.counts[0].spare = tup


@inner
def queue_changed(world: Any, op: int, by: int) -> None:
    now = world.counts[0].now
    operator = world.operators[op]
    operator.area += operator.queued * (now - operator.changed)
    operator.changed = now
    operator.queued += by
    world.nodes[operator.node].queued += by


@inner
def turn(world: Any, op: int) -> None:
    """An operator that has work stands in the line of its node."""
    node = world.nodes[world.operators[op].node]
    world.operators[op].following = NONE
    if node.first == NONE:
        node.first = op
    else:
        world.operators[node.last].following = op
    node.last = op


@inner
def started(world: Any, place: int, steady: bool, rng: Any) -> None:
    """A node works on a tuple of the operator that is the first in its line."""
    op = world.nodes[place].first
    if op != NONE:
        time = world.operators[op].service * (1.0 if steady else rng.standard_exponential())
        world.operators[op].taking = time
        planned(world, world.counts[0].now + time, SERVED, place)


@inner
def arrived(world: Any, tup: int, how: Any, rng: Any) -> None:
    """A tuple is at its operator: into the queue."""
    op = world.visits[world.tuples[tup].visit].operator
    operator = world.operators[op]
    operator.ticket += 1
    world.tuples[tup].next = NONE
    queue_changed(world, op, 1)
    if world.nodes[operator.node].queued > how.limit and world.counts[0].overloaded < 0:
        world.counts[0].overloaded = world.counts[0].now
    if operator.queued > 1:
        world.tuples[operator.tail].next = tup
        operator.tail = tup
        return
    operator.head = operator.tail = tup
    idle = world.nodes[operator.node].first == NONE
    turn(world, op)
    if idle:
        started(world, operator.node, how.steady, rng)
