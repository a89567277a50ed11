"""Needs: which attributes of a stream are read behind it (Aurora's "operator signatures", 3.1)."""

from __future__ import annotations

from collections.abc import Mapping

from australis.algebra.boxes import (
    Aggregate,
    BSort,
    Drop,
    Filter,
    Join,
    Map,
    Resample,
    Tumble,
    WSort,
    pair_name,
)
from australis.algebra.expr import attributes
from australis.algebra.network import Network, Ref
from australis.algebra.order import Order
from australis.algebra.schema import TUP, Schema
from australis.rewrite.meaning import expressions, rejects
from australis.rewrite.rewrite import keeps_tuples
from australis.rewrite.statistics import Statistics
from australis.rewrite.streams import is_end

Names = frozenset[str]


def needs(network: Network, statistics: Statistics) -> dict[Ref, Names]:
    """For every stream, the attributes that some box behind it reads, or hands on to where they are read.

    A box that may reject tuples needs them whole, for the quarantine shows them so unless it may be lean; one
    that runs and keeps tuples in its state goes on with what it has.

    >>> from australis.algebra.builder import NetworkBuilder
    >>> net = NetworkBuilder("n")
    >>> _ = net.input("x", "a int, b int, c int").filter("a > 0").map({"b": "b + 1"}).output("y")
    >>> sorted(needs(net.build(), Statistics())[Ref("x")])
    ['a', 'b']
    """
    found: dict[Ref, Names] = dict.fromkeys(network.schemas, frozenset())
    for box_id in reversed(network.order):
        wanted = [_wanted(network, found, ref) for ref in _streams(network, box_id)]
        node = network.boxes[box_id]
        shown = rejects(network, box_id) and not statistics.lean_quarantine
        whole = shown or (box_id in statistics.running and keeps_tuples(node))
        for port, source in enumerate(node.sources):
            schema = network.schemas[source]
            found[source] |= frozenset(schema.names) if whole else _reads(network, box_id, port, wanted)
    return found


def _streams(network: Network, box_id: str) -> list[Ref]:
    return [Ref(box_id, port) for port in range(network.boxes[box_id].box.outputs)]


def _wanted(network: Network, found: Mapping[Ref, Names], ref: Ref) -> Names:
    """What anybody wants of a stream; who reads an output or a connection point wants all."""
    return frozenset(network.schemas[ref].names) if is_end(network, ref) else found[ref]


def _reads(network: Network, box_id: str, port: int, wanted: list[Names]) -> Names:
    """The attributes that a box needs at a port, where those of its outputs are wanted."""
    box, schemas = network.boxes[box_id].box.core, network.input_schemas(box_id)
    used = frozenset[str]().union(*map(attributes, expressions(box, schemas)))
    match box:
        case Filter():
            return used.union(*wanted)
        case Map():
            return used
        case BSort(order=order):
            return wanted[0] | _of_order(order)
        case WSort(by=by):
            return wanted[0] | frozenset(by)
        case Drop():
            return wanted[0]
        case Aggregate(order=order):
            return used | _of_order(order)
        case Tumble(group_by=group_by):
            return used | frozenset(group_by)
        case Resample(left=left, right=right):
            return (used | _of_order(right)) if port else _of_order(left)
        case Join():
            return _reads_of_join(box, port, schemas, used, wanted[0])
    return frozenset(schemas[port].names)  # Union: its inputs must stay of one shape.


def _of_order(order: Order | None) -> Names:
    return frozenset() if order is None else frozenset({order.on, *order.group_by}) - {TUP}


def _reads_of_join(box: Join, port: int, schemas: tuple[Schema, ...], used: Names, wanted: Names) -> Names:
    """One side of a pair. What both sides have stays, or the other's name in the pair would change."""
    side, order = (("left", box.left), ("right", box.right))[port]
    own, other = schemas[port], schemas[1 - port]
    handed_on = {f.name for f in own if f.name in other or pair_name(f.name, side, other) in wanted}
    read = {f.name for f in own if f"{side}.{f.name}" in used}
    return frozenset(handed_on | read) | _of_order(order)
