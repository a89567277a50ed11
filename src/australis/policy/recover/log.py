"""The output queue of an arc: tuples are kept until they are safe elsewhere (section 6.2)."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from heapq import merge
from typing import Any, NamedTuple

from australis.policy.recover.positions import Positions


class Kept(NamedTuple):
    """A tuple in a queue, in the order of sending."""

    serial: int
    path: str
    number: int
    value: Any


class OutputLog:
    """What was sent along an arc, and may be needed again.

    >>> log = OutputLog()
    >>> for number in (1, 2, 3):
    ...     log.append("p", number, "value")
    >>> log.truncate({"p": 2})
    1
    >>> [kept.number for kept in log]
    [3]
    """

    def __init__(self) -> None:
        self._paths: dict[str, deque[Kept]] = {}
        self._serial = 0
        self._length = 0

    def __len__(self) -> int:
        return self._length

    def __iter__(self) -> Iterator[Kept]:
        """In the order of sending."""
        return merge(*self._paths.values())

    def append(self, path: str, number: int, value: Any) -> None:
        """Keep a tuple."""
        self._serial += 1
        self._length += 1
        kept = self._paths.get(path)
        if kept is None:
            kept = self._paths[path] = deque()
        kept.append(Kept(self._serial, path, number, value))

    def truncate(self, safe: Positions) -> int:
        """Discard what is safe elsewhere; returns how many are left."""
        for path, number in safe.items():
            kept = self._paths.get(path)
            while kept and kept[0].number <= number:
                kept.popleft()
                self._length -= 1
        return self._length
