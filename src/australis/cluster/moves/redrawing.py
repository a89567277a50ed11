"""The networks of two nodes after boxes have gone from one to the other.

The giver goes on with all that is around them: what they read becomes outputs of the giver, and what they
made becomes inputs of it. So outputs, connection points and other readers stay where they are, and no third
node has to know.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace

from australis.algebra.network import Input, Network, Node, Output, Ref
from australis.cluster.identity import NodeName
from australis.cluster.pieces import link_name
from australis.errors import ClusterError, Problem

OF_A_MOVE = re.compile("(link_.+)_[0-9a-f]{6}")
"""The names of links that moves have made."""


@dataclass(frozen=True)
class Redrawn:
    """What the giver runs afterwards, and the piece that leaves."""

    giver: Network
    piece: Network
    sent: tuple[str, ...]
    """The outputs of the giver that the piece reads."""
    returned: tuple[str, ...]
    """The outputs of the piece that the giver reads."""


def without(
    network: Network, boxes: Collection[str], giver: NodeName, taker: NodeName, suffix: str
) -> Redrawn:
    """A network without some boxes, which run at the taker; `suffix` ends the names of the links."""
    _check(network, boxes)
    leaving = {box: network.boxes[box] for box in network.order if box in boxes}
    reads = dict.fromkeys(ref for node in leaving.values() for ref in node.sources if ref.id not in leaving)
    tables = {ref.id for ref in reads if _is_table(network, ref)}
    taken = set[str]()
    sent = {ref: _named(ref, suffix, taken) for ref in reads if ref.id not in tables}
    returned = {ref: _named(ref, suffix, taken) for ref in _made(network, leaving)}
    return Redrawn(
        _giver(network, leaving, sent, returned, taker),
        Network(
            name=network.name,
            inputs={
                **{name: network.inputs[name] for name in sorted(tables)},
                **{name: _link(network, ref, f"{giver}/{name}") for ref, name in sent.items()},
            },
            boxes={box: _reading(node, sent) for box, node in leaving.items()},
            outputs={name: Output(ref) for ref, name in returned.items()},
            groups={path: each for path, each in network.groups.items() if _has(leaving, path)},
            timezone=network.timezone,
        ),
        tuple(sent.values()),
        tuple(returned.values()),
    )


def _link(network: Network, ref: Ref, source: str) -> Input:
    """A stream that comes from another node, whose gates go on scaling its weight."""
    return Input(network.schemas[ref], source=source, weight=network.weights.get(ref))


def immovable(network: Network) -> frozenset[str]:
    """The boxes that cannot leave: those with marks on their arcs, and those with connection points."""
    marked = (
        box
        for box, node in network.boxes.items()
        for ref in (*node.sources, *(Ref(box, port) for port in range(node.box.outputs)))
        if network.marked[ref]
    )
    return frozenset(marked) | {
        point.at.id for point in network.connection_points.values() if point.at.id in network.boxes
    }


def joined(network: Network, piece: Network) -> Network:
    """A network with a piece beside it."""
    if network.timezone != piece.timezone:
        what = f"its boxes count days in {piece.timezone}, those of {network.name} in {network.timezone}"
        raise ClusterError(Problem(piece.name, what, "a node with the same time zone"))
    mine = {*network.inputs, *network.boxes, *network.outputs}
    both = {name for name, each in piece.inputs.items() if network.inputs.get(name) == each and each.table}
    if taken := sorted(({*piece.inputs, *piece.boxes, *piece.outputs} - both) & mine):
        what = f"{network.name} has {', '.join(taken)} as well"
        raise ClusterError(Problem(piece.name, what, "a node where these names are free"))
    return replace(
        network,
        inputs={**network.inputs, **piece.inputs},
        boxes={**network.boxes, **piece.boxes},
        outputs={**network.outputs, **piece.outputs},
        groups={**piece.groups, **network.groups},
        known=None,
    )


def _giver(
    network: Network,
    leaving: Mapping[str, Node],
    sent: Mapping[Ref, str],
    returned: Mapping[Ref, str],
    taker: NodeName,
) -> Network:
    boxes = {box: _reading(node, returned) for box, node in network.boxes.items() if box not in leaving}
    read = {ref.id for node in boxes.values() for ref in node.sources}
    gone = {ref.id for node in leaving.values() for ref in node.sources if _is_table(network, ref)} - read
    return replace(
        network,
        inputs={
            **{name: each for name, each in network.inputs.items() if name not in gone},
            **{name: _link(network, ref, f"{taker}/{name}") for ref, name in returned.items()},
        },
        boxes=boxes,
        outputs={
            **{
                name: replace(each, source=_renamed(each.source, returned))
                for name, each in network.outputs.items()
            },
            **{name: Output(ref) for ref, name in sent.items()},
        },
        groups={
            path: each
            for path, each in network.groups.items()
            if _has(boxes, path) or not _has(leaving, path)
        },
        known=None,
    )


def _named(ref: Ref, suffix: str, taken: set[str]) -> str:
    """The name of a link of a move; that of a link which came with an earlier move goes on.

    >>> _named(Ref("detect.count"), "0a1b2c", set()), _named(Ref("link_detect_count_0a1b2c"), "3d4e5f", set())
    ('link_detect_count_0a1b2c', 'link_detect_count_3d4e5f')
    """
    known = OF_A_MOVE.fullmatch(ref.id)
    stem = known[1] if known else link_name(ref)
    while (name := f"{stem}_{suffix}") in taken:
        stem += "_"
    taken.add(name)
    return name


def _check(network: Network, boxes: Collection[str]) -> None:
    """Refuse what cannot run at another node."""
    if unknown := sorted(set(boxes) - network.boxes.keys()):
        expected = f"one of {', '.join(network.boxes) or 'none, for it has no boxes'}"
        raise ClusterError(Problem(network.name, f"there is no box {unknown[0]!r} here", expected))
    if not boxes:
        raise ClusterError(Problem(network.name, "no box was named", "a box that is to move"))
    for ref in _crossing(network, boxes):
        if network.marked[ref]:
            marks = ", ".join(sorted(network.marked[ref]))
            what = f"{ref} has marks of {marks}, which do not cross a link yet"
            raise ClusterError(Problem(network.name, what, "boxes that move together with it"))
    for name, given in network.inputs.items():
        if (
            given.table
            and given.store is None
            and any(ref.id == name for box in boxes for ref in network.boxes[box].sources)
        ):
            what = f"the stored table {name} has no store from which another node could read it"
            raise ClusterError(
                Problem(network.name, what, "one with a store, or boxes that do not look it up")
            )
    for name, point in network.connection_points.items():
        if point.at.id in boxes:
            what = f"the connection point {name} keeps the history of {point.at.id}, which stays here"
            raise ClusterError(Problem(network.name, what, "boxes after it, or before it"))


def _crossing(network: Network, boxes: Collection[str]) -> Iterator[Ref]:
    """The streams into and out of some boxes, without stored tables."""
    for box, node in network.boxes.items():
        for ref in node.sources:
            if (box in boxes) != (ref.id in boxes) and not _is_table(network, ref):
                yield ref


def _made(network: Network, leaving: Mapping[str, Node]) -> dict[Ref, None]:
    """The streams of boxes that leave which others read."""
    read = [ref for box, node in network.boxes.items() if box not in leaving for ref in node.sources]
    drawn = [each.source for each in network.outputs.values()]
    return dict.fromkeys(ref for ref in [*read, *drawn] if ref.id in leaving)


def _is_table(network: Network, ref: Ref) -> bool:
    return ref.id in network.inputs and network.inputs[ref.id].table


def _reading(node: Node, names: Mapping[Ref, str]) -> Node:
    return replace(node, sources=tuple(_renamed(ref, names) for ref in node.sources))


def _renamed(ref: Ref, names: Mapping[Ref, str]) -> Ref:
    return Ref(names[ref]) if ref in names else ref


def _has(boxes: Collection[str], path: str) -> bool:
    return any(box.startswith(f"{path}.") for box in boxes)
