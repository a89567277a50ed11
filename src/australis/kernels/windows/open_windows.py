"""The windows that are open during one event: their identity, when they began, what they have accumulated."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from australis.kernels.arrays import (
    Indexes,
    Mask,
    Numbers,
    by_slot,
    column,
    frozen,
    grown,
    joined,
    lower_to_least,
    numbers,
)
from australis.kernels.expressions import arrow, nulls, truths
from australis.kernels.functions import Ranges, least_places, opened, stored_types
from australis.kernels.ordering import sort_keys
from australis.kernels.windows.gaps import EmptyWindows, extents
from australis.kernels.windows.layout import (
    ARRIVED,
    BEGAN,
    END,
    FIRST_KNOWN,
    FIRST_START,
    GROUP,
    NUMBER,
    OLDEST,
    OPENS,
    START,
    TAKEN,
    TIMED_OUT,
    VALUE,
    Layout,
)
from australis.kernels.windows.sliding import STILL_OPEN, Runs, ascends, lay_runs
from australis.kernels.windows.windows import (
    Flags,
    Groups,
    Laid,
    Openings,
    Pairs,
    Releases,
    Sessions,
    Slots,
    Steps,
    lay_openings,
    lay_sessions,
    lay_steps,
)

PAIRS_MOST = 1 << 22
"""Pairs of a window and a row that are processed at once, which bounds memory."""
OVERLAP_LEAST = 16
"""Windows that a value may be in from which on they are laid as ranges."""
WIDE_LEAST = 1 << 12
"""If a value may be in this many windows, it is worth computing how many it can be in."""
NEVER = 2**63 - 1
"""Later than any time: the oldest ts and the begin of a window without tuples."""
_NO_FLAGS = np.empty(0, np.bool_)


@dataclass(frozen=True)
class Chunk:
    """What was processed at once."""

    releases: int
    """How many of the released rows were added to windows."""
    slots: Indexes
    rows: Indexes
    closed: Indexes
    """The slots that were closed, including those that have timed out."""
    closers: Indexes
    """For each of them, the release that closed it."""
    ignored: int


@dataclass(frozen=True)
class WindowResults:
    """Closed windows: group, start, end, oldest ts, functions' results, the release that closed each."""

    group: Indexes
    start: Numbers
    end: Numbers
    oldest: Indexes
    values: list[pa.Array]
    releases: Indexes

    def taken(self, order: Indexes) -> WindowResults:
        """Some of the results, in some order."""
        values = [array.take(pa.array(order)) for array in self.values]
        group, start, end = self.group[order], self.start[order], self.end[order]
        return WindowResults(group, start, end, self.oldest[order], values, self.releases[order])


def joined_results(parts: Sequence[WindowResults]) -> WindowResults:
    """Results, concatenated."""
    if len(parts) == 1:
        return parts[0]
    values = [joined(*arrays) for arrays in zip(*(part.values for part in parts), strict=True)]
    group, start, end, oldest, releases = (
        np.concatenate(arrays)
        for arrays in zip(*((p.group, p.start, p.end, p.oldest, p.releases) for p in parts), strict=True)
    )
    return WindowResults(group, start, end, oldest, values, releases)


def groups_of(groups: pa.Table, count: int) -> Groups:
    """The groups of a state, and new ones up to `count`, before their windows are chained."""
    stored = column(groups, FIRST_START)
    missing = nulls(stored)
    begun = np.ones(len(stored), np.bool_) if missing is None else ~missing
    first_start = grown(numbers(stored).copy(), count)
    nothing = -(2**63) if first_start.dtype == np.int64 else -np.inf
    return Groups(
        head=np.full(count, -1, np.int64),
        first_start=first_start,
        begun=grown(begun, count, False),
        first_row=np.full(count, -1, np.int64),
        first_known=grown(numbers(column(groups, FIRST_KNOWN)).copy(), count),
        until=np.full(count, nothing, first_start.dtype),
    )


def group_marks(groups: Groups, settled: Mask, number_type: pa.DataType) -> list[pa.Array]:
    """The first starts of groups for the state, and when they became known; NULL where unknown."""
    first_start = arrow(groups.first_start, number_type, ~settled)
    return [first_start, arrow(groups.first_known, pa.int64(), ~settled)]


