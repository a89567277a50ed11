"""The event loop: tuples arrive, are processed, and are routed on; compiled."""

from __future__ import annotations

from typing import Any

from numba import njit

from australis.sim.route.compiled.arrivals import arrive, deliver
from australis.sim.route.compiled.choices import choose_visit, tell
from australis.sim.route.compiled.heap import inner, plan_event, pop_event
from australis.sim.route.compiled.layout import ARRIVAL, LOOK, NONE, PAGE, SERVED, TELL
from australis.sim.route.compiled.links import send, ship
from australis.sim.route.compiled.queues import change_queue, free_tuple, new_tuple, start
from australis.sim.route.compiled.sharing import share_load

SLOWEST = 0.05
"""The fraction of its rate that a source starts with, if it ramps up."""


@inner
def _route(world: Any, tup: int, here: int, how: Any, rng: Any) -> None:
    """Route a tuple that leaves its source or a node: to the sink, or to its next operator."""
    count = world.counts[0]
    if not choose_visit(world, tup, how.weighted, rng):
        count.left += 1
        count.response += count.now - world.tuples[tup].born
        free_tuple(world, tup)
        return
    there = world.copies[world.tuples[tup].to].node
    if here in (NONE, there) or how.instant:
        arrive(world, tup, how, rng)
    else:
        send(world, tup, here, how)


@inner
def _enter(world: Any, stream: int, how: Any, rng: Any) -> None:
    """A source emits a tuple, and schedules the next."""
    count = world.counts[0]
    _plan_arrival(world, stream, how.ramp, rng)
    tup = new_tuple(world, count.now, stream, 0)
    if tup != NONE:
        count.entered += 1
        _route(world, tup, world.streams[stream].node, how, rng)


@inner
def _plan_arrival(world: Any, stream: int, ramp: float, rng: Any) -> None:
    """Schedule a source's next tuple: by its rate, or during the ramp by a fraction of it."""
    now = world.counts[0].now
    slower = ramp / max(now, SLOWEST * ramp) if now < ramp else 1.0
    gap = slower * world.streams[stream].gap * rng.standard_exponential()
    plan_event(world, now + gap, ARRIVAL, stream)


@inner
def _serve(world: Any, number: int, how: Any, rng: Any) -> None:
    """A copy has processed a tuple: it starts the next one, and sends on what this one produced."""
    copy = world.copies[number]
    tup, took, place = copy.first, copy.taking, int(copy.node)
    copy.first = world.tuples[tup].next
    change_queue(world, number, -1)
    start(world, number, how.steady, rng)
    made = _draw_made(world.visits[world.tuples[tup].visit].selectivity, rng)
    _learn(world, int(copy.operator), took, made, how)
    _emit(world, tup, made, place, how, rng)


@inner
def _learn(world: Any, number: int, took: float, made: int, how: Any) -> None:
    """An operator notes the result of one more tuple; after some it reports."""
    operator = world.operators[number]
    operator.served += 1
    operator.worked += took
    operator.emitted += made
    operator.ticket = max(0, operator.ticket - made)
    if operator.served >= how.tell_tuples:
        tell(world, number, how)


@inner
def _draw_made(selectivity: float, rng: Any) -> int:
    """How many tuples are produced from one."""
    whole = int(selectivity)
    return whole + (rng.random() < selectivity - whole)


@inner
def _emit(world: Any, tup: int, made: int, place: int, how: Any, rng: Any) -> None:
    count = world.counts[0]
    if made == 0:
        count.eaten += 1
        count.stay += count.now - world.tuples[tup].born
        free_tuple(world, tup)
        return
    stream = world.tuples[tup].stream
    visited = world.tuples[tup].visited | (1 << (world.tuples[tup].visit - world.streams[stream].first))
    world.tuples[tup].visited = visited
    for _ in range(made - 1):
        copy = new_tuple(world, world.tuples[tup].born, stream, visited)
        if copy != NONE:
            count.made += 1
            _route(world, copy, place, how, rng)
    _route(world, tup, place, how, rng)


@inner
def _check_silence(world: Any, number: int, how: Any) -> None:
    """Let an operator that has been silent for a while report, and schedule the next check."""
    if world.counts[0].now >= world.operators[number].told + how.tell_time:
        tell(world, number, how)
    plan_event(world, world.operators[number].told + how.tell_time, TELL, number)


@inner
def _begin(world: Any, how: Any, rng: Any) -> None:
    """Let every operator report, and every source start."""
    for number in range(len(world.operators)):
        tell(world, number, how)
        plan_event(world, how.tell_time, TELL, number)
    for stream in range(len(world.streams)):
        _plan_arrival(world, stream, how.ramp, rng)
    if how.look > 0:
        plan_event(world, how.look, LOOK, NONE)


@njit(cache=True)
def run_until(world: Any, how: Any, until: float, rng: Any) -> None:
    """Process events until a time, or until there is no room; it can continue from there."""
    count = world.counts[0]
    if count.serial == 0:
        _begin(world, how, rng)
    while count.full == 0 and world.heap[0].time <= until:
        if how.stop_overloaded and count.overloaded >= 0:
            return
        count.now = world.heap[0].time
        kind, about = world.heap[0].kind, world.heap[0].about
        count.planned -= 1
        pop_event(world.heap, count.planned)
        count.events += 1
        if kind == ARRIVAL:
            _enter(world, about, how, rng)
        elif kind == SERVED:
            _serve(world, about, how, rng)
        elif kind == TELL:
            _check_silence(world, about, how)
        elif kind == PAGE:
            deliver(world, about, how, rng)
        elif kind == LOOK:
            share_load(world, how, rng)
            plan_event(world, count.now + how.look, LOOK, NONE)
        elif world.links[about].filled and world.links[about].due <= count.now:
            ship(world, about, how)
