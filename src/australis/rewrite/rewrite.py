"""A rewrite: a change of some boxes that leaves all outputs unchanged, with a sentence that explains it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from australis.algebra.network import Network, Node, Ref
from australis.algebra.schema import Schema
from australis.rewrite.statistics import Measure, Statistics


@dataclass(frozen=True)
class Rewrite:
    """What a rule would do to a network. Only the boxes listed change; all others stay, with their state."""

    rule: str
    says: str
    """What is done, and why it pays."""
    put: Mapping[str, Node] = field(default_factory=dict)
    """Boxes in their new form or place, including new ones."""
    removed: tuple[str, ...] = ()
    moved: Mapping[Ref, Ref] = field(default_factory=dict)
    """Streams whose tuples are now found elsewhere; their readers follow."""
    measured: Mapping[str, Measure | None] = field(default_factory=dict)
    """The expected cost of the changed boxes until they are measured; None if it is unknown."""

    def apply(self, network: Network) -> Network:
        """The rewritten network. Existing boxes keep their ids and their sequence."""
        boxes: dict[str, Node] = {}
        for box_id, node in network.boxes.items():
            if box_id not in self.removed:
                self._add(boxes, network, box_id, self.put.get(box_id) or self._rewired(node))
        outputs = {
            name: replace(output, source=self.moved.get(output.source, output.source))
            for name, output in network.outputs.items()
        }
        groups = {
            path: group
            for path, group in network.groups.items()
            if any(box_id.startswith(f"{path}.") for box_id in boxes)
        }
        return replace(network, boxes=boxes, outputs=outputs, groups=groups)

    def _add(self, boxes: dict[str, Node], network: Network, box_id: str, node: Node) -> None:
        """Add a box after the new boxes that it reads from."""
        for source in node.sources:
            if source.id in self.put and source.id not in network.boxes and source.id not in boxes:
                boxes[source.id] = self.put[source.id]
        boxes[box_id] = node

    def _rewired(self, node: Node) -> Node:
        return replace(node, sources=tuple(self.moved.get(source, source) for source in node.sources))

    def learned(self, statistics: Statistics) -> Statistics:
        """What is known of the boxes after the rewrite."""
        old = {box_id: m for box_id, m in statistics.boxes.items() if box_id not in self.removed}
        known = {
            box_id: measure for box_id, measure in {**old, **self.measured}.items() if measure is not None
        }
        return replace(statistics, boxes=known)


Rule = Callable[[Network, Statistics], Iterator[Rewrite]]
"""A rule yields the rewrites that are possible and worthwhile, in the order of the network."""


def kept(before: Network, after: Network) -> frozenset[str]:
    """The stateful boxes of a network whose state carries over unchanged to another.

    Same id, same box, and the same input if it keeps whole tuples. Otherwise the attributes that both inputs
    have must agree; those that the box reads are among them. The boxes that feed it may have changed.
    """
    return frozenset(
        box_id
        for box_id, node in before.boxes.items()
        if node.box.ordered
        and box_id in after.boxes
        and after.boxes[box_id].box == node.box
        and _fits(node, before.input_schemas(box_id), after.input_schemas(box_id))
    )


def _fits(node: Node, before: tuple[Schema, ...], after: tuple[Schema, ...]) -> bool:
    """Whether the state of a box with one input schema can continue with another."""
    if node.box.keeps_tuples:
        return before == after
    pairs = zip(before, after, strict=True)
    return all(one[name] == other[name] for one, other in pairs for name in one.names if name in other)