class OpenWindows:
    """The open windows of an event, and the rows added to them: first those that waited."""

    def __init__(self, layout: Layout, windows: pa.Table, rows: pa.Table, groups: Groups) -> None:
        self._layout = layout
        self.groups = groups
        self._flags = _flags(rows)
        self._ts = numbers(column(rows, OLDEST))
        self._arrived = None if layout.timeout is None else numbers(column(rows, ARRIVED))
        self.count = windows.num_rows
        self.slots = _slots(windows, layout.windows, groups)
        self.oldest = numbers(column(windows, OLDEST)).copy()
        self.began = numbers(column(windows, BEGAN)).copy()
        self._accumulators = [
            opened(call, layout.stored(windows, index), layout.arguments(rows, call))
            for index, call in enumerate(layout.calls)
        ]
        self._chain()

    def run(self, released: Releases) -> tuple[WindowResults, int]:
        """Add released rows and remove the windows that close; returns their results and the rows ignored."""
        parts: list[WindowResults] = []
        laid = ignored = 0
        while not parts or laid < len(released.row):
            chunk = self.lay(rest_of(released, laid))
            lives = self.lives(chunk.closed)
            parts.append(self.results(chunk.closed[lives], chunk.closers[lives] + laid))
            self.keep(self.all_but(chunk.closed))
            laid, ignored = laid + chunk.releases, ignored + chunk.ignored
        return joined_results(parts), ignored

    def close_up_to(self, mark: int | float) -> WindowResults:
        """Remove the windows of all groups that end at or before a mark; returns their results."""
        due = np.flatnonzero(self.slots.end[: self.count] <= mark)
        alive = due[self.lives(due)]
        results = self.results(alive, np.full(len(alive), -1))
        self.keep(self.all_but(due))
        return results

    def empty(self, found: EmptyWindows) -> WindowResults:
        """What windows without tuples emit."""
        steps = self._layout.windows
        assert isinstance(steps, Steps), "only windows with an advance can be empty"
        kinds = (np.int64, np.int64, self.slots.start.dtype)
        self.lay(Releases(*(frozen(np.empty(0, kind)) for kind in kinds)), blanks=1)
        blank = np.full(len(found.group), self.count - 1)
        values = [accumulator.finish(blank) for accumulator in self._accumulators]
        self.keep(np.arange(self.count - 1))
        start, end = extents(steps, found, self.groups.first_start)
        return WindowResults(found.group, start, end, found.oldest, values, found.releases)

    def lay(self, released: Releases, blanks: int = 0) -> Chunk:
        """Add as many released rows to windows as there is room for, and accumulate them.

        The windows that this opens are followed by `blanks` more, without tuples.
        """
        if not blanks and self._slides(released):
            return self._lay_runs(released)
        found, laid = self._pass(released)
        slots, rows = found.slot[: laid.pairs], found.row[: laid.pairs]
        self.count = laid.slots + blanks
        self.oldest, self.began = (grown(times, self.count, NEVER) for times in (self.oldest, self.began))
        lower_to_least(self.oldest, slots, rows, self._ts)
        if self._arrived is not None:
            self._note_begin(slots, rows, self._arrived)
        for accumulator in self._accumulators:
            accumulator.add(slots, rows, self.count)
        closed, closers = found.closed[: laid.closed], found.closer[: laid.closed]
        return Chunk(laid.releases, slots, rows, closed, closers, laid.ignored)

    def _slides(self, released: Releases) -> bool:
        """Whether windows can be laid as ranges, and overlap so much that this pays."""
        windows = self._layout.windows
        return (
            isinstance(windows, Steps)
            and windows.widest >= OVERLAP_LEAST
            and self._layout.timeout is None
            and len(released.row) > 0
            and bool(ascends(self._read(released), self._tails(), self.slots))
        )

    def _read(self, released: Releases) -> Releases:
        """Releases with the values along which windows lie."""
        clock = self._layout.clock
        return released if clock is None else released._replace(value=frozen(clock.readings(released.value)))

    def _tails(self) -> Indexes:
        """The last slot of each group's chain, -1 for none; they lie by group and start."""
        tails, group = np.full(len(self.groups.head), -1), self.slots.group[: self.count]
        tails[group] = np.arange(self.count)
        return tails

    def _lay_runs(self, released: Releases) -> Chunk:
        """Lay released rows as ranges, and accumulate these."""
        released = self._read(released)
        steps, widest = self._layout.windows, self._widest(released)
        assert isinstance(steps, Steps), "only windows with an advance are laid so"
        room = self.count + max(min(len(released.row) * widest, PAIRS_MOST), widest)
        self.slots = _each(self.slots, lambda values: _with_room(values, self.count, room))
        known, groups = self.count, len(self.groups.head)
        runs = Runs(
            low=_with_room(np.zeros(known, np.int64), known, room),
            high=_with_room(np.full(known, STILL_OPEN), known, room),
            closed=np.empty(room, np.int64),
            closer=np.empty(room, np.int64),
            tail=self._tails(),
            length=np.zeros(groups, np.int64),
        )
        laid = lay_runs(steps, widest, released, self.groups, self.slots, known, runs)
        self.count = laid.slots
        self.oldest, self.began = (grown(times, self.count, NEVER) for times in (self.oldest, self.began))
        ranges = self._ranges(runs, released.group[: laid.releases], released.row[: laid.releases])
        self._lower_oldest(ranges)
        for accumulator in self._accumulators:
            accumulator.add_ranges(ranges, self.count)
        closed, closers = runs.closed[: laid.closed], runs.closer[: laid.closed]
        return Chunk(laid.releases, ranges.slots, ranges.rows, closed, closers, laid.ignored)

    def _ranges(self, runs: Runs, groups: Indexes, rows: Indexes) -> Ranges:
        """The windows that rows were added to, with their ranges of the rows laid out by group."""
        order, starts = by_slot(groups, len(self.groups.head))
        owners, low, high = self.slots.group[: self.count], runs.low[: self.count], runs.high[: self.count]
        high = np.where(high == STILL_OPEN, runs.length[owners], high)
        slots = np.flatnonzero(low < high)
        slots = slots[by_slot(owners[slots], len(self.groups.head))[0]]
        begins = starts[owners[slots]]
        return Ranges(rows[order], slots, begins + low[slots], begins + high[slots])

    def _lower_oldest(self, ranges: Ranges) -> None:
        """Note the oldest ts of the rows that were added."""
        ts = self._ts[ranges.rows]
        places = least_places(ranges.lows, ranges.highs, ts, np.ones(len(ts), np.bool_))
        self.oldest[ranges.slots] = np.minimum(self.oldest[ranges.slots], ts[places])

    def _note_begin(self, slots: Indexes, rows: Indexes, arrived: Indexes) -> None:
        """Record when the windows of some pairs began, and when first starts became known."""
        if isinstance(self._layout.windows, Steps):
            lower_to_least(self.began, slots, rows, arrived)
        else:
            # Another window begins with the tuple that opened it, which is the first of its pairs.
            new = self.began[slots] == NEVER
            self.began[slots[new][::-1]] = arrived[rows[new][::-1]]
        first_row = self.groups.first_row
        began = np.flatnonzero(first_row >= 0)
        self.groups.first_known[began] = arrived[first_row[began]]

    def begin(self, slots: Indexes) -> Indexes:
        """When the computation of some windows began: not before the tuple that gives their start arrived."""
        windows, began = self._layout.windows, self.began[slots]
        if not isinstance(windows, Steps) or windows.aligned:
            return began
        return np.maximum(began, self.groups.first_known[self.slots.group[slots]])

    def _pass(self, released: Releases) -> tuple[Pairs, Laid]:
        windows, released = self._layout.windows, self._read(released)
        widest = self._widest(released)
        room = max(min(len(released.row) * widest, PAIRS_MOST), widest)
        self.slots = _each(self.slots, lambda values: _with_room(values, self.count, self.count + room))
        found = Pairs(*(np.empty(length, np.int64) for length in (room, room, *[self.count + room] * 2)))
        where = (released, self._flags, self.groups, self.slots, self.count, found)
        if isinstance(windows, Steps):
            return found, lay_steps(windows, widest, *where)
        if isinstance(windows, Sessions):
            return found, lay_sessions(windows, *where)
        return found, lay_openings(windows, *where)

    def _widest(self, released: Releases) -> int:
        """The most windows that any of the released rows is in."""
        windows = self._layout.windows
        if isinstance(windows, Sessions):
            return 1
        if isinstance(windows, Openings):
            return self.count + len(released.row) + 1
        if windows.widest < WIDE_LEAST or windows.aligned or not len(released.row):
            return windows.widest
        values, first_starts = released.value, self.groups.first_start[self.groups.begun]
        first = min(values.min(), first_starts.min(initial=values[0]))
        return min(windows.widest, int((values.max() - first) / windows.advance) + 2)

    def lives(self, slots: Indexes) -> Mask:
        """Which of some windows have not timed out."""
        living: Mask = ~self.slots.timed_out[slots]
        return living

    def results(self, slots: Indexes, releases: Indexes) -> WindowResults:
        """What some windows emit."""
        values = [accumulator.finish(slots) for accumulator in self._accumulators]
        group, start, end = (each[slots] for each in (self.slots.group, self.slots.start, self.slots.end))
        return WindowResults(group, start, end, self.oldest[slots], values, releases)

    def all_but(self, closed: Indexes) -> Indexes:
        """The slots of the windows that are still open, by group and start."""
        still = np.ones(self.count, np.bool_)
        still[closed] = False
        slots = np.flatnonzero(still)
        # Windows of a group are nearly always opened by their start.
        laid = slots[by_slot(self.slots.group[slots], len(self.groups.head))[0]]
        group, start = self.slots.group[laid], self.slots.start[laid]
        if not ((group[1:] == group[:-1]) & (start[1:] < start[:-1])).any():
            return laid
        return slots[np.lexsort((self.slots.start[slots], self.slots.group[slots]))]

    def keep(self, slots: Indexes) -> None:
        """Remove all other windows; `slots` are by group and start."""
        self.slots = _each(self.slots, lambda values: values[slots])
        self.oldest, self.began, self.count = self.oldest[slots], self.began[slots], len(slots)
        for accumulator in self._accumulators:
            accumulator.keep(slots)
        self._chain()

    def _chain(self) -> None:
        """Chain the windows of each group; they lie by group and start."""
        group, following = self.slots.group[: self.count], self.slots.following
        self.groups.head[:] = -1
        firsts = np.flatnonzero(np.diff(group, prepend=-1))
        self.groups.head[group[firsts]] = firsts
        following[: self.count] = np.arange(1, self.count + 1)
        following[firsts[1:] - 1] = -1
        following[self.count - 1 : self.count] = -1

    def accumulated(self, slots: Indexes) -> dict[str, pa.Array]:
        """The columns for the state with what some windows have accumulated; all others are removed."""
        names = self._layout.windows_schema.names[-sum(len(stored_types(c)) for c in self._layout.calls) :]
        for accumulator in self._accumulators:
            accumulator.keep(slots)
        columns = [array for accumulator in self._accumulators for array in accumulator.stored()]
        return dict(zip(names, columns, strict=True))

    def table(self) -> pa.Table:
        """The windows for the state, by group and start."""
        slots = self.slots
        known = [slots.group, slots.number, slots.start, self.oldest, self.began, slots.timed_out]
        if isinstance(self._layout.windows, Sessions):
            known.append(slots.end)
        types = self._layout.windows_schema.types
        columns = [arrow(values[: self.count], kind) for values, kind in zip(known, types, strict=False)]
        columns += [array for accumulator in self._accumulators for array in accumulator.stored()]
        return pa.Table.from_arrays(columns, schema=self._layout.windows_schema)


