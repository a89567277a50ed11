"""The parts of a network: connected boxes, boxes that lead to the same outputs, boxes only for views.

Each function visits every box and arc once, whatever the size of the network.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping

from australis.algebra.network import Network, Ref

Owner = Callable[[str], str]
"""Whose a box is: only boxes of one owner are in a part together."""


def connected(network: Network, joined: Callable[[str, str], bool]) -> Iterator[tuple[str, ...]]:
    """The boxes that are connected by arcs among them, by component; only `joined` arcs count."""
    leader = {box_id: box_id for box_id in network.order}

    def find(box_id: str) -> str:
        while leader[box_id] != box_id:
            # Halving the paths keeps them short.
            leader[box_id] = box_id = leader[leader[box_id]]
        return box_id

    for box_id in network.order:
        for source in network.boxes[box_id].sources:
            if source.id in leader and joined(source.id, box_id):
                leader[find(source.id)] = find(box_id)
    groups: dict[str, list[str]] = {}
    for box_id in network.order:
        groups.setdefault(find(box_id), []).append(box_id)
    yield from (tuple(group) for group in groups.values())


def branches(network: Network, owner: Owner) -> list[tuple[str, ...]]:
    """Connected boxes that lead to the same outputs; each branch comes after those that feed it.

    A box that feeds a branch leads to all of its outputs and to others, so sorting by their number puts it
    first.
    """
    leads = _leads(network, owner)
    found = connected(network, lambda s, r: owner(s) == owner(r) and leads[s] == leads[r])
    return sorted(found, key=lambda branch: -leads[branch[0]].bit_count())


def outputs_of(network: Network) -> dict[str, frozenset[str]]:
    """The outputs that each box leads to."""
    own: dict[Ref, list[str]] = defaultdict(list)
    for name, output in network.outputs.items():
        own[output.source].append(name)
    found: dict[str, frozenset[str]] = {}
    for box_id in reversed(network.order):
        refs = _ports(network, box_id)
        readers = (found[reader] for ref in refs for reader, _ in network.consumers[ref])
        found[box_id] = frozenset[str]().union(*(own.get(ref, ()) for ref in refs), *readers)
    return found


def _leads(network: Network, owner: Owner) -> dict[str, int]:
    """The outputs that each box leads to, as the bits of a number: sets of thousands are united quickly."""
    bits: dict[Ref, int] = defaultdict(int)
    for index, output in enumerate(network.outputs.values()):
        bits[output.source] |= 1 << index
    found: dict[str, int] = {}
    for box_id in reversed(network.order):
        own = owner(box_id)
        found[box_id] = 0
        for ref in _ports(network, box_id):
            found[box_id] |= bits.get(ref, 0)
            for reader, _ in network.consumers[ref]:
                found[box_id] |= found[reader] if owner(reader) == own else 0
    return found


def boxes_for_views(network: Network, queries: Collection[str]) -> frozenset[str]:
    """The boxes that lead only to views, as long as no query reads these."""
    points: dict[Ref, list[bool]] = defaultdict(list)
    for point in network.connection_points.values():
        points[point.at].append(point.importance is not None)
    if not any(any(views) for views in points.values()):
        return frozenset()
    ends = {output.source for output in network.outputs.values()}
    found: dict[str, bool] = {}
    for box_id in reversed(network.order):
        leads_to: list[bool] = []
        for ref in _ports(network, box_id):
            leads_to += [False] if ref in ends else []
            leads_to += points.get(ref, [])
            leads_to += _read_by(network, ref, found, queries)
        found[box_id] = bool(leads_to) and all(leads_to)
    return frozenset(box_id for box_id, alone in found.items() if alone)


def _read_by(
    network: Network, ref: Ref, for_views: Mapping[str, bool], queries: Collection[str]
) -> Iterator[bool]:
    """Whether each reader of a stream leads only to views; queries do not count."""
    readers = (reader for reader, _ in network.consumers[ref])
    return (for_views[reader] for reader in readers if reader.partition(".")[0] not in queries)


def _ports(network: Network, box_id: str) -> list[Ref]:
    return [Ref(box_id, port) for port in range(network.boxes[box_id].box.outputs)]
