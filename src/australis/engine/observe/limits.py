"""The limit: what the outputs of a node could have had in the last seconds, and to what it was lost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from australis.algebra.network import Network, Ref
from australis.algebra.quality import Points
from australis.engine.ledger import DiscardCount
from australis.engine.observe.quality import WITHOUT_GRAPHS, OutputQuality, QualityReport
from australis.policy.analysis import Cost, rates
from australis.policy.limit import Losses, Work, attainable, losses


class Counted(Protocol):
    """What a box has processed so far, and what that cost."""

    @property
    def received(self) -> int: ...
    @property
    def cost_us(self) -> float | None: ...


@dataclass(frozen=True)
class Measured:
    """What is known of the boxes of a node."""

    boxes: Mapping[str, Counted]
    """What each has processed so far."""
    ports: Mapping[str, int]
    """The tuples that they emitted so far on each port that somebody reads."""
    recent: Mapping[str, DiscardCount]
    """What came to each box and each input lately."""
    cores: float
    """The processors that may be used."""

    def cost(self, network: Network, box: str) -> Cost:
        """What a box does to a tuple; nothing is known of one that never had any."""
        found, count = self.boxes[box], network.boxes[box].box.outputs
        if not found.received:
            return Cost(0.0, (1.0,) * count)
        emitted = (self.ports.get(str(Ref(box, port)), 0) for port in range(count))
        return Cost(found.cost_us or 0.0, tuple(tuples / found.received for tuples in emitted))

    def came(self, name: str) -> int:
        """The tuples that came to a box or an input lately."""
        return self.recent[name].received if name in self.recent else 0


def limit(network: Network, report: QualityReport, measured: Measured) -> Losses | None:
    """What the outputs to which something was due could have had at the rates of a window, if these last.

    From the measured costs and selectivities of the boxes; what reading, writing and trains cost besides is
    not known box by box, and counts as scheduling. Boxes that lead only to other outputs, such as windows
    that are still open, keep the time that they took. None if nothing was due.
    """
    due = {name: each for name, each in report.outputs.items() if each.utility is not None}
    if not due:
        return None
    window_s = report.window_s
    costs = {box: measured.cost(network, box) for box in network.order}
    found = rates(network, {name: measured.came(name) / window_s for name in network.inputs}, costs)
    demanded = {
        box: sum(found[source] for source in network.boxes[box].sources) * window_s for box in network.order
    }
    needs = {box: demanded[box] * costs[box].tuple_us / 1e6 / window_s for box in network.order}
    processed = {box: measured.came(box) / tuples if tuples else 1.0 for box, tuples in demanded.items()}
    ways = {name: _upstream(network, network.outputs[name].source) for name in due}
    used = {box for way in ways.values() for box in way}
    elsewhere = sum(need * min(processed[box], 1.0) for box, need in needs.items() if box not in used)
    work = Work(
        {box: need for box, need in needs.items() if box in used},
        ways,
        {name: _curve(network, name, each) for name, each in due.items()},
    )
    done = {box: part for box, part in processed.items() if box in used}
    return losses(work, max(measured.cores - elsewhere, 0.0), done, report.utility)


def _curve(network: Network, name: str, each: OutputQuality) -> Points:
    """What an output can have by the fraction that it gets; its values are known from what it got."""
    counts = None if each.values is None else np.array(each.values, np.int64)
    return attainable(network.outputs[name].quality or WITHOUT_GRAPHS, counts)


def _upstream(network: Network, source: Ref) -> tuple[str, ...]:
    """The boxes that lead to a stream, in order."""
    found: set[str] = set()
    pending = [source.id]
    while pending:
        name = pending.pop()
        if name in network.boxes and name not in found:
            found.add(name)
            pending += [each.id for each in network.boxes[name].sources]
    return tuple(sorted(found, key=network.places.__getitem__))
