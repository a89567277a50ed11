"""Join of two streams that also emits what has no partner: outer joins, semijoins and antijoins.

State: that of a Join, and for each kept tuple whether it is settled: it has had a partner, or was emitted
without one. A tuple without a partner is emitted when the other side has passed it, or at the end. Right
tuples are settled only where they can be emitted alone: a partner that would settle one may be gone by then.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from australis.algebra.boxes import ANTI, SEMI, Join
from australis.algebra.schema import Schema
from australis.kernels.arrays import Indexes, Mask, column
from australis.kernels.boxes.two_inputs.join import JoinKernel
from australis.kernels.boxes.two_inputs.two_streams import EncounterKernel, pays
from australis.kernels.expressions import arrow, truths
from australis.kernels.kernel import Due, State, Step
from australis.kernels.ordering import Arrived
from australis.kernels.pairing import (
    KEYS,
    NEVER,
    SIDES,
    Encounter,
    Encounters,
    KeyDues,
    Rows,
    alone,
    gathered,
    keys_of,
    merged,
    orders_of,
)

SETTLED = "#settled"
"""The column of kept tuples that says whether they have had a partner, or were emitted without one."""


class OuterJoinKernel(EncounterKernel, JoinKernel):
    """A Join of two streams that is not an inner one, or goes by progress."""

    def __init__(self, box: Join, schemas: tuple[Schema, ...], timezone: str = "UTC") -> None:
        super().__init__(box, schemas, timezone)
        self._how = box.how
        self._unmatched = sorted(box.unmatched)
        empty = (schemas[0].arrow_with_ts.empty_table(), schemas[1].arrow_with_ts.empty_table())
        self._encounters = Encounters(self._sides, self._keys, empty, self._kept_table)
        self.progress_on = self._encounters.progress_on

    def start(self) -> State:
        state = super().start()
        settled = pa.field(SETTLED, pa.bool_())
        kept = {name: state[name].schema.append(settled).empty_table() for name in SIDES}
        return {**state, **kept}

    def flush(self, state: State, now: int) -> Step:
        """Emit what has had no partner: by order value, the left tuples first, by key, then by arrival."""
        kept = (state[SIDES[0]], state[SIDES[1]])
        rows = {port: np.flatnonzero(~_settled(kept[port])) for port in self._unmatched}
        if not rows:
            return Step(self.start(), self.nothing())
        values = np.concatenate([orders_of(kept[port])[each] for port, each in rows.items()])
        codes = np.concatenate([keys_of(kept[port])[each] for port, each in rows.items()])
        ports = np.concatenate([np.full(len(each), port) for port, each in rows.items()])
        found = merged(*(alone(port, each, np.zeros_like(each)) for port, each in rows.items()))
        found = found.take(np.lexsort((self._keys.ranks(state[KEYS], codes), ports, values)))
        causes = np.full(len(found.keys), -1)
        return Step(self.start(), (gathered(self.output_schemas[0], kept, found, causes),))

    def awaits_marks(self, state: State) -> bool:
        """Whether a tuple that has had no partner waits until it is known that it has none."""
        return bool(self.progress_on) and any(
            not _settled(state[SIDES[port]]).all() for port in self._unmatched
        )

    def due(self, state: State) -> Due | None:
        if not self.progress_on:
            return None
        due = KeyDues(state[KEYS].num_rows)
        for port in (0, 1):
            if 1 - port in self.progress_on:
                tuples = state[SIDES[port]]
                codes, values = keys_of(tuples), orders_of(tuples)
                due.forget(codes, values, self._size)
                if port in self._unmatched:
                    waits = ~_settled(tuples)
                    due.emit(codes[waits], values[waits], self._size)
        return due.found

    # --- what is emitted

    def _results(self, meeting: Encounter) -> tuple[State, pa.Table]:
        """The state after an encounter, and what it makes the join emit."""
        settled = (_settled(meeting.tuples[0]).copy(), _settled(meeting.tuples[1]).copy())
        pairs = self._pairs(meeting)
        parts = [self._shown(pairs, settled[0])]
        settled[0][pairs.left] = True
        if 1 in self._unmatched:
            settled[1][pairs.right] = True
        for port in self._unmatched:
            parts.append(self._let_go(meeting, port, np.flatnonzero(~settled[port])))
            settled[port][parts[-1].left if port == 0 else parts[-1].right] = True
        found = merged(*parts)
        causes = meeting.sequence.causes[found.keys >> 1]
        return self._remaining(meeting, settled), gathered(
            self.output_schemas[0], meeting.tuples, found, causes
        )

    def _pairs(self, meeting: Encounter) -> Rows:
        """All pairs with a new tuple, by the moment of the later tuple, then by the partner's order value."""
        lefts, rights = meeting.arrived
        with_kept = self._meeting(meeting.before[SIDES[1]], 0, lefts, meeting.codes[0])
        with_all = self._meeting(meeting.tuples[0], 1, rights, meeting.codes[1])
        new_left, kept_right = self._pairing.rows(with_kept)
        new_right, any_left = self._pairing.rows(with_all)
        left = np.concatenate([new_left + meeting.kept[0], any_left])
        right = np.concatenate([kept_right, new_right + meeting.kept[1]])
        when = (meeting.arrivals(0)[left], meeting.arrivals(1)[right])
        found = Rows(left, right, 2 * np.maximum(*when))
        # The pairs of one port's tuples come in sequence.
        if not len(lefts.rows) or not len(rights.rows):
            return found
        is_left = when[0] > when[1]
        values = [orders_of(tuples) for tuples in meeting.tuples]
        partner_values = np.where(is_left, values[1][right], values[0][left])
        return found.take(np.lexsort((np.where(is_left, right, left), partner_values, found.keys)))

    def _shown(self, pairs: Rows, settled: Mask) -> Rows:
        """The pairs that are emitted; a semijoin emits a left tuple with the first of its pairs."""
        if self._how == ANTI:
            return pairs.take(np.zeros(0, np.int64))
        if self._how != SEMI:
            return pairs
        firsts = np.unique(pairs.left, return_index=True)[1]
        firsts.sort()
        return pairs.take(firsts[~settled[pairs.left[firsts]]])

    def _let_go(self, meeting: Encounter, port: int, rows: Indexes) -> Rows:
        """Of some tuples without a partner those that the other side has passed, when it has done so.

        A tuple that was passed before it arrived is emitted as its own result, others after the results of
        the tuple that passed them.
        """
        moment, arrivals = self._encounters.passed_at(meeting, port, rows, self._size), meeting.arrivals(port)
        gone = moment != NEVER
        rows, moment = rows[gone], moment[gone]
        keys = 2 * moment + (moment != arrivals[rows])
        codes, values = keys_of(meeting.tuples[port])[rows], orders_of(meeting.tuples[port])[rows]
        moments_most = 2 * len(meeting.sequence.causes)
        sequence = self._keys.sequence(meeting.after[KEYS], codes, values, keys, moments_most)
        return alone(port, rows[sequence], keys[sequence])

    # --- what is kept

    def _remaining(self, meeting: Encounter, settled: tuple[Mask, Mask]) -> State:
        """The state without the tuples that can do nothing any more."""
        both = []
        for port, tuples in enumerate(meeting.tuples):
            useful = self._is_reachable(tuples, self._encounters.passed_after(meeting, port, keys_of(tuples)))
            if port == 0 and self._how in (SEMI, ANTI):
                useful &= ~settled[0]
            # Those that arrived now go at once; dropping others copies the rest, which must pay.
            if not pays(useful):
                useful[: meeting.kept[port]] = True
            at = tuples.schema.get_field_index(SETTLED)
            marked = tuples.set_column(at, tuples.schema.field(at), arrow(settled[port], pa.bool_()))
            both.append(marked if useful.all() else marked.filter(arrow(useful, pa.bool_())))
        keys, left, right = self._keys.compact(meeting.after[KEYS], *both, at_once=self._drops_keys_at_once)
        return {**meeting.after, KEYS: keys, SIDES[0]: left, SIDES[1]: right}

    def _kept_table(self, port: int, arrived: Arrived, codes: Indexes) -> pa.Table:
        tuples = super()._kept_table(port, arrived, codes)
        settled = arrow(np.zeros(len(codes), np.bool_), pa.bool_())
        return tuples.append_column(pa.field(SETTLED, pa.bool_()), settled)


def _settled(tuples: pa.Table) -> Mask:
    return truths(column(tuples, SETTLED))
