"""How the tuples of connected boxes may be spread over tasks: by rows, by keys that they group by, or not.

Stateless boxes take rows anywhere. Boxes that keep an order by group may be spread by an attribute that all
of them group by and that comes unchanged from every input: then no group spans two partitions, so the order
among partitions does not matter. A box of two streams groups by attributes that it requires to be equal,
where each order goes by progress or has its attribute among its groups: then no pair spans two partitions. A
stored table is whole in every partition, so its join is spread by what its stream is: one without an order
takes rows anywhere. Everything else runs in one partition.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeVar

from australis.algebra.boxes import Box
from australis.algebra.network import Network, Node, Ref
from australis.algebra.order import Order
from australis.algebra.schema import Schema

Name = TypeVar("Name")
Origin = frozenset[tuple[str, str]]
"""The unchanged origins of an attribute: (stream, attribute) pairs, one for each stream that feeds it."""
Origins = Mapping[str, Origin]
"""The origins of a stream's attributes; computed attributes have none."""
PortNames = tuple[str, ...]
"""An attribute of each stream of a box; where there are two, the box requires them to be equal."""
Groups = Mapping[PortNames, Origin]
"""What a box groups by, and the origins of that."""
Keys = Mapping[Ref, tuple[str, ...]]
"""The attributes of streams by which these are spread."""
WHOLES_MOST = 64
"""How many keys are considered for a whole component."""


class SpreadKind(StrEnum):
    """How the tuples of a superbox are spread over tasks."""

    ROWS = "rows"
    KEYS = "keys"
    ONE = "one"


@dataclass(frozen=True)
class Spread:
    """How tuples are spread: for keys, by the values of these attributes of each stream."""

    kind: SpreadKind
    keys: Keys = field(default_factory=dict)
    groups: Mapping[str, tuple[tuple[str, ...], ...]] = field(default_factory=dict)
    """By which of the attributes that it groups by each box that keeps an order is spread, port by port.

    An attribute may have several names in a stream, of which the box groups by another one than `keys` has.
    """


def spread_of(network: Network, boxes: Iterable[str], *, spreads_joins: bool = True) -> Spread:
    """How the tuples of some connected boxes may be spread.

    Older plans did not spread boxes of two streams, and wanted one key that every box has from every input.

    >>> from australis.algebra.builder import NetworkBuilder
    >>> from australis.algebra.order import Order
    >>> net = NetworkBuilder("n")
    >>> moved = net.input("pos", "sid int, time long, x int").map({"who": "sid", "time": "time"}, as_="moved")
    >>> _ = moved.aggregate({"n": "count(*)"}, Order("time", group_by=("who",)), size=10, as_="n").output("n")
    >>> spread = spread_of(net.build(), ["moved", "n"])
    >>> str(spread.kind), spread.keys[Ref("pos")], spread.keys[Ref("moved")]
    ('keys', ('sid',), ('who',))
    """
    chosen = sorted(set(boxes), key=network.places.__getitem__)
    ordered = [box_id for box_id in chosen if keeps_order(network.boxes[box_id].box)]
    if not ordered:
        return Spread(SpreadKind.ROWS)
    origins = _origins(network, chosen)
    inputs = {name for origin in origins.values() for each in origin.values() for name, _ in each}
    grouped = {box_id: _grouped_by(network, box_id, origins) for box_id in ordered}
    whole = [each for each in _wholes(grouped.values()) if _covers(network, each, inputs)]
    if not spreads_joins:
        is_older = all(len(_stream_ports(network.boxes[box_id])) == 1 for box_id in ordered)
        whole = [each for each in whole if is_older and all(each in own.values() for own in grouped.values())]
    if not whole:
        return Spread(SpreadKind.ONE)
    keys = {stream: names for stream, each in origins.items() if (names := _names(each, whole))}
    groups = {box_id: _by_port(network.boxes[box_id], each, whole) for box_id, each in grouped.items()}
    return Spread(SpreadKind.KEYS, keys, groups)


def keys_at(network: Network, keys: Keys, stream: Ref) -> tuple[str, ...]:
    """The attributes by which a stream is spread if the inputs of a network are; none if it lacks one.

    >>> from australis.algebra.builder import NetworkBuilder
    >>> net = NetworkBuilder("n")
    >>> _ = net.input("pos", "sid int, x int").map({"who": "sid"}, as_="moved").output("moved")
    >>> keys_at(net.build(), {Ref("pos"): ("sid",)}, Ref("moved"))
    ('who',)
    """
    whole = [frozenset(zip(map(str, keys), names, strict=True)) for names in zip(*keys.values(), strict=True)]
    return _names(_origins(network, list(network.order)).get(stream, {}), whole)


def keeps_order(box: Box) -> bool:
    """Whether it matters to a box which tuples come to the same partition, and in which order.

    A lookup in a stored table without an order on the stream is the one box that keeps state and is not such:
    what it makes of a tuple depends on that tuple and the table.
    """
    return box.ordered and (box.table_side is None or bool(box.orders))


