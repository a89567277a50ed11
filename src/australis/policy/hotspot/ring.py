"""Which peer is responsible for which operator: consistent hashing, as in a hash table (section 2)."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from functools import lru_cache
from hashlib import sha1

from australis.errors import PolicyError, Problem

SPACE = 1 << 160


@lru_cache(maxsize=65_536)
def key(name: str) -> int:
    """The place of a name on the ring."""
    return int.from_bytes(sha1(name.encode(), usedforsecurity=False).digest(), "big")


class Ring:
    """Peers on a ring of keys; a key belongs to the peer closest to it, as in Pastry.

    When a peer joins or leaves, only keys close to it are reassigned.

    >>> ring = Ring(["ann", "bob", "cid"])
    >>> ring.responsible("filter"), ring.without("bob").responsible("filter")
    ('bob', 'cid')
    """

    def __init__(self, peers: Iterable[str]) -> None:
        self.peers = tuple(sorted(set(peers)))
        if not self.peers:
            raise PolicyError(Problem("ring", "has no peers", "at least one"))
        self._places = sorted((key(peer), peer) for peer in self.peers)
        self._known: dict[str, str] = {}

    def responsible(self, operator: str) -> str:
        """The peer that keeps the list of those that offer an operator, and their loads."""
        found = self._known.get(operator)
        if found is None:
            found = self._known[operator] = self._closest(key(operator))
        return found

    def _closest(self, place: int) -> str:
        after = bisect_left(self._places, (place, ""))
        around = (self._places[after - 1], self._places[after % len(self._places)])
        return min((min((at - place) % SPACE, (place - at) % SPACE), peer) for at, peer in around)[1]

    def with_peer(self, peer: str) -> Ring:
        """The ring with one more peer."""
        return Ring((*self.peers, peer))

    def without(self, peer: str) -> Ring:
        """The ring without a peer."""
        return Ring(each for each in self.peers if each != peer)
