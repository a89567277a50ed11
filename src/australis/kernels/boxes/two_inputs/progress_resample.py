"""Resample whose right order is by progress, vectorised: a mark completes the windows of all groups at once.

The state is that of a Resample. Waiting left tuples are sorted by order value, so a mark is done with the
first ones.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa

from australis.algebra.boxes import Resample
from australis.algebra.schema import Schema
from australis.kernels.arrays import column, numbers, stacked
from australis.kernels.boxes.two_inputs.resample import LEFT, RIGHT, ResampleKernel, by_order, lefts_of
from australis.kernels.expressions import arrow
from australis.kernels.kernel import LocalTimes, State, Step, causes_of, empty_output
from australis.kernels.marks import NO_MARKS, Marks
from australis.kernels.pairing import (
    NEVER,
    ORDER,
    Moments,
    Moves,
    Waiting,
    moments,
    passed_by,
    passing,
    windows_around,
)


class ProgressResampleKernel(ResampleKernel):
    """A Resample box that goes by progress."""

    def __init__(self, box: Resample, schemas: tuple[Schema, ...], timezone: str = "UTC") -> None:
        super().__init__(box, schemas, timezone)
        self.progress_on = {port: order.on for port, order in box.orders.items() if order.by_progress}
        self._no_batches = tuple(map(empty_output, schemas))

    def advance(
        self, state: State, batches: Mapping[int, pa.Table], now: LocalTimes, marks: Mapping[int, Marks]
    ) -> tuple[tuple[int, Step], ...]:
        left = self._left.arrive(state, batches.get(0, self._no_batches[0]), marks.get(0))
        right = self._right.arrive(state, batches.get(1, self._no_batches[1]), marks.get(1))
        risen = (marks.get(0, NO_MARKS), marks.get(1, NO_MARKS))
        sequence = moments(causes_of(left.batch), causes_of(right.batch), risen[0].causes, risen[1].causes)
        after = {
            **state,
            **left.state,
            **right.state,
            LEFT: stacked([state[LEFT], self._left_table(left)]),
            RIGHT: stacked([state[RIGHT], self._right_table(right)]),
        }
        waiting, result = self._completed(after, state[LEFT].num_rows, sequence, risen[1])
        kept = self._without_useless({**after, LEFT: waiting}, risen[0])
        first = left.step(kept, self.nothing())
        return (
            (0, first),
            (1, right.step(kept, (result,))),
        )

    def awaits_marks(self, state: State) -> bool:
        """Whether a left tuple waits until the right side has passed it."""
        return state[LEFT].num_rows > 0

    def _completed(
        self, state: State, kept: int, sequence: Moments, marks: Marks
    ) -> tuple[pa.Table, pa.Table]:
        """The left tuples that still wait, and the results of the others."""
        layout = by_order(numbers(column(state[LEFT], ORDER)))
        lefts, rights = lefts_of(state[LEFT].take(pa.array(layout))), self._rights(state)
        arrived, everyone = sequence.all(0, kept)[layout], np.zeros(len(layout), np.int64)
        waiting = Waiting(lefts.values, arrived, everyone, np.zeros(len(layout), np.bool_))
        values = marks.values.astype(self._right.values_dtype, copy=False)
        moves = Moves(np.zeros(len(values), np.int64), values, sequence.marks[1])
        moment = passing(waiting, passed_by(marks.before, values.dtype), moves, self._size)
        done = np.count_nonzero(moment != NEVER)
        groups = len(rights.starts) - 1
        found = windows_around(
            lefts.values,
            np.zeros(groups, np.int64),
            np.full(groups, done),
            rights.starts,
            rights.values,
            self._size,
        )
        found = found.take(np.lexsort((found.groups, found.lefts, moment[found.lefts])))
        causes = sequence.causes[moment[found.lefts]]
        return lefts.table.slice(done), self._results.table(found, causes, lefts, rights)

    def _without_useless(self, state: State, marks: Marks) -> State:
        """The state without the right tuples that are too far before all waiting or future left tuples."""
        passed = self._left.passed(state)
        if self._left.order.by_progress:
            passed = passed_by(marks.last, self._left.values_dtype)
        if not len(passed.values) or passed.open[0]:
            return state
        lefts = numbers(column(state[LEFT], ORDER))
        least = min(passed.values[0], lefts[0]) if len(lefts) else passed.values[0]
        useful = least - numbers(column(state[RIGHT], ORDER)) <= self._size
        return {**state, RIGHT: state[RIGHT].filter(arrow(useful, pa.bool_()))}
