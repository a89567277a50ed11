"""The values that were used last, so many at most."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Generic, TypeVar

Kept = TypeVar("Kept")


class Latest(Generic[Kept]):
    """Values by name; the least recently used are forgotten.

    Threads may share it: at worst, two of them make the same value.

    >>> latest = Latest[str](most=2)
    >>> [latest.get(name, name.upper) for name in ("a", "b", "a", "c")], list(latest)
    (['A', 'B', 'A', 'C'], ['a', 'c'])
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._values: dict[str, Kept] = {}

    def __iter__(self) -> Iterator[str]:
        return iter(list(self._values))

    def get(self, name: str, make: Callable[[], Kept]) -> Kept:
        """The value of a name, made if it is not there; it is now the one that was used last."""
        value = self._values.pop(name, None)
        if value is None:
            value = make()
        self._values[name] = value
        if len(self._values) > self._most:
            for oldest in list(self._values)[: -self._most]:
                self._values.pop(oldest, None)
        return value

    def clear(self) -> None:
        """Forget all values."""
        self._values.clear()
