"""Windows that overlap, laid as ranges: a released row is looked at once, however many windows contain it.

The rows that a group releases in an event are one run. Its values ascend, so every window has a range of the
run: it begins with the row that opened the window, or at the start of the run if the window was open before,
and ends with the row that closes it. No pair of a window and a row is ever made.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from australis.kernels.arrays import Indexes, Mask
from australis.kernels.compiled import njit
from australis.kernels.windows.windows import Groups, Laid, Releases, Slots, Steps, begin, last_number, link

STILL_OPEN = -1
"""The end of a range that ends with its run."""


class Runs(NamedTuple):
    """For each slot the range of its group's run, and the slots that were closed, as in `Pairs`."""

    low: Indexes
    high: Indexes
    closed: Indexes
    closer: Indexes
    tail: Indexes
    """For each group the last slot of its chain, -1 for none."""
    length: Indexes
    """For each group how many rows of its run have been laid."""


@njit(nogil=True)
def ascends(released: Releases, tail: Indexes, slots: Slots) -> bool:
    """Whether no row of a group is before another that was released earlier, or before an open window."""
    least = np.empty(tail.shape[0], released.value.dtype)
    known: Mask = np.zeros(tail.shape[0], np.bool_)
    for group in range(tail.shape[0]):
        if tail[group] >= 0:
            least[group], known[group] = slots.start[tail[group]], True
    for release in range(released.row.shape[0]):
        owner, value = np.uint64(released.group[release]), released.value[release]
        if known[owner] and value < least[owner]:
            return False
        least[owner], known[owner] = value, True
    return True


@njit(nogil=True)
def lay_runs(
    steps: Steps, widest: int, released: Releases, groups: Groups, slots: Slots, count: int, found: Runs
) -> Laid:
    """Lay released rows, as `lay_steps` does, but note ranges; none of the windows has timed out."""
    closed = ignored = 0
    for release in range(released.row.shape[0]):
        if count + widest > found.low.shape[0]:
            return Laid(release, 0, count, closed, ignored)
        row, group, value = released.row[release], released.group[release], released.value[release]
        at = found.length[np.uint64(group)]
        closed = _close(group, value, release, at, groups, slots, found, closed)
        found.length[np.uint64(group)] += 1
        if value >= groups.until[np.uint64(group)]:
            if not groups.begun[group]:
                begin(group, row, steps.origin if steps.aligned else value, groups)
            if value < groups.first_start[group] and not steps.aligned:
                ignored += 1
                continue
            count = _open(steps, group, value, at, groups, slots, count, found)
        if steps.lead:
            closed = _close(group, value + steps.lead, release, at + 1, groups, slots, found, closed)
    return Laid(released.row.shape[0], 0, count, closed, ignored)


@njit(nogil=True)
def _close(
    group: int,
    value: int | float,
    release: int,
    at: int,
    groups: Groups,
    slots: Slots,
    found: Runs,
    closed: int,
) -> int:
    """Remove the windows that end at or before a value from the front of their chain."""
    slot = groups.head[np.uint64(group)]
    while slot >= 0 and slots.end[np.uint64(slot)] <= value:
        found.closed[closed], found.closer[closed] = slot, release
        found.high[np.uint64(slot)] = at
        closed += 1
        slot = slots.following[np.uint64(slot)]
        groups.head[np.uint64(group)] = slot
        if slot < 0:
            found.tail[np.uint64(group)] = -1
    return closed


@njit(nogil=True)
def _open(
    steps: Steps,
    group: int,
    value: int | float,
    at: int,
    groups: Groups,
    slots: Slots,
    count: int,
    found: Runs,
) -> int:
    """Add the windows that contain a value and begin after the last one to the end of the chain."""
    first, tail = groups.first_start[group], found.tail[group]
    if tail >= 0:
        # The last window still contains the value, so that all between have been opened.
        number = slots.number[np.uint64(tail)] + 1
    else:
        ended = last_number(value, first, steps.rest, steps.advance, steps.least_number + steps.whole)
        number = ended - steps.whole + 1
    start = first + number * steps.advance
    while start <= value:
        end = first + (number + steps.whole) * steps.advance + steps.rest
        tail = link(group, number, start, end, tail, -1, groups, slots, count)
        found.low[np.uint64(tail)], found.high[np.uint64(tail)] = at, STILL_OPEN
        count += 1
        number += 1
        start = first + number * steps.advance
    found.tail[group] = tail
    groups.until[group] = start
    return count
