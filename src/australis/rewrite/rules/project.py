"""Project: attributes that nothing needs any more are dropped before boxes that would copy them.

"Insert such map operations to the earliest possible points in the network, thereby shrinking the size of the
tuples that must be subsequently processed" (Aurora 3.1).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from australis.algebra.boxes import Map, Names, Union
from australis.algebra.expr import Attribute, text_of
from australis.algebra.network import Network, Node, Ref
from australis.rewrite.meaning import is_pure
from australis.rewrite.needs import needs
from australis.rewrite.rewrite import Rewrite
from australis.rewrite.statistics import Measure, Statistics
from australis.rewrite.streams import is_end, new_id

PROJECTION = Measure(0.002)
"""A Map that only picks attributes passes on their columns unchanged."""


def project(network: Network, statistics: Statistics) -> Iterator[Rewrite]:
    """Each stream with attributes that are only copied, and each Union that could merge narrower streams."""
    needed = needs(network, statistics)
    for ref in network.schemas:
        if _is_narrowable(network, ref, needed[ref]):
            yield _narrowed(network, ref, needed[ref])
    for box_id in network.order:
        ref = Ref(box_id)
        merges = isinstance(network.boxes[box_id].box, Union) and not is_end(network, ref)
        if merges and len(needed[ref]) < len(network.schemas[ref]):
            yield from _merged_narrow(network, box_id, needed[ref])


def _is_narrowable(network: Network, ref: Ref, needed: Names) -> bool:
    """Whether a projection gains anything: boxes that do not copy tuples read only what they need."""
    if len(_picked(network, ref, needed)) == len(network.schemas[ref]) or _is_table(network, ref):
        return False
    return not _can_prune(network, ref) and any(
        network.boxes[box_id].box.copies_tuples for box_id, _ in network.consumers[ref]
    )


def _is_table(network: Network, ref: Ref) -> bool:
    return ref.id in network.inputs and network.inputs[ref.id].table


def _can_prune(network: Network, ref: Ref) -> bool:
    """Whether the stream comes from a Map that can omit the attributes itself."""
    is_map = ref.id in network.boxes and isinstance(network.boxes[ref.id].box, Map)
    return is_map and is_pure(network, ref.id) and not is_end(network, ref)


def _picked(network: Network, ref: Ref, needed: Names) -> tuple[str, ...]:
    """The attributes to keep, in their order; a tuple has at least one."""
    names = network.schemas[ref].names
    return tuple(name for name in names if name in needed) or names[:1]


def _narrowed(network: Network, ref: Ref, needed: Names) -> Rewrite:
    picked, made = _picked(network, ref, needed), new_id(network, f"{ref.id}_narrow")
    readers = {box_id: network.boxes[box_id] for box_id, _ in network.consumers[ref]}
    rewired = {
        box_id: replace(node, sources=tuple(Ref(made) if each == ref else each for each in node.sources))
        for box_id, node in readers.items()
    }
    return Rewrite(
        "project",
        f"{made} keeps {len(picked)} of the {len(network.schemas[ref])} attributes of {ref}, "
        f"so {', '.join(readers)} has less to copy",
        put={made: _projection(network, ref, picked), **rewired},
        measured={made: PROJECTION},
    )


def _projection(network: Network, ref: Ref, picked: tuple[str, ...]) -> Node:
    schema = network.schemas[ref]
    attributes = tuple((name, text_of(Attribute(name, schema[name].type))) for name in picked)
    return Node(Map(attributes), (ref,))


def _merged_narrow(network: Network, box_id: str, needed: Names) -> Iterator[Rewrite]:
    """A projection before every port of a Union, since its inputs must keep one schema."""
    node, put = network.boxes[box_id], dict[str, Node]()
    picked = _picked(network, Ref(box_id), needed)
    if len(picked) == len(network.schemas[Ref(box_id)]):
        return
    sources = []
    for port, source in enumerate(node.sources):
        made = new_id(network, f"{box_id}_narrow{port}")
        put[made] = _projection(network, source, picked)
        sources.append(Ref(made))
    yield Rewrite(
        "project",
        f"{box_id} merges {len(picked)} of {len(network.schemas[Ref(box_id)])} attributes, "
        "so it has less to copy",
        put={**put, box_id: replace(node, sources=tuple(sources))},
        measured=dict.fromkeys(put, PROJECTION),
    )
