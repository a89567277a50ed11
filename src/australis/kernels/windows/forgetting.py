"""Forgetting: which groups of windows begin anew, and which need not be remembered any more.

By progress, a group begins anew at a tuple that comes more than a length after the one before. Such a stretch
of a group is an era. During an event, each era is a group of its own, so nothing else has to know of them.
Without progress, a group is forgotten when no tuple of it has come for some local time.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from australis.kernels.arrays import Indexes, Mask, Numbers, column, frozen, grown, numbers, with_numbers
from australis.kernels.compiled import njit
from australis.kernels.expressions import arrow, nulls, truths
from australis.kernels.kernel import State
from australis.kernels.windows.layout import (
    FIRST_START,
    GROUP,
    LAST_ARRIVED,
    LAST_VALUE,
    TIMED_OUT,
    Layout,
)
from australis.kernels.windows.local_clock import LocalClock
from australis.kernels.windows.timeouts import running_groups
from australis.kernels.windows.windows import Releases, Steps, last_number

_NO_STEPS = Steps(0, 0, 0, 0, False, 0, 0, 0, 0)
"""For windows that end at most a size after a tuple that they contain: groups are not forgotten before."""


@dataclass(frozen=True)
class Eras:
    """Released rows by eras. An era is numbered as its group if that had it before, else after all groups."""

    releases: Releases
    owner: Indexes
    """The group of each era."""
    latest: Indexes
    """The last era of each group."""
    last: Numbers
    """The last released value of each era."""
    known: Mask
    """Whether it has one."""

    @property
    def count(self) -> int:
        """The number of eras."""
        return len(self.owner)

    @property
    def over(self) -> Mask:
        """Which eras another one has followed."""
        found: Mask = np.ones(self.count, np.bool_)
        found[self.latest] = False
        return found

    def renumbered(self, rows: pa.Table) -> pa.Table:
        """Rows of groups as rows of their last eras."""
        if self.count == len(self.latest):
            return rows
        return with_numbers(rows, GROUP, self.latest[numbers(column(rows, GROUP))])

    def column(self, number_type: pa.DataType) -> pa.Array:
        """The last values for the state."""
        return arrow(self.last, number_type, ~self.known)


def no_eras(count: int, released: Releases) -> Eras:
    """Groups that never begin anew."""
    every = np.arange(count)
    return Eras(released, every, every, every, np.ones(count, np.bool_))


def eras_of(layout: Layout, groups: pa.Table, count: int, released: Releases) -> Eras:
    """The eras of the groups of a state, and of new ones up to `count`, after some rows are released."""
    assert layout.forget is not None, "only what is forgotten has eras"
    stored = column(groups, LAST_VALUE)
    missing, room = nulls(stored), count + len(released.row)
    known = np.ones(len(stored), np.bool_) if missing is None else ~missing
    known, last = grown(known, room, False).copy(), grown(numbers(stored), room).copy()
    first = grown(numbers(column(groups, FIRST_START)), room).copy()
    owner, latest = np.arange(room), np.arange(count)
    places, reached = released.value, last.copy()
    if layout.clock is not None:
        places, reached = layout.clock.readings(places), layout.clock.readings(last)
    steps = layout.windows if isinstance(layout.windows, Steps) else _NO_STEPS
    given = np.empty(len(released.row), np.int64)
    eras = (owner, latest, first, last, reached, known, given)
    found = _split(steps, layout.forget, released.group, released.value, places, count, *eras)
    return Eras(released._replace(group=frozen(given)), owner[:found], latest, last[:found], known[:found])


@njit(nogil=True)
def _split(
    steps: Steps,
    forget: int | float,
    group: Indexes,
    value: Numbers,
    place: Numbers,
    count: int,
    owner: Indexes,
    latest: Indexes,
    first: Numbers,
    last: Numbers,
    reached: Numbers,
    known: Mask,
    given: Indexes,
) -> int:
    """Give each release its era; returns how many eras there are. `reached` is where the last values lie."""
    for release in range(group.shape[0]):
        era = latest[group[release]]
        is_after = known[era] and value[release] > last[era] + forget
        if is_after and (steps.advance == 0 or place[release] >= _last_end(steps, first[era], reached[era])):
            era = count
            count += 1
            owner[era] = group[release]
            latest[group[release]] = era
            known[era] = False
        if not known[era]:
            known[era] = True
            first[era] = steps.origin if steps.aligned else place[release]
        last[era] = value[release]
        reached[era] = place[release]
        given[release] = era
    return count


@njit(nogil=True)
def _last_end(steps: Steps, first: int | float, place: int | float) -> int | float:
    """The end of the last window that starts at or before a place."""
    number = last_number(place, first, 0, steps.advance, steps.least_number)
    return first + (number + steps.whole) * steps.advance + steps.rest


def last_values(groups: pa.Table, forget: int | float, clock: LocalClock | None = None) -> Numbers:
    """The values after which the groups of a state may be forgotten; arbitrary where nothing was released."""
    return known_until(numbers(column(groups, LAST_VALUE)), forget, clock)


def known_until(last: Numbers, forget: int | float, clock: LocalClock | None) -> Numbers:
    """Where the values lie after which groups with these last values may be forgotten."""
    found: Numbers = last + np.array(forget, last.dtype)
    return found if clock is None else clock.readings(found)


def quiet_groups(layout: Layout, state: State, now: Indexes | int) -> Mask:
    """Which groups are forgotten at a local time, perhaps one for each: no tuple has come for long.

    A group of which something is still to be emitted is not.
    """
    groups = state["groups"]
    if layout.forget_us is None or not groups.num_rows:
        return np.zeros(groups.num_rows, np.bool_)
    quiet: Mask = numbers(column(groups, LAST_ARRIVED)) < now - layout.forget_us
    windows = state["windows"]
    quiet[numbers(column(windows, GROUP))[~truths(column(windows, TIMED_OUT))]] = False
    if quiet[numbers(column(state["waiting"], GROUP))].any():
        quiet &= ~running_groups(layout, state)
    return quiet
