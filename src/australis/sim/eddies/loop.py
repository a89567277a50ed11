"""The loop over events: tuples come, are worked on, and are routed on; compiled."""

from __future__ import annotations

from typing import Any

from numba import njit

from australis.sim.eddies.choices import next_visit, tell
from australis.sim.eddies.heap import inner, planned, sunk
from australis.sim.eddies.layout import ARRIVAL, NONE, PAGE, SERVED, TELL
from australis.sim.eddies.links import sent, shipped
from australis.sim.eddies.queues import arrived, born, gone, queue_changed, started, turn


@inner
def _route(world: Any, tup: int, here: int, how: Any, rng: Any) -> None:
    """A tuple leaves its source or a node: for the sink, or for the operator that it is to visit next."""
    visit = next_visit(world, tup, how.weighted, rng)
    count = world.counts[0]
    if visit == NONE:
        count.left += 1
        count.response += count.now - world.tuples[tup].born
        gone(world, tup)
        return
    world.tuples[tup].visit = visit
    there = world.operators[world.visits[visit].operator].node
    if here in (NONE, there) or how.instant:
        arrived(world, tup, how, rng)
    else:
        sent(world, tup, here * len(world.nodes) + there, how)


@inner
def _entered(world: Any, stream: int, how: Any, rng: Any) -> None:
    """A source makes a tuple, and will make another."""
    count = world.counts[0]
    planned(world, count.now + world.streams[stream].gap * rng.standard_exponential(), ARRIVAL, stream)
    tup = born(world, count.now, stream, 0)
    if tup != NONE:
        count.entered += 1
        _route(world, tup, world.streams[stream].node, how, rng)


@inner
def _served(world: Any, place: int, how: Any, rng: Any) -> None:
    """A node is done with a tuple: it turns to the next one, and sends on what was made of this one."""
    node = world.nodes[place]
    op = node.first
    operator = world.operators[op]
    tup, took = operator.head, operator.taking
    operator.head = world.tuples[tup].next
    node.first = operator.following
    queue_changed(world, op, -1)
    if operator.queued:
        turn(world, op)
    started(world, place, how.steady, rng)
    made = _made(world.visits[world.tuples[tup].visit].selectivity, rng)
    operator.served += 1
    operator.worked += took
    operator.emitted += made
    operator.ticket = max(0, operator.ticket - made)
    if operator.served >= how.tell_tuples:
        tell(world, op, how)
    _emitted(world, tup, made, place, how, rng)


@inner
def _made(selectivity: float, rng: Any) -> int:
    """How many tuples are made of one."""
    whole = int(selectivity)
    return whole + (rng.random() < selectivity - whole)


@inner
def _emitted(world: Any, tup: int, made: int, place: int, how: Any, rng: Any) -> None:
    count = world.counts[0]
    if made == 0:
        count.eaten += 1
        gone(world, tup)
        return
    stream = world.tuples[tup].stream
    visited = world.tuples[tup].visited | (1 << (world.tuples[tup].visit - world.streams[stream].first))
    world.tuples[tup].visited = visited
    for _ in range(made - 1):
        copy = born(world, world.tuples[tup].born, stream, visited)
        if copy != NONE:
            count.made += 1
            _route(world, copy, place, how, rng)
    _route(world, tup, place, how, rng)


@inner
def _delivered(world: Any, tup: int, how: Any, rng: Any) -> None:
    """A page is there, with all tuples behind its first."""
    while tup != NONE:
        following = world.tuples[tup].next
        arrived(world, tup, how, rng)
        tup = following


@inner
def _timed(world: Any, op: int, how: Any) -> None:
    """An operator that has told nothing for a while does, and will be looked at again."""
    now = world.counts[0].now
    if now >= world.operators[op].told + how.tell_time:
        tell(world, op, how)
    planned(world, world.operators[op].told + how.tell_time, TELL, op)


@inner
def _begin(world: Any, how: Any, rng: Any) -> None:
    """Let every operator tell of itself, and every source begin."""
    for op in range(len(world.operators)):
        tell(world, op, how)
        planned(world, how.tell_time, TELL, op)
    for stream in range(len(world.streams)):
        planned(world, world.streams[stream].gap * rng.standard_exponential(), ARRIVAL, stream)


@njit
def lived(world: Any, how: Any, until: float, rng: Any) -> None:
    """Let happen what happens until a time, or until there is no room any more."""
    count = world.counts[0]
    _begin(world, how, rng)
    while count.planned > 0 and count.full == 0 and world.heap[0].time <= until:
        if how.stop_overloaded and count.overloaded >= 0:
            return
        count.now = world.heap[0].time
        kind, about = world.heap[0].kind, world.heap[0].about
        count.planned -= 1
        world.heap[0] = world.heap[count.planned]
        sunk(world.heap, count.planned)
        count.events += 1
        if kind == ARRIVAL:
            _entered(world, about, how, rng)
        elif kind == SERVED:
            _served(world, about, how, rng)
        elif kind == TELL:
            _timed(world, about, how)
        elif kind == PAGE:
            _delivered(world, about, how, rng)
        elif world.links[about].filled and world.links[about].due <= count.now:
            shipped(world, about, how)
