"""Nodes that share load: operators slid, split and merged, with the tuples in their queues; compiled.

The plain functions of `australis.policy.route.sharing` decide. For senders, an operator remains one, with the
resources of all its copies; each copy gets tuples in proportion to its own. A removed copy has an heir, to
which tuples in transit are forwarded; its place is reused when there are none left.
"""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any

from australis.policy.route import sharing
from australis.sim.route.compiled.arrivals import arrive
from australis.sim.route.compiled.choices import smoothed
from australis.sim.route.compiled.heap import called
from australis.sim.route.compiled.layout import NONE
from australis.sim.route.compiled.links import send
from australis.sim.route.compiled.queues import take_out

KEEP, SLIDE, SPLIT, MERGE = sharing.KEEP, sharing.SLIDE, sharing.SPLIT, sharing.MERGE


def _compiled(function: Callable[..., Any], **helpers: Any) -> Any:
    """The same function, compiled, as are those that it calls."""
    assert isinstance(function, FunctionType)
    return called(FunctionType(function.__code__, {**function.__globals__, **helpers}, function.__name__))


_relief = _compiled(sharing.relief, emptiest=called(sharing.emptiest))
_release = _compiled(sharing.release, survivor=called(sharing.survivor))
decided_compiled = _compiled(sharing.decided, relief=_relief, release=_release)


@called
def share_load(world: Any, how: Any, rng: Any) -> None:
    """Nodes check their loads, and each takes at most one action."""
    _measure(world, how.look)
    for place in range(len(world.nodes)):
        now, used = world.counts[0].now, world.counts[0].copies
        change = decided_compiled(world.nodes, world.copies[:used], world.homes, place, now, how.rules)
        if change.kind == MERGE:
            _merge(world, change.copy, change.to, how, rng)
        elif change.kind != KEEP:
            _spread(world, change.copy, change.to, change.kind == SLIDE, how, rng)


@called
def _measure(world: Any, time: float) -> None:
    """The smoothed demand on copies: a copy is not idle because nothing arrived for a while."""
    for number in range(world.counts[0].copies):
        copy = world.copies[number]
        asked = copy.asked * world.operators[copy.operator].work / time
        copy.wanted = smoothed(copy.wanted, asked) if copy.alive else 0.0
        copy.asked = 0


@called
def _spread(world: Any, number: int, to: int, whole: bool, how: Any, rng: Any) -> None:
    """A new copy at a node takes half of an existing one's work, or all of it."""
    new = _new_copy(world, number, to)
    if new == NONE:
        return
    if whole:
        world.counts[0].slid += 1
        _give_up(world, number, new, how, rng)
        return
    world.counts[0].split += 1
    _move_demand(world, number, new, world.copies[number].wanted / 2)
    _hand_over(world, number, new, (world.copies[number].queued + 1) // 2, how, rng)


@called
def _merge(world: Any, number: int, other: int, how: Any, rng: Any) -> None:
    world.counts[0].merged += 1
    _give_up(world, number, other, how, rng)


@called
def _new_copy(world: Any, number: int, to: int) -> int:
    """A copy of a copy on another node; none if there is no room."""
    new = _room(world)
    if new == NONE:
        return NONE
    op, copy = world.copies[number].operator, world.copies[new]
    copy.operator, copy.node, copy.alive = op, to, 1
    copy.asked, copy.wanted = 0, 0.0
    copy.sibling = world.operators[op].copy
    world.operators[op].copy = world.homes[op, to] = new
    world.operators[op].copies += 1
    _change_hosted(world, to, 1)
    _rests(world, op)
    return new


@called
def _change_hosted(world: Any, place: int, by: int) -> None:
    """A node has more or fewer copies, which share it equally."""
    node = world.nodes[place]
    node.hosted += by
    for number in range(world.counts[0].copies):
        copy = world.copies[number]
        if copy.alive and copy.node == place:
            copy.service = world.operators[copy.operator].work * node.hosted / node.capacity


@called
def _room(world: Any) -> int:
    """A place for a copy: of a removed one that no tuple refers to any more, or a new one."""
    count = world.counts[0]
    for number in range(count.copies):
        copy = world.copies[number]
        if not copy.alive and copy.queued == 0 and copy.coming == 0:
            return number
    if count.copies == len(world.copies):
        return NONE
    count.copies += 1
    return count.copies - 1


@called
def _rests(world: Any, op: int) -> None:
    for place in range(len(world.nodes)):
        if world.homes[op, place] != NONE:
            world.copies[world.homes[op, place]].moved = world.counts[0].now


@called
def _move_demand(world: Any, number: int, other: int, wanted: float) -> None:
    """Transfer the expected demand on a copy to another one."""
    world.copies[number].wanted -= wanted
    world.copies[other].wanted += wanted


@called
def _give_up(world: Any, number: int, heir: int, how: Any, rng: Any) -> None:
    """A copy leaves everything to another one, except the tuple in progress."""
    copy = world.copies[number]
    op = copy.operator
    _unlink(world, op, number)
    copy.alive = 0
    copy.heir = heir
    _change_hosted(world, copy.node, -1)
    for other in range(world.counts[0].copies):
        if not world.copies[other].alive and world.copies[other].heir == number:
            world.copies[other].heir = heir
    _rests(world, op)
    _move_demand(world, number, heir, copy.wanted)
    _hand_over(world, number, heir, 1, how, rng)


@called
def _unlink(world: Any, op: int, number: int) -> None:
    """No tuple is sent to a copy any more."""
    world.homes[op, world.copies[number].node] = NONE
    world.operators[op].copies -= 1
    if world.operators[op].copy == number:
        world.operators[op].copy = world.copies[number].sibling
        return
    before = world.operators[op].copy
    while world.copies[before].sibling != number:
        before = world.copies[before].sibling
    world.copies[before].sibling = world.copies[number].sibling


@called
def _hand_over(world: Any, number: int, other: int, kept: int, how: Any, rng: Any) -> None:
    """Move the queued tuples of a copy, except the first, to another one."""
    copy = world.copies[number]
    operator = world.operators[copy.operator]
    tup = take_out(world, number, kept)
    while tup != NONE:
        following = world.tuples[tup].next
        world.counts[0].handed += 1
        operator.ticket = max(0, operator.ticket - 1)
        world.tuples[tup].to = other
        if how.instant:
            arrive(world, tup, how, rng)
        else:
            send(world, tup, copy.node, how)
        tup = following
