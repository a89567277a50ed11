"""How the order of tuples affects a split: streams that ascend, or bring one tuple at a time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import combinations

from australis.algebra.boxes import Drop, Filter, Map, Union, WSort
from australis.algebra.expr import Attribute
from australis.algebra.network import Network, Ref
from australis.algebra.order import SortKey

Track = tuple[tuple[str, int], ...]
"""The input that a tuple comes from, and the outputs of the Filters that it passed."""


@dataclass(frozen=True)
class Beyond:
    """What is known of the streams of a network that continue at other sites."""

    readers: Mapping[str, str] = field(default_factory=dict)
    """By output: a box elsewhere that depends on the order of its tuples."""
    arriving: frozenset[str] = frozenset()
    """The inputs that come from boxes elsewhere: one tuple there may have caused several here."""


ALL_HERE = Beyond()
"""The network is whole."""


def ascends(network: Network, ref: Ref, names: tuple[str, ...]) -> bool:
    """Whether a stream is sorted by some attributes: it comes from a WSort, which discards late ones."""
    if ref.id in network.inputs:
        return False
    node, schemas = network.boxes[ref.id], network.input_schemas(ref.id)
    match node.box:
        case WSort(keys=keys):
            return keys[: len(names)] == tuple(map(SortKey, names))
        case Filter() | Drop():
            return ascends(network, node.sources[0], names)
        case Map() as box:
            bound = box.bind(schemas[0])
            kept = all(_is_kept(bound[name], name) for name in names)
            return kept and ascends(network, node.sources[0], names)
    return False


def _is_kept(expr: object, name: str) -> bool:
    return isinstance(expr, Attribute) and expr.name == name


def tracks(network: Network, ref: Ref, beyond: Beyond = ALL_HERE) -> frozenset[Track] | None:
    """The paths to a stream, if a tuple of an input takes at most one and causes at most one tuple there.

    None if one tuple may cause several, or the passing of time does. With tracks, the sequence of a stream
    does not depend on the paths of its tuples.
    """
    if ref.id in beyond.arriving:
        return None
    if ref.id in network.inputs:
        return frozenset([((ref.id, 0),)])
    node = network.boxes[ref.id]
    match node.box:
        case Map() | Drop():
            return tracks(network, node.sources[0], beyond)
        case Filter():
            found = tracks(network, node.sources[0], beyond)
            return found and frozenset((*track, (ref.id, ref.port)) for track in found)
        case Union():
            return _met([tracks(network, source, beyond) for source in node.sources])
    return None


def _met(found: list[frozenset[Track] | None]) -> frozenset[Track] | None:
    """All tracks, if no two streams can have a tuple of one cause."""
    known = [each for each in found if each is not None]
    pairs = ((one, other) for a, b in combinations(known, 2) for one in a for other in b)
    if len(known) < len(found) or not all(_part(one, other) for one, other in pairs):
        return None
    return frozenset().union(*known)


def _part(one: Track, other: Track) -> bool:
    """Whether two tracks separate: at the beginning, or at different outputs of one Filter."""
    for place, (a, b) in enumerate(zip(one, other, strict=False)):
        if a != b:
            return place == 0 or a[0] == b[0]
    return False


def first_ordered(network: Network, refs: frozenset[Ref], beyond: Beyond = ALL_HERE) -> str | None:
    """The first order-sensitive box downstream of some streams, here or at another site."""
    reached = set(refs)
    for box_id in network.order:
        node = network.boxes[box_id]
        if reached.intersection(node.sources):
            if node.box.ordered:
                return box_id
            reached |= {Ref(box_id, port) for port in range(node.box.outputs)}
    found = (box_id for name, box_id in beyond.readers.items() if network.outputs[name].source in reached)
    return next(found, None)
