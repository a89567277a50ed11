"""Registered window functions: `Agg(init, incr, final)`, run per tuple, and those over Arrow arrays."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from australis.algebra.expr import WindowCall
from australis.algebra.user_functions import ArrowAggregate, UserAggregate, plain, user_aggregate
from australis.errors import KernelError, Problem
from australis.kernels.arrays import Indexes
from australis.kernels.functions.accumulator import Accumulator, Ranges


def user_accumulator(call: WindowCall) -> type[Accumulator]:
    """The class that accumulates a call of a registered aggregate."""
    return ArrowAccumulator if isinstance(user_aggregate(call.function), ArrowAggregate) else UserAccumulator


class UserAccumulator(Accumulator):
    """The states of an aggregate of Python values: the only Python that runs for each tuple.

    The state of the kernel stores them as JSON texts, or in the Arrow type that the aggregate declares.
    """

    states: list[Any]

    def __init__(self, call: WindowCall, args: Sequence[pa.Array]) -> None:
        super().__init__(call, args)
        self._aggregate = _per_tuple(call)
        self._columns = [plain(array) for array in args]

    @staticmethod
    def stored_types(call: WindowCall) -> tuple[pa.DataType, ...]:
        return (_per_tuple(call).state or pa.string(),)

    def load(self, stored: Sequence[pa.Array]) -> None:
        values = stored[0].to_pylist()
        self.states = [json.loads(text) for text in values] if self._aggregate.state is None else values

    def add(self, slots: Indexes, rows: Indexes, count: int) -> None:
        self.states += [self._aggregate.begin() for _ in range(count - len(self.states))]
        for slot, row in zip(slots.tolist(), rows.tolist(), strict=True):
            values = [column[row] for column in self._columns]
            self.states[slot] = self._aggregate.add(self.states[slot], values)

    def add_ranges(self, ranges: Ranges, count: int) -> None:
        if self._aggregate.combine is None:
            super().add_ranges(ranges, count)
            return
        self.states += [self._aggregate.begin() for _ in range(count - len(self.states))]
        for slot, state in zip(ranges.slots.tolist(), self._slid(ranges), strict=True):
            self.states[slot] = self._aggregate.joined(self.states[slot], state)

    def _slid(self, ranges: Ranges) -> Iterator[Any]:
        """The state of each range alone, from two parts: up to a split, and what has come after it.

        When a range begins at the split, the states from each place to the last become the first part. So a
        row is combined at most twice, however many ranges contain it.
        """
        rows, first, rest = ranges.rows.tolist(), list[Any](), list[Any]()
        split = past = 0
        for low, high in zip(ranges.lows.tolist(), ranges.highs.tolist(), strict=True):
            if low >= past:
                split, past, first, rest = low, low, [], []
            for place in range(past, high):
                one = self._one(rows[place])
                rest = [self._aggregate.joined(rest[0], one)] if rest else [one]
            past = max(past, high)
            if low >= split:
                split, first, rest = past, self._suffixes(rows[low:past]), []
            state = first[split - 1 - low]
            yield self._aggregate.joined(state, rest[0]) if rest else state

    def _suffixes(self, rows: list[int]) -> list[Any]:
        """The states from each of some rows to the last of them; that of the first row comes last."""
        found: list[Any] = []
        for row in reversed(rows):
            found.append(self._aggregate.joined(self._one(row), found[-1]) if found else self._one(row))
        return found

    def _one(self, row: int) -> Any:
        """The state of a window with one row."""
        return self._aggregate.add(self._aggregate.begin(), [column[row] for column in self._columns])

    def finish(self, slots: Indexes) -> pa.Array:
        return self._aggregate.results(self.states[slot] for slot in slots.tolist())

    def keep(self, slots: Indexes) -> None:
        self.states = [self.states[slot] for slot in slots.tolist()]

    def stored(self) -> list[pa.Array]:
        kind = self._aggregate.state
        try:
            if kind is not None:
                return [pa.array(self.states, kind)]
            return [pa.array([_as_json(state) for state in self.states], pa.string())]
        except MemoryError:
            raise
        except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
            expected = "a state of JSON values, or `state=` with an Arrow type" if kind is None else str(kind)
            raise KernelError(
                Problem("", f"`{self.call.function}` made a bad state: {error}", expected)
            ) from error


def _per_tuple(call: WindowCall) -> UserAggregate:
    aggregate = user_aggregate(call.function)
    assert isinstance(aggregate, UserAggregate), "others have their own accumulator"
    return aggregate


class ArrowAccumulator(Accumulator):
    """The states of an aggregate over Arrow arrays: a batch with one row for each window."""

    states: pa.RecordBatch

    def __init__(self, call: WindowCall, args: Sequence[pa.Array]) -> None:
        super().__init__(call, args)
        self._aggregate = _over_arrow(call)

    @staticmethod
    def stored_types(call: WindowCall) -> tuple[pa.DataType, ...]:
        return tuple(_over_arrow(call).state.types)

    def load(self, stored: Sequence[pa.Array]) -> None:
        self.states = pa.RecordBatch.from_arrays(list(stored), schema=self._aggregate.state)

    def add(self, slots: Indexes, rows: Indexes, count: int) -> None:
        self._grow(count)
        if len(rows):
            self.states = self._aggregate.add(self.states, pa.array(slots), self._values(rows))

    def add_ranges(self, ranges: Ranges, count: int) -> None:
        if self._aggregate.combine is None:
            super().add_ranges(ranges, count)
            return
        self._grow(count)
        if len(ranges.slots):
            self.states = self._with_parts(self.states, ranges.slots, self._parts(ranges))

    def _grow(self, count: int) -> None:
        missing = count - self.states.num_rows
        if missing:
            self.states = pa.concat_batches([self.states, self._aggregate.begin(missing)])

    def _values(self, rows: Indexes) -> list[pa.Array]:
        taken = pa.array(rows)
        return [array.take(taken) for array in self.args]

    def _parts(self, ranges: Ranges) -> pa.RecordBatch:
        """The state of each range alone, from blocks of 1, 2, 4, ... rows, as the bits of its length say.

        Two blocks of a length make one of twice that length. Only blocks that a range contains are made, so
        that no state has rows of two groups.
        """
        places, left = np.arange(len(ranges.rows)), ranges.highs - ranges.lows
        last = np.searchsorted(ranges.lows, places, side="right") - 1
        reach = np.where(last < 0, 0, ranges.highs[last])
        places = places[places < reach]
        begun = self._aggregate.begin(len(places))
        blocks = self._aggregate.add(
            begun, pa.array(np.arange(len(places))), self._values(ranges.rows[places])
        )
        found, at, length = self._aggregate.begin(len(left)), ranges.lows.copy(), 1
        while True:
            odd = np.flatnonzero(left & length)
            if len(odd):
                found = self._with_parts(found, odd, _at(blocks, places, at[odd]))
                at[odd] += length
            places_next = places[places + 2 * length <= reach[places]]
            if not len(places_next):
                return found
            first, second = (_at(blocks, places, places_next + after) for after in (0, length))
            blocks, places, length = self._aggregate.joined(first, second), places_next, 2 * length

    def _with_parts(self, states: pa.RecordBatch, slots: Indexes, parts: pa.RecordBatch) -> pa.RecordBatch:
        """States of which some have got one more part each."""
        changed = self._aggregate.joined(states.take(pa.array(slots)), parts)
        rows = np.arange(states.num_rows)
        rows[slots] = np.arange(len(slots)) + states.num_rows
        return pa.concat_batches([states, changed]).take(pa.array(rows))

    def finish(self, slots: Indexes) -> pa.Array:
        return self._aggregate.results(self.states.take(pa.array(slots)))

    def keep(self, slots: Indexes) -> None:
        self.states = self.states.take(pa.array(slots))

    def stored(self) -> list[pa.Array]:
        return list(self.states.columns)


def _at(blocks: pa.RecordBatch, places: Indexes, wanted: Indexes) -> pa.RecordBatch:
    """The blocks that begin at some places, of those that begin at `places`, which ascend."""
    return blocks.take(pa.array(np.searchsorted(places, wanted)))


def _over_arrow(call: WindowCall) -> ArrowAggregate:
    aggregate = user_aggregate(call.function)
    assert isinstance(aggregate, ArrowAggregate), "others have their own accumulator"
    return aggregate


def _as_json(state: Any) -> str:
    """A state as JSON; raises TypeError for keys that would come back as other ones.

    >>> _as_json({"seen": [1, 2]})
    '{"seen": [1, 2]}'
    >>> _as_json({1: 0})
    Traceback (most recent call last):
    TypeError: the key 1 of a dictionary is not a text
    """
    _check_keys(state)
    return json.dumps(state)


def _check_keys(value: Any) -> None:
    if isinstance(value, dict):
        for key, each in value.items():
            if not isinstance(key, str):
                raise TypeError(f"the key {key!r} of a dictionary is not a text")
            _check_keys(each)
    elif isinstance(value, list | tuple):
        for each in value:
            _check_keys(each)
