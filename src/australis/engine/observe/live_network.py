"""The network as it runs: with its drop boxes, where everyone can see them (Aurora 4.5)."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType

from australis.algebra.boxes import Box, Drop, Filter
from australis.algebra.network import Network, Node, Output, Ref
from australis.engine.worker import GateDropBox
from australis.plan.superboxes import Plan, Superbox

TAG = "shed"
"""The tag of drop boxes, by which diagrams recognise them."""


def live(
    plan: Plan,
    standing: Mapping[str, Mapping[str, GateDropBox]],
    remarks: Mapping[int, str] = MappingProxyType({}),
) -> Network:
    """The network of a plan, with its drop boxes inserted into their streams.

    `standing` has the drop boxes of each superbox by stream, `remarks` notes on some by number.
    """
    network = plan.network
    boxes, outputs = dict(network.boxes), dict(network.outputs)
    for name, drop_boxes in standing.items():
        superbox = plan.superboxes[name]
        for stream, drop_box in drop_boxes.items():
            source = Ref.parse(superbox.reads[stream])
            drop_id = _free(f"drop_{drop_box.number}", network)
            boxes[drop_id] = Node(
                _box(drop_box, name),
                (source,),
                TAG,
                _told(drop_box, network.weights.get(source)) + remarks.get(drop_box.number, ""),
            )
            passed_on = Ref(drop_id, 1 if drop_box.where else 0)
            for box_id in superbox.boxes:
                sources = tuple(passed_on if each == source else each for each in boxes[box_id].sources)
                boxes[box_id] = replace(boxes[box_id], sources=sources)
            outputs |= dict(_passed(superbox, outputs, passed_on))
    return replace(network, boxes=boxes, outputs=outputs)


def _box(drop_box: GateDropBox, superbox: str) -> Box:
    """What a drop box does, as a box: drops the tuples that a predicate selects, or a fraction of all."""
    if drop_box.where:
        return Filter((drop_box.where,))
    return Drop(drop_box.share, zlib.crc32(superbox.encode()))


def _told(drop_box: GateDropBox, weight: str | None) -> str:
    part = "" if drop_box.share == 1 else f"{drop_box.share:.1%} of "
    scales = f", and multiplies {weight} by {drop_box.factor:.4g}" if weight and drop_box.factor > 1 else ""
    return (f"sheds {part}those with {drop_box.where}" if drop_box.where else f"sheds {part}all") + scales


def _passed(
    superbox: Superbox, outputs: Mapping[str, Output], passed_on: Ref
) -> Iterator[tuple[str, Output]]:
    """The outputs of a superbox that only passes an input on."""
    if not superbox.boxes:
        name = superbox.id.removeprefix("=")
        yield name, replace(outputs[name], source=passed_on)


def _free(name: str, network: Network) -> str:
    while name in network.boxes or name in network.inputs:
        name += "_"
    return name
