"""The newest pushes that are traced, by the numbers of their tuples in the log."""

from __future__ import annotations

import bisect
import threading
from collections.abc import Container
from typing import Generic, NamedTuple, TypeVar

Context = TypeVar("Context")
KEPT_MOST = 10_000
"""How many pushes are remembered; the older half is forgotten at once."""


class _Known(NamedTuple, Generic[Context]):
    first: int
    end: int
    input: str
    context: Context


class Pushes(Generic[Context]):
    """Finds the pushes whose tuples a train takes.

    >>> pushes = Pushes()
    >>> pushes.note(1, 4, "cars", "first"), pushes.note(5, 9, "vans", "second")
    (None, None)
    >>> pushes.within(0, 9, {"cars", "vans"}), pushes.within(0, 9, {"vans"}), pushes.within(4, 5, {"vans"})
    (['first', 'second'], ['second'], [])
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: list[_Known[Context]] = []

    def note(self, first: int, end: int, name: str, context: Context) -> None:
        """Remember the tuples of an input with the numbers from `first` up to `end`."""
        with self._lock:
            # Several threads push, so they may come out of turn by a little.
            bisect.insort(self._known, _Known(first, end, name, context), key=_end)
            if len(self._known) > KEPT_MOST:
                del self._known[: KEPT_MOST // 2]

    def within(self, begin: int, end: int, inputs: Container[str], most: int = 100) -> list[Context]:
        """The pushes to some inputs with a tuple from one number up to another, the newest ones if many."""
        with self._lock:
            from_ = bisect.bisect_right(self._known, begin, key=_end)
            upto = bisect.bisect_left(self._known, end, key=_first)
            found = [each.context for each in self._known[from_:upto] if each.input in inputs]
        return found[-most:]


def _end(known: _Known[Context]) -> int:
    return known.end


def _first(known: _Known[Context]) -> int:
    return known.first
