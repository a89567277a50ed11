"""Windows: which of them a released tuple closes, opens and belongs to (Aurora 5.2.2.2).

In: released rows in order. Out: pairs (slot, row), one for each window that a row belongs to, and the slots
that were closed, each with the release that closed it. A slot is a window that this event has touched;
windows that were already open come first. The open windows of a group are a chain of slots by their starts.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from australis.kernels.arrays import Indexes, Mask, Numbers
from australis.kernels.compiled import njit


class Releases(NamedTuple):
    """Released rows in order: the row, its group and its order value."""

    row: Indexes
    group: Indexes
    value: Numbers


class Flags(NamedTuple):
    """What else is known of each row."""

    opens: Mask
    """Whether `advance_when` holds; empty with a numeric advance."""
    taken: Mask
    """Whether a window that timed out has already emitted the row while it waited; empty without a timeout.
    """


class Groups(NamedTuple):
    """What is known of each group."""

    head: Indexes
    """The first slot of its chain, -1 for none."""
    first_start: Numbers
    begun: Mask
    """Whether it has a first start."""
    first_row: Indexes
    """The row whose value became the first start in this event, -1 for none."""
    first_known: Indexes
    """The local time at which the tuple whose value is the first start arrived; arbitrary without a timeout.
    """
    until: Numbers
    """No window starts between the last reached one of the chain and this value, exclusive."""


class Slots(NamedTuple):
    """What is known of each window that is open, or was during this event."""

    group: Indexes
    number: Indexes
    """Its k, in first start + k * advance; 0 with `advance_when` and for sessions."""
    start: Numbers
    end: Numbers
    timed_out: Mask
    following: Indexes
    """The next slot of its chain, -1 for none."""


class Pairs(NamedTuple):
    """What a pass finds: pairs (slot, row), and closed slots with the release that closed each."""

    slot: Indexes
    row: Indexes
    closed: Indexes
    closer: Indexes


class Laid(NamedTuple):
    """How far a pass got before it ran out of room, and how much it found."""

    releases: int
    pairs: int
    slots: int
    closed: int
    ignored: int


class Steps(NamedTuple):
    """The windows of a numeric advance."""

    size: int | float
    advance: int | float
    whole: int
    """Whole advances in the size: window k ends `rest` after the start of window k + `whole`."""
    rest: int | float
    aligned: bool
    origin: int | float
    """Where window 0 starts if they are aligned."""
    least_number: int
    """The number of the first possible window."""
    lead: int
    """1 if a window is closed by its last value, as with `Tup#`, else 0."""
    widest: int
    """The most windows that a value can be in."""


class Openings(NamedTuple):
    """The windows of `advance_when`."""

    size: int | float
    lead: int
    """As in `Steps`."""


class Sessions(NamedTuple):
    """The windows that last until a gap of a size."""

    size: int | float


@njit(nogil=True)
def lay_steps(
    steps: Steps,
    widest: int,
    released: Releases,
    flags: Flags,
    groups: Groups,
    slots: Slots,
    count: int,
    found: Pairs,
) -> Laid:
    """Add released rows to windows at first start + k * advance, each to at most `widest` of them.

    The first `count` slots are already taken.
    """
    pairs = closed = ignored = 0
    for release in range(released.row.shape[0]):
        if pairs + widest > found.slot.shape[0]:
            return Laid(release, pairs, count, closed, ignored)
        row, group, value = released.row[release], released.group[release], released.value[release]
        closed = _close(group, value, release, groups, slots, found, closed)
        if value >= groups.until[np.uint64(group)]:
            if not groups.begun[group]:
                begin(group, row, steps.origin if steps.aligned else value, groups)
            if value < groups.first_start[group] and not steps.aligned:
                ignored += 1
                continue
            count = _open_steps(steps, group, value, groups, slots, count)
        before = pairs
        pairs, lies_in = _add(group, row, value, groups, slots, found, pairs)
        if lies_in and pairs == before and not flags.taken[row]:
            ignored += 1
        if steps.lead:
            closed = _close(group, value + steps.lead, release, groups, slots, found, closed)
    return Laid(released.row.shape[0], pairs, count, closed, ignored)


@njit(nogil=True)
def lay_openings(
    openings: Openings,
    released: Releases,
    flags: Flags,
    groups: Groups,
    slots: Slots,
    count: int,
    found: Pairs,
) -> Laid:
    """Add released rows to windows that open at a group's first row and where `opens` holds."""
    pairs = closed = ignored = 0
    for release in range(released.row.shape[0]):
        row, group, value = released.row[release], released.group[release], released.value[release]
        if pairs + _length(group, groups, slots) >= found.slot.shape[0]:
            return Laid(release, pairs, count, closed, ignored)
        closed = _close(group, value, release, groups, slots, found, closed)
        opens = flags.opens[row] or not groups.begun[group]
        if not groups.begun[group]:
            begin(group, row, value, groups)
        if value < groups.first_start[group]:
            ignored += 1
            continue
        if opens and value < value + openings.size:
            count = _open_at(value, value + openings.size, group, groups, slots, count)
        before = pairs
        pairs, lies_in = _add(group, row, value, groups, slots, found, pairs)
        if lies_in and pairs == before and not flags.taken[row]:
            ignored += 1
        if openings.lead:
            closed = _close(group, value + openings.lead, release, groups, slots, found, closed)
    return Laid(released.row.shape[0], pairs, count, closed, ignored)


