"""Cost and selectivity of boxes since the optimiser's last cycle."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from australis.algebra.boxes import Box
from australis.algebra.network import Network
from australis.engine.ledger import Catalog, box_costs, port_counts
from australis.rewrite.statistics import Measure, Statistics

TUPLES_LEAST = 1_000
"""The number of tuples a box must have processed since the last cycle for its figures to count."""


@dataclass(frozen=True)
class Counted:
    """What the catalogue has counted for a box so far."""

    received: int
    nanoseconds: int
    ports: tuple[int, ...]

    def since(self, before: Counted | None) -> Counted:
        """What was counted after an earlier count; all of it, if that was of another box."""
        if before is None or before.received > self.received or len(before.ports) != len(self.ports):
            return self
        ports = tuple(new - old for new, old in zip(self.ports, before.ports, strict=True))
        return Counted(self.received - before.received, self.nanoseconds - before.nanoseconds, ports)

    @property
    def measure(self) -> Measure:
        """The cost and selectivity per tuple."""
        shares = tuple(tuples / self.received for tuples in self.ports)
        return Measure(self.nanoseconds / 1000 / self.received, shares)


class Measuring:
    """Remembers boxes by id and form: a box that was joined with others is a different box."""

    def __init__(self, catalog: Catalog, running: Network) -> None:
        self._catalog = catalog
        self._known: dict[tuple[str, Box], Measure] = {}
        self.begin(running)

    def begin(self, running: Network) -> None:
        """Start again with another running network; what was counted so far belongs to the one before."""
        self._running = running
        self._last, self._since = self._counted(), dict[str, Counted]()

    def look(self, running: Network) -> None:
        """Learn what boxes did since the last cycle."""
        self._running, before = running, self._last
        self._last = self._counted()
        self._since = {box: counted.since(before.get(box)) for box, counted in self._last.items()}
        for box, seen in self._since.items():
            if seen.received >= TUPLES_LEAST:
                self._known[box, running.boxes[box].box] = seen.measure

    def of(self, network: Network, running: Collection[str] = ()) -> Statistics:
        """The measures of the boxes of a network; those that are `running` keep their state."""
        forms = {box: (box, node.box) for box, node in network.boxes.items()}
        return Statistics({box: self._known[f] for box, f in forms.items() if f in self._known}, running)

    def keep(self, *networks: Network) -> None:
        """Forget all boxes but those of some networks."""
        forms = {(box, node.box) for network in networks for box, node in network.boxes.items()}
        self._known = {form: measure for form, measure in self._known.items() if form in forms}

    def flow(self) -> dict[str, float]:
        """The tuples that arrived on each input that a box reads, by what its first box received."""
        found: dict[str, float] = {}
        for box, seen in self._since.items():
            sources = self._running.boxes[box].sources
            if len(sources) == 1 and sources[0].id in self._running.inputs and seen.received:
                name = sources[0].id
                found[name] = max(found.get(name, 0.0), float(seen.received))
        return found

    def spent_us(self) -> float:
        """The time that all boxes took since the last cycle."""
        return sum(seen.nanoseconds for seen in self._since.values()) / 1000

    def _counted(self) -> dict[str, Counted]:
        ports, found = port_counts(self._catalog), {}
        for box, (received, nanoseconds) in box_costs(self._catalog).items():
            if box in self._running.boxes:
                emitted = range(self._running.boxes[box].box.outputs)
                names = [box if port == 0 else f"{box}.{port}" for port in emitted]
                found[box] = Counted(received, nanoseconds, tuple(ports.get(name, 0) for name in names))
        return found
