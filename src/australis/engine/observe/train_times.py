"""How long trains take and how often they fail, counted since the node started."""

from __future__ import annotations

import threading
from bisect import bisect_left

EDGES_S = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0)
"""The ends of the buckets."""


class TrainTimes:
    """Trains by superbox; any thread may add to it and read it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counts: dict[str, list[int]] = {}
        self._sums_s: dict[str, float] = {}
        self._failures: dict[str, int] = {}

    def note(self, superbox: str, seconds: float) -> None:
        """Count a train that is committed."""
        with self._lock:
            counts = self._counts.setdefault(superbox, [0] * (len(EDGES_S) + 1))
            counts[bisect_left(EDGES_S, seconds)] += 1
            self._sums_s[superbox] = self._sums_s.get(superbox, 0.0) + seconds

    def note_failure(self, superbox: str) -> None:
        """Count a train that failed for good, which stops its superbox."""
        with self._lock:
            self._failures[superbox] = self._failures.get(superbox, 0) + 1

    @property
    def times(self) -> dict[str, tuple[list[tuple[str, float]], float]]:
        """By superbox the numbers of trains up to each edge, and the sum of their seconds."""
        with self._lock:
            return {name: (_cumulative(counts), self._sums_s[name]) for name, counts in self._counts.items()}

    @property
    def failures(self) -> dict[str, int]:
        """By superbox the trains that failed for good."""
        with self._lock:
            return dict(self._failures)


def _cumulative(counts: list[int]) -> list[tuple[str, float]]:
    """The numbers of trains up to each edge, and of all.

    >>> _cumulative([1, 2, *[0] * 13])[:2], _cumulative([1, 2, *[0] * 13])[-1]
    ([('0.005', 1.0), ('0.01', 3.0)], ('+Inf', 3.0))
    """
    found, total = [], 0
    for edge, count in zip((*map(str, EDGES_S), "+Inf"), counts, strict=True):
        total += count
        found.append((edge, float(total)))
    return found