def blank_window(layout: Layout, rows: pa.Table, groups: Groups) -> pa.Table:
    """A table of one window without tuples; its group is arbitrary."""
    windows = OpenWindows(layout, layout.windows_schema.empty_table(), rows, groups)
    windows.lay(in_order(rows.slice(0, 0)), blanks=1)
    return windows.table()


def in_order(rows: pa.Table) -> Releases:
    """All rows of a table, as if they were released now: by order value, ties by arrival."""
    values = numbers(column(rows, VALUE))
    order = np.argsort(sort_keys(values), kind="stable")
    return Releases(frozen(order), frozen(numbers(column(rows, GROUP))[order]), frozen(values[order]))


def rest_of(released: Releases, count: int) -> Releases:
    """What was released after the first `count`."""
    return Releases(*(values[count:] for values in released))


def _flags(rows: pa.Table) -> Flags:
    present = (
        truths(column(rows, name)) if name in rows.column_names else _NO_FLAGS for name in (OPENS, TAKEN)
    )
    return Flags(*map(frozen, present))


def _each(slots: Slots, change: Callable[[Numbers], Numbers]) -> Slots:
    return Slots(*map(change, slots))


def _slots(windows: pa.Table, laid: Steps | Openings | Sessions, groups: Groups) -> Slots:
    group, number, start = (numbers(column(windows, name)) for name in (GROUP, NUMBER, START))
    if isinstance(laid, Steps):
        end = groups.first_start[group] + (number + laid.whole) * laid.advance + laid.rest
    elif isinstance(laid, Sessions):
        end = numbers(column(windows, END))
    else:
        end = start + laid.size
    return Slots(group, number, start, end, truths(column(windows, TIMED_OUT)), np.empty_like(group))


def _with_room(values: Numbers, used: int, room: int) -> Numbers:
    """A copy with room for more values; the room is not touched, so only the used part takes memory."""
    copy = np.empty(room, values.dtype)
    copy[:used] = values[:used]
    return copy
