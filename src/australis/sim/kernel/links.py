"""Links between machines: latency, bandwidth, pages; and messages that are lost, delayed or duplicated."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import inf
from random import Random
from typing import Any

from australis.errors import Problem, SimulationError
from australis.sim.kernel.clock import Clock

Deliver = Callable[[str, str, Any], object]
"""Receives a message: the source, the target and the message."""


@dataclass(frozen=True)
class Faults:
    """How unreliable links are; chances apply to a page."""

    loss: float = 0.0
    duplication: float = 0.0
    delay: float = 0.0
    """The greatest additional delay of a page, by which pages overtake each other."""

    def __post_init__(self) -> None:
        if not (0 <= self.loss < 1 and 0 <= self.duplication <= 1 and 0 <= self.delay < inf):
            raise SimulationError(Problem("faults", f"are {self}", "chances, and a delay of 0 or more"))


@dataclass(frozen=True)
class Links:
    """How messages get from node to node: in pages that leave when they are full or due."""

    latency: float = 0.0
    tuple_time: float = 0.0
    """How long a link is busy with one tuple: its bandwidth."""
    page_tuples: int = 1
    wait: float = 0.0
    """The longest that a tuple waits for its page to fill."""
    faults: Faults = Faults()
    ordered: bool = False
    """Whether pages keep their order, however late one is, as those of a connection do."""

    def __post_init__(self) -> None:
        if self.page_tuples < 1:
            raise SimulationError(Problem("links.page_tuples", f"is {self.page_tuples}", "1 or more"))
        for time in (self.latency, self.tuple_time, self.wait):
            if not 0 <= time < inf:
                raise SimulationError(Problem("links", f"have the time {time}", "0 or more"))


@dataclass
class _Lane:
    """The link from one node to another."""

    page: list[Any]
    pages: int = 0
    """How many pages have left."""
    free: float = 0.0
    last: float = 0.0
    """When the last page arrives."""


class Net:
    """Carries messages between nodes.

    >>> clock, seen = Clock(), []
    >>> net = Net(clock, Random(1), Links(latency=2.0, page_tuples=2, wait=0.5),
    ...           lambda source, target, message: seen.append((clock.now, target, message)))
    >>> for message in ("full", "page", "due"):
    ...     net.send("a", "b", message)
    >>> clock.run()
    >>> seen
    [(2.0, 'b', 'full'), (2.0, 'b', 'page'), (2.5, 'b', 'due')]
    """

    def __init__(self, clock: Clock, chance: Random, links: Links, deliver: Deliver) -> None:
        self.links = links
        self._clock, self._chance, self._deliver = clock, chance, deliver
        self._lanes: dict[tuple[str, str], _Lane] = {}

    def send(self, source: str, target: str, message: Any) -> None:
        """Send a message to a node; a message to the same node arrives at once, and is never lost."""
        if source == target:
            self._clock.after(0.0, self._deliver, source, target, message)
            return
        lane = self._lanes.get((source, target))
        if lane is None:
            lane = self._lanes[source, target] = _Lane([])
        lane.page.append(message)
        if len(lane.page) == self.links.page_tuples:
            self._leave(source, target, lane)
        elif len(lane.page) == 1:
            self._clock.after(self.links.wait, self._due, source, target, lane, lane.pages)

    def _due(self, source: str, target: str, lane: _Lane, number: int) -> None:
        if lane.pages == number:
            self._leave(source, target, lane)

    def _leave(self, source: str, target: str, lane: _Lane) -> None:
        page, lane.page = lane.page, []
        lane.pages += 1
        lane.free = max(lane.free, self._clock.now) + self.links.tuple_time * len(page)
        arrival = lane.free + self.links.latency
        faults, chance = self.links.faults, self._chance
        if faults.loss and chance.random() < faults.loss:
            return
        for _ in range(2 if faults.duplication and chance.random() < faults.duplication else 1):
            time = arrival + chance.random() * faults.delay if faults.delay else arrival
            lane.last = max(time, lane.last)
            self._clock.at(lane.last if self.links.ordered else time, self._arrived, source, target, page)

    def _arrived(self, source: str, target: str, page: list[Any]) -> None:
        for message in page:
            self._deliver(source, target, message)
