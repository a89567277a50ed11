"""A ring of nodes: who keeps the copies of a name, by consistent hashing (Karger and others 1997)."""

from __future__ import annotations

from bisect import bisect_left, insort
from hashlib import blake2b

POINTS = 16
"""How many points of the ring a node has: with more of them the shares are more even."""


class Ring:
    """Nodes on a circle; the keepers of a name are the first ones that follow it.

    >>> ring = Ring()
    >>> for node in ("lab/a", "lab/b", "shop/c", "shop/d"):
    ...     ring.add(node)
    >>> before = ring.keepers("lab/speeds", 3)
    >>> ring.remove(before[0])
    >>> ring.keepers("lab/speeds", 3)[:2] == before[1:]
    True
    """

    def __init__(self) -> None:
        self._points: list[tuple[int, str]] = []
        self.nodes: set[str] = set()

    def add(self, node: str) -> None:
        """A node is there."""
        if node not in self.nodes:
            self.nodes.add(node)
            for number in range(POINTS):
                insort(self._points, (_place(f"{node} {number}"), node))

    def remove(self, node: str) -> None:
        """A node is not there any more."""
        if node in self.nodes:
            self.nodes.discard(node)
            self._points = [each for each in self._points if each[1] != node]

    def keepers(self, name: str, copies: int) -> list[str]:
        """The nodes that keep a name, the first one first; fewer if there are not so many."""
        found: list[str] = []
        begin, count = bisect_left(self._points, (_place(name), "")), len(self._points)
        most = min(copies, len(self.nodes))
        for step in range(count):
            if len(found) == most:
                break
            node = self._points[(begin + step) % count][1]
            if node not in found:
                found.append(node)
        return found


def _place(text: str) -> int:
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest())
