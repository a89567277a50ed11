"""Flow messages: what they collect on their way, and how branches and merges treat them (6.2)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from australis.policy.recover.positions import Positions, nearest


class Junction:
    """Where flow messages, split like tuples, are merged: each is kept until there is one on every arc.

    >>> junction = Junction(["left", "right"])
    >>> junction.arrived("left", 1), junction.arrived("left", 2), junction.arrived("right", 1)
    (None, None, 1)
    >>> junction.arrived("right", 2)
    """

    def __init__(self, arcs: Iterable[str]) -> None:
        self._arcs = tuple(arcs)
        self.saved: dict[str, int] = {}

    def arrived(self, arc: str, serial: int) -> int | None:
        """A message arrived; returns the earliest serial, if there is one on every arc."""
        self.saved[arc] = serial
        if len(self.saved) < len(self._arcs):
            return None
        onward = min(self.saved.values())
        self.saved.clear()
        return onward


class Noted(NamedTuple):
    """What a server's boxes depend on at one time.

    A stateless box needs no tuple that it has processed; a stateful one needs the earliest that contributes
    to its state, and all after it.
    """

    sent: Mapping[str, Positions]
    """The last tuples that were sent, by arc."""
    done: Mapping[str, Positions]
    """The last tuples that no box depends on any more, by arc."""


def gathered(boxes: Iterable[Mapping[str, Positions]]) -> dict[str, dict[str, int]]:
    """What all boxes are done with, by arc: a flow message carries the minimum.

    >>> gathered([{"in": {"a": 5}}, {"in": {"a": 3}}])
    {'in': {'a': 3}}
    """
    found: dict[str, list[Positions]] = {}
    for box in boxes:
        for arc, positions in box.items():
            found.setdefault(arc, []).append(positions)
    return {arc: nearest(each) for arc, each in found.items()}
