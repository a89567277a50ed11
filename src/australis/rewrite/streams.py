"""Properties of streams that the rules depend on: who reads them, and whose meaning is fixed."""

from __future__ import annotations

from australis.algebra.boxes import Filter, Map
from australis.algebra.expr import Attribute
from australis.algebra.network import Network, Ref
from australis.rewrite.statistics import read_ports


def at_point(network: Network, box_id: str) -> bool:
    """Whether a stream of a box is at a connection point, across which nothing is rewritten (Aurora 3.1)."""
    return any(point.at.id == box_id for point in network.connection_points.values())


def is_end(network: Network, ref: Ref) -> bool:
    """Whether a stream goes to an output or a connection point."""
    outputs = (output.source for output in network.outputs.values())
    return ref in outputs or any(point.at == ref for point in network.connection_points.values())


def only_reader(network: Network, ref: Ref) -> tuple[str, int] | None:
    """The box and port that reads a stream, if it is the only reader."""
    readers = network.consumers[ref]
    return readers[0] if len(readers) == 1 and not is_end(network, ref) else None


def is_private(network: Network, ref: Ref) -> bool:
    """Whether a stream of a box has exactly one reader, a box, so that its meaning may change."""
    return ref.id in network.boxes and only_reader(network, ref) is not None


def only_port(network: Network, box_id: str) -> Ref | None:
    """The stream of a box, if only one of its output ports is read and it is not at a connection point."""
    ports = read_ports(network, box_id)
    return Ref(box_id, min(ports)) if len(ports) == 1 and not at_point(network, box_id) else None


def is_projection(network: Network, box_id: str) -> bool:
    """Whether a box is a Map that computes nothing: it only picks attributes, perhaps under other names."""
    box = network.boxes[box_id].box
    if not isinstance(box, Map):
        return False
    bound = box.bind(network.input_schemas(box_id)[0])
    return all(isinstance(expr, Attribute) for expr in bound.values())


def is_filter(network: Network, box_id: str) -> bool:
    return isinstance(network.boxes[box_id].box, Filter)


def new_id(network: Network, wish: str) -> str:
    """A new id that no box and no input has, as close to the preferred one as possible."""
    taken = {*network.boxes, *network.inputs}
    number, found = 1, wish
    while found in taken:
        number += 1
        found = f"{wish}{number}"
    return found