@njit(nogil=True)
def lay_sessions(
    sessions: Sessions,
    released: Releases,
    flags: Flags,
    groups: Groups,
    slots: Slots,
    count: int,
    found: Pairs,
) -> Laid:
    """Add released rows to sessions: each makes those that contain it last a gap longer, or begins one.

    A row is in at most one session that has not timed out, as a session begins only outside of all others.
    """
    pairs = closed = ignored = 0
    for release in range(released.row.shape[0]):
        if pairs == found.slot.shape[0]:
            return Laid(release, pairs, count, closed, ignored)
        row, group, value = released.row[release], released.group[release], released.value[release]
        end = value + sessions.size
        closed = _close(group, value, release, groups, slots, found, closed)
        holder = -1
        slot = groups.head[np.uint64(group)]
        lies_in = slot >= 0 and slots.start[np.uint64(slot)] <= value
        while slot >= 0 and slots.start[np.uint64(slot)] <= value:
            slots.end[np.uint64(slot)] = end
            if not slots.timed_out[np.uint64(slot)]:
                holder = slot
            slot = slots.following[np.uint64(slot)]
        if not lies_in:
            holder = count
            count = _open_at(value, end, group, groups, slots, count)
        if holder >= 0:
            found.slot[np.uint64(pairs)] = holder
            found.row[np.uint64(pairs)] = row
            pairs += 1
        elif not flags.taken[row]:
            ignored += 1
    return Laid(released.row.shape[0], pairs, count, closed, ignored)


@njit(nogil=True)
def begin(group: int, row: int, first_start: int | float, groups: Groups) -> None:
    """Give a group its first start."""
    groups.begun[group] = True
    groups.first_start[group] = first_start
    groups.first_row[group] = row


@njit(nogil=True)
def _close(
    group: int,
    value: int | float,
    release: int,
    groups: Groups,
    slots: Slots,
    found: Pairs,
    closed: int,
) -> int:
    """Remove the windows that end at or before a value from the front of their chain."""
    slot = groups.head[np.uint64(group)]
    while slot >= 0 and slots.end[np.uint64(slot)] <= value:
        found.closed[closed] = slot
        found.closer[closed] = release
        closed += 1
        slot = slots.following[slot]
        groups.head[group] = slot
    return closed


@njit(nogil=True)
def _add(
    group: int, row: int, value: int | float, groups: Groups, slots: Slots, found: Pairs, pairs: int
) -> tuple[int, bool]:
    """Pair a row with the windows of the chain that contain it, except those that have timed out."""
    slot = groups.head[np.uint64(group)]
    lies_in = False
    while slot >= 0 and slots.start[np.uint64(slot)] <= value:
        lies_in = True
        if not slots.timed_out[np.uint64(slot)]:
            found.slot[np.uint64(pairs)] = slot
            found.row[np.uint64(pairs)] = row
            pairs += 1
        slot = slots.following[np.uint64(slot)]
    return pairs, lies_in


@njit(nogil=True)
def _length(group: int, groups: Groups, slots: Slots) -> int:
    """The number of windows in a chain."""
    length = 0
    slot = groups.head[group]
    while slot >= 0:
        length += 1
        slot = slots.following[slot]
    return length


@njit(nogil=True)
def _open_steps(
    steps: Steps, group: int, value: int | float, groups: Groups, slots: Slots, count: int
) -> int:
    """Add all windows that contain a value to the chain, unless they are already in it."""
    first = groups.first_start[group]
    last = last_number(value, first, 0, steps.advance, steps.least_number)
    ended = last_number(value, first, steps.rest, steps.advance, steps.least_number + steps.whole)
    number = ended - steps.whole + 1
    before, slot = -1, groups.head[group]
    while number <= last:
        if slot < 0 or slots.number[slot] > number:
            start = first + number * steps.advance
            end = first + (number + steps.whole) * steps.advance + steps.rest
            slot = link(group, number, start, end, before, slot, groups, slots, count)
            count += 1
        before, slot = slot, slots.following[slot]
        number += 1
    groups.until[group] = first + (last + 1) * steps.advance
    return count


@njit(nogil=True)
def _open_at(
    start: int | float, end: int | float, group: int, groups: Groups, slots: Slots, count: int
) -> int:
    """Add a window to the chain, unless it has one with this start."""
    before, slot = -1, groups.head[group]
    while slot >= 0 and slots.start[slot] <= start:
        before, slot = slot, slots.following[slot]
    if before >= 0 and slots.start[before] == start:
        return count
    link(group, 0, start, end, before, slot, groups, slots, count)
    return count + 1


@njit(nogil=True)
def link(
    group: int,
    number: int,
    start: int | float,
    end: int | float,
    before: int,
    after: int,
    groups: Groups,
    slots: Slots,
    slot: int,
) -> int:
    """Make a window in a new slot, between two of its chain."""
    slots.group[slot] = group
    slots.number[slot] = number
    slots.start[slot] = start
    slots.end[slot] = end
    slots.timed_out[slot] = False
    slots.following[slot] = after
    if before < 0:
        groups.head[group] = slot
    else:
        slots.following[before] = slot
    return slot


@njit(nogil=True)
def last_number(
    value: int | float, first: int | float, rest: int | float, advance: int | float, least: int
) -> int:
    """The greatest k with first + k * advance + rest <= value, or `least` - 1 if that is less.

    With doubles the quotient is only an estimate, since it is rounded differently from the starts.
    """
    quotient = (value - first - rest) // advance
    if quotient < least - 2:
        return least - 1
    number = np.int64(quotient)
    while first + number * advance + rest > value:
        number -= 1
    while first + (number + 1) * advance + rest <= value:
        number += 1
    return int(max(number, np.int64(least - 1)))
