"""Share sorts: Aggregates read from an existing BSort with their order instead of sorting again.

Aggregate with slack n equals BSort with slack n followed by Aggregate with slack 0 (Aurora 5.2.2.2), applied
from left to right. No BSort is added for this: two sorts inside Aggregates cost less than a box that copies
whole tuples.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from australis.algebra.boxes import BSort
from australis.algebra.network import Network, Ref
from australis.rewrite.rewrite import Rewrite
from australis.rewrite.rules.fold_sorts import folds, is_open_sort, order_of, takes_slack, with_slack
from australis.rewrite.statistics import Statistics
from australis.rewrite.streams import at_point


def share_sorts(network: Network, statistics: Statistics) -> Iterator[Rewrite]:
    """Each Aggregate with slack beside a BSort of the same stream with the same order that has to stay."""
    for sort_id in network.order:
        if not is_open_sort(network, statistics, sort_id) or at_point(network, sort_id):
            continue
        if folds(network, statistics, sort_id):
            continue
        sort = network.boxes[sort_id]
        assert isinstance(sort.box, BSort)
        for box_id, _ in network.consumers[sort.sources[0]]:
            same = order_of(network.boxes[box_id].box) == sort.box.order
            if same and box_id != sort_id and takes_slack(network, statistics, box_id):
                yield _shared(network, sort_id, box_id)


def _shared(network: Network, sort_id: str, box_id: str) -> Rewrite:
    node = network.boxes[box_id]
    return Rewrite(
        "share_sorts",
        f"{box_id} reads the sorted output of {sort_id}, with slack 0: one sort less",
        put={box_id: replace(node, box=with_slack(node.box, 0), sources=(Ref(sort_id),))},
    )
