"""Load sharing between cooperating nodes: which operator is slid, split or merged, and to which node.

An overloaded node hands a busy operator to an under-utilised node (distributed eddies, section 5): all of it,
if it fits there, or else a copy, which then takes its share of the tuples. Copies that are no longer needed
are merged. Decisions follow from plain numbers of nodes and copies, so that the simulator compiles the same
functions.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

KEEP, SLIDE, SPLIT, MERGE = range(4)
"""What happens to a copy of an operator."""
NOWHERE = -1


class Action(NamedTuple):
    """What a node does next."""

    kind: int
    copy: int = NOWHERE
    to: int = NOWHERE
    """The node that the copy is slid or split to; or the copy that it is merged with."""


class Rules(NamedTuple):
    """When load is shared; the gap between splitting and merging, and the rest, prevent oscillation."""

    overloaded: int = 2000
    """The tuples queued at a node from which it gives load away and accepts none (the paper's number)."""
    much: float = 1.5
    """An operator is given away if its queue exceeds this times the average, counting one more operator."""
    slid: float = 0.8
    """The greatest utilisation of an operator after a slide; otherwise it is split."""
    merged: float = 0.6
    """The greatest utilisation of a copy after another one was merged with it."""
    rest: float = 3.0
    """How long an operator is left alone after a change."""
    calm: float = 10.0
    """How long after a change its copies may be merged."""


RULES = Rules()
"""The paper's values, where it gives any."""


class NodeLoad(Protocol):
    """What is known of a node."""

    @property
    def queued(self) -> int: ...
    @property
    def hosted(self) -> int:
        """The copies that run there, each with an equal share of its resources."""
        ...

    @property
    def capacity(self) -> float:
        """Its resources per unit of time."""
        ...


class Copy(Protocol):
    """What is known of a copy of an operator; `alive`: it is not merged."""

    @property
    def operator(self) -> int: ...
    @property
    def node(self) -> int: ...
    @property
    def queued(self) -> int: ...
    @property
    def wanted(self) -> float:
        """The resources per unit of time that the arriving tuples need."""
        ...

    @property
    def moved(self) -> float:
        """When the operator was last slid, split or merged."""
        ...

    @property
    def alive(self) -> bool: ...


Homes = Sequence[Sequence[int]]
"""By operator and node: the copy there, or -1."""


def decided(
    nodes: Sequence[NodeLoad], copies: Sequence[Copy], homes: Homes, place: int, now: float, rules: Rules
) -> Action:
    """What a node does now: it gives load away if it is overloaded, or gives up a copy."""
    if nodes[place].queued >= rules.overloaded:
        return relief(nodes, copies, homes, place, now, rules)
    return release(nodes, copies, homes, place, now, rules)


def relief(
    nodes: Sequence[NodeLoad], copies: Sequence[Copy], homes: Homes, place: int, now: float, rules: Rules
) -> Action:
    """Of an overloaded node's operators that another node accepts, the one with the longest queue."""
    best, to, most = NOWHERE, NOWHERE, rules.much * nodes[place].queued / (nodes[place].hosted + 1)
    for number in range(len(copies)):
        copy = copies[number]
        if copy.alive and copy.node == place and copy.queued > most and now - copy.moved >= rules.rest:
            found = emptiest(nodes, homes[copy.operator], rules.overloaded)
            if found != NOWHERE:
                best, to, most = number, found, copy.queued
    if best == NOWHERE:
        return Action(KEEP, NOWHERE, NOWHERE)
    if copies[best].wanted <= rules.slid * nodes[to].capacity / (nodes[to].hosted + 1):
        return Action(SLIDE, best, to)
    return Action(SPLIT, best, to)


def emptiest(nodes: Sequence[NodeLoad], taken: Sequence[int], below: int) -> int:
    """The node with the fewest tuples queued, below a limit, that has no copy of an operator; -1 if none."""
    best, least = NOWHERE, below
    for place in range(len(nodes)):
        if nodes[place].queued < least and taken[place] == NOWHERE:
            best, least = place, nodes[place].queued
    return best


def release(
    nodes: Sequence[NodeLoad], copies: Sequence[Copy], homes: Homes, place: int, now: float, rules: Rules
) -> Action:
    """The first copy at a node that can be merged with another one, which can do the work of both."""
    for number in range(len(copies)):
        copy = copies[number]
        if copy.alive and copy.node == place and now - copy.moved >= rules.calm:
            found = survivor(nodes, copies, number, homes[copy.operator], rules)
            if found != NOWHERE:
                return Action(MERGE, number, found)
    return Action(KEEP, NOWHERE, NOWHERE)


def survivor(
    nodes: Sequence[NodeLoad], copies: Sequence[Copy], number: int, homes: Sequence[int], rules: Rules
) -> int:
    """The least utilised copy that another can be merged with; -1 if there is none."""
    best, least = NOWHERE, rules.merged
    for place in range(len(nodes)):
        other = homes[place]
        if other not in (NOWHERE, number) and nodes[place].queued < rules.overloaded:
            wanted = copies[number].wanted + copies[other].wanted
            used = wanted * nodes[place].hosted / nodes[place].capacity
            if used < least:
                best, least = other, used
    return best
