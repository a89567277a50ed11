"""Tuples that come to the operator that they are to visit; compiled."""

from __future__ import annotations

from typing import Any

from australis.sim.eddies.choices import tell
from australis.sim.eddies.heap import inner
from australis.sim.eddies.layout import NONE
from australis.sim.eddies.links import sent
from australis.sim.eddies.queues import joined, queue_changed, started


@inner
def arrived(world: Any, tup: int, how: Any, rng: Any) -> None:
    """A tuple is at its operator: into the queue."""
    number = int(world.tuples[tup].to)
    place = world.copies[number].node
    _noticed(world, number, how)
    if joined(world, tup, place):
        started(world, place, how.steady, rng)


@inner
def _noticed(world: Any, number: int, how: Any) -> None:
    """One more in a queue; after some the copy tells of itself."""
    copy = world.copies[number]
    copy.ticket += 1
    copy.asked += 1
    copy.came += 1
    queue_changed(world, number, 1)
    if world.nodes[copy.node].queued > how.limit and world.counts[0].overloaded < 0:
        world.counts[0].overloaded = world.counts[0].now
    if copy.came >= how.tell_tuples:
        tell(world, number, how)


@inner
def delivered(world: Any, tup: int, how: Any, rng: Any) -> None:
    """A page is there, with all tuples behind its first; those whose copy is not there any more go on."""
    while tup != NONE:
        following, here = world.tuples[tup].next, int(world.tuples[tup].there)
        copy = world.copies[world.tuples[tup].to]
        copy.coming -= 1
        if not copy.alive:
            world.tuples[tup].to = copy.heir
        if world.copies[world.tuples[tup].to].node == here:
            arrived(world, tup, how, rng)
        else:
            sent(world, tup, here, how)
        tup = following
