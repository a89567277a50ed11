"""Prune: a Map no longer computes what nothing reads (the paper's projections, if there is already a Map)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from australis.algebra.boxes import Map
from australis.algebra.network import Network, Ref
from australis.rewrite.meaning import is_pure
from australis.rewrite.needs import needs
from australis.rewrite.rewrite import Rewrite
from australis.rewrite.statistics import Statistics
from australis.rewrite.streams import is_end


def prune(network: Network, statistics: Statistics) -> Iterator[Rewrite]:
    """Each Map with attributes that no box downstream needs."""
    needed = needs(network, statistics)
    for box_id in network.order:
        node = network.boxes[box_id]
        if not isinstance(node.box, Map) or is_end(network, Ref(box_id)) or not is_pure(network, box_id):
            continue
        read = [pair for pair in node.box.attributes if pair[0] in needed[Ref(box_id)]]
        kept = tuple(read or node.box.attributes[:1])
        left_out = [name for name, _ in node.box.attributes if name not in dict(kept)]
        if left_out:
            yield Rewrite(
                "prune",
                f"{box_id} no longer computes {', '.join(left_out)}, which nothing reads: less work",
                put={box_id: replace(node, box=Map(kept))},
            )
