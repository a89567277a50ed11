"""What was discarded upstream of each output: tuples that came too late, and quarantined ones."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol

from australis.algebra.network import Network
from australis.engine.ledger import DiscardCount


class BoxCounters(Protocol):
    """The counters of a box for tuples that it did not use."""

    @property
    def received(self) -> int: ...
    @property
    def late(self) -> int: ...
    @property
    def ignored(self) -> int: ...
    @property
    def rejected(self) -> int: ...


@dataclass(frozen=True)
class InputStatistics:
    """What reached an input, including the rows that did not become tuples."""

    received: int = 0
    rejected: int = 0
    """The rows and tuples of these that did not fit, and were quarantined."""


@dataclass(frozen=True)
class Discards:
    """What boxes and inputs upstream of an output discarded."""

    late: int = 0
    """Tuples that came later than an order admits, or only for windows that had timed out."""
    quarantined: int = 0
    fraction: float = 1.0
    """The fraction of tuples that was not discarded; the fractions of consecutive boxes multiply."""


def upstream(network: Network) -> dict[str, frozenset[str]]:
    """The boxes and inputs that lead to each output."""
    found: dict[str, frozenset[str]] = {name: frozenset({name}) for name in network.inputs}
    for box in network.order:
        found[box] = frozenset({box}).union(*(found[source.id] for source in network.boxes[box].sources))
    return {name: found[output.source.id] for name, output in network.outputs.items()}


def discards_upstream(
    network: Network, boxes: Mapping[str, BoxCounters], inputs: Mapping[str, InputStatistics]
) -> dict[str, Discards]:
    """What was discarded upstream of each output, from the counters of boxes and inputs."""
    counts = {name: DiscardCount(each.received, each.rejected) for name, each in inputs.items()}
    for name, box in boxes.items():
        counts[name] = DiscardCount(box.received, box.late + box.ignored + box.rejected, box.late)
    fractions = fractions_used(network, counts)
    late = late_at(network, boxes)
    return {
        output: Discards(
            sum(late[each] + boxes[each].ignored for each in names if each in boxes),
            sum(boxes[each].rejected for each in names if each in boxes)
            + sum(inputs[each].rejected for each in names if each in inputs),
            fractions[output],
        )
        for output, names in upstream(network).items()
    }


def fractions_used(network: Network, counts: Mapping[str, DiscardCount]) -> dict[str, float]:
    """The fraction, for each output, that the boxes and streams upstream of it did not discard."""
    return {output: math.prod(_kept(network, names, counts)) for output, names in upstream(network).items()}


def _kept(network: Network, names: Iterable[str], counts: Mapping[str, DiscardCount]) -> list[float]:
    """The fraction that each box or stream kept; rows of stored tables do not count."""
    tables = {name for name, given in network.inputs.items() if given.table}
    known = {name: counts.get(name, DiscardCount()) for name in names if name not in tables}
    emitting = {name for name in known if _emits_late(network, name)}
    return [each.with_late_emitted().kept if name in emitting else each.kept for name, each in known.items()]


def late_at(network: Network, boxes: Mapping[str, BoxCounters]) -> dict[str, int]:
    """The tuples that each box discarded because they came later than its order admits."""
    return {name: 0 if _emits_late(network, name) else box.late for name, box in boxes.items()}


def _emits_late(network: Network, name: str) -> bool:
    return name in network.boxes and network.boxes[name].box.emits_late
