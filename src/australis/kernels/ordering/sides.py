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
    rows_of,
)
from australis.kernels.kernel import State
from australis.kernels.ordering.order import (
    NOTHING,
    from_sort_keys,
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


class Side:
    """An input stream with an order. Its state: the groups, what each has passed, its values above that."""

    def __init__(self, name: str, order: Order, schema: Schema) -> None:
        self.order = order
        self.type: DataType = order.type(schema)
        self.values_dtype = np.dtype(np.float64 if self.type.name == "double" else np.int64)
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

    def arrive(self, state: State, batch: pa.Table) -> Arrived:
        """Take a batch: reject tuples, drop late ones, and advance what the groups have passed."""
        placed = place(batch, self.order.on)
        found = encode(self.keys(state), self.count(state), placed.batch)
        waiting = state[self._waiting]
        codes = np.concatenate([numbers(column(waiting, GROUP)), found.codes])
        keys = sort_keys(np.concatenate([numbers(column(waiting, VALUE)), placed.values]))
        passed = grown(passed_keys(column(state[self._groups], PASSED)), found.count, NOTHING)
        released = release(codes, keys, waiting.num_rows, passed, self.order.slack, drop_late=True)
        after = {
            self._groups: self._groups_table(found, released.passed),
            self._waiting: self._waiting_table(codes[released.waiting], keys[released.waiting]),
        }
        in_order = np.concatenate([released.rows, released.waiting]) - waiting.num_rows
        moved = from_sort_keys(keys[released.rows], self.values_dtype)
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
        return _without_late(arrived, in_order[in_order >= 0]) if released.late else arrived

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


def _without_late(arrived: Arrived, in_order: Indexes) -> Arrived:
    """Only the tuples in order, as they arrived; late ones advanced nothing."""
    is_kept = np.zeros(len(arrived.values), np.bool_)
    is_kept[in_order] = True
    kept = np.flatnonzero(is_kept)
    return replace(
        arrived,
        batch=rows_of(arrived.batch, kept),
        values=arrived.values[kept],
        rows=arrived.rows[kept],
        codes=arrived.codes[kept],
        movers=(np.cumsum(is_kept) - 1)[arrived.movers],
    )
