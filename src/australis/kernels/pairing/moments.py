"""Moments: the common sequence of the tuples of both ports, and when one side passes a tuple of the other.

Both batches are taken at once, yet everything is emitted as if their tuples had come one by one: by cause,
for one cause those of the left port first.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from australis.kernels.arrays import Indexes, Mask, Numbers, arrange, first_beyond
from australis.kernels.ordering import Passed

BEFORE = -1
"""The moment of what was there before the batches."""
NONE: Indexes = np.empty(0, np.int64)
NEVER = np.iinfo(np.int64).max
"""The moment of what has not happened yet."""


@dataclass(frozen=True)
class Moments:
    """The moment at which each new tuple arrives, and each mark rises: its place in the common sequence."""

    by_port: tuple[Indexes, Indexes]
    causes: Indexes
    """The cause of what happens at each moment."""
    marks: tuple[Indexes, Indexes]
    """The moments at which the marks of each port rise."""

    def all(self, port: int, kept: int) -> Indexes:
        """The moments of all tuples of a port: of those kept from before, then of the new ones."""
        return np.concatenate([np.full(kept, BEFORE), self.by_port[port]])


def moments(
    left: Indexes, right: Indexes, left_marks: Indexes = NONE, right_marks: Indexes = NONE
) -> Moments:
    """The common sequence of two batches, and the marks of their arcs, with these causes, each ascending.

    Marks come after the tuples with their cause; those of both ports with one cause come at once.

    >>> found = moments(np.array([0, 3, 3]), np.array([1, 3]), np.array([1, 3]))
    >>> [each.tolist() for each in found.by_port], found.marks[0].tolist(), found.causes.tolist()
    ([[0, 3, 4], [1, 5]], [2, 6], [0, 1, 1, 3, 3, 3, 3])
    """
    risen = np.union1d(left_marks, right_marks)
    lefts = np.arange(len(left)) + np.searchsorted(right, left) + np.searchsorted(risen, left)
    rights = (
        np.arange(len(right)) + np.searchsorted(left, right, side="right") + np.searchsorted(risen, right)
    )
    rises = np.arange(len(risen)) + np.searchsorted(left, risen, side="right")
    rises += np.searchsorted(right, risen, side="right")
    causes = np.empty(len(left) + len(right) + len(risen), np.int64)
    causes[lefts], causes[rights], causes[rises] = left, right, risen
    marks = (rises[np.searchsorted(risen, left_marks)], rises[np.searchsorted(risen, right_marks)])
    return Moments((lefts, rights), causes, marks)


def in_sequence_of(moments: Indexes, values: Numbers, count: int) -> Indexes:
    """The rows whose moment, of `count`, has come: by moment, then by value, then by row."""
    rows: Indexes = arrange(np.where(moments == NEVER, BEFORE, moments), values, count)[1]
    return rows


@dataclass(frozen=True)
class Moves:
    """The moves of what a side has passed: the group that moves, the new value, and the moment."""

    groups: Indexes
    values: Numbers
    moments: Indexes


def passed_by(mark: int | float | None, dtype: np.dtype[Any]) -> Passed:
    """What a mark has passed, for all groups."""
    return Passed(np.array([0 if mark is None else mark], dtype), np.array([mark is None]))


@dataclass(frozen=True)
class Waiting:
    """Tuples of a side for which it matters what the other side has passed."""

    values: Numbers
    arrived: Indexes
    """The moment of arrival."""
    groups: Indexes
    """The group of the other side that decides; a number of no group if it is unknown."""
    lost: Mask
    """The tuples that can have no partner, whatever comes."""


def passing(waiting: Waiting, before: Passed, moves: Moves, size: int | float) -> Indexes:
    """The moment from which each tuple has been passed by more than `size`, at the earliest its own arrival.

    `before` is what the other side had passed for each tuple before the batches.
    """
    count = int(moves.groups.max(initial=-1)) + 1
    starts, layout = arrange(moves.groups, moves.values, count)
    distance = moves.values.dtype.type(size)
    places = first_beyond(waiting.groups, waiting.values, starts, moves.values[layout], distance)
    known = (waiting.groups >= 0) & (waiting.groups < count)
    ends = starts[np.where(known, waiting.groups + 1, 0)]
    found = known & (places < ends)
    passed = np.full(len(places), NEVER)
    passed[found] = moves.moments[layout[places[found]]]
    passed[waiting.lost | (~before.open & (before.values - waiting.values > size))] = BEFORE
    return np.maximum(passed, waiting.arrived)
