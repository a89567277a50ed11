"""Aggregate: window functions over windows of each group (Aurora 5.2.2.2)."""

from __future__ import annotations

import math

import numpy as np
import pyarrow as pa

from australis.algebra.boxes import Aggregate, BoundAggregate
from australis.algebra.schema import TS, TUP, Schema
from australis.algebra.types import DataType
from australis.kernels.arrays import (
    Indexes,
    Numbered,
    Numbers,
    PortKeys,
    by_group,
    column,
    encode,
    frozen,
    grown,
    numbers,
    rows_of,
    stacked,
)
from australis.kernels.compiled import njit
from australis.kernels.expressions import arrow, evaluate, truths
from australis.kernels.kernel import Kernel, State, Step
from australis.kernels.ordering import (
    NOTHING,
    Placed,
    from_sort_keys,
    order_array,
    passed_array,
    passed_keys,
    place,
    release,
    sort_keys,
)
from australis.kernels.windows import (
    GROUP,
    PASSED,
    VALUE,
    Groups,
    Layout,
    Openings,
    OpenWindows,
    Releases,
    Steps,
    WindowResults,
    deadline,
    fire,
    group_marks,
    groups_of,
    in_order,
    joined_results,
)

_LEAST_START = {"int": -(2**31), "long": 2 - 2**63, "timestamp": 2 - 2**63}
"""The least start of a window by type; with 64 bits it is that of an order value less a size, plus 1."""
_LEAST_DOUBLE_NUMBER = -(2**52)
"""Doubles are at most 2^50 advances from 0, so no window that contains one has a lesser number."""


