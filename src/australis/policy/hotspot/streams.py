"""The numbers of tuples on their way between peers: no tuple is lost, and none counts twice."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any


class WriteEnd:
    """The writing end of a stream: tuples are numbered, and kept until the reader has processed them.

    While the reader moves, tuples up to the last one belong to its old home and later ones to the new.
    Repeated tuples are sent to both, since the old one may be gone.

    >>> outlet = WriteEnd("old")
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
        """The greatest number so far."""
        self.kept: dict[int, Any] = {}
        self._old = home
        self._last = 0

    def add(self, value: Any, number: int | None = None) -> int:
        """Add a tuple for `home`; returns its number, which a stateless writer gives."""
        number = self.number + 1 if number is None else number
        self.number = max(self.number, number)
        self.kept[number] = value
        return number

    def switch(self, home: str) -> int:
        """Send later tuples elsewhere; returns the number of the last one before."""
        self._old, self._last, self.home = self.home, self.number, home
        return self.number

    def acknowledged(self, number: int) -> None:
        """All tuples up to a number are processed."""
        for each in [each for each in self.kept if each <= number]:
            del self.kept[each]

    def unanswered(self) -> Iterator[tuple[str, int, Any]]:
        """What to repeat: to which peer, and which tuple."""
        for number, value in sorted(self.kept.items()):
            yield self.home, number, value
            if number <= self._last and self._old != self.home:
                yield self._old, number, value

    def snapshot(self) -> tuple[Any, ...]:
        """Its whole state, as plain values."""
        return (self.home, self.number, tuple(self.kept.items()), self._old, self._last)

    def restore(self, snapshot: tuple[Any, ...]) -> None:
        """Continue from a snapshot, with what was already written here."""
        self.home, number, kept, self._old, self._last = snapshot
        self.number = max(self.number, number)
        self.kept.update(kept)


class ReadEnd:
    """The reading end of a stream: each tuple is taken once, in the order of numbers if that matters.

    It does not for a stateless reader, whose output tuples keep the numbers of its input.

    >>> inlet = ReadEnd()
    >>> inlet.arrived(2, "y"), inlet.arrived(1, "x"), inlet.arrived(2, "y")
    ([], [(1, 'x'), (2, 'y')], [])
    >>> ReadEnd(ordered=False).arrived(2, "y")
    [(2, 'y')]
    """

    def __init__(self, *, ordered: bool = True) -> None:
        self.position = 0
        """All tuples up to here are processed; with `ahead`, this survives a crash."""
        self._ordered = ordered
        self._ahead: set[int] = set()
        """Processed tuples after the position."""
        self._taken: set[int] = set()
        """Tuples that are taken and not processed."""
        self._early: dict[int, Any] = {}

    def arrived(self, number: int, value: Any) -> list[tuple[int, Any]]:
        """A tuple arrived; returns those that can be taken now."""
        if number <= self.position or number in self._ahead or number in self._taken:
            return []
        self._early[number] = value
        if not self._ordered:
            return self._take(number)
        found: list[tuple[int, Any]] = []
        following = self.position + len(self._taken) + 1
        while following in self._early:
            found += self._take(following)
            following += 1
        return found

    def _take(self, number: int) -> list[tuple[int, Any]]:
        self._taken.add(number)
        return [(number, self._early.pop(number))]

    def processed(self, number: int) -> None:
        """A tuple that was taken is processed."""
        self._taken.discard(number)
        self._ahead.add(number)
        self.moved(self.position)

    def moved(self, position: int) -> None:
        """All tuples up to a position are processed, here or elsewhere."""
        self.position = max(self.position, position)
        while self.position + 1 in self._ahead:
            self.position += 1
        self._ahead = {number for number in self._ahead if number > self.position}

    def crashed(self) -> None:
        """Tuples that were taken and not processed must arrive again."""
        self._taken.clear()
        self._early.clear()
