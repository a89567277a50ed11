"""Resample with a predicate, vectorised: each left tuple asks the right group that has its key.

State: the left tuples whose group has not passed them, with what is kept of them; the right tuples that a
window may still need, with the arguments of the functions; both as they arrived, with their order value and
the code of their key; the keys by their codes, for both sides; and the state of each side's order.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from australis.algebra.boxes import Resample
from australis.algebra.schema import TS, Schema
from australis.algebra.types import TIMESTAMP
from australis.kernels.arrays import (
    Indexes,
    Mask,
    column,
    first_beyond,
    first_near,
    lay_out,
)
from australis.kernels.boxes.two_inputs.two_streams import EncounterKernel, pays
from australis.kernels.expressions import arrow, evaluate_all
from australis.kernels.kernel import Due, State, Step
from australis.kernels.ordering import Arrived, Side
from australis.kernels.pairing import (
    KEY,
    KEYS,
    NEVER,
    NO_KEY,
    ORDER,
    SIDES,
    Encounter,
    Encounters,
    KeyDues,
    Keys,
    Lefts,
    ResampleResults,
    Rights,
    Windows,
    argument_name,
    keys_of,
    least_waiting,
    orders_of,
)


class KeyedResampleKernel(EncounterKernel):
    """A Resample box with a predicate."""

    def __init__(self, box: Resample, schemas: tuple[Schema, ...], timezone: str = "UTC") -> None:
        self.output_schemas = box.output_schemas(*schemas)[:1]
        left, right = schemas
        bound = box.bind(left, right)
        calls = bound.functions.calls
        self._size, self._timezone = bound.size, timezone
        self._shown = (box.left.on, *box.keep)
        self._sides = (Side(SIDES[0], box.left, left), Side(SIDES[1], box.right, right))
        self._keys = Keys(bound.equated, left)
        names = [name for _, name in bound.equated]
        self._group_columns = [names.index(name) for name in box.right.group_by]
        self._arguments = {
            argument_name(i, j): arg for i, call in enumerate(calls) for j, arg in enumerate(call.inputs)
        }
        self._maker = ResampleResults(
            bound.functions, self._shown, self.output_schemas[0], timezone, extrapolate=box.extrapolate
        )
        self._kept_arrow = (
            self._arrow([pa.field(name, left[name].type.arrow) for name in self._shown]),
            self._arrow([pa.field(name, arg.type.arrow) for name, arg in self._arguments.items()]),
        )
        empty = (left.arrow_with_ts.empty_table(), right.arrow_with_ts.empty_table())
        self._encounters = Encounters(self._sides, self._keys, empty, self._kept_table)
        self.progress_on = self._encounters.progress_on

    def start(self) -> State:
        kept = {name: schema.empty_table() for name, schema in zip(SIDES, self._kept_arrow, strict=True)}
        return {**kept, KEYS: self._keys.start(), **self._sides[0].start(), **self._sides[1].start()}

    def flush(self, state: State, now: int) -> Step:
        """Emit the windows that still wait, by left order value, then by key, then by arrival."""
        lefts = state[SIDES[0]]
        at_once = np.zeros(lefts.num_rows, np.int64)
        rows = self._keys.sequence(state[KEYS], keys_of(lefts), orders_of(lefts), at_once, 1)
        result = self._emitted(lefts, rows, np.full(len(rows), -1), self._rights(state[SIDES[1]], state))
        return Step(self.start(), (result,))

    def due(self, state: State) -> Due | None:
        if not self.progress_on:
            return None
        due = KeyDues(state[KEYS].num_rows)
        lefts, rights = state[SIDES[0]], state[SIDES[1]]
        if 1 in self.progress_on:
            due.emit(keys_of(lefts), orders_of(lefts), self._size)
        if 0 in self.progress_on:
            due.forget(keys_of(rights), orders_of(rights), self._size)
        return due.found

    # --- results

    def _results(self, meeting: Encounter) -> tuple[State, pa.Table]:
        """The state after an encounter, and the results of the windows that it completes."""
        lefts, rights = meeting.tuples
        moments = self._encounters.passed_at(meeting, 0, np.arange(lefts.num_rows), self._size)
        rows = self._keys.sequence(
            meeting.after[KEYS], keys_of(lefts), orders_of(lefts), moments, len(meeting.sequence.causes)
        )
        causes = meeting.sequence.causes[moments[rows]]
        result = self._emitted(lefts, rows, causes, self._rights(rights, meeting.after))
        return self._remaining(meeting, moments == NEVER), result

    def _emitted(self, lefts: pa.Table, rows: Indexes, causes: Indexes, rights: Rights) -> pa.Table:
        """The results of some left tuples, in this order; empty windows have none."""
        codes, values = keys_of(lefts)[rows], orders_of(lefts)[rows]
        lows = first_near(codes, values, rights.starts, rights.values, self._size)
        highs = first_beyond(codes, values, rights.starts, rights.values, self._size)
        filled = np.flatnonzero((codes != NO_KEY) & (lows < highs))
        found = Windows(rows, codes, lows, highs).take(filled)
        return self._maker.table(found, causes[filled], Lefts(lefts, orders_of(lefts)), rights)

    def _rights(self, table: pa.Table, state: State) -> Rights:
        known = state[KEYS]
        layout = lay_out(keys_of(table), orders_of(table), self._keys.count(known))
        groups = pa.table(
            [known.column(at) for at in self._group_columns], names=list(self._sides[1].order.group_by)
        )
        return Rights(table, groups, *layout)

    # --- what is kept

    def _remaining(self, meeting: Encounter, waits: Mask) -> State:
        """The state without the left tuples that have their answer, and the right ones no window needs."""
        lefts, rights = meeting.tuples
        lefts = lefts if waits.all() else lefts.filter(arrow(waits, pa.bool_()))
        useful = self._useful(meeting, lefts, rights)
        # Those that arrived now go at once; dropping others copies the rest, which must pay.
        if not pays(useful):
            useful[: meeting.kept[1]] = True
        rights = rights if useful.all() else rights.filter(arrow(useful, pa.bool_()))
        known = meeting.after[KEYS]
        keys, lefts, rights = self._keys.compact(known, lefts, rights, at_once=self._drops_keys_at_once)
        return {**meeting.after, KEYS: keys, SIDES[0]: lefts, SIDES[1]: rights}

    def _useful(self, meeting: Encounter, waiting: pa.Table, rights: pa.Table) -> Mask:
        """The right tuples that are near enough to a left tuple that waits or may still come."""
        codes, values = keys_of(rights), orders_of(rights)
        passed = self._encounters.passed_after(meeting, 1, codes)
        assert passed is not None, "the predicate determines the groups of the left"
        if not len(codes):
            return codes != NO_KEY
        least = np.minimum(
            passed.values, least_waiting(waiting, self._keys.count(meeting.after[KEYS]))[codes]
        )
        return (codes != NO_KEY) & (passed.open | (least - values <= self._size))

    def _kept_table(self, port: int, arrived: Arrived, codes: Indexes) -> pa.Table:
        if port == 0:
            shown = [column(arrived.batch, name) for name in self._shown]
        else:
            shown = list(evaluate_all(list(self._arguments.values()), arrived.batch, self._timezone))
        columns = [*shown, column(arrived.batch, TS), pa.array(arrived.values), pa.array(codes)]
        return pa.Table.from_arrays(columns, schema=self._kept_arrow[port])

    def _arrow(self, shown: list[pa.Field]) -> pa.Schema:
        """The schema of kept tuples, given what is kept of their attributes."""
        order = pa.field(ORDER, pa.from_numpy_dtype(self._sides[0].values_dtype))
        return pa.schema([*shown, pa.field(TS, TIMESTAMP.arrow), order, pa.field(KEY, pa.int64())])
