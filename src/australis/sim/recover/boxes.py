"""Boxes whose outputs depend only on the numbers of tuples, and what they depend on."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from itertools import islice
from typing import NamedTuple, Protocol


class PathTuple(NamedTuple):
    """A tuple: its path, the number of the source tuple that caused it, a value."""

    path: str
    number: int
    value: int
    since: int = 0
    """The earliest tuple read by the server on which its value depends, directly or indirectly."""


class PathBox(Protocol):
    """A box, which processes one path at a time."""

    def take(self, tup: PathTuple) -> list[PathTuple]:
        """The tuples that result from a tuple."""

    def needs(self) -> dict[str, int]:
        """The earliest tuple read by the server that contributes to its state, by path, if any does."""


class Each:
    """A stateless box: it needs nothing that it has processed."""

    def __init__(self, made: Callable[[PathTuple], int | None]) -> None:
        self._made = made

    def take(self, tup: PathTuple) -> list[PathTuple]:
        """One tuple or none."""
        value = self._made(tup)
        return [] if value is None else [tup._replace(value=value)]

    def needs(self) -> dict[str, int]:
        """Nothing."""
        return {}


def mapped() -> Each:
    """Twice the value."""
    return Each(lambda tup: 2 * tup.value)


def filtered() -> Each:
    """Two tuples of three."""
    return Each(lambda tup: tup.value if tup.number % 3 else None)


class Window:
    """The sum of the last tuples of each path; all but one of them contribute to the next sum.

    >>> window = Window(2)
    >>> [window.take(PathTuple("p", number, 10, number))[0].value for number in (1, 2, 3)], window.needs()
    ([10, 20, 20], {'p': 3})
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._last: dict[str, deque[PathTuple]] = {}

    def take(self, tup: PathTuple) -> list[PathTuple]:
        """The sum of the window that ends here."""
        last = self._last.setdefault(tup.path, deque(maxlen=self._size))
        last.append(tup)
        return [tup._replace(value=sum(each.value for each in last), since=min(each.since for each in last))]

    def needs(self) -> dict[str, int]:
        """The earliest tuple that contributes to the next window."""
        if self._size == 1:
            return {}
        kept = {
            path: islice(last, max(0, len(last) - self._size + 1), None) for path, last in self._last.items()
        }
        return {path: min(each.since for each in last) for path, last in kept.items()}


class Match:
    """Pairs tuples of equal numbers of two paths, both in order; a tuple without a partner is dropped.

    >>> match = Match("pairs", "l", "r")
    >>> match.take(PathTuple("l", 1, 5, 1)), match.take(PathTuple("l", 2, 5, 2))
    ([], [])
    >>> match.take(PathTuple("r", 2, 6, 2))
    [PathTuple(path='pairs', number=2, value=11, since=2)]
    >>> match.take(PathTuple("r", 5, 6, 5)), match.needs()
    ([], {'r': 5})
    """

    def __init__(self, path: str, left: str, right: str) -> None:
        self._path = path
        self._other = {left: right, right: left}
        self._seen = {left: 0, right: 0}
        self._waiting: dict[str, deque[PathTuple]] = {left: deque(), right: deque()}

    def take(self, tup: PathTuple) -> list[PathTuple]:
        """A pair, if the other tuple is there."""
        self._seen[tup.path] = tup.number
        other = self._other[tup.path]
        waiting = self._waiting[other]
        while waiting and waiting[0].number < tup.number:
            waiting.popleft()
        if waiting and waiting[0].number == tup.number:
            partner = waiting.popleft()
            since = min(partner.since, tup.since)
            return [PathTuple(self._path, tup.number, partner.value + tup.value, since)]
        if self._seen[other] < tup.number:
            self._waiting[tup.path].append(tup)
        return []

    def needs(self) -> dict[str, int]:
        """The earliest waiting tuple."""
        return {path: waiting[0].since for path, waiting in self._waiting.items() if waiting}
