"""Tumble: window functions over runs of consecutive tuples with equal attributes (Aurora* 2.2)."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from australis.algebra.boxes import Tumble
from australis.algebra.schema import TS, Schema
from australis.algebra.spans import microseconds
from australis.kernels.arrays import (
    Indexes,
    column,
    encode,
    grown,
    lower_to_least,
    normalised,
    numbers,
    rows_of,
    stacked,
)
from australis.kernels.expressions import arrow, evaluate
from australis.kernels.functions import Accumulator, computed, opened, stored_types
from australis.kernels.kernel import Kernel, State, Step
from australis.kernels.windows import BEGAN, NEVER, OLDEST, TIMED_OUT


class TumbleKernel(Kernel):
    """Accumulates one run at a time.

    The state: `run`, with at most one row: the attributes of the current run, when it began, its oldest ts,
    whether it has timed out, and what is accumulated.
    """

    def __init__(self, box: Tumble, schemas: tuple[Schema, ...], timezone: str = "UTC") -> None:
        schema = schemas[0]
        self.output_schemas = box.output_schemas(schema)
        self._keys = list(box.group_by)
        self._functions = box.bind(schema)
        self._calls = self._functions.calls
        self._timeout = None if box.timeout is None else microseconds(box.timeout)
        self._timezone = timezone
        keys = [pa.field(name, schema[name].type.arrow) for name in self._keys]
        marks = [pa.field(BEGAN, pa.int64()), pa.field(OLDEST, pa.int64()), pa.field(TIMED_OUT, pa.bool_())]
        stored = [
            pa.field(f"#{index}.{part}", kind)
            for index, call in enumerate(self._calls)
            for part, kind in enumerate(stored_types(call))
        ]
        self._input = schema.arrow_with_ts
        self._schema = pa.schema([*keys, *marks, *stored])

    # --- events

    def start(self) -> State:
        return {"run": self._schema.empty_table()}

    def step(self, state: State, port: int, batch: pa.Table, now: int) -> Step:
        fired = self.tick(state, now)
        if not batch.num_rows:
            return fired
        arrived = self._arrive(fired.state["run"], batch, np.full(batch.num_rows, now))
        outputs = (stacked([*fired.outputs, *arrived.outputs]),)
        return Step(arrived.state, outputs, ignored=arrived.ignored)

    def step_at(self, state: State, port: int, batch: pa.Table, times: Indexes) -> Step:
        return self._arrive(state["run"], batch, times)

    def tick(self, state: State, now: int) -> Step:
        due = self.deadline(state)
        if due is None or now < due:
            return Step(state, self.nothing())
        run = state["run"]
        index = run.schema.get_field_index(TIMED_OUT)
        ended = run.set_column(index, run.schema.field(index), pa.array([True]))
        return Step({"run": ended}, (self._emitted(run),))

    def flush(self, state: State, now: int) -> Step:
        going_on = state["run"].num_rows and not column(state["run"], TIMED_OUT)[0].as_py()
        return Step(self.start(), (self._emitted(state["run"]),) if going_on else self.nothing())

    def deadline(self, state: State) -> int | None:
        run = state["run"]
        if self._timeout is None or not run.num_rows or column(run, TIMED_OUT)[0].as_py():
            return None
        return int(column(run, BEGAN)[0].as_py()) + self._timeout + 1

    # --- runs

    def _arrive(self, run: pa.Table, batch: pa.Table, times: Indexes) -> Step:
        codes = encode(run.select(self._keys), run.num_rows, batch).codes
        goes_on = run.num_rows
        # The run of the state has code 0 and slot 0; without a run, the first tuple begins slot 0.
        changes = np.diff(codes, prepend=goes_on - 1) != 0
        slots, rows = np.cumsum(changes) + (goes_on - 1), np.arange(len(codes))
        count = int(slots[-1]) + 1
        silent = bool(goes_on and column(run, TIMED_OUT)[0].as_py())
        heard = slots > 0 if silent else np.ones(len(slots), np.bool_)
        accumulators = self._opened(run, batch)
        oldest = grown(numbers(column(run, OLDEST)).copy(), count, NEVER)
        lower_to_least(oldest, slots[heard], rows[heard], numbers(column(batch, TS)))
        for accumulator in accumulators:
            accumulator.add(slots[heard], rows[heard], count)
        firsts = np.flatnonzero(changes)
        keys = self._run_keys(run, batch, firsts)
        closed = np.arange(1 if silent else 0, count - 1)
        output = self._output(keys, accumulators, oldest, closed, firsts[closed + 1 - goes_on])
        is_old = count == 1 and goes_on
        began, timed_out = (
            (column(run, BEGAN)[0].as_py(), silent) if is_old else (int(times[firsts[-1]]), False)
        )
        after = self._after(keys, accumulators, oldest, began, timed_out)
        return Step({"run": after}, (output,), ignored=int((~heard).sum()))

    def _opened(self, run: pa.Table, batch: pa.Table) -> list[Accumulator]:
        accumulators = []
        for index, call in enumerate(self._calls):
            parts = range(len(stored_types(call)))
            args = [evaluate(arg, batch, self._timezone) for arg in call.inputs]
            accumulators.append(opened(call, [column(run, f"#{index}.{part}") for part in parts], args))
        return accumulators

    def _run_keys(self, run: pa.Table, batch: pa.Table, firsts: Indexes) -> pa.Table:
        """The attributes of all runs, that of the state first; `firsts` are the rows that begin others."""
        old, new = run.select(self._keys), rows_of(batch.select(self._keys), firsts)
        arrays = [normalised(column(new, name)) for name in self._keys]
        return stacked([old, pa.Table.from_arrays(arrays, schema=old.schema)])

    def _after(
        self, keys: pa.Table, accumulators: list[Accumulator], oldest: Indexes, began: int, timed_out: bool
    ) -> pa.Table:
        """The state with the last run."""
        last = np.array([len(oldest) - 1])
        for accumulator in accumulators:
            accumulator.keep(last)
        key = rows_of(keys, last)
        marks = [pa.array([began]), pa.array(oldest[last]), pa.array([timed_out])]
        stored = [array for accumulator in accumulators for array in accumulator.stored()]
        arrays = [*(column(key, name) for name in self._keys), *marks, *stored]
        return pa.Table.from_arrays(arrays, schema=self._schema)

    def _emitted(self, run: pa.Table) -> pa.Table:
        """What the run of a state emits at this point."""
        accumulators = self._opened(run, self._input.empty_table())
        oldest = numbers(column(run, OLDEST))
        return self._output(
            run.select(self._keys), accumulators, oldest, np.zeros(1, np.int64), np.array([-1])
        )

    def _output(
        self,
        keys: pa.Table,
        accumulators: list[Accumulator],
        oldest: Indexes,
        closed: Indexes,
        causes: Indexes,
    ) -> pa.Table:
        schema = self.nothing()[0].schema
        found = rows_of(keys, closed)
        finished = [accumulator.finish(closed) for accumulator in accumulators]
        results = computed(self._functions, finished, self._timezone)
        hidden = [arrow(oldest[closed], schema.field(TS).type), pa.array(causes, pa.int64())]
        columns = [*(column(found, name) for name in self._keys), *results, *hidden]
        return pa.Table.from_arrays(columns, schema=schema)
