"""Leave out: a Map that passes on every attribute unchanged does nothing."""

from __future__ import annotations

from collections.abc import Iterator

from australis.algebra.boxes import Map
from australis.algebra.expr import Attribute
from australis.algebra.network import Network, Ref
from australis.rewrite.rewrite import Rewrite
from australis.rewrite.statistics import Statistics
from australis.rewrite.streams import at_point


def leave_out(network: Network, statistics: Statistics) -> Iterator[Rewrite]:
    """Each such Map that is not at a connection point; one that runs and has unread output stays."""
    for box_id in network.order:
        has_past = box_id in statistics.running
        if _does_nothing(network, box_id) and not at_point(network, box_id) and not has_past:
            source = network.boxes[box_id].sources[0]
            yield Rewrite(
                "leave_out",
                f"{box_id} passes on all attributes unchanged: one box less",
                removed=(box_id,),
                moved={Ref(box_id): source},
            )


def _does_nothing(network: Network, box_id: str) -> bool:
    box, schema = network.boxes[box_id].box, network.input_schemas(box_id)[0]
    if not isinstance(box, Map) or box.output_schemas(schema)[0] != schema:
        return False
    bound = box.bind(schema)
    return all(isinstance(expr, Attribute) and expr.name == name for name, expr in bound.items())
