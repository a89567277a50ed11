"""How the tuples of connected boxes may be spread over tasks: by rows, by keys that they group by, or not.

Stateless boxes take rows anywhere. Boxes that keep an order by group may be spread by an attribute that all
of them group by and that comes unchanged from every input: then no group spans two partitions, so the order
among partitions does not matter. Everything else runs in one partition.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from australis.algebra.boxes import Box
from australis.algebra.network import Network, Ref
from australis.algebra.schema import Schema

Origin = frozenset[tuple[str, str]]
"""The unchanged origins of an attribute: (stream, attribute) pairs, one for each stream that feeds it."""
Origins = Mapping[str, Origin]
"""The origins of a stream's attributes; computed attributes have none."""


class SpreadKind(StrEnum):
    """How the tuples of a superbox are spread over tasks."""

    ROWS = "rows"
    KEYS = "keys"
    ONE = "one"


@dataclass(frozen=True)
class Spread:
    """How tuples are spread: for keys, by the values of these attributes of each stream."""

    kind: SpreadKind
    keys: Mapping[Ref, tuple[str, ...]] = field(default_factory=dict)


def spread_of(network: Network, boxes: Iterable[str]) -> Spread:
    """How the tuples of some connected boxes may be spread.

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
    ordered = [box_id for box_id in chosen if network.boxes[box_id].box.ordered]
    if not ordered:
        return Spread(SpreadKind.ROWS)
    origins = _origins(network, chosen)
    inputs = {name for origin in origins.values() for each in origin.values() for name, _ in each}
    common = set.intersection(*(_grouped_by(network, box_id, origins) for box_id in ordered))
    whole = sorted((each for each in common if _covers(network, each, inputs)), key=sorted)
    return _by(whole, origins) if whole else Spread(SpreadKind.ONE)


def _by(keys: list[Origin], origins: Mapping[Ref, Origins]) -> Spread:
    found = {}
    for stream, attributes in origins.items():
        names = [next((name for name, o in attributes.items() if o <= key), None) for key in keys]
        if all(name is not None for name in names):
            found[stream] = tuple(name for name in names if name is not None)
    return Spread(SpreadKind.KEYS, found)


def _covers(network: Network, origin: Origin, inputs: set[str]) -> bool:
    """Whether every input has the key once, and all in one type, so that equal keys share a partition."""
    types = {network.schemas[Ref.parse(name)][attribute].type for name, attribute in origin}
    return sorted(name for name, _ in origin) == sorted(inputs) and len(types) == 1


def _grouped_by(network: Network, box_id: str, origins: Mapping[Ref, Origins]) -> set[Origin]:
    """The origins of what an order-sensitive box groups by; none with several inputs: groups may meet."""
    node = network.boxes[box_id]
    if len(node.sources) > 1:
        return set()
    attributes = origins[node.sources[0]]
    return {attributes[name] for name in node.box.partition_keys(0) if name in attributes}


def _origins(network: Network, boxes: list[str]) -> dict[Ref, Origins]:
    own = set(boxes)
    read = {source for box_id in boxes for source in network.boxes[box_id].sources}
    found: dict[Ref, Origins] = {
        ref: {f.name: frozenset({(str(ref), f.name)}) for f in network.schemas[ref]}
        for ref in sorted(read, key=str)
        if ref.id not in own
    }
    for box_id in boxes:
        node = network.boxes[box_id]
        passed = _passed(node.box, network.input_schemas(box_id), [found[s] for s in node.sources])
        found.update({Ref(box_id, port): passed for port in range(node.box.outputs)})
    return found


def _passed(box: Box, schemas: tuple[Schema, ...], sources: list[Origins]) -> Origins:
    """The origins of a box's outputs, given those of its inputs."""
    ports = zip(box.origins(*schemas), sources, strict=True)
    found = [{name: source[of] for name, of in names.items() if of in source} for names, source in ports]
    shared = [name for name in found[0] if all(name in each for each in found)]
    return {name: frozenset().union(*(each[name] for each in found)) for name in shared}
