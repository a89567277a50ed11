"""BSort: a sort bounded by slack (Aurora 5.2.2.1)."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from australis.algebra.boxes import BSort
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
)
from australis.kernels.kernel import CAUSE, Kernel, State, Step
from australis.kernels.ordering import NOTHING, passed_array, passed_keys, place, release, sort_keys
from australis.kernels.windows import GROUP, PASSED


class BSortKernel(Kernel):
    """Keeps a buffer of slack + 1 tuples for each group, which emits its least tuple when it is full.

    The state: `groups` in the order of their first arrivals, with what each has passed; `waiting`, the tuples
    in the buffers in order of arrival.
    """

    def __init__(self, box: BSort, schemas: tuple[Schema, ...], timezone: str = "UTC") -> None:
        schema = schemas[0]
        self.output_schemas = box.output_schemas(schema)
        self._order = box.order
        self._type = box.order.type(schema)
        self._keys = list(box.order.group_by)
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
        released = release(codes, keys, waiting.num_rows, passed, self._order.slack, drop_late=False)
        after = {"groups": self._groups(found, released.passed), "waiting": rows_of(rows, released.waiting)}
        output = self._output(rows, released.rows, placed.rows[released.causes])
        return Step(after, (output,), placed.rejected, released.late)

    def flush(self, state: State, now: int) -> Step:
        waiting = state["waiting"]
        order = np.argsort(sort_keys(numbers(column(waiting, self._order.on))), kind="stable")
        return Step(self.start(), (self._output(waiting, order, np.full(len(order), -1)),))

    def kept_by(self, keys: PortKeys) -> tuple[Numbered, ...]:
        return (by_group("groups", self._keys, keys[0], {"waiting": GROUP}),)

    def _groups(self, found: GroupCodes, passed: Indexes) -> pa.Table:
        columns = [column(found.keys, name) for name in self._keys]
        return pa.Table.from_arrays([*columns, passed_array(passed, self._type)], schema=self._groups_schema)

    def _output(self, rows: pa.Table, leaving: Indexes, causes: Indexes) -> pa.Table:
        left = rows_of(rows.drop_columns([GROUP]), leaving)
        return left.append_column(pa.field(CAUSE, pa.int64(), False), pa.array(causes, pa.int64()))
