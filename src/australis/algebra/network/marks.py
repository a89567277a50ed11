"""The marks of a network's streams: which attributes have them, and which orders miss or should use them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from australis.algebra.network.parts import Input, Node, Ref
from australis.algebra.order import is_orderable
from australis.algebra.schema import TUP, Schema
from australis.errors import Problem

if TYPE_CHECKING:
    from australis.algebra.network.network import Network

_NONE: frozenset[str] = frozenset()


def marked_streams(
    inputs: Mapping[str, Input],
    boxes: Mapping[str, Node],
    order: Sequence[str],
    schemas: Mapping[Ref, Schema],
) -> dict[Ref, frozenset[str]]:
    """The attributes of each stream that have marks, as far as the schemas are known."""
    if not any(given.progress or given.marked for given in inputs.values()):
        return dict.fromkeys(schemas, _NONE)
    made = {name: {given.progress.on} if given.progress else set() for name, given in inputs.items()}
    found = {ref: frozenset(made[ref.id]) | inputs[ref.id].marked for ref in schemas if ref.id in inputs}
    for box_id in order:
        node = boxes[box_id]
        outputs = _outputs(box_id, node, schemas)
        if outputs and all(source in schemas for source in node.sources):
            marks = node.box.passings(*(schemas[source] for source in node.sources))
            for ref in outputs:
                # Late tuples, on the last outputs, have no marks.
                own = marks[ref.port] if ref.port < len(marks) else {}
                found[ref] = frozenset(
                    name
                    for name, passings in own.items()
                    if all(each.attribute in found.get(node.sources[each.port], _NONE) for each in passings)
                )
    return found


def _outputs(box_id: str, node: Node, schemas: Mapping[Ref, Schema]) -> list[Ref]:
    """The outputs of a box whose schemas are known."""
    refs = (Ref(box_id, port) for port in range(node.box.outputs))
    return [ref for ref in refs if ref in schemas]


def query_inputs(inputs: Mapping[str, Input], boxes: Mapping[str, Node]) -> dict[str, Input]:
    """The inputs of an ad hoc query: if it goes by progress, they are arcs that bring their own marks.

    Which attributes have marks is known when the query is attached; until then any may have some.
    """
    if not _goes_by_progress(boxes):
        return dict(inputs)
    return {name: given if given.progress else _as_arc(given) for name, given in inputs.items()}


def _as_arc(given: Input) -> Input:
    ordered = (each.name for each in given.schema if is_orderable(each.type) and not given.table)
    return replace(given, marked=frozenset(ordered))


def _goes_by_progress(boxes: Mapping[str, Node]) -> bool:
    return any(order.by_progress for node in boxes.values() for order in node.box.orders.values())


def mark_problems(
    inputs: Mapping[str, Input],
    boxes: Mapping[str, Node],
    order: Sequence[str],
    schemas: Mapping[Ref, Schema],
) -> Iterator[Problem]:
    """Orders by progress on streams that have no marks."""
    if not _goes_by_progress(boxes):
        return
    known = {box_id: boxes[box_id] for box_id in order if _outputs(box_id, boxes[box_id], schemas)}
    marked = marked_streams(inputs, known, [each for each in order if each in known], schemas)
    for box_id, node in known.items():
        for port, wanted in node.box.orders.items():
            source = node.sources[port]
            if wanted.by_progress and source in marked and wanted.on not in marked[source]:
                has = ", ".join(sorted(marked[source])) or "none"
                what = f"{wanted.on!r} has no marks on {source}; attributes with marks: {has}"
                expected = "`progress` at the inputs, `by: progress` in the boxes between, or a slack"
                yield Problem(f"{box_id}.{_place(node, port)}.by", what, expected)


def guessed_slacks(network: Network) -> list[Problem]:
    """Orders by count after boxes whose output is not in that order: their slack can only be guessed."""
    found = []
    for box_id in network.order:
        node = network.boxes[box_id]
        for port, order in node.box.orders.items():
            if not order.by_count or order.on == TUP:
                continue
            cause = _disorder(network, node.sources[port], frozenset(order.group_by))
            if cause is not None:
                what = f"{cause}, so how far tuples are out of order depends on chance and a slack is a guess"
                expected = "`by: progress`, and `progress` at the inputs"
                found.append(Problem(f"{box_id}.{_place(node, port)}.slack", what, expected))
    return found


def endless_groups(network: Network) -> list[Problem]:
    """Boxes that remember groups by an attribute that only rises, so that new ones come for ever."""
    marked = marked_streams(network.inputs, network.boxes, network.order, network.schemas)
    found = []
    for box_id in network.order:
        box, source = network.boxes[box_id].box, network.boxes[box_id].sources[0]
        rising = [name for name in box.partition_keys(0) if name in marked.get(source, _NONE)]
        if box.remembers_groups and rising:
            what = f"groups by {rising[0]!r}, which rises: it remembers ever more groups"
            found.append(Problem(f"{box_id}.forget", what, "`forget`, after which a group is forgotten"))
    return found


def _disorder(network: Network, source: Ref, groups: frozenset[str]) -> str | None:
    """Why the tuples of groups of a stream are out of order; None if no box is known to be the reason."""
    node = network.boxes.get(source.id)
    if node is None:
        return None
    port = 0 if node.box.table_side is None else 1 - node.box.table_side
    if node.box.table_side is not None or (not node.box.ordered and len(node.sources) == 1):
        origins = node.box.origins(*network.input_schemas(source.id))[port]
        return _disorder(network, node.sources[port], frozenset(origins.get(name, name) for name in groups))
    if len(node.sources) > 1:
        return f"{source.id} merges streams"
    if frozenset(node.box.partition_keys(0)) - groups and 0 in node.box.orders:
        return f"{source.id} emits each group by itself"
    return None


def _place(node: Node, port: int) -> str:
    """The parameter of a box that has the order of a port."""
    return ("left", "right")[port] if node.box.arity == (2, 2) else "order"
