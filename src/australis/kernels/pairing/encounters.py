"""Encounters: the tuples of two streams that meet in a step, and when one side passes those of the other."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from australis.kernels.arrays import GroupCodes, Indexes, Numbers, column, lower_to_least, numbers, stacked
from australis.kernels.kernel import CAUSE, State, causes_of
from australis.kernels.marks import NO_MARKS, Marks
from australis.kernels.ordering import Arrived, Passed, Side
from australis.kernels.pairing.keys import KEY, NO_KEY, Keys
from australis.kernels.pairing.moments import Moments, Moves, Waiting, moments, passed_by, passing
from australis.kernels.pairing.pairs import SIDES

ORDER = "#order"
"""The column of kept tuples with their order value, in units."""
KEYS = "keys"
"""The table of the state with the keys of both sides."""


@dataclass(frozen=True)
class Encounter:
    """What meets in one step: the tuples of both sides, first those kept, then those that arrived."""

    before: State
    after: State
    """The orders and keys after the arrivals."""
    tuples: tuple[pa.Table, pa.Table]
    kept: tuple[int, int]
    """How many tuples of each side were kept."""
    arrived: tuple[Arrived, Arrived]
    codes: tuple[GroupCodes, GroupCodes]
    """The keys of the tuples that arrived."""
    sequence: Moments
    marks: tuple[Marks, Marks]
    """The marks of each side that is ordered by progress."""

    def arrivals(self, port: int) -> Indexes:
        """The moments at which the tuples of a side arrived."""
        return self.sequence.all(port, self.kept[port])


class Encounters:
    """Two streams with orders, whose tuples are kept until they are passed."""

    def __init__(
        self,
        sides: tuple[Side, Side],
        keys: Keys,
        no_batches: tuple[pa.Table, pa.Table],
        kept_table: Callable[[int, Arrived, Indexes], pa.Table],
    ) -> None:
        self._sides, self._keys = sides, keys
        self._no_batches = no_batches
        self._kept_table = kept_table

    @property
    def progress_on(self) -> dict[int, str]:
        """The attribute of each side that is ordered by progress."""
        return {port: side.order.on for port, side in enumerate(self._sides) if side.order.by_progress}

    def of_one(self, state: State, port: int, batch: pa.Table) -> Encounter:
        """A batch that arrives on one port, with what is kept."""
        batches = [batch if each == port else self._no_batches[each] for each in (0, 1)]
        lefts, rights = (side.arrive(state, each) for side, each in zip(self._sides, batches, strict=True))
        return self._of(state, lefts, rights, moments(lefts.rows, rights.rows), (NO_MARKS, NO_MARKS))

    def of_both(self, state: State, left: pa.Table, right: pa.Table) -> Encounter:
        """Batches of both ports, interleaved by their causes, with what is kept."""
        lefts, rights = self._sides[0].arrive(state, left), self._sides[1].arrive(state, right)
        sequence = moments(causes_of(left)[lefts.rows], causes_of(right)[rights.rows])
        return self._of(state, lefts, rights, sequence, (NO_MARKS, NO_MARKS))

    def of_event(
        self, state: State, batches: Mapping[int, pa.Table], marks: Mapping[int, Marks]
    ) -> Encounter:
        """Batches of any ports with their causes, and the marks of the orders by progress."""
        arrived = [
            side.arrive(state, batches[port] if port in batches else _with_causes(empty), marks.get(port))
            for port, (side, empty) in enumerate(zip(self._sides, self._no_batches, strict=True))
        ]
        risen = (marks.get(0, NO_MARKS), marks.get(1, NO_MARKS))
        causes = [causes_of(each.batch) for each in arrived]
        sequence = moments(causes[0], causes[1], risen[0].causes, risen[1].causes)
        return self._of(state, arrived[0], arrived[1], sequence, risen)

    def _of(
        self, state: State, lefts: Arrived, rights: Arrived, sequence: Moments, marks: tuple[Marks, Marks]
    ) -> Encounter:
        found = self._keys.encode_arrived(state[KEYS], 0, lefts, self._sides[0])
        both = self._keys.encode_arrived(found.keys, 1, rights, self._sides[1])
        added = (self._kept_table(0, lefts, found.codes), self._kept_table(1, rights, both.codes))
        return Encounter(
            state,
            {**state, **lefts.state, **rights.state, KEYS: both.keys},
            (stacked([state[SIDES[0]], added[0]]), stacked([state[SIDES[1]], added[1]])),
            (state[SIDES[0]].num_rows, state[SIDES[1]].num_rows),
            (lefts, rights),
            (GroupCodes(found.codes, both.keys, both.count), both),
            sequence,
            marks,
        )

    def passed_at(self, meeting: Encounter, port: int, rows: Indexes, size: int | float) -> Indexes:
        """The moment at which the other side has passed some tuples by more than `size`; NEVER if it has not.

        It is at the earliest that of their own arrival, as for tuples whose key equals no other. The keys
        must determine the groups of the other side, unless it is ordered by progress.
        """
        codes = keys_of(meeting.tuples[port])[rows]
        before = self._passed(meeting, port, codes, meeting.before, meeting.marks[1 - port].before)
        assert before is not None, "the keys determine the groups of the other side"
        waiting = Waiting(
            orders_of(meeting.tuples[port])[rows],
            meeting.arrivals(port)[rows],
            self._groups(meeting, port, codes),
            codes == NO_KEY,
        )
        return passing(waiting, before, self._moves(meeting, 1 - port), size)

    def passed_after(self, meeting: Encounter, port: int, codes: Indexes) -> Passed | None:
        """What the other side has passed after an encounter for tuples with these keys; None if unknown."""
        return self._passed(meeting, port, codes, meeting.after, meeting.marks[1 - port].last)

    def _passed(
        self, meeting: Encounter, port: int, codes: Indexes, state: State, mark: int | float | None
    ) -> Passed | None:
        side = self._sides[1 - port]
        if side.order.by_progress:
            return passed_by(mark, side.values_dtype)
        return self._keys.passed(meeting.after[KEYS], port, codes, side, state)

    def _groups(self, meeting: Encounter, port: int, codes: Indexes) -> Indexes:
        """The group of the other side that decides for tuples with these keys; marks have only one."""
        side = self._sides[1 - port]
        if side.order.by_progress:
            return np.zeros(len(codes), np.int64)
        groups = self._keys.groups(meeting.after[KEYS], port, codes, side, meeting.after)
        assert groups is not None, "the keys determine the groups of the other side"
        return np.broadcast_to(groups, codes.shape).copy()

    def _moves(self, meeting: Encounter, port: int) -> Moves:
        """The moves of what a side has passed: by its marks, or by the tuples that arrived."""
        arrived, marks = meeting.arrived[port], meeting.marks[port]
        if self._sides[port].order.by_progress:
            values = marks.values.astype(self._sides[port].values_dtype, copy=False)
            return Moves(np.zeros(len(values), np.int64), values, meeting.sequence.marks[port])
        moments = meeting.sequence.by_port[port]
        return Moves(arrived.codes[arrived.movers], arrived.moved, moments[arrived.movers])


def _with_causes(empty: pa.Table) -> pa.Table:
    return empty.append_column(pa.field(CAUSE, pa.int64(), False), pa.array([], pa.int64()))


def orders_of(tuples: pa.Table) -> Numbers:
    """The order values of kept tuples."""
    return numbers(column(tuples, ORDER))


def keys_of(tuples: pa.Table) -> Indexes:
    """The codes of the keys of kept tuples."""
    return numbers(column(tuples, KEY))


def least_waiting(waiting: pa.Table, keys: int) -> Numbers:
    """The least order value of the waiting tuples of each key; without any, greater than all others."""
    values = orders_of(waiting)
    greatest = np.inf if values.dtype == np.float64 else np.iinfo(np.int64).max
    least = np.full(keys, greatest, values.dtype)
    lower_to_least(least, keys_of(waiting), np.arange(len(values)), values)
    return least
