"""Cuts a network into pieces: an arc between two nodes becomes an output of one and an input of the other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from australis.algebra.network import Input, Network, Output, Ref
from australis.errors import ClusterError, Problem


@dataclass(frozen=True)
class Piece:
    """What one node runs of a network, and the arcs that come to it from other nodes."""

    node: str
    network: Network
    links: Mapping[str, str]
    """The sources of its inputs that are outputs of other pieces."""


def link_name(ref: Ref) -> str:
    """The name of the output, and of the input, that stand for an arc that is cut.

    >>> link_name(Ref("detect.count", 1))
    'link_detect_count_1'
    """
    return f"link_{str(ref).replace('.', '_')}"


def cut_into_pieces(network: Network, places: Mapping[str, str]) -> list[Piece]:
    """The pieces of a network whose inputs and boxes run on nodes, in an order in which they can be deployed.

    Every part keeps its name. Stored tables are at each node that looks them up.
    """
    cutting = _Cutting(network, places)
    cutting.check()
    nodes = list(dict.fromkeys(places.values()))
    return [cutting.piece(node) for node in sorted(nodes, key=cutting.depth)]


class _Cutting:
    def __init__(self, network: Network, places: Mapping[str, str]) -> None:
        self._network, self._places = network, places
        self._names = _names(network, self._cut())

    def _cut(self) -> dict[Ref, list[str]]:
        """The streams that are read on other nodes, and these nodes."""
        found: dict[Ref, list[str]] = {}
        for box, source in self._reads():
            here, there = self._places[source.id], self._places[box]
            if here != there and there not in found.setdefault(source, []):
                found[source].append(there)
        return {ref: nodes for ref, nodes in found.items() if nodes}

    def _reads(self) -> Iterator[tuple[str, Ref]]:
        """Each box, and a stream that it reads; stored tables are no streams."""
        for box in self._network.order:
            for source in self._network.boxes[box].sources:
                if source.id in self._places:
                    yield box, source

    def check(self) -> None:
        """Refuse what would mean something else in pieces."""
        network = self._network
        for box, source in self._reads():
            if self._places[box] != self._places[source.id] and network.marked[source]:
                marks = ", ".join(sorted(network.marked[source]))
                what = f"reads {source}, which has marks of {marks}, from another node"
                hint = f"the node of {source.id}: marks do not cross a link yet"
                raise ClusterError(Problem(f"{network.name}.{box}", what, hint))
        for name, given in network.inputs.items():
            nodes = sorted(self._readers_of_table(name)) if given.table else []
            if given.store is None and len(nodes) > 1:
                what = f"is looked up at {', '.join(nodes)}, and has no store from which each could read it"
                raise ClusterError(Problem(f"{network.name}.{name}", what, "a store, or one node"))

    def _readers_of_table(self, name: str) -> set[str]:
        boxes = self._network.boxes
        return {self._places[box] for box in boxes if any(ref.id == name for ref in boxes[box].sources)}

    def depth(self, node: str) -> int:
        """How far from the inputs the first part of a node is: what is read is deployed first."""
        order = [*self._network.inputs, *self._network.order]
        return min(order.index(part) for part, place in self._places.items() if place == node)

    def piece(self, node: str) -> Piece:
        """What a node runs."""
        network, cut = self._network, self._cut()
        links = {ref: self._places[ref.id] for ref, nodes in cut.items() if node in nodes}
        boxes = {
            box: replace(each, sources=tuple(self._here(ref, links) for ref in each.sources))
            for box, each in network.boxes.items()
            if self._places[box] == node
        }
        tables = {ref.id for each in boxes.values() for ref in each.sources if ref.id not in self._places}
        inputs = {
            name: each
            for name, each in network.inputs.items()
            if (self._places.get(name) == node or name in tables)
        }
        for ref, place in links.items():
            source = f"{place}/{self._names[ref]}"
            here = self._here(ref, links).id
            inputs[here] = Input(network.schemas[ref], source=source, weight=network.weights.get(ref))
        outputs = {
            name: each for name, each in network.outputs.items() if self._places[each.source.id] == node
        }
        for ref in cut:
            if self._places[ref.id] == node:
                outputs[self._names[ref]] = Output(ref)
        made = replace(
            network,
            inputs=inputs,
            boxes=boxes,
            outputs=outputs,
            connection_points={
                name: each
                for name, each in network.connection_points.items()
                if self._places[each.at.id] == node
            },
            groups={
                path: each
                for path, each in network.groups.items()
                if any(box.startswith(f"{path}.") for box in boxes)
            },
            known=None,
        )
        named = {self._here(ref, links).id: f"{place}/{self._names[ref]}" for ref, place in links.items()}
        return Piece(node, made, named)

    def _here(self, ref: Ref, links: Mapping[Ref, str]) -> Ref:
        """The stream that a box reads on its own node."""
        if ref not in links:
            return ref
        # An input keeps its name; of a box it would be an id that the node does not have.
        return ref if ref.id in self._network.inputs else Ref(self._names[ref])


def _names(network: Network, cut: Mapping[Ref, list[str]]) -> dict[Ref, str]:
    """A name for each stream that is cut, which nothing else in the network has."""
    taken = {*network.inputs, *network.outputs, *network.firsts, *network.connection_points}
    found: dict[Ref, str] = {}
    for ref in cut:
        name = link_name(ref)
        while name in taken:
            name += "_"
        taken.add(name)
        found[ref] = name
    return found
