"""Needs: which attributes of a stream are read downstream (Aurora's "operator signatures", 3.1)."""

from __future__ import annotations

from collections.abc import Mapping

from australis.algebra.boxes import Names
from australis.algebra.network import Network, Ref
from australis.rewrite.meaning import rejects
from australis.rewrite.statistics import Statistics
from australis.rewrite.streams import is_end


def needs(network: Network, statistics: Statistics) -> dict[Ref, Names]:
    """For every stream, the attributes that some box downstream reads, or passes on to where they are read.

    A box that may reject tuples needs them whole, because the quarantine shows whole tuples unless it may be
    lean. A running box that keeps tuples in its state keeps the attributes it has.

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
        whole = shown or (box_id in statistics.running and node.box.keeps_tuples)
        schemas = network.input_schemas(box_id)
        read = tuple(Names(s.names) for s in schemas) if whole else node.box.reads(*schemas, wanted=wanted)
        for source, names in zip(node.sources, read, strict=True):
            found[source] |= names
    return found


def _streams(network: Network, box_id: str) -> list[Ref]:
    return [Ref(box_id, port) for port in range(network.boxes[box_id].box.outputs)]


def _wanted(network: Network, found: Mapping[Ref, Names], ref: Ref) -> Names:
    """The attributes of a stream that anything needs; readers of an output or a connection point need all."""
    return frozenset(network.schemas[ref].names) if is_end(network, ref) else found[ref]
