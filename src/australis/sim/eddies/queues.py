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
def gone(world: Any, tup: int) -> None:
    world.tuples[tup].next = world.counts[0].spare
    world.counts[0].spare = tup


@inner
def queue_changed(world: Any, number: int, by: int) -> None:
    now = world.counts[0].now
    copy = world.copies[number]
    copy.area += copy.queued * (now - copy.changed)
    copy.changed = now
    copy.queued += by
    world.nodes[copy.node].queued += by


@inner
def started(world: Any, place: int, steady: bool, rng: Any) -> None:
    """A node works on the first tuple of its queue."""
    tup = world.nodes[place].first
    if tup != NONE:
        time = world.copies[world.tuples[tup].to].service * (1.0 if steady else rng.standard_exponential())
        world.nodes[place].taking = time
        planned(world, world.counts[0].now + time, SERVED, place)


@inner
def joined(world: Any, tup: int, place: int) -> bool:
    """A tuple stands at the end of the queue of a node; whether it is the only one."""
    node = world.nodes[place]
    world.tuples[tup].next = NONE
    alone = node.first == NONE
    if alone:
        node.first = tup
    else:
        world.tuples[node.last].next = tup
    node.last = tup
    return alone


@inner
def taken_out(world: Any, number: int, kept: int) -> int:
    """Take the tuples of a copy out of the queue of its node, but for the first; gives their chain."""
    place = world.copies[number].node
    node = world.nodes[place]
    tup, own, first, last = node.first, 0, NONE, NONE
    node.first = node.last = NONE
    while tup != NONE:
        following = world.tuples[tup].next
        own += world.tuples[tup].to == number
        if world.tuples[tup].to != number or own <= kept:
            joined(world, tup, place)
        else:
            first, last = _behind(world, tup, first, last)
        tup = following
    queue_changed(world, number, min(kept, own) - own)
    return first


@inner
def _behind(world: Any, tup: int, first: int, last: int) -> tuple[int, int]:
    """A chain with one more tuple: its first and its last."""
    world.tuples[tup].next = NONE
    if last == NONE:
        return tup, tup
    world.tuples[last].next = tup
    return first, tup
