"""Resample, vectorised: for each left tuple and right group, functions over nearby tuples (Aurora 5.2.2.4).

State: the left tuples that some group is not done with, by order value; the right tuples that a window may
still need, as they arrived, with the arguments of the functions; and the state of each side's order.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from australis.algebra.boxes import Resample
from australis.algebra.schema import TS, Schema
from australis.algebra.types import TIMESTAMP
from australis.kernels.arrays import Indexes, arrange, by_slot, column, grown, lay_out, numbers, stacked
from australis.kernels.expressions import arrow, evaluate_all
from australis.kernels.kernel import Kernel, State, Step
from australis.kernels.ordering import Arrived, Passed, Side
from australis.kernels.pairing import (
    ORDER,
    Lefts,
    ResampleResults,
    Rights,
    argument_name,
    lefts_done,
    passed_by_all,
    still_useful,
    windows_around,
    windows_passed,
)

LEFT, RIGHT = "left", "right"
GROUP = "#group"
"""The column of kept right tuples with the number of their group."""


class ResampleKernel(Kernel):
    """A Resample box."""

    def __init__(self, box: Resample, schemas: tuple[Schema, ...], timezone: str = "UTC") -> None:
        self.output_schemas = box.output_schemas(*schemas)[:1]
        bound = box.bind(*schemas)
        calls = bound.functions.calls
        self._left = Side(LEFT, box.left, schemas[0])
        self._right = Side(RIGHT, box.right, schemas[1], names_groups=True)
        self._size = bound.size
        self._timezone = timezone
        self._arguments = {
            argument_name(i, j): arg for i, call in enumerate(calls) for j, arg in enumerate(call.inputs)
        }
        kept = (box.left.on, *box.keep)
        self._results = ResampleResults(
            bound.functions, kept, self.output_schemas[0], timezone, extrapolate=box.extrapolate
        )
        ts = pa.field(TS, TIMESTAMP.arrow)
        order = pa.field(ORDER, pa.from_numpy_dtype(self._left.values_dtype))
        arguments = [pa.field(name, arg.type.arrow) for name, arg in self._arguments.items()]
        shown = [pa.field(name, schemas[0][name].type.arrow) for name in kept]
        self._left_arrow = pa.schema([*shown, ts, order])
        self._right_arrow = pa.schema([*arguments, ts, order, pa.field(GROUP, pa.int64())])

    def start(self) -> State:
        kept = {LEFT: self._left_arrow.empty_table(), RIGHT: self._right_arrow.empty_table()}
        return {**kept, **self._left.start(), **self._right.start()}

    def step(self, state: State, port: int, batch: pa.Table, now: int) -> Step:
        return self._left_arrives(state, batch) if port == 0 else self._right_arrives(state, batch)

    def flush(self, state: State, now: int) -> Step:
        """Emit all windows that still wait: by left tuple, then by group."""
        lefts, rights = lefts_of(state[LEFT]), self._rights(state)
        begins = lefts_done(lefts.values, self._right.passed(state), self._size)
        ends = np.full(len(begins), len(lefts.values))
        found = windows_around(lefts.values, begins, ends, rights.starts, rights.values, self._size)
        found = found.take(by_slot(found.lefts, len(lefts.values))[0])
        causes = np.full(len(found.lefts), -1)
        return Step(self.start(), (self._results.table(found, causes, lefts, rights),))

    # --- arrivals

    def _left_arrives(self, state: State, batch: pa.Table) -> Step:
        """Emit the windows around new left tuples that are already complete: by left tuple, then by group."""
        arrived = self._left.arrive(state, batch)
        added = self._left_table(arrived)
        layout = by_order(arrived.values)
        lefts, rights = lefts_of(added.take(pa.array(layout))), self._rights(state)
        ends = lefts_done(lefts.values, self._right.passed(state), self._size)
        found = windows_around(
            lefts.values, np.zeros_like(ends), ends, rights.starts, rights.values, self._size
        )
        rows = layout[found.lefts]
        sequence = by_slot(rows, len(layout))[0]
        result = self._results.table(found.take(sequence), arrived.rows[rows[sequence]], lefts, rights)
        waiting = stacked([state[LEFT], lefts.table.slice(ends.min(initial=len(layout)) if len(ends) else 0)])
        kept = waiting.take(pa.array(by_order(numbers(column(waiting, ORDER)))))
        after = self._pruned({**state, **arrived.state, LEFT: kept})
        return arrived.step(after, (result,))

    def _right_arrives(self, state: State, batch: pa.Table) -> Step:
        """Emit the windows that new right tuples complete: by right tuple, then by left order value."""
        arrived = self._right.arrive(state, batch)
        kept = stacked([state[RIGHT], self._right_table(arrived)])
        after: State = {**state, **arrived.state, RIGHT: kept}
        lefts, rights = lefts_of(state[LEFT]), self._rights(after)
        begins, forgotten = self._begins(state, arrived, lefts, len(rights.starts) - 1)
        found, causes = windows_passed(
            lefts.values, begins, arrived, rights.starts, rights.values, self._size
        )
        result = self._results.table(found, arrived.rows[causes], lefts, rights)
        after = self._pruned({**after, LEFT: state[LEFT].slice(forgotten)})
        return arrived.step(after, (result,))

    def _left_table(self, arrived: Arrived) -> pa.Table:
        columns = [column(arrived.batch, name) for name in self._left_arrow.names[:-1]]
        return pa.Table.from_arrays([*columns, pa.array(arrived.values)], schema=self._left_arrow)

    def _right_table(self, arrived: Arrived) -> pa.Table:
        arguments = evaluate_all(list(self._arguments.values()), arrived.batch, self._timezone)
        columns = [*arguments, column(arrived.batch, TS), pa.array(arrived.values), pa.array(arrived.codes)]
        return pa.Table.from_arrays(columns, schema=self._right_arrow)

    def _begins(self, state: State, arrived: Arrived, lefts: Lefts, count: int) -> tuple[Indexes, int]:
        """The left tuples that each group skips, as done or dropped before it came; and those dropped now."""
        known = self._right.count(state)
        before = self._right.passed(state)
        before = Passed(grown(before.values, count), grown(before.open, count, True))
        most, none = passed_by_all(
            arrived.codes, arrived.movers, arrived.moved, before.values, before.open, known
        )
        forgotten = lefts_done(lefts.values, Passed(most, none), self._size)
        begins = lefts_done(lefts.values, before, self._size)
        begins[known:] = forgotten[:-1]
        return begins, int(forgotten[-1])

    # --- what is kept

    def _rights(self, state: State) -> Rights:
        table = state[RIGHT]
        codes, values = (numbers(column(table, name)) for name in (GROUP, ORDER))
        return Rights(table, self._right.keys(state), *lay_out(codes, values, self._right.count(state)))

    def _pruned(self, state: State) -> State:
        """Without the right tuples that are too far before all waiting or future left tuples."""
        rights, left = state[RIGHT], self._left.passed(state)
        if not rights.num_rows or not len(left.values) or left.open[0]:
            return state
        values, groups = numbers(column(rights, ORDER)), numbers(column(rights, GROUP))
        lefts = numbers(column(state[LEFT], ORDER))
        first = lefts_done(lefts, self._right.passed(state), self._size)
        useful = still_useful(values, groups, lefts, first, left.values[0], self._size)
        return state if useful.all() else {**state, RIGHT: rights.filter(arrow(useful, pa.bool_()))}


def lefts_of(table: pa.Table) -> Lefts:
    """Left tuples that are sorted."""
    return Lefts(table, numbers(column(table, ORDER)))


def by_order(values: Indexes) -> Indexes:
    """The rows by order value, then by arrival."""
    layout: Indexes = arrange(np.zeros(len(values), np.int64), values, 1)[1]
    return layout
