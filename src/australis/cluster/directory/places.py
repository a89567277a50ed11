"""What a node knows of others, for people and for links."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from australis.cluster.catalogue import Holding, Kind
from australis.cluster.membership import Member, State
from australis.cluster.names import Record


@dataclass(frozen=True)
class MemberStatus:
    """Another node, or this one, as gossip tells of it."""

    name: str
    address: str
    state: State
    incarnation: int
    is_here: bool


@dataclass(frozen=True)
class Place:
    """A node that has what a name stands for."""

    node: str
    kind: Kind
    detail: str
    address: str
    """Where the node is; nothing if it is not known."""
    state: State | None
    """What is believed of the node."""


@dataclass(frozen=True)
class Where:
    """The answer to a question for a name."""

    name: str
    places: Sequence[Place]
    hops: int
    """How many nodes the question passed; none if the answer was here."""


@dataclass(frozen=True)
class Listed:
    """A name that was found by a pattern."""

    name: str
    node: str
    kind: Kind


@dataclass(frozen=True)
class Findings:
    """The names that match a pattern."""

    names: Sequence[Listed]
    is_whole: bool
    """Whether all nodes that are alive have answered."""


def places_of(found: Sequence[tuple[str, Holding | Record]], members: dict[str, Member]) -> tuple[Place, ...]:
    """The nodes that have something; if all have given it away, those that have got it as far as they know.

    Nodes that are alive come first.
    """
    held = [(node, each) for node, each in found if not each.is_gone]
    if not held:
        held = [(each.moved, each) for _, each in found if each.moved]
    places = [_place(node, each, members) for node, each in held]
    order = [State.ALIVE, State.SUSPECT, None, State.DEAD]
    return tuple(sorted(places, key=lambda each: (order.index(each.state), each.node)))


def _place(node: str, held: Holding | Record, members: dict[str, Member]) -> Place:
    known = members.get(node)
    address = f"{known.presence.host}:{known.presence.port}" if known else ""
    return Place(node, held.kind, held.detail, address, known.state if known else None)
