"""Share: two boxes that do the same to the same streams become one (identical parts of different queries)."""

from __future__ import annotations

from collections.abc import Hashable, Iterator

from australis.algebra.boxes import Box, Filter, Map
from australis.algebra.network import Network, Ref
from australis.algebra.schema import Schema
from australis.rewrite.meaning import is_pure, rejects
from australis.rewrite.rewrite import Rewrite
from australis.rewrite.statistics import Statistics
from australis.rewrite.streams import at_point


def share(network: Network, statistics: Statistics) -> Iterator[Rewrite]:
    """Each box that repeats an earlier one; a running box has its own past, and stays."""
    first: dict[Hashable, str] = {}
    for box_id in network.order:
        if not _is_sharable(network, statistics, box_id):
            continue
        same = first.setdefault(_meaning(network, box_id), box_id)
        if same != box_id and box_id not in statistics.running:
            ports = range(network.boxes[box_id].box.outputs)
            yield Rewrite(
                "share",
                f"{box_id} does the same as {same}, so its readers read {same}: one box less",
                removed=(box_id,),
                moved={Ref(box_id, port): Ref(same, port) for port in ports},
            )


def _is_sharable(network: Network, statistics: Statistics, box_id: str) -> bool:
    """Whether a box has neither a past nor a quarantine of its own, and is not at a connection point."""
    box = network.boxes[box_id].box
    if box.system or rejects(network, box_id) or (box.ordered and box_id in statistics.running):
        return False
    return is_pure(network, box_id) and not at_point(network, box_id)


def _meaning(network: Network, box_id: str) -> Hashable:
    """What a box does, independent of how its expressions are written."""
    node = network.boxes[box_id]
    return node.sources, _typed(node.box, network.input_schemas(box_id)[0])


def _typed(box: Box, schema: Schema) -> Hashable:
    match box:
        case Filter():
            return "filter", box.bind(schema)
        case Map():
            return "map", tuple(box.bind(schema).items())
    return box.core
