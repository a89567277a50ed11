"""A cache of decoded tables and states in the memory of a worker, within a budget."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar

Kept = TypeVar("Kept")

DEFAULT_BUDGET = 256 << 20


@dataclass
class _Entry(Generic[Kept]):
    value: Kept
    bytes: int
    priority: float
    used: int


class Cache(Generic[Kept]):
    """Values by name; beyond the budget, the lowest priority is evicted first, then the least recently used.

    >>> cache = Cache[str](budget=10)
    >>> for name, priority in (("a", 1.0), ("b", 0.0), ("c", 2.0)):
    ...     _ = cache.get(name, lambda: name.upper(), lambda value: 4, priority)
    >>> sorted(cache)
    ['a', 'c']
    """

    def __init__(self, budget: int = DEFAULT_BUDGET) -> None:
        self.budget = budget
        self.hits = self.misses = 0
        self._entries: dict[str, _Entry[Kept]] = {}
        self._bytes = 0
        self._turn = 0

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def get(
        self, name: str, make: Callable[[], Kept], size: Callable[[Kept], int], priority: float = 0.0
    ) -> Kept:
        """The value of a name, made if it is not cached."""
        self._turn += 1
        entry = self._entries.get(name)
        if entry is not None:
            self.hits += 1
            entry.used, entry.priority = self._turn, priority
            return entry.value
        self.misses += 1
        value = make()
        self.put(name, value, size(value), priority)
        return value

    def put(self, name: str, value: Kept, bytes_: int, priority: float = 0.0) -> None:
        """Keep a value, unless it alone exceeds the budget."""
        self.drop(name)
        if bytes_ > self.budget:
            return
        self._turn += 1
        self._entries[name] = _Entry(value, bytes_, priority, self._turn)
        self._bytes += bytes_
        while self._bytes > self.budget:
            self.drop(min(self._entries, key=self._rank))

    def drop(self, name: str) -> None:
        """Forget a value."""
        entry = self._entries.pop(name, None)
        self._bytes -= entry.bytes if entry else 0

    def clear(self) -> None:
        """Forget all values."""
        self._entries.clear()
        self._bytes = 0

    def _rank(self, name: str) -> tuple[float, int]:
        return self._entries[name].priority, self._entries[name].used
