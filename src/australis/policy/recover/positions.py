"""Arrays of sequence numbers: how far each path through the network has come (section 6.2).

A tuple has the number of the source tuple that caused it, and the path that it took: what a server produces
again from its inputs has the same path and number, in whatever order tuples of different paths arrive.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

Positions = Mapping[str, int]
"""The last number of each path; 0 for a missing path."""


def farthest(first: Positions, second: Positions) -> dict[str, int]:
    """The farther of two positions on each path: knowledge only grows.

    >>> farthest({"a": 3, "b": 1}, {"b": 2})
    {'a': 3, 'b': 2}
    """
    found = dict(first)
    for path, number in second.items():
        if number > found.get(path, 0):
            found[path] = number
    return found


def nearest(positions: Iterable[Positions]) -> dict[str, int]:
    """The nearest position on each path: the minimum that flow messages carry.

    >>> nearest([{"a": 3, "b": 1}, {"a": 2, "c": 5}])
    {'a': 2, 'b': 1, 'c': 5}
    """
    found: dict[str, int] = {}
    for each in positions:
        for path, number in each.items():
            found[path] = min(number, found.get(path, number))
    return found


def within(positions: Positions, bounds: Positions) -> bool:
    """Whether positions are within bounds on every path.

    >>> within({"a": 3}, {"a": 3, "b": 1}), within({"a": 3}, {"b": 9})
    (True, False)
    """
    return all(number <= bounds.get(path, 0) for path, number in positions.items())
