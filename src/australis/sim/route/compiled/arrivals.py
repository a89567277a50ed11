"""Arrivals of tuples at their next operator; compiled."""

from __future__ import annotations

from typing import Any

from australis.sim.route.compiled.heap import inner
from australis.sim.route.compiled.layout import NONE
from australis.sim.route.compiled.links import send
from australis.sim.route.compiled.queues import change_queue, enqueue, start


@inner
def arrive(world: Any, tup: int, how: Any, rng: Any) -> None:
    """Put a tuple into the queue of its operator."""
    number = int(world.tuples[tup].to)
    _notice(world, number, how)
    if enqueue(world, tup, number):
        start(world, number, how.steady, rng)


@inner
def _notice(world: Any, number: int, how: Any) -> None:
    """Count one more tuple in a queue."""
    copy = world.copies[number]
    world.operators[copy.operator].ticket += 1
    copy.asked += 1
    change_queue(world, number, 1)
    if world.nodes[copy.node].queued > how.limit and world.counts[0].overloaded < 0:
        world.counts[0].overloaded = world.counts[0].now


@inner
def deliver(world: Any, tup: int, how: Any, rng: Any) -> None:
    """Deliver a page with all its tuples after the first; those whose copy is gone are forwarded."""
    while tup != NONE:
        following, here = world.tuples[tup].next, int(world.tuples[tup].there)
        copy = world.copies[world.tuples[tup].to]
        copy.coming -= 1
        if not copy.alive:
            world.tuples[tup].to = copy.heir
        if world.copies[world.tuples[tup].to].node == here:
            arrive(world, tup, how, rng)
        else:
            send(world, tup, here, how)
        tup = following
