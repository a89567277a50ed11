"""A directory of loads: a peer compares those that offer its operators (section 3.1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from australis.policy.hotspot.levels import Criteria, Loads
from australis.policy.hotspot.messages import Decision, LoadUpdate, Unregister
from australis.policy.hotspot.ring import Ring
from australis.policy.machines import Say


@dataclass
class Entry:
    """The last report of a peer that offers an operator."""

    loads: Loads
    at: int
    looks: int = 0
    """How often it was checked since."""


class Directory:
    """The peers that offer an operator, their loads, and which of them is a hot spot.

    >>> directory = Directory("me", Criteria())
    >>> directory.updated("hot", LoadUpdate(("filter",), Loads(4, 4, 4), at=1))
    >>> directory.updated("cool", LoadUpdate(("filter",), Loads(1, 1, 1), at=2))
    >>> directory.look(Ring(["me"]))
    [Say(to='hot', message=Decision(serial=1, operator='filter', target='cool'))]
    """

    def __init__(self, name: str, criteria: Criteria, silence: int = 15) -> None:
        self._name, self._criteria = name, criteria
        self._silence = silence
        """How often a silent peer is checked before it is assumed to have failed."""
        self.known: dict[str, dict[str, Entry]] = {}
        self.serial = 0

    def offering(self, operator: str) -> dict[str, Loads]:
        """The peers known to offer an operator, and their last loads."""
        return {peer: entry.loads for peer, entry in self.known.get(operator, {}).items()}

    def updated(self, peer: str, update: LoadUpdate) -> None:
        """Note the operators and loads that a peer reports; old reports change nothing."""
        for operator in update.operators:
            peers = self.known.setdefault(operator, {})
            if peer not in peers or peers[peer].at <= update.at:
                peers[peer] = Entry(update.loads, update.at)

    def unregistered(self, peer: str, told: Unregister) -> None:
        """A peer no longer offers some operators."""
        for operator in told.operators:
            self.known.get(operator, {}).pop(peer, None)

    def failed(self, peer: str) -> None:
        """A peer has failed, and offers nothing."""
        for peers in self.known.values():
            peers.pop(peer, None)

    def moved(self, ring: Ring) -> None:
        """The members changed: forget operators that this peer is no longer responsible for."""
        mine = {each: of for each, of in self.known.items() if ring.responsible(each) == self._name}
        there = set(ring.peers)
        self.known = {op: {peer: of[peer] for peer in of if peer in there} for op, of in mine.items()}

    def look(self, ring: Ring) -> list[Any]:
        """A decision for each operator with a hot spot that the least loaded peer can help."""
        found: list[Any] = []
        for operator, peers in sorted(self.known.items()):
            self._forget(peers)
            if len(peers) > 1 and ring.responsible(operator) == self._name:
                found += self._decided(operator, peers)
        return found

    def _forget(self, peers: dict[str, Entry]) -> None:
        for peer in list(peers):
            peers[peer].looks += 1
            if peers[peer].looks > self._silence:
                del peers[peer]

    def _decided(self, operator: str, peers: dict[str, Entry]) -> list[Any]:
        hottest = max(peers, key=lambda peer: (peers[peer].loads.one, peer))
        coolest = min(peers, key=lambda peer: (peers[peer].loads.one, peer))
        hot, cool = peers[hottest].loads, peers[coolest].loads
        if not self._criteria.overloaded(hot) or not self._criteria.lighter(cool, hot):
            return []
        self.serial += 1
        return [Say(hottest, Decision(self.serial, operator, coolest))]
