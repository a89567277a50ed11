"""As-of join, vectorised: each left tuple with the latest right tuple at or before it.

State: the left tuples that the right side has not passed, and the right tuples that may still be asked for,
both as they arrived, with their order value and the code of their key; the keys by their codes, for both
sides; and the state of each side's order. A step lays out the right tuples by key and order value, where the
latest is found by one search.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from australis.algebra.boxes import INNER, AsOf
from australis.algebra.schema import Schema
from australis.kernels.arrays import (
    Indexes,
    Mask,
    Numbers,
    first_beyond,
    lay_out,
)
from australis.kernels.boxes.two_inputs.two_streams import EncounterKernel, pays
from australis.kernels.expressions import arrow
from australis.kernels.kernel import Due, State, Step
from australis.kernels.ordering import Arrived, Side
from australis.kernels.pairing import (
    KEY,
    KEYS,
    NEVER,
    NO_KEY,
    NOBODY,
    ORDER,
    SIDES,
    Encounter,
    Encounters,
    KeyDues,
    Keys,
    Rows,
    gathered,
    keys_of,
    least_waiting,
    orders_of,
)


@dataclass(frozen=True)
class Layout:
    """Right tuples by key, then by order value, then by arrival."""

    starts: Indexes
    """Where each key starts."""
    rows: Indexes
    """The row at each place."""
    values: Numbers
    """The order value at each place."""


class AsOfKernel(EncounterKernel):
    """An as-of join."""

    def __init__(self, box: AsOf, schemas: tuple[Schema, ...], timezone: str = "UTC") -> None:
        self.output_schemas = box.output_schemas(*schemas)[:1]
        left, right = schemas
        bound = box.bind(left, right)
        self._schemas = schemas
        self._is_inner = box.how == INNER
        self._within = bound.within
        self._sides = (Side(SIDES[0], box.left, left), Side(SIDES[1], box.right, right))
        self._keys = Keys(bound.equated, left)
        empty = (left.arrow_with_ts.empty_table(), right.arrow_with_ts.empty_table())
        self._encounters = Encounters(self._sides, self._keys, empty, self._kept_table)
        self.progress_on = self._encounters.progress_on

    def start(self) -> State:
        kept = {name: self._kept_arrow(port).empty_table() for port, name in enumerate(SIDES)}
        return {**kept, KEYS: self._keys.start(), **self._sides[0].start(), **self._sides[1].start()}

    def flush(self, state: State, now: int) -> Step:
        """Emit the left tuples that still wait, by order value, then by key, then by arrival."""
        lefts, rights = state[SIDES[0]], state[SIDES[1]]
        at_once = np.zeros(lefts.num_rows, np.int64)
        rows = self._keys.sequence(state[KEYS], keys_of(lefts), orders_of(lefts), at_once, 1)
        layout = self._layout(rights, self._keys.count(state[KEYS]))
        found = self._with_latest(lefts, rows, np.full(len(rows), -1), layout)
        return Step(self.start(), (gathered(self.output_schemas[0], (lefts, rights), found, found.keys),))

    def due(self, state: State) -> Due | None:
        if not self.progress_on:
            return None
        due = KeyDues(state[KEYS].num_rows)
        lefts, rights = state[SIDES[0]], state[SIDES[1]]
        if 1 in self.progress_on:
            due.emit(keys_of(lefts), orders_of(lefts))
        if 0 in self.progress_on:
            # Then nobody asks for any of them but the last, or for that neither.
            codes = keys_of(rights)
            is_one = np.bincount(codes, minlength=state[KEYS].num_rows)[codes] == 1
            due.forget(codes[~is_one], orders_of(rights)[~is_one])
            if self._within is not None:
                due.forget(codes[is_one], orders_of(rights)[is_one], self._within)
        return due.found

    # --- results

    def _results(self, meeting: Encounter) -> tuple[State, pa.Table]:
        """The state after an encounter, and the results of the left tuples that have been passed."""
        lefts, rights = meeting.tuples
        moments = self._encounters.passed_at(meeting, 0, np.arange(lefts.num_rows), 0)
        layout = self._layout(rights, self._keys.count(meeting.after[KEYS]))
        rows = self._keys.sequence(
            meeting.after[KEYS], keys_of(lefts), orders_of(lefts), moments, len(meeting.sequence.causes)
        )
        found = self._with_latest(lefts, rows, moments[rows], layout)
        causes = meeting.sequence.causes[found.keys]
        result = gathered(self.output_schemas[0], meeting.tuples, found, causes)
        return self._remaining(meeting, moments == NEVER, layout), result

    def _layout(self, rights: pa.Table, keys: int) -> Layout:
        return Layout(*lay_out(keys_of(rights), orders_of(rights), keys))

    def _with_latest(self, lefts: pa.Table, rows: Indexes, moments: Indexes, layout: Layout) -> Rows:
        """Some left tuples, each with the right tuple at or before it that is the latest of its key."""
        codes, values = keys_of(lefts)[rows], orders_of(lefts)[rows]
        zero = values.dtype.type(0)
        places = first_beyond(codes, values, layout.starts, layout.values, zero) - 1
        found = (codes != NO_KEY) & (places >= layout.starts[codes])
        if self._within is not None:
            found[found] = values[found] - layout.values[places[found]] <= self._within
        rights = np.full(len(rows), NOBODY)
        rights[found] = layout.rows[places[found]]
        pairs = Rows(rows, rights, moments)
        return pairs.take(np.flatnonzero(found)) if self._is_inner else pairs

    # --- what is kept

    def _remaining(self, meeting: Encounter, waits: Mask, layout: Layout) -> State:
        """The state without the left tuples that have their result and the right ones nobody will ask for."""
        lefts, rights = meeting.tuples
        lefts = lefts if waits.all() else lefts.filter(arrow(waits, pa.bool_()))
        useful = self._useful(meeting, lefts, rights, layout)
        # Those that arrived now go at once; dropping others copies the rest, which must pay.
        if not pays(useful):
            useful[: meeting.kept[1]] = True
        rights = rights if useful.all() else rights.filter(arrow(useful, pa.bool_()))
        known = meeting.after[KEYS]
        keys, lefts, rights = self._keys.compact(known, lefts, rights, at_once=self._drops_keys_at_once)
        return {**meeting.after, KEYS: keys, SIDES[0]: lefts, SIDES[1]: rights}

    def _useful(self, meeting: Encounter, waiting: pa.Table, rights: pa.Table, layout: Layout) -> Mask:
        """The right tuples that a waiting or future left tuple may have as its latest."""
        codes = keys_of(rights)
        useful, laid_out = codes != NO_KEY, codes[layout.rows]
        passed = self._encounters.passed_after(meeting, 1, laid_out)
        if passed is None or not len(laid_out) or passed.open.all():
            return useful
        least = np.minimum(passed.values, least_waiting(waiting, len(layout.starts) - 1)[laid_out])
        is_last = np.zeros(len(laid_out), np.bool_)
        is_last[layout.starts[1:] - 1] = True
        # A right tuple gives way to the next of its key once nobody asks for a time before that.
        useless = ~is_last & (np.roll(layout.values, -1) <= least)
        if self._within is not None:
            useless |= least - layout.values > self._within
        useful[layout.rows[useless & ~passed.open]] = False
        return useful

    def _kept_table(self, port: int, arrived: Arrived, codes: Indexes) -> pa.Table:
        schema = self._kept_arrow(port)
        columns = [arrived.batch[name] for name in schema.names[:-2]]
        return pa.Table.from_arrays([*columns, pa.array(arrived.values), pa.array(codes)], schema=schema)

    def _kept_arrow(self, port: int) -> pa.Schema:
        order = pa.field(ORDER, pa.from_numpy_dtype(self._sides[port].values_dtype))
        return self._schemas[port].arrow_with_ts.append(order).append(pa.field(KEY, pa.int64()))
