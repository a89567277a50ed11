"""What a node has measured since the last look: rates of inputs, and what boxes do to a tuple."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from australis.algebra.network import Network, Ref
from australis.engine import Statistics
from australis.policy.place import Link, Measured, Use


@dataclass(frozen=True)
class _Look:
    """What had been counted at a moment."""

    at: int
    inputs: Mapping[str, int]
    boxes: Mapping[str, tuple[int, int]]
    """Tuples received, and nanoseconds."""
    ports: Mapping[str, int]


LOOKS = 5
"""Over how many looks costs are taken: a box that has just come costs more, since its code is compiled."""


class Meter:
    """Takes differences of statistics: rates since the last look, costs since some looks before.

    A box that had nothing to do keeps its last figures; one that has just come is measured at the next look.
    """

    def __init__(self, width: float) -> None:
        """`width` is what the link to a neighbour can carry, in bytes per second."""
        self._width = width
        self._looks: deque[_Look] = deque(maxlen=LOOKS)
        self._uses: dict[str, Use] = {}

    def measured(
        self, network: Network, found: Statistics, neighbours: Iterable[str], now: int
    ) -> Measured | None:
        """What was measured since the last look; None at the first one, or if no time has passed."""
        look, looks = _look(found, now), [*self._looks]
        if looks and now <= looks[-1].at:
            return None
        self._looks.append(look)
        if not looks:
            return None
        last = looks[-1]
        seconds = (now - last.at) / 1e6
        rates = {name: _more(look.inputs, last.inputs, name) / seconds for name in network.inputs}
        for box_id in network.boxes:
            before = next((each for each in looks if box_id in each.boxes), None)
            use = None if before is None else self._use(network, found, box_id, look, before)
            if use is not None:
                self._uses[box_id] = use
        self._uses = {box_id: use for box_id, use in self._uses.items() if box_id in network.boxes}
        return Measured(rates, dict(self._uses), {each: Link(self._width) for each in neighbours})

    def _use(
        self, network: Network, found: Statistics, box_id: str, look: _Look, before: _Look
    ) -> Use | None:
        received, spent = look.boxes.get(box_id, (0, 0))
        had, had_spent = before.boxes[box_id]
        if received <= had or spent < had_spent:
            return None
        tuples = received - had
        ports = (str(Ref(box_id, port)) for port in range(network.boxes[box_id].box.outputs))
        made = tuple(_more(look.ports, before.ports, port) / tuples for port in ports)
        return Use((spent - had_spent) / 1000 / tuples, made, found.boxes[box_id].state_bytes)


def _look(found: Statistics, now: int) -> _Look:
    return _Look(
        now,
        {name: each.received for name, each in found.inputs.items()},
        {box_id: (each.received, each.nanoseconds) for box_id, each in found.boxes.items()},
        dict(found.ports),
    )


def _more(now: Mapping[str, int], before: Mapping[str, int], name: str) -> int:
    """What has come since; nothing, if the count began again."""
    return max(0, now.get(name, 0) - before.get(name, 0))
