"""Fairness: how alike outputs are served, whatever their weights (beyond the papers, as in THEMIS)."""

from __future__ import annotations

from collections.abc import Iterable


def jain(parts: Iterable[float]) -> float | None:
    """Jain's index of what outputs have of their best utility: 1 if all have alike, 1 / n if one has all.

    None if none has anything.

    >>> jain([0.5, 0.5]), jain([1, 0, 0, 0]), jain([0, 0])
    (1.0, 0.25, None)
    """
    found = list(parts)
    squares = sum(each * each for each in found)
    return sum(found) ** 2 / (len(found) * squares) if squares else None
