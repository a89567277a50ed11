"""The numbers of tuples on their way from peer to peer: none is lost, none counts twice."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import Any


class Outlet:
    """A stream where it is written: tuples are numbered, and kept until the reader has processed them.

    While the reader moves, tuples up to the last one belong to its old home and the further ones to the new;
    those that must be said again are said to both, since the old one may be gone.

    >>> outlet = Outlet("old")
    >>> outlet.add("x"), outlet.switch("new"), outlet.add("y")
    (1, 1, 2)
    >>> list(outlet.unanswered())
    [('new', 1, 'x'), ('old', 1, 'x'), ('new', 2, 'y')]
    >>> outlet.acknowledged(1)
    >>> list(outlet.unanswered())
    [('new', 2, 'y')]
    """

    def __init__(self, home: str) -> None:
        self.home = home
        self.number = 0
        """That of the last tuple."""
        self.kept: deque[tuple[int, Any]] = deque()
        self._old = home
        self._last = 0

    def add(self, value: Any) -> int:
        """One more tuple, which goes to `home`; its number."""
        self.number += 1
        self.kept.append((self.number, value))
        return self.number

    def switch(self, home: str) -> int:
        """Send further tuples elsewhere; the number of the last one before."""
        self._old, self._last, self.home = self.home, self.number, home
        return self.number

    def acknowledged(self, number: int) -> None:
        """All tuples up to a number are processed."""
        kept = self.kept
        while kept and kept[0][0] <= number:
            kept.popleft()

    def snapshot(self) -> tuple[Any, ...]:
        """All that it is, as plain values."""
        return (self.home, self.number, tuple(self.kept), self._old, self._last)

    @classmethod
    def restored(cls, snapshot: tuple[Any, ...]) -> Outlet:
        """One that goes on from a snapshot."""
        found = cls(snapshot[0])
        _, found.number, kept, found._old, found._last = snapshot
        found.kept.extend(kept)
        return found

    def unanswered(self) -> Iterator[tuple[str, int, Any]]:
        """What is said again: to whom, and which tuple."""
        for number, value in self.kept:
            yield self.home, number, value
            if number <= self._last and self._old != self.home:
                yield self._old, number, value


class Inlet:
    """A stream where it is read: tuples are taken in the order of their numbers, each once.

    >>> inlet = Inlet()
    >>> inlet.arrived(2, "y"), inlet.arrived(1, "x"), inlet.arrived(2, "y")
    ([], ['x', 'y'], [])
    """

    def __init__(self, position: int = 0) -> None:
        self.position = position
        """The last tuple that is processed: what a crash leaves."""
        self._taken = position
        self._early: dict[int, Any] = {}

    def arrived(self, number: int, value: Any) -> list[Any]:
        """A tuple came; those that can be taken now."""
        if number > self._taken:
            self._early[number] = value
        found = []
        while self._taken + 1 in self._early:
            self._taken += 1
            found.append(self._early.pop(self._taken))
        return found

    def processed(self) -> None:
        """One more of the tuples that were taken is processed."""
        self.position += 1

    def crashed(self) -> None:
        """What was taken and not processed must come again."""
        self._taken = self.position
        self._early.clear()
