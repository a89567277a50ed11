"""The optimiser's cycle: applies rules, one rewrite at a time, until none finds any more (Aurora 3.1)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from australis.algebra.boxes import Aggregate, BSort, Map
from australis.algebra.network import Network
from australis.rewrite.rewrite import Rewrite, Rule
from australis.rewrite.rules import (
    combine_filters,
    combine_maps,
    fold_sorts,
    goes_first,
    leave_out,
    project,
    prune,
    reorder,
    share,
    share_sorts,
)
from australis.rewrite.statistics import Statistics
from australis.rewrite.streams import is_filter, is_projection

RULES: tuple[Rule, ...] = (
    share,
    fold_sorts,
    share_sorts,
    reorder,
    combine_filters,
    combine_maps,
    prune,
    project,
    leave_out,
)
"""All rules, in the order in which they are tried: first filters are placed, then attributes are removed."""

BEGINNING: tuple[Rule, ...] = tuple(rule for rule in RULES if rule not in (combine_filters, combine_maps))
"""Rules for a network before its first tuple. Their changes to stateful boxes can neither be made nor
undone later, so every later cycle starts from their result, and only then combines boxes: boxes are never
taken apart."""


@dataclass(frozen=True)
class Improved:
    """A rewritten network, what is known of it, and the rewrites in order."""

    network: Network
    statistics: Statistics
    applied: tuple[Rewrite, ...] = ()


def improve(
    network: Network, statistics: Statistics | None = None, rules: Sequence[Rule] = RULES
) -> Improved:
    """An equal network to which no rule applies any more.

    It terminates, since every rewrite lowers `measure`, and is deterministic.

    >>> from australis.algebra.builder import NetworkBuilder
    >>> net = NetworkBuilder("n")
    >>> far = net.input("pos", "sid int, m double").map({"sid": "sid", "km": "m / 1000"}, as_="km")
    >>> _ = far.filter("sid = 1", as_="first").output("out")
    >>> improved = improve(net.build())
    >>> improved.network.order
    ('first', 'km')
    >>> improved.applied[0].says
    'first moves before km: it passes 50 % of its tuples, and km takes 0.02 us per tuple (estimated)'
    """
    found = Improved(network, statistics or Statistics())
    while (rewrite := _first(found, rules)) is not None:
        after = rewrite.apply(found.network)
        found = Improved(after, rewrite.learned(found.statistics), (*found.applied, rewrite))
    return found


def _first(found: Improved, rules: Sequence[Rule]) -> Rewrite | None:
    rewrites = (rewrite for rule in rules for rewrite in rule(found.network, found.statistics))
    return next(rewrites, None)


def measure(network: Network, statistics: Statistics) -> tuple[int, ...]:
    """What every rewrite lowers, compared from the left: counts, which cannot fall for ever.

    Sorts; the slack of Aggregates; boxes except projections; filters after boxes that they should precede;
    attributes that are copied; attributes of Maps.
    """
    boxes = [node.box for node in network.boxes.values()]
    return (
        sum(isinstance(box, BSort) for box in boxes),
        sum(box.core.order.count for box in boxes if isinstance(box.core, Aggregate)),
        sum(not is_projection(network, box_id) for box_id in network.boxes),
        _misplaced(network, statistics),
        _copied(network),
        sum(len(box.attributes) for box in boxes if isinstance(box, Map)),
    )


def _misplaced(network: Network, statistics: Statistics) -> int:
    above: dict[str, frozenset[str]] = {name: frozenset() for name in network.inputs}
    for box_id in network.order:
        sources = {source.id for source in network.boxes[box_id].sources}
        above[box_id] = frozenset(sources.union(*(above[each] for each in sources)) - network.inputs.keys())
    return sum(
        goes_first(network, statistics, before, box_id)
        for box_id in network.order
        if is_filter(network, box_id)
        for before in above[box_id]
        if not is_projection(network, before)
    )


def _copied(network: Network) -> int:
    return sum(
        len(schema)
        for box_id, node in network.boxes.items()
        if node.box.copies_tuples
        for schema in network.input_schemas(box_id)
    )