class AggregateKernel(Kernel):
    """Releases the tuples of each group as BSort would, and adds them to windows.

    The state: `groups` in the order of their first arrivals, with what each has passed and where its windows
    begin; `waiting`, the tuples in the buffers in order of arrival; `windows`, those that are open.
    """

    def __init__(self, box: Aggregate, schemas: tuple[Schema, ...], timezone: str = "UTC") -> None:
        schema = schemas[0]
        self.output_schemas = box.output_schemas(schema)
        self._order = box.order
        self._bound = box.bind(schema)
        self._timezone = timezone
        calls = tuple(self._bound.calls.values())
        self._layout = Layout(calls, windows_of(self._bound, box), self._bound.timeout)
        keys = pa.schema([pa.field(name, schema[name].type.arrow) for name in box.order.group_by])
        self._groups_schema = self._layout.groups_schema(keys)

    # --- events

    def start(self) -> State:
        return {
            "groups": self._groups_schema.empty_table(),
            "waiting": self._layout.rows_schema.empty_table(),
            "windows": self._layout.windows_schema.empty_table(),
        }

    def step(self, state: State, port: int, batch: pa.Table, now: int) -> Step:
        fired = self.tick(state, now)
        if not batch.num_rows:
            return fired
        arrived = self._arrive(fired.state, batch, now)
        outputs = (stacked([*fired.outputs, *arrived.outputs]),)
        return Step(arrived.state, outputs, arrived.rejected, arrived.late, arrived.ignored)

    def tick(self, state: State, now: int) -> Step:
        fired = fire(self._layout, state, now)
        if fired is None:
            return Step(state, self.nothing())
        return Step(fired.state, (self._output(fired.results, state["groups"], fired.results.releases),))

    def flush(self, state: State, now: int) -> Step:
        fired = self.tick(state, now)
        groups, waiting = fired.state["groups"], fired.state["waiting"]
        windows = OpenWindows(
            self._layout, fired.state["windows"], waiting, groups_of(groups, groups.num_rows)
        )
        closed, ignored = windows.run(in_order(waiting))
        still_open = np.arange(windows.count)
        still_open = still_open[windows.lives(still_open)]
        rest = windows.results(still_open, np.full(len(still_open), -1))
        results = joined_results([closed, rest]).by_start()
        ended = self._output(results, groups, np.full(len(results.group), -1))
        return Step(self.start(), (stacked([*fired.outputs, ended]),), ignored=ignored)

    def deadline(self, state: State) -> int | None:
        return deadline(self._layout, state)

    def kept_by(self, keys: PortKeys) -> tuple[Numbered, ...]:
        return (by_group("groups", self._order.group_by, keys[0], {"waiting": GROUP, "windows": GROUP}),)

    # --- arrivals

    def _arrive(self, state: State, batch: pa.Table, now: int) -> Step:
        groups, waiting = state["groups"], state["waiting"]
        placed = self._placed(batch)
        found = encode(groups.select(list(self._order.group_by)), groups.num_rows, placed.batch)
        passed = grown(passed_keys(column(groups, PASSED)), found.count, NOTHING)
        values = placed.values if self._order.on != TUP else _numbered(found.codes, passed.copy())
        rows = stacked([waiting, self._rows(placed.batch, found.codes, values, now)])
        codes, keys = numbers(column(rows, GROUP)), sort_keys(numbers(column(rows, VALUE)))
        released = release(codes, keys, waiting.num_rows, passed, self._order.slack, drop_late=True)
        windows = OpenWindows(self._layout, state["windows"], rows, groups_of(groups, found.count))
        order = from_sort_keys(released.keys, values.dtype)
        results, ignored = windows.run(Releases(*map(frozen, (released.rows, released.groups, order))))
        causes = placed.rows[released.causes[results.releases]]
        after = {
            "groups": self._groups(found.keys, released.passed, windows.groups),
            "waiting": rows_of(rows, released.waiting),
            "windows": windows.table(),
        }
        outputs = (self._output(results, after["groups"], causes),)
        return Step(after, outputs, placed.rejected, released.late, ignored)

    def _placed(self, batch: pa.Table) -> Placed:
        if self._order.on != TUP:
            return place(batch, self._order.on, self._bound.advance)
        return Placed(batch, np.empty(0, np.int64), np.arange(batch.num_rows), None)

    def _rows(self, batch: pa.Table, codes: Indexes, values: Numbers, now: int) -> pa.Table:
        """The tuples of a batch in the form in which they wait, with their arguments evaluated."""
        columns = [
            pa.array(codes),
            arrow(values, self._layout.number_type),
            column(batch, TS).view(pa.int64()),
        ]
        if self._bound.advance_when is not None:
            opens = truths(evaluate(self._bound.advance_when, batch, self._timezone))
            columns.append(arrow(opens, pa.bool_()))
        if self._bound.timeout is not None:
            columns.append(pa.array(np.full(len(codes), now)))
            columns.append(arrow(np.zeros(len(codes), np.bool_), pa.bool_()))
        columns += [evaluate(arg, batch, self._timezone) for arg in self._layout.args]
        return pa.Table.from_arrays(columns, schema=self._layout.rows_schema)

    def _groups(self, keys: pa.Table, passed: Indexes, groups: Groups) -> pa.Table:
        marks = [passed_array(passed, self._bound.order_type)]
        marks += group_marks(groups, groups.begun, self._layout.number_type)
        columns = [column(keys, name) for name in keys.column_names]
        return pa.Table.from_arrays([*columns, *marks], schema=self._groups_schema)

    def _output(self, results: WindowResults, groups: pa.Table, causes: Indexes) -> pa.Table:
        start = [] if self._order.on == TUP else [order_array(results.start, self._bound.order_type)]
        found = rows_of(groups.select(list(self._order.group_by)), results.group)
        keys = [column(found, name) for name in found.column_names]
        schema = self.nothing()[0].schema
        hidden = [arrow(results.oldest, schema.field(TS).type), pa.array(causes, pa.int64())]
        return pa.Table.from_arrays([*start, *keys, *results.values, *hidden], schema=schema)


def windows_of(bound: BoundAggregate, box: Aggregate) -> Steps | Openings:
    """Where the windows of a box are."""
    size, advance, lead = bound.size, bound.advance, int(box.order.on == TUP)
    if advance is None:
        return Openings(size, lead)
    widest = -(-size // advance) if isinstance(size, int) else int(min(size / advance, 2.0**62)) + 2
    least = _least_number(bound.order_type, advance) if box.align else 0
    rest = math.fmod(size, advance) if isinstance(size, float) else size % advance
    # No value is 2^52 advances after the start of a window, so a longer window never ends.
    whole = round(min((size - rest) / advance, 2.0**52)) if isinstance(size, float) else size // advance
    return Steps(size, advance, int(whole), rest, box.align, least, lead, int(widest))


def _least_number(order_type: DataType, advance: int | float) -> int:
    """The number of the first multiple of the advance that is a value of a type."""
    if order_type.name == "double":
        return _LEAST_DOUBLE_NUMBER
    least = 1 - 10**order_type.precision if order_type.is_decimal else _LEAST_START[order_type.name]
    return int(-(-least // advance))


@njit(nogil=True)
def _numbered(codes: Indexes, passed: Indexes) -> Indexes:
    """The numbers of tuples in their groups, from 0; `passed` has each group's last number so far."""
    found = np.empty(codes.shape[0], np.int64)
    for row in range(codes.shape[0]):
        group = codes[row]
        passed[group] = 0 if passed[group] == NOTHING else passed[group] + 1
        found[row] = passed[group]
    return found
