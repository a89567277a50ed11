"""Fold sorts: Aggregates take over the slack of the BSort that they read, which is then removed.

Aggregate with slack n equals BSort with slack n followed by Aggregate with slack 0 (Aurora 5.2.2.2), applied
here from right to left: an Aggregate sorts only the attributes it reads, a BSort copies whole tuples.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from australis.algebra.boxes import Aggregate, Box, BSort, Slide, XSection
from australis.algebra.network import Network, Ref
from australis.rewrite.meaning import is_pure, rejects
from australis.rewrite.rewrite import Rewrite
from australis.rewrite.statistics import Statistics
from australis.rewrite.streams import is_end


def fold_sorts(network: Network, statistics: Statistics) -> Iterator[Rewrite]:
    """Each BSort whose readers are all Aggregates with its order, if neither it nor they run yet."""
    for box_id in network.order:
        readers = sorted({reader for reader, _ in network.consumers[Ref(box_id)]})
        if readers and folds(network, statistics, box_id):
            yield _folded(network, box_id, readers)


def folds(network: Network, statistics: Statistics, box_id: str) -> bool:
    """Whether a box is a BSort that can be removed, because only Aggregates that can do its work read it."""
    if is_end(network, Ref(box_id)) or not is_open_sort(network, statistics, box_id):
        return False
    box = network.boxes[box_id].box
    assert isinstance(box, BSort)
    readers = {reader for reader, _ in network.consumers[Ref(box_id)]}
    wanted = replace(box.order, slack=0)
    return all(
        takes_slack(network, statistics, reader) and order_of(network.boxes[reader].box) == wanted
        for reader in readers
    )


def is_open_sort(network: Network, statistics: Statistics, box_id: str) -> bool:
    """Whether a box is a BSort to which the identity applies exactly.

    At a flush an Aggregate emits by the starts of windows, across all groups, a BSort by order values: with
    groups the sequence would differ. With more keys, tuples with equal order values come in another order
    than in an Aggregate. With a late output, no late tuple reaches the Aggregates. `takes_slack` checks that
    the Aggregates reject nothing.
    """
    box = network.boxes[box_id].box
    return (
        isinstance(box, BSort)
        and box.order.by_count
        and not box.order.group_by
        and not box.order.late
        and not box.then
        and box_id not in statistics.running
    )


def takes_slack(network: Network, statistics: Statistics, box_id: str) -> bool:
    """Whether a box is an Aggregate whose slack can be exchanged for a BSort before it.

    A timeout starts when a tuple arrives, and so does the time after which a group is forgotten: it matters
    whether the tuple waits in the Aggregate or before it.
    """
    core = network.boxes[box_id].box.core
    if not isinstance(core, Aggregate) or box_id in statistics.running:
        return False
    if core.timeout is not None or core.forget is not None:
        return False
    return is_pure(network, box_id) and not rejects(network, box_id)


def order_of(box: Box) -> object:
    """The order of an Aggregate, or of a box composed of one."""
    core = box.core
    return core.order if isinstance(core, Aggregate) else None


def with_slack(box: Box, slack: int) -> Box:
    """An Aggregate, or a box composed of one, with another slack."""
    if isinstance(box, XSection):
        return replace(box, slack=slack)
    assert isinstance(box, Aggregate | Slide)
    return replace(box, order=replace(box.order, slack=slack))


def _themselves(readers: list[str], slack: int) -> str:
    if len(readers) == 1:
        return f"sorts with slack {slack} itself, only the attributes it reads"
    return f"sort with slack {slack} themselves, only the attributes they read"


def _folded(network: Network, sort_id: str, readers: list[str]) -> Rewrite:
    node = network.boxes[sort_id]
    assert isinstance(node.box, BSort)
    slack, nodes = node.box.order.count, {reader: network.boxes[reader] for reader in readers}
    return Rewrite(
        "fold_sorts",
        f"{', '.join(readers)} {_themselves(readers, slack)}: {sort_id}, which copies tuples, is removed",
        put={
            reader: replace(each, box=with_slack(each.box, slack), sources=node.sources)
            for reader, each in nodes.items()
        },
        removed=(sort_id,),
    )
