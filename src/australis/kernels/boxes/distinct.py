"""Distinct, vectorised: one of the tuples that are equal and near each other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from australis.algebra.boxes import Distinct
from australis.algebra.schema import Schema
from australis.kernels.arrays import (
    Indexes,
    Mask,
    Numbered,
    Numbers,
    PortKeys,
    by_group,
    column,
    encode,
    numbers,
    rows_of,
)
from australis.kernels.compiled import njit
from australis.kernels.expressions import arrow
from australis.kernels.kernel import (
    CAUSE,
    NEVER_DUE,
    Due,
    Kernel,
    LocalTimes,
    State,
    Step,
    causes_of,
    empty_output,
)
from australis.kernels.marks import NO_MARKS, Marks
from australis.kernels.ordering import Side, in_time, late_tuples, place

KEY, VALUE = "#key", "#value"
KEYS, EMITTED = "keys", "emitted"


@dataclass(frozen=True)
class Taken:
    """The tuples of a batch that are in order, and the state of the order after them."""

    state: State
    batch: pa.Table
    values: Numbers
    causes: Indexes
    rejected: pa.Table | None
    late: int


class DistinctKernel(Kernel):
    """Remembers the order values at which it has emitted each key.

    The state: that of the order; `keys`, those that are remembered, by first arrival; `emitted`, the values
    of each by its number, ascending.
    """

    def __init__(self, box: Distinct, schemas: tuple[Schema, ...], timezone: str = "UTC") -> None:
        schema = schemas[0]
        self.output_schemas = box.output_schemas(schema)[:1]
        self._of, self._order = list(box.of), box.order
        _, self._within = box.bind(schema)
        self._side = Side("order", box.order, schema)
        self._names = schema.arrow_with_ts.names
        self._keys = pa.schema([pa.field(name, schema[name].type.arrow) for name in box.of])
        self._number = pa.from_numpy_dtype(self._side.values_dtype)
        self._no_arrivals = empty_output(schema)
        self.progress_on = {0: box.order.on} if box.order.by_progress else {}

    def start(self) -> State:
        emitted = pa.schema([pa.field(KEY, pa.int64()), pa.field(VALUE, self._number)])
        order = {} if self._order.by_progress else self._side.start()
        return {**order, KEYS: self._keys.empty_table(), EMITTED: emitted.empty_table()}

    # --- events

    def step(self, state: State, port: int, batch: pa.Table, now: int) -> Step:
        if not batch.num_rows:
            return Step(state, self.nothing())
        found = self._side.arrive(state, batch)
        after = {**state, **found.state}
        taken = Taken(after, found.batch, found.values, found.rows, found.rejected, found.late)
        step = self._emit(taken, None)
        return replace(step, late_tuples=found.late_tuples)

    def advance(
        self, state: State, batches: Mapping[int, pa.Table], now: LocalTimes, marks: Mapping[int, Marks]
    ) -> tuple[tuple[int, Step], ...]:
        risen = marks.get(0, NO_MARKS)
        came = place(batches.get(0, self._no_arrivals), self._order.on)
        placed, late = in_time(came, risen)
        causes = causes_of(placed.batch)
        taken = Taken(state, placed.batch, placed.values, causes, placed.rejected, len(late))
        step = self._emit(taken, risen.last)
        lates = late_tuples(came, late, causes_of(came.batch)) if self._order.late else None
        return ((0, replace(step, late_tuples=lates)),)

    def _emit(self, taken: Taken, mark: int | float | None) -> Step:
        keys, emitted = taken.state[KEYS], taken.state[EMITTED]
        found = encode(keys, keys.num_rows, taken.batch)
        known = np.bincount(numbers(column(emitted, KEY)), minlength=found.count)
        room = known + np.bincount(found.codes, minlength=found.count)
        begins = np.concatenate([[0], np.cumsum(room)])
        held = _laid_out(numbers(column(emitted, VALUE)), known, begins, self._side.values_dtype)
        counts = known.copy()
        is_new = _find_new(found.codes, taken.values, held, begins, counts, self._within)
        after = {**taken.state, **self._remembered(taken.state, found.keys, held, begins, counts, mark)}
        rows = np.flatnonzero(is_new)
        output = rows_of(taken.batch.select(self._names), rows)
        causes = pa.array(taken.causes[rows])
        output = output.append_column(pa.field(CAUSE, pa.int64(), False), causes)
        return Step(after, (output,), taken.rejected, taken.late)

    # --- what is remembered

    def _remembered(
        self,
        state: State,
        keys: pa.Table,
        held: Numbers,
        begins: Indexes,
        counts: Indexes,
        mark: int | float | None,
    ) -> State:
        """What may still make a later tuple a duplicate, and its keys."""
        codes = np.repeat(np.arange(len(counts)), counts)
        values = held[_members(begins, counts)]
        reachable = ~self._is_beyond(state, keys, codes, values, mark)
        codes, values = codes[reachable], values[reachable]
        used = np.bincount(codes, minlength=len(counts)) > 0
        if not used.all():
            keys, codes = rows_of(keys, np.flatnonzero(used)), (np.cumsum(used) - 1)[codes]
        emitted = pa.table({KEY: pa.array(codes, pa.int64()), VALUE: arrow(values, self._number)})
        return {KEYS: keys, EMITTED: emitted}

    def _is_beyond(
        self, state: State, keys: pa.Table, codes: Indexes, values: Numbers, mark: int | float | None
    ) -> Mask:
        """Which emitted values the order has passed by more than the length."""
        if self._order.by_progress:
            passed = np.full(len(values), 0 if mark is None else mark, values.dtype)
            return passed - values > self._within if mark is not None else np.zeros(len(values), np.bool_)
        side = self._side
        groups = encode(side.keys(state), side.count(state), keys).codes[codes]
        found = side.passed(state)
        beyond: Mask = ~found.open[groups] & (found.values[groups] - values > self._within)
        return beyond

    @property
    def separated_by(self) -> PortKeys:
        grouped = self._of if self._order.by_progress else self._order.group_by
        return (tuple(name for name in grouped if name in self._of),)

    def due(self, state: State) -> Due | None:
        """By progress, when all that is remembered of a key can be forgotten."""
        if not self._order.by_progress:
            return None
        emitted = state[EMITTED]
        marks = np.full(state[KEYS].num_rows, -np.inf)
        values = numbers(column(emitted, VALUE)).astype(np.float64) + float(self._within)
        np.maximum.at(marks, numbers(column(emitted, KEY)), values)
        return Due(marks, np.full(len(marks), NEVER_DUE), np.ones(len(marks), np.bool_))

    def kept_by(self, keys: PortKeys) -> tuple[Numbered, ...]:
        named = by_group(KEYS, self._of, keys[0], {EMITTED: KEY})
        return (named,) if self._order.by_progress else (self._side.kept_by(keys[0]), named)


def _laid_out(values: Numbers, known: Indexes, begins: Indexes, dtype: np.dtype[np.generic]) -> Numbers:
    """The emitted values with room for more in each key."""
    held = np.zeros(begins[-1], dtype)
    held[_members(begins, known)] = values
    return held


def _members(begins: Indexes, counts: Indexes) -> Indexes:
    """The places that are used, of ranges that begin at some places."""
    ends = np.cumsum(counts)
    return np.arange(ends[-1] if len(ends) else 0) + np.repeat(begins[: len(counts)] - ends + counts, counts)


@njit(nogil=True)
def _find_new(
    codes: Indexes, values: Numbers, held: Numbers, begins: Indexes, counts: Indexes, within: int | float
) -> Mask:
    """Which rows have no emitted value of their key near them; these are added to the emitted ones.

    Those of a key are ascending, and nearly always a row belongs at their end.
    """
    found = np.zeros(codes.shape[0], np.bool_)
    for row in range(codes.shape[0]):
        code, value = codes[row], values[row]
        begin, end = begins[code], begins[code] + counts[code]
        at = end
        while at > begin and held[at - 1] > value:
            at -= 1
        if at > begin and value - held[at - 1] <= within:
            continue
        if at < end and held[at] - value <= within:
            continue
        for free in range(end, at, -1):
            held[free] = held[free - 1]
        held[at] = value
        counts[code] += 1
        found[row] = True
    return found
