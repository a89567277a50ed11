"""Windows as ranges of sequences, so that windows that overlap keep the values they share only once.

All windows of a group that are open at a time contain its last tuple, and each contains every tuple since its
first one: they are ends of one sequence. A function that needs the values of a window until it closes keeps
the sequence, and for each window only where it begins and ends in it.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from australis.algebra.expr import WindowCall
from australis.kernels.arrays import Indexes, Mask, by_slot, grown, joined, numbers
from australis.kernels.compiled import njit
from australis.kernels.expressions import arrow
from australis.kernels.functions.accumulator import Accumulator, Ranges

NO_SEQUENCE = -1


@dataclass(frozen=True)
class Spans:
    """For each slot its sequence, or -1 while it has no values, and where it begins and ends there."""

    sequence: Indexes
    begin: Indexes
    end: Indexes

    def take(self, slots: Indexes) -> Spans:
        return Spans(self.sequence[slots], self.begin[slots], self.end[slots])

    def grown(self, count: int) -> Spans:
        """A copy with room for windows without values."""
        return Spans(*(grown(part.copy(), count, NO_SEQUENCE) for part in vars(self).values()))


@dataclass(frozen=True)
class Entries:
    """The rows of all sequences; those of one sequence are in order, at the places 0, 1, ... of it."""

    sequence: Indexes
    row: Indexes
    lengths: Indexes
    """The number of rows of each sequence."""

    def laid_out(self) -> tuple[Indexes, Indexes]:
        """The rows by sequence, and where each sequence starts."""
        order, starts = by_slot(self.sequence, len(self.lengths))
        return self.row[order], starts


class Sequenced(Accumulator):
    """An accumulation of values that windows share; rows name values of a pool, those of the state first."""

    pool: pa.Array
    loaded: int
    spans: Spans
    entries: Entries

    @classmethod
    def value_type(cls, call: WindowCall) -> pa.DataType:
        """The type of the values that are kept."""
        return call.args[0].type.arrow

    @classmethod
    def stored_types(cls, call: WindowCall) -> tuple[pa.DataType, ...]:
        """For each window the values that the next window of its sequence lacks, and how many both have."""
        return (pa.list_(cls.value_type(call)), pa.int64())

    def values(self) -> pa.Array:
        """What is kept of the rows that will be added."""
        return self.args[0]

    def load(self, stored: Sequence[pa.Array]) -> None:
        own, shared = stored[0].value_lengths().to_numpy(zero_copy_only=False), numbers(stored[1])
        kept = stored[0].flatten()
        self.pool, self.loaded = joined(kept, self.values()), len(kept)
        sequence, begin, lengths = _joined_up(own.astype(np.int64), shared)
        end = np.where(sequence >= 0, lengths[sequence] if len(lengths) else 0, NO_SEQUENCE)
        self.spans = Spans(sequence, begin, end)
        owners = np.repeat(sequence, own)
        self.entries = Entries(owners, np.arange(self.loaded), lengths)

    def add(self, slots: Indexes, rows: Indexes, count: int) -> None:
        slots, rows = self.without_nulls(slots, rows)
        if not self._append(slots, rows, count, shares=True):
            self._separate()
            self._append(slots, rows, count, shares=False)

    def add_ranges(self, ranges: Ranges, count: int) -> None:
        found = ranges if self._present is None else ranges.only(self._present[ranges.rows])
        known = len(self.entries.lengths)
        spans = self.spans.grown(count)
        lengths = grown(self.entries.lengths.copy(), known + len(found.slots))
        owners = np.full(len(found.rows), NO_SEQUENCE)
        parts = (spans.sequence, spans.begin, spans.end, lengths, known)
        known, fits = _append_ranges(*parts, found.slots, found.lows, found.highs, owners)
        if not fits:
            super().add_ranges(ranges, count)
            return
        used = owners >= 0
        sequence = np.concatenate([self.entries.sequence, owners[used]])
        row = np.concatenate([self.entries.row, found.rows[used] + self.loaded])
        self.spans, self.entries = spans, Entries(sequence, row, lengths[:known].copy())

    def _append(self, slots: Indexes, rows: Indexes, count: int, *, shares: bool) -> bool:
        """Add rows to windows; changes nothing and returns False if windows would not stay ranges."""
        known = len(self.entries.lengths)
        spans, lengths = self.spans.grown(count), grown(self.entries.lengths.copy(), known + count)
        owners, added = np.empty(len(slots), np.int64), np.empty(len(slots), np.int64)
        parts = (spans.sequence, spans.begin, spans.end, lengths)
        known, size, fits = _append(*parts, known, slots, rows, owners, added, shares)
        if fits:
            sequence = np.concatenate([self.entries.sequence, owners[:size]])
            row = np.concatenate([self.entries.row, added[:size] + self.loaded])
            self.spans, self.entries = spans, Entries(sequence, row, lengths[:known].copy())
        return bool(fits)

    def _separate(self) -> None:
        """Give every window a sequence of its own, for windows that are not the ends of one."""
        rows, lows, highs = self.ranges(np.arange(len(self.spans.sequence)))
        lengths = highs - lows
        owners = np.repeat(np.arange(len(lengths)), lengths)
        within = np.arange(len(owners)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        own = np.where(lengths > 0, np.arange(len(lengths)), NO_SEQUENCE)
        self.spans = Spans(own, np.zeros_like(own), lengths)
        self.entries = Entries(owners, rows[np.repeat(lows, lengths) + within], lengths)

    def ranges(self, slots: Indexes) -> tuple[Indexes, Indexes, Indexes]:
        """The rows of all sequences, and the range of them that each of some windows is."""
        rows, starts = self.entries.laid_out()
        spans = self.spans.take(slots)
        begins = np.where(spans.sequence >= 0, starts[spans.sequence], 0)
        lows = np.where(spans.sequence >= 0, begins + spans.begin, 0)
        return rows, lows, np.where(spans.sequence >= 0, begins + spans.end, 0)

    def finish(self, slots: Indexes) -> pa.Array:
        rows, lows, highs = self.ranges(slots)
        return self.results(rows, lows, highs)

    @abstractmethod
    def results(self, rows: Indexes, lows: Indexes, highs: Indexes) -> pa.Array:
        """The results of windows, each a range of `rows`; it is empty for a window without values."""

    def keep(self, slots: Indexes) -> None:
        self.spans = self.spans.take(slots)
        is_open = self.spans.sequence >= 0
        if (self.spans.end[is_open] != self.entries.lengths[self.spans.sequence[is_open]]).any():
            self._separate()
        self._drop(self._unused())
        self.compact()

    def _unused(self) -> Mask:
        """Which of the rows, laid out by sequence, no window contains."""
        rows, lows, highs = self.ranges(np.arange(len(self.spans.sequence)))
        changes = np.bincount(lows, minlength=len(rows) + 1) - np.bincount(highs, minlength=len(rows) + 1)
        unused: Mask = np.cumsum(changes)[: len(rows)] == 0
        return unused

    def compact(self) -> None:
        """Drop rows that make no difference to the windows, all of which are open."""

    def _drop(self, dropped: Mask) -> None:
        """Remove some of the rows, which are laid out by sequence."""
        rows, starts = self.entries.laid_out()
        before = np.concatenate([[0], np.cumsum(~dropped)])
        kept = before[starts]
        lengths = np.diff(kept)
        owners = np.repeat(np.arange(len(lengths)), lengths)
        self.entries = Entries(owners, rows[~dropped], lengths)
        sequence = self.spans.sequence
        origin = np.where(sequence >= 0, starts[sequence], 0)
        base = np.where(sequence >= 0, kept[sequence], 0)
        begin, end = (
            np.where(sequence >= 0, before[origin + np.maximum(place, 0)] - base, NO_SEQUENCE)
            for place in (self.spans.begin, self.spans.end)
        )
        self.spans = replace(self.spans, begin=begin, end=end)

    def stored(self) -> list[pa.Array]:
        rows, lengths, shared = self.own_rows()
        starts = np.concatenate([[0], np.cumsum(lengths)])
        lists = pa.ListArray.from_arrays(pa.array(starts, pa.int32()), self.pool.take(pa.array(rows)))
        return [lists, arrow(shared, pa.int64())]

    def own_rows(self) -> tuple[Indexes, Indexes, Indexes]:
        """The rows that each window has and the next one lacks, their number, and how many both have."""
        rows, lows, highs = self.ranges(np.arange(len(self.spans.sequence)))
        ends = _own_ends(self.spans.sequence, lows, highs)
        lengths = ends - lows
        within = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        return rows[np.repeat(lows, lengths) + within], lengths, highs - ends


@njit(nogil=True)
def _append(
    sequence: Indexes,
    begin: Indexes,
    end: Indexes,
    lengths: Indexes,
    known: int,
    slots: Indexes,
    rows: Indexes,
    owners: Indexes,
    added: Indexes,
    shares: bool,
) -> tuple[int, int, bool]:
    """Add rows to windows, pair by pair.

    With `shares`, a row that several windows take in turn is added only once. Returns how many sequences and
    new entries there are, and whether all windows are still ranges.
    """
    size = 0
    current, place, row_before = -1, -1, -1
    for pair in range(slots.shape[0]):
        slot, row = np.uint64(slots[pair]), rows[pair]
        follows = sequence[slot] == current or (shares and sequence[slot] < 0)
        if row != row_before or not follows:
            current = sequence[slot]
            if current < 0:
                current = known
                lengths[current] = 0
                known += 1
            place, row_before = lengths[current], row
            lengths[current] += 1
            owners[size], added[size] = current, row
            size += 1
        if sequence[slot] < 0:
            sequence[slot] = current
            begin[slot] = end[slot] = place
        if end[slot] != place:
            return known, size, False
        end[slot] = place + 1
    return known, size, True


@njit(nogil=True)
def _append_ranges(
    sequence: Indexes,
    begin: Indexes,
    end: Indexes,
    lengths: Indexes,
    known: int,
    slots: Indexes,
    lows: Indexes,
    highs: Indexes,
    owners: Indexes,
) -> tuple[int, bool]:
    """Add ranges of rows to windows, and note the sequence of each row; ranges that overlap share one.

    Returns how many sequences there are, and whether all windows are still ranges.
    """
    current, base, run, past = -1, 0, 0, 0
    for window in range(slots.shape[0]):
        slot, low, high = slots[window], lows[window], highs[window]
        if low >= past:
            current = sequence[slot]
            if current < 0:
                current = known
                lengths[current] = 0
                known += 1
            base, run, past = lengths[current] - low, low, low
        if sequence[slot] < 0:
            sequence[slot], begin[slot] = current, base + low
        elif sequence[slot] != current or low != run or end[slot] != base + low:
            return known, False
        end[slot] = base + high
        while past < high:
            owners[past] = current
            lengths[current] += 1
            past += 1
    return known, True


@njit(nogil=True)
def _joined_up(own: Indexes, shared: Indexes) -> tuple[Indexes, Indexes, Indexes]:
    """The sequence of each window of a state, where it begins there, and the lengths of the sequences.

    A window that shares values continues with the next window that has any.
    """
    sequence, begin = np.full(own.shape[0], -1), np.full(own.shape[0], -1)
    lengths = np.zeros(own.shape[0], np.int64)
    current, continues = -1, False
    for slot in range(own.shape[0]):
        if own[slot] + shared[slot] == 0:
            continue
        if not continues:
            current += 1
        sequence[slot], begin[slot] = current, lengths[current]
        lengths[current] += own[slot]
        continues = shared[slot] > 0
    return sequence, begin, lengths[: current + 1]


@njit(nogil=True)
def _own_ends(sequence: Indexes, lows: Indexes, highs: Indexes) -> Indexes:
    """Where the values end that each window does not share with the next window of its sequence."""
    ends = highs.copy()
    following = -1
    for slot in range(len(sequence) - 1, -1, -1):
        if sequence[slot] < 0:
            continue
        if following >= 0 and sequence[following] == sequence[slot] and lows[following] >= lows[slot]:
            ends[slot] = lows[following]
        following = slot
    return ends
