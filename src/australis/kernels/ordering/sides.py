"""One side of a Join or Resample: its order tells what is late and what can no longer come (Aurora 5.2.2)."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from australis.algebra.order import Order
from australis.algebra.schema import Schema
from australis.algebra.types import DataType
from australis.kernels.arrays import (
    GroupCodes,
    Indexes,
    Mask,
    Numbered,
    Numbers,
    by_group,
    column,
    encode,
    grown,
    numbers,
)
from australis.kernels.compiled import njit
from australis.kernels.expressions import arrow
from australis.kernels.kernel import CAUSE, State, Step, causes_of
from australis.kernels.marks import Marks
from australis.kernels.ordering.lengths import passed_by_length
from australis.kernels.ordering.order import (
    NO_ROWS,
    NOTHING,
    Placed,
    from_sort_keys,
    in_time,
    late_tuples,
    passed_array,
    passed_keys,
    place,
    release,
    sort_keys,
)

PASSED = "#passed"
"""What a group has passed; NULL before it has passed anything."""
GROUP = "#group"
VALUE = "#value"


@dataclass(frozen=True)
class Passed:
    """What each group has passed, unless it is still open."""

    values: Numbers
    open: Mask
    """The groups that have passed nothing yet."""


@dataclass(frozen=True)
class Arrived:
    """The tuples of a batch that are in order, and their effect on their groups."""

    state: State
    batch: pa.Table
    values: Numbers
    rows: Indexes
    """The row of each tuple in the original batch."""
    codes: Indexes
    """The group of each tuple, numbered by first arrival."""
    movers: Indexes
    """The tuples, ascending, that advanced what their group has passed."""
    moved: Numbers
    """The new value for each of these."""
    rejected: pa.Table | None
    late: int
    late_tuples: pa.Table | None = None
    """The late tuples as they came, with their causes, if they have an output of their own."""

    def step(self, state: State, outputs: tuple[pa.Table, ...]) -> Step:
        """The step of a box that took the batch."""
        return Step(state, outputs, self.rejected, self.late, late_tuples=self.late_tuples)


class Side:
    """An input stream with an order. Its state: the groups, what each has passed, its values above that.

    By progress, marks tell for all groups at once what has been passed, so none is kept, unless the box
    `names_groups` in its results.
    """

    def __init__(self, name: str, order: Order, schema: Schema, *, names_groups: bool = False) -> None:
        self.order, self._names_groups = order, names_groups
        self.type: DataType = order.type(schema)
        self.values_dtype = np.dtype(np.float64 if self.type.name == "double" else np.int64)
        self._length = order.length(schema)
        self._groups, self._waiting = f"{name}.groups", f"{name}.waiting"
        self._keys = [pa.field(key, schema[key].type.arrow) for key in order.group_by]

    def start(self) -> State:
        """The state before the first tuple."""
        values = pa.from_numpy_dtype(self.values_dtype)
        groups = pa.schema([*self._keys, pa.field(PASSED, values)])
        waiting = pa.schema([pa.field(GROUP, pa.int64()), pa.field(VALUE, values)])
        return {self._groups: groups.empty_table(), self._waiting: waiting.empty_table()}

    def keys(self, state: State) -> pa.Table:
        """The attributes grouped by, for each known group."""
        return state[self._groups].drop_columns([PASSED])

    def count(self, state: State) -> int:
        """How many groups are known."""
        return int(state[self._groups].num_rows)

    def passed(self, state: State) -> Passed:
        """What each known group has passed."""
        keys = passed_keys(column(state[self._groups], PASSED))
        return Passed(from_sort_keys(keys, self.values_dtype), keys == NOTHING)

    def arrive(self, state: State, batch: pa.Table, marks: Marks | None = None) -> Arrived:
        """Take a batch: reject tuples, drop late ones, and advance what the groups have passed.

        By progress, the batch has causes, and its arc's marks tell what is late and what has been passed.
        """
        placed = place(batch, self.order.on)
        arrived = self._arrive(state, placed, marks)
        if not self.order.late:
            return arrived
        late = np.flatnonzero(~np.isin(placed.rows, arrived.rows))
        causes = causes_of(placed.batch) if CAUSE in placed.batch.column_names else placed.rows
        return replace(arrived, late_tuples=late_tuples(placed, late, causes))

    def _arrive(self, state: State, placed: Placed, marks: Marks | None) -> Arrived:
        late = NO_ROWS
        if marks is not None:
            placed, late = in_time(placed, marks)
        if self.order.by_progress:
            return self._arrived_freely(state, placed, len(late))
        found = encode(self.keys(state), self.count(state), placed.batch)
        if self._length is not None:
            return self._arrive_by_length(state, placed, found, self._length)
        waiting = state[self._waiting]
        codes = np.concatenate([numbers(column(waiting, GROUP)), found.codes])
        keys = sort_keys(np.concatenate([numbers(column(waiting, VALUE)), placed.values]))
        passed = grown(passed_keys(column(state[self._groups], PASSED)), found.count, NOTHING)
        released = release(codes, keys, waiting.num_rows, passed, self.order.count, drop_late=True)
        after = {
            self._groups: self._groups_table(found, released.passed),
            self._waiting: self._waiting_table(codes[released.waiting], keys[released.waiting]),
        }
        moved = from_sort_keys(released.keys, self.values_dtype)
        arrived = Arrived(
            after,
            placed.batch,
            placed.values,
            placed.rows,
            found.codes,
            released.causes,
            moved,
            placed.rejected,
            released.late,
        )
        return _without(arrived, released.late_rows(waiting.num_rows, len(codes)))

    def _arrived_freely(self, state: State, placed: Placed, late: int) -> Arrived:
        """Tuples that move nothing: a mark tells for all groups what has been passed."""
        groups, codes = state[self._groups].slice(0, 0), np.zeros(len(placed.rows), np.int64)
        if self._names_groups:
            found = encode(self.keys(state), self.count(state), placed.batch)
            groups, codes = self._groups_table(found, np.full(found.count, NOTHING)), found.codes
        after = {self._groups: groups, self._waiting: state[self._waiting]}
        nothing = np.empty(0, np.int64), np.empty(0, self.values_dtype)
        batch, values, rows = placed.batch, placed.values, placed.rows
        return Arrived(after, batch, values, rows, codes, *nothing, placed.rejected, late)

    def _arrive_by_length(
        self, state: State, placed: Placed, found: GroupCodes, length: int | float
    ) -> Arrived:
        passed = grown(passed_keys(column(state[self._groups], PASSED)), found.count, NOTHING)
        late, movers, moved, after = passed_by_length(found.codes, placed.values, passed, length)
        arrived = Arrived(
            {self._groups: self._groups_table(found, after), self._waiting: state[self._waiting]},
            placed.batch,
            placed.values,
            placed.rows,
            found.codes,
            movers,
            from_sort_keys(moved, self.values_dtype),
            placed.rejected,
            int(late.sum()),
        )
        return _without(arrived, np.flatnonzero(late))

    def kept_by(self, keys: tuple[str, ...]) -> Numbered:
        """The groups, if the tuples of this side are partitioned by some attributes."""
        return by_group(self._groups, self.order.group_by, keys, {self._waiting: GROUP})

    def _groups_table(self, found: GroupCodes, passed: Indexes) -> pa.Table:
        keys = [column(found.keys, field.name) for field in self._keys]
        names = [*(field.name for field in self._keys), PASSED]
        return pa.table([*keys, passed_array(passed, self.type)], names=names)

    def _waiting_table(self, codes: Indexes, keys: Indexes) -> pa.Table:
        values = from_sort_keys(keys, self.values_dtype)
        return pa.table({GROUP: pa.array(codes), VALUE: pa.array(values)})


def _without(arrived: Arrived, late: Indexes) -> Arrived:
    """Only the tuples in order, as they arrived; late ones advanced nothing."""
    if not len(late):
        return arrived
    kept = np.ones(len(arrived.values), np.bool_)
    kept[late] = False
    return replace(
        arrived,
        batch=arrived.batch.filter(arrow(kept, pa.bool_())),
        values=arrived.values[kept],
        rows=arrived.rows[kept],
        codes=arrived.codes[kept],
        movers=_renumbered(arrived.movers, late),
    )


@njit(nogil=True)
def _renumbered(rows: Indexes, removed: Indexes) -> Indexes:
    """The numbers of ascending rows after some others, ascending too, are removed."""
    found, before = np.empty(rows.shape[0], np.int64), 0
    for at in range(rows.shape[0]):
        while before < removed.shape[0] and removed[before] < rows[at]:
            before += 1
        found[at] = rows[at] - before
    return found
