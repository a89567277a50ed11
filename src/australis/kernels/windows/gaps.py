"""Empty windows: those that lie between two tuples of a group, or between its last tuple and a mark.

A window is empty if it starts after one tuple of its group and ends at or before the next. So the numbers of
the empty windows that a release closes are one range.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from australis.algebra.boxes import EMPTY_MOST
from australis.kernels.arrays import Indexes, Mask, Numbers, column, grown, numbers
from australis.kernels.compiled import njit
from australis.kernels.expressions import arrow
from australis.kernels.windows.local_clock import LocalClock
from australis.kernels.windows.windows import Steps, last_number

LAST, LAST_TS, NEXT = "#last", "#last_ts", "#next"
FIELDS = [(LAST, pa.int64()), (LAST_TS, pa.int64()), (NEXT, pa.int64())]
NONE = -(2**63)
"""The number of a window before the first tuple of a group."""


@dataclass(frozen=True)
class Tails:
    """What is known of the end of each group: its last tuple, and how far empty windows were emitted."""

    last: Indexes
    """The number of the last window that starts at or before its last tuple, NONE without a tuple."""
    ts: Indexes
    """The ts of that tuple."""
    next: Indexes
    """The number of the first window that has not been closed."""

    def columns(self) -> list[pa.Array]:
        """The columns for the state."""
        return [arrow(values, pa.int64()) for values in (self.last, self.ts, self.next)]


@dataclass(frozen=True)
class EmptyWindows:
    """Windows without tuples that were closed: where they lie, the ts of the tuple before, their closer."""

    group: Indexes
    number: Indexes
    oldest: Indexes
    releases: Indexes
    """The release that closed each, -1 for a mark."""

    def only(self, kept: Indexes) -> EmptyWindows:
        """Some of them."""
        return EmptyWindows(self.group[kept], self.number[kept], self.oldest[kept], self.releases[kept])


def tails_of(groups: pa.Table, count: int) -> Tails:
    """The tails of a state's groups, and of new ones up to `count`."""
    last, ts, following = (numbers(column(groups, name)).copy() for name, _ in FIELDS)
    return Tails(grown(last, count, NONE), grown(ts, count, 0), grown(following, count, NONE))


def closed_between(
    steps: Steps, tails: Tails, group: Indexes, value: Numbers, ts: Indexes, first_starts: Numbers
) -> tuple[EmptyWindows, Tails]:
    """The empty windows that releases close, in their order, and the tails after them."""
    after = replace(tails, last=tails.last.copy(), ts=tails.ts.copy(), next=tails.next.copy())
    found = np.empty((3, len(group)), np.int64)
    _between(steps, group, value, ts, first_starts, after.last, after.ts, after.next, found)
    return _ranges(group, found[0], found[1], found[2], np.arange(len(group))), after


def closed_by_mark(
    steps: Steps, tails: Tails, marks: Numbers, first_starts: Numbers, concerned: Mask
) -> tuple[EmptyWindows, Tails]:
    """The empty windows of some groups that end at or before the mark of each, and the tails after it."""
    groups = np.flatnonzero((tails.last != NONE) & concerned)
    ends = _ended(steps, marks[groups], first_starts[groups])
    low = np.maximum(tails.last[groups] + 1, tails.next[groups])
    high = np.minimum(ends, tails.last[groups] + EMPTY_MOST)
    following = tails.next.copy()
    following[groups] = np.maximum(following[groups], ends + 1)
    found = _ranges(groups, low, high, tails.ts[groups], np.full(len(groups), -1))
    return found, replace(tails, next=following)


def following(steps: Steps, tails: Tails, first_starts: Numbers) -> tuple[Indexes, Numbers]:
    """The groups that will emit an empty window if no tuple comes, and the end of the first of these."""
    groups = np.flatnonzero(tails.last != NONE)
    number = np.maximum(tails.last[groups] + 1, tails.next[groups])
    is_left = number <= tails.last[groups] + EMPTY_MOST
    groups, number = groups[is_left], number[is_left]
    return groups, first_starts[groups] + (number + steps.whole) * steps.advance + steps.rest


def _ranges(group: Indexes, low: Indexes, high: Indexes, ts: Indexes, release: Indexes) -> EmptyWindows:
    """All numbers from low to high, inclusive, of each range."""
    counts = np.maximum(high - low + 1, 0)
    owner = np.repeat(np.arange(len(group)), counts)
    number = np.arange(len(owner)) - np.repeat(np.cumsum(counts) - counts, counts) + low[owner]
    return EmptyWindows(group[owner], number, ts[owner], release[owner])


def existing(steps: Steps, found: EmptyWindows, first_starts: Numbers, clock: LocalClock) -> EmptyWindows:
    """Those that have instants: clocks may skip a whole window."""
    start, end = extents(steps, found, first_starts)
    return found.only(np.flatnonzero(clock.instants(start) < clock.instants(end)))


def extents(steps: Steps, found: EmptyWindows, first_starts: Numbers) -> tuple[Numbers, Numbers]:
    """The starts and ends of empty windows."""
    first = first_starts[found.group]
    start = first + found.number * steps.advance
    return start, first + (found.number + steps.whole) * steps.advance + steps.rest


@njit(nogil=True)
def _between(
    steps: Steps,
    group: Indexes,
    value: Numbers,
    ts: Indexes,
    first_starts: Numbers,
    last: Indexes,
    last_ts: Indexes,
    following: Indexes,
    found: Indexes,
) -> None:
    """For each release the first and last number of the empty windows that it closes, and their ts."""
    for release in range(group.shape[0]):
        owner, first = group[release], first_starts[group[release]]
        least = steps.least_number + steps.whole
        ended = last_number(value[release], first, steps.rest, steps.advance, least) - steps.whole
        found[0, release], found[1, release] = 0, -1
        if last[owner] != NONE:
            found[0, release] = max(last[owner] + 1, following[owner])
            found[1, release] = min(ended, last[owner] + EMPTY_MOST)
        found[2, release] = last_ts[owner]
        last[owner] = last_number(value[release], first, 0, steps.advance, steps.least_number)
        last_ts[owner] = ts[release]
        following[owner] = max(following[owner], ended + 1)


@njit(nogil=True)
def _ended(steps: Steps, marks: Numbers, first_starts: Numbers) -> Indexes:
    """The number of the last window that ends at or before each mark."""
    found = np.empty(marks.shape[0], np.int64)
    for at in range(marks.shape[0]):
        least = steps.least_number + steps.whole
        found[at] = last_number(marks[at], first_starts[at], steps.rest, steps.advance, least) - steps.whole
    return found
