"""Weights: under which name the streams of a network have what says how many tuples a tuple stands for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from australis.algebra.boxes import Map, Union
from australis.algebra.network.parts import Node, Ref
from australis.algebra.schema import Schema

if TYPE_CHECKING:
    from australis.algebra.network.network import Network


def weights_of(network: Network) -> dict[Ref, str]:
    """The weight of each stream whose tuples still have that of their input, unchanged.

    A Union has it if all its inputs do, and a result of a Join has that of its first side that does. Results
    of windows stand for no tuples, and have none.
    """
    found = {Ref(name): given.weight for name, given in network.inputs.items() if given.weight is not None}
    for box_id in network.order if found else ():
        node = network.boxes[box_id]
        before = [found.get(source) for source in node.sources]
        if any(before):
            found |= dict(_after(box_id, node, network.input_schemas(box_id), before))
    return found


def _after(
    box_id: str, node: Node, schemas: tuple[Schema, ...], before: list[str | None]
) -> Iterator[tuple[Ref, str]]:
    """The weights of a box's outputs, given those of the streams that it reads."""
    box = node.box.core
    first = box.outputs - len(box.late_ports)
    for place, port in enumerate(box.late_ports):
        if (late := before[port]) is not None:
            yield Ref(box_id, first + place), late
    if not isinstance(box, Map) and (not box.copies_tuples or box.window_functions(*schemas)):
        return
    copied = [_name(names, of) for names, of in zip(box.origins(*schemas), before, strict=True)]
    name = _common(copied) if isinstance(box, Union) else next(filter(None, copied), None)
    if name is not None:
        yield from ((Ref(box_id, port), name) for port in range(first))


def _name(names: Mapping[str, str], weight: str | None) -> str | None:
    """What a weight is called in an output, if it is there; by its old name if it has several."""
    found = [name for name, of in names.items() if of == weight]
    return weight if weight in found else next(iter(found), None)


def _common(names: Iterable[str | None]) -> str | None:
    """The name that all have."""
    found = set(names)
    return found.pop() if len(found) == 1 else None
