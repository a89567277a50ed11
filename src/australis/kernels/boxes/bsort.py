"""BSort: a sort bounded by slack (Aurora 5.2.2.1)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pyarrow as pa

from australis.algebra.boxes import BSort
from australis.algebra.order import SortKey
from australis.algebra.schema import Schema
from australis.kernels.arrays import (
    GroupCodes,
    Indexes,
    Numbered,
    PortKeys,
    by_group,
    column,
    encode,
    grown,
    numbers,
    rows_of,
    stacked,
    with_numbers,
)
from australis.kernels.functions import combined_keys
from australis.kernels.kernel import CAUSE, Kernel, LocalTimes, State, Step, causes_of
from australis.kernels.marks import NO_MARKS, Marks
from australis.kernels.ordering import (
    NOTHING,
    Released,
    in_time,
    late_tuples,
    passed_array,
    passed_keys,
    place,
    release,
    release_by_length,
    release_by_marks,
    sort_keys,
)
from australis.kernels.windows import GROUP, PASSED


class BSortKernel(Kernel):
    """Keeps a buffer of slack + 1 tuples for each group, which emits its least tuple when it is full.

    The state: `groups` in the order of their first arrivals, with what each has passed; `waiting`, the tuples
    in the buffers in order of arrival.
    """

    def __init__(self, box: BSort, schemas: tuple[Schema, ...], timezone: str = "UTC") -> None:
        schema = schemas[0]
        self.output_schemas = box.output_schemas(schema)[:1]
        self._order, self._then = box.order, box.keys
        self._type = box.order.type(schema)
        self._keys = list(box.order.group_by)
        self._length = box.order.length(schema)
        self.progress_on = {0: box.order.on} if box.order.by_progress else {}
        mark = pa.field(PASSED, pa.float64() if self._type.name == "double" else pa.int64())
        fields = [pa.field(name, schema[name].type.arrow) for name in self._keys]
        self._groups_schema = pa.schema([*fields, mark])
        self._waiting_schema = schema.arrow_with_ts.append(pa.field(GROUP, pa.int64()))

    def start(self) -> State:
        return {"groups": self._groups_schema.empty_table(), "waiting": self._waiting_schema.empty_table()}

    def step(self, state: State, port: int, batch: pa.Table, now: int) -> Step:
        if not batch.num_rows:
            return Step(state, self.nothing())
        groups, waiting = state["groups"], state["waiting"]
        placed = place(batch, self._order.on)
        found = encode(groups.select(self._keys), groups.num_rows, placed.batch)
        passed = grown(passed_keys(column(groups, PASSED)), found.count, NOTHING)
        fresh = placed.batch.select(self._waiting_schema.names[:-1])
        rows = stacked(
            [waiting, fresh.append_column(self._waiting_schema.field(GROUP), pa.array(found.codes))]
        )
        codes, keys = numbers(column(rows, GROUP)), sort_keys(numbers(column(rows, self._order.on)))
        released = self._released(codes, keys, waiting.num_rows, passed)
        if self._then:
            released = self._in_full_order(released, rows, waiting.num_rows, passed)
        after = {"groups": self._groups(found, released.passed), "waiting": rows_of(rows, released.waiting)}
        output = self._output(rows, released.rows, placed.rows[released.causes])
        late = None
        if self._order.late:
            late = late_tuples(placed, released.late_rows(waiting.num_rows, len(codes)), placed.rows)
        return Step(after, (output,), placed.rejected, released.late, late_tuples=late)

    def _released(self, codes: Indexes, keys: Indexes, waiting: int, passed: Indexes) -> Released:
        if self._length is not None:
            return release_by_length(codes, keys, waiting, passed, self._length, drop_late=self._order.late)
        return release(codes, keys, waiting, passed, self._order.count, drop_late=self._order.late)

    def _in_full_order(self, released: Released, rows: pa.Table, waiting: int, passed: Indexes) -> Released:
        """What is released if tuples with equal order values are sorted by more keys.

        What groups have passed and which tuples are late depends on the order values alone. So does what
        leaves, and when, except where a buffer of a number of tuples gives away its least.
        """
        ranks = self._ranks(rows)
        if self._length is not None:
            return by_ranks(released, ranks)
        codes, values = numbers(column(rows, GROUP)), sort_keys(numbers(column(rows, self._order.on)))
        bounds = ranks_of(values, ranks, passed)
        found = release(codes, ranks, waiting, bounds, self._order.count, drop_late=False)
        if self._order.late:
            found = without(found, released.late_rows(waiting, len(codes)) + waiting)
        return replace(found, late=released.late, passed=released.passed)

    def _ranks(self, rows: pa.Table) -> Indexes:
        """The rank of each row by its order value and the other keys."""
        keys = (SortKey(self._order.on), *self._then)
        return combined_keys([column(rows, key.name) for key in keys], keys)

    def advance(
        self, state: State, batches: Mapping[int, pa.Table], now: LocalTimes, marks: Mapping[int, Marks]
    ) -> tuple[tuple[int, Step], ...]:
        groups, waiting, risen = state["groups"], state["waiting"], marks.get(0, NO_MARKS)
        placed, late = place(batches.get(0, self.nothing()[0]), self._order.on), 0
        lates = None
        if self._order.late:
            whole = placed
            placed, late_rows = in_time(whole, risen)
            lates, late = late_tuples(whole, late_rows, causes_of(whole.batch)), len(late_rows)
        causes = causes_of(placed.batch)
        found = encode(groups.select(self._keys), groups.num_rows, placed.batch)
        fresh = placed.batch.select(self._waiting_schema.names[:-1])
        codes = pa.array(found.codes)
        rows = stacked([waiting, fresh.append_column(self._waiting_schema.field(GROUP), codes)])
        values = numbers(column(rows, self._order.on))
        known, ranks = numbers(column(rows, GROUP)), self._ranks(rows) if self._then else None
        released = release_by_marks(known, values, waiting.num_rows, causes, risen, ranks)
        after = self._still_waiting(found, rows_of(rows, released.waiting))
        late += int(risen.late(placed.values, causes).sum())
        output = self._output(rows, released.rows, released.causes)
        return ((0, Step(after, (output,), placed.rejected, late, late_tuples=lates)),)

    def _still_waiting(self, found: GroupCodes, waiting: pa.Table) -> State:
        """The state by progress, where a group whose tuples have all left is forgotten."""
        codes, keys = numbers(column(waiting, GROUP)), found.keys
        used = np.bincount(codes, minlength=found.count) > 0
        if not used.all() and self._keys:
            keys, codes = rows_of(keys, np.flatnonzero(used)), (np.cumsum(used) - 1)[codes]
            waiting = with_numbers(waiting, GROUP, codes)
        groups = GroupCodes(codes, keys, int(used.sum()) if self._keys else found.count)
        return {"groups": self._groups(groups, np.full(groups.count, NOTHING)), "waiting": waiting}

    def flush(self, state: State, now: int) -> Step:
        waiting = state["waiting"]
        keys = self._ranks(waiting) if self._then else sort_keys(numbers(column(waiting, self._order.on)))
        order = np.argsort(keys, kind="stable")
        ended = self._output(waiting, order, np.full(len(order), -1))
        return Step(self.start(), (ended,))

    def awaits_marks(self, state: State) -> bool:
        return bool(self.progress_on) and bool(state["waiting"].num_rows)

    def kept_by(self, keys: PortKeys) -> tuple[Numbered, ...]:
        return (by_group("groups", self._keys, keys[0], {"waiting": GROUP}),)

    def _groups(self, found: GroupCodes, passed: Indexes) -> pa.Table:
        columns = [column(found.keys, name) for name in self._keys]
        return pa.Table.from_arrays([*columns, passed_array(passed, self._type)], schema=self._groups_schema)

    def _output(self, rows: pa.Table, leaving: Indexes, causes: Indexes) -> pa.Table:
        left = rows_of(rows.drop_columns([GROUP]), leaving)
        return left.append_column(pa.field(CAUSE, pa.int64(), False), pa.array(causes, pa.int64()))


def by_ranks(released: Released, ranks: Indexes) -> Released:
    """The same releases; those of one cause are sorted by rank, ties by arrival."""
    return taken(released, np.lexsort((released.rows, ranks[released.rows], released.causes)))


def without(released: Released, late: Indexes) -> Released:
    """The releases of all rows but the late ones, each of which left as it came."""
    return taken(released, np.flatnonzero(~np.isin(released.rows, late)))


def taken(released: Released, which: Indexes) -> Released:
    """Some of the releases, in the given order."""
    names = ("rows", "groups", "keys", "causes")
    return replace(released, **{name: getattr(released, name)[which] for name in names})


def ranks_of(values: Indexes, ranks: Indexes, passed: Indexes) -> Indexes:
    """For what each group has passed, the least rank of a row that is not before it.

    >>> ranks_of(np.array([7, 5, 5]), np.array([2, 0, 1]), np.array([5, 6, 9])).tolist()
    [0, 2, 3]
    """
    order = np.argsort(ranks, kind="stable")
    bounds = np.append(ranks[order], ranks.max(initial=-1) + 1)[np.searchsorted(values[order], passed)]
    return np.where(passed == NOTHING, NOTHING, bounds)
