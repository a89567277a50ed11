"""Links between nodes: tuples go in pages, which leave when they are full or due; compiled."""

from __future__ import annotations

from typing import Any

from australis.sim.route.compiled.heap import inner, plan_event
from australis.sim.route.compiled.layout import FLUSH, NONE, PAGE


@inner
def send(world: Any, tup: int, here: int, how: Any) -> None:
    """Send a tuple to its copy on another node: into the page of a link, which leaves when full or due."""
    copy = world.copies[world.tuples[tup].to]
    copy.coming += 1
    to = here * len(world.nodes) + copy.node
    link = world.links[to]
    world.tuples[tup].there = copy.node
    world.tuples[tup].next = NONE
    if link.filled == 0:
        link.head = tup
        link.due = world.counts[0].now + how.wait
        plan_event(world, link.due, FLUSH, to)
    else:
        world.tuples[link.tail].next = tup
    link.tail = tup
    link.filled += 1
    if link.filled == how.page_tuples:
        ship(world, to, how)


@inner
def ship(world: Any, to: int, how: Any) -> None:
    """Send the page of a link, after those that the link still carries."""
    link = world.links[to]
    link.free = max(link.free, world.counts[0].now) + link.page_time * link.filled / how.page_tuples
    plan_event(world, link.free + how.latency, PAGE, link.head)
    link.filled = 0
