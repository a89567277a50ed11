"""Tuples in the virtual world, the queues where they wait, and the nodes that process them; compiled."""

from __future__ import annotations

from typing import Any

from australis.sim.route.compiled.heap import inner, plan_event
from australis.sim.route.compiled.layout import NONE, SERVED


@inner
def new_tuple(world: Any, time: float, stream: int, visited: int) -> int:
    """A new tuple, or none if there is no room."""
    count = world.counts[0]
    tup = count.spare
    if tup != NONE:
        count.spare = world.tuples[tup].next
    elif count.fresh < len(world.tuples):
        tup = count.fresh
        count.fresh += 1
    else:
        count.full = 1
        return NONE
    world.tuples[tup].born = time
    world.tuples[tup].stream = stream
    world.tuples[tup].visited = visited
    return tup


@inner
def free_tuple(world: Any, tup: int) -> None:
    world.tuples[tup].next = world.counts[0].spare
    world.counts[0].spare = tup


@inner
def change_queue(world: Any, number: int, by: int) -> None:
    """Note that more or fewer tuples are queued at a copy."""
    copy = world.copies[number]
    count_queue(world, copy.operator)
    world.operators[copy.operator].queued += by
    world.nodes[copy.node].queued += by
    copy.queued += by


@inner
def count_queue(world: Any, number: int) -> None:
    """Update the mean queue of an operator up to now."""
    now, operator = world.counts[0].now, world.operators[number]
    operator.area += operator.queued * (now - operator.changed)
    operator.changed = now


@inner
def start(world: Any, number: int, steady: bool, rng: Any) -> None:
    """Let a copy start on the first tuple of its queue."""
    copy = world.copies[number]
    if copy.first != NONE:
        copy.taking = copy.service * (1.0 if steady else rng.standard_exponential())
        plan_event(world, world.counts[0].now + copy.taking, SERVED, number)


@inner
def enqueue(world: Any, tup: int, number: int) -> bool:
    """Append a tuple to the queue of a copy; returns whether it is the only one."""
    copy = world.copies[number]
    world.tuples[tup].next = NONE
    alone = copy.first == NONE
    if alone:
        copy.first = tup
    else:
        world.tuples[copy.last].next = tup
    copy.last = tup
    return alone


@inner
def take_out(world: Any, number: int, kept: int) -> int:
    """Remove the tuples of a copy from its queue, except the first; returns their chain."""
    copy = world.copies[number]
    last, tup, own = NONE, copy.first, 0
    while tup != NONE and own < kept:
        last, tup, own = tup, world.tuples[tup].next, own + 1
    if last == NONE:
        copy.first = NONE
    else:
        world.tuples[last].next = NONE
    copy.last = last
    change_queue(world, number, own - copy.queued)
    return tup