def _names(attributes: Mapping[Name, Origin], keys: Sequence[Origin]) -> tuple[Name, ...]:
    """The attributes that have the values of some keys; none if one of these is missing."""
    found = [next((name for name, origin in attributes.items() if origin <= key), None) for key in keys]
    names = tuple(name for name in found if name is not None)
    return names if len(names) == len(keys) else ()


def _by_port(node: Node, groups: Groups, keys: Sequence[Origin]) -> tuple[tuple[str, ...], ...]:
    """The attributes of each input that have the values of some keys; a stored table has none."""
    streams = iter(zip(*_names(groups, keys), strict=True))
    return tuple(() if port == node.box.table_side else next(streams) for port in range(len(node.sources)))


def _wholes(grouped: Iterable[Groups]) -> list[Origin]:
    """The keys that have what every box groups by, and at most one attribute of each stream."""
    found: list[Origin] = [frozenset()]
    # Boxes that are fed by many streams leave the least choice.
    for groups in sorted(grouped, key=lambda groups: -max(map(len, groups.values()), default=0)):
        joined = {whole | origin for whole in found for origin in groups.values()}
        found = sorted((each for each in joined if len(each) == len(dict(each))), key=sorted)[:WHOLES_MOST]
    return found


def _covers(network: Network, origin: Origin, inputs: set[str]) -> bool:
    """Whether every input has the key once, and all in one type, so that equal keys share a partition."""
    types = {network.schemas[Ref.parse(name)][attribute].type for name, attribute in origin}
    return sorted(name for name, _ in origin) == sorted(inputs) and len(types) == 1


def _grouped_by(network: Network, box_id: str, origins: Mapping[Ref, Origins]) -> Groups:
    """The origins of what an order-sensitive box groups by."""
    node = network.boxes[box_id]
    ports = _stream_ports(node)
    if len(ports) > 1:
        met = _met(node, network.input_schemas(box_id), origins)
        return {
            pair: origin
            for pair, origin in met.items()
            if all(map(_is_apart, node.box.orders.values(), pair))
        }
    attributes = origins[node.sources[ports[0]]]
    return {(name,): attributes[name] for name in node.box.partition_keys(ports[0]) if name in attributes}


def _is_apart(order: Order, name: str) -> bool:
    """Whether what an order has passed for a tuple depends on no tuple with another value of an attribute."""
    return order.by_progress or name in order.group_by


def _met(node: Node, schemas: tuple[Schema, ...], origins: Mapping[Ref, Origins]) -> Groups:
    """The origins of what a box of two streams requires to be equal: those of both sides."""
    left, right = (origins[source] for source in node.sources)
    pairs = node.box.equated(*schemas)
    return {
        (mine, theirs): left[mine] | right[theirs]
        for mine, theirs in pairs
        if mine in left and theirs in right
    }


def _stream_ports(node: Node) -> list[int]:
    """The input ports of a box that read streams, not a stored table."""
    return [port for port in range(len(node.sources)) if port != node.box.table_side]


def _origins(network: Network, boxes: list[str]) -> dict[Ref, Origins]:
    own, nodes = set(boxes), [network.boxes[box_id] for box_id in boxes]
    read = {node.sources[port] for node in nodes for port in _stream_ports(node)}
    found: dict[Ref, Origins] = {
        ref: {f.name: frozenset({(str(ref), f.name)}) for f in network.schemas[ref]}
        for ref in sorted(read, key=str)
        if ref.id not in own
    }
    for box_id in boxes:
        node = network.boxes[box_id]
        passed = _passed(node, network.input_schemas(box_id), found)
        for ref in (Ref(box_id, port) for port in range(node.box.outputs)):
            found[ref] = {name: passed[name] for name in passed if name in network.schemas[ref]}
    return found


def _passed(node: Node, schemas: tuple[Schema, ...], origins: Mapping[Ref, Origins]) -> Origins:
    """The origins of a box's outputs, given those of the streams that it reads."""
    copied = node.box.origins(*schemas)
    if node.box.ordered and len(_stream_ports(node)) > 1:
        streams = [origins[source] for source in node.sources]
        return _passed_by_pairs(copied, streams, _met(node, schemas, origins))
    ports = [(copied[port], origins[node.sources[port]]) for port in _stream_ports(node)]
    found = [{name: source[of] for name, of in names.items() if of in source} for names, source in ports]
    shared = [name for name in found[0] if all(name in each for each in found)]
    return {name: frozenset().union(*(each[name] for each in found)) for name in shared}


def _passed_by_pairs(copied: Sequence[Mapping[str, str]], streams: Sequence[Origins], met: Groups) -> Origins:
    """The attributes of results that always have a value that both sides must have; others are no keys."""
    found: dict[str, Origin] = {}
    for pair, origin in met.items():
        for names, stream, equated in zip(copied, streams, pair, strict=True):
            # Attributes of one origin have one value.
            alike = (name for name, of in names.items() if stream.get(of) == stream[equated])
            found.update({name: found.get(name, origin) for name in alike})
    return found
