"""Join, vectorised: a symmetric join that keeps the tuples the other side may still need (Aurora 5.2.2.3).

State: for each side its kept tuples as they arrived, with their order value and the code of their key; the
keys by their codes, for both sides; and the state of each side's order. An arriving batch meets the other
side's tuples laid out by key and order value, where every tuple's partners lie in one range.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa

from australis.algebra.boxes import Join, equalities
from australis.algebra.schema import Schema
from australis.kernels.arrays import (
    GroupCodes,
    Indexes,
    Mask,
    column,
    first_beyond,
    first_near,
    lay_out,
    numbers,
    stacked,
)
from australis.kernels.boxes.two_inputs.two_streams import KeyedKernel, pays
from australis.kernels.expressions import arrow
from australis.kernels.kernel import State, Step, causes_of
from australis.kernels.ordering import Arrived, Passed, Side
from australis.kernels.pairing import (
    KEY,
    KEYS,
    NO_KEY,
    ORDER,
    SIDES,
    Keys,
    Meeting,
    New,
    Pairing,
    in_sequence,
)

SORT_OUT_FROM = 8
"""How many kept tuples there must be per tuple of a batch before it pays to select those with its keys."""


class JoinKernel(KeyedKernel):
    """A Join of two streams."""

    def __init__(self, box: Join, schemas: tuple[Schema, ...], timezone: str = "UTC") -> None:
        self.output_schemas = box.output_schemas(*schemas)[:1]
        left, right = schemas
        bound = box.bind(left, right)
        assert box.left is not None, "the left side is a stream"
        assert box.right is not None, "the right side is a stream"
        assert bound.size is not None, "a join of two streams has a size"
        self._schemas = schemas
        self._sides = (Side("left", box.left, left), Side("right", box.right, right))
        self._keys = Keys(equalities(bound.predicate), left)
        self._pairing = Pairing(bound.predicate, self.output_schemas[0], timezone)
        self._size = bound.size

    def start(self) -> State:
        kept = {name: self._kept_arrow(port).empty_table() for port, name in enumerate(SIDES)}
        return {**kept, KEYS: self._keys.start(), **self._sides[0].start(), **self._sides[1].start()}

    def step(self, state: State, port: int, batch: pa.Table, now: int) -> Step:
        arrived = self._sides[port].arrive(state, batch)
        found = self._keys.encode_arrived(state[KEYS], port, arrived, self._sides[port])
        pairs = self._pairing.pairs(self._meeting(state[SIDES[1 - port]], port, arrived, found))
        after = {**state, **arrived.state, KEYS: found.keys}
        added = {port: self._kept_table(port, arrived, found.codes)}
        return Step(
            self._kept(after, added),
            (pairs,),
            arrived.rejected,
            arrived.late,
            late_tuples=arrived.late_tuples,
        )

    def together(self, state: State, left: pa.Table, right: pa.Table) -> tuple[Step, Step]:
        """Take batches of both ports, interleaved by their causes.

        The pairs are those of the new tuples with the kept ones, and with each other. A pair is emitted with
        the later of its tuples.
        """
        lefts = self._sides[0].arrive(state, left)
        found = self._keys.encode_arrived(state[KEYS], 0, lefts, self._sides[0])
        rights = self._sides[1].arrive(state, right)
        both = self._keys.encode_arrived(found.keys, 1, rights, self._sides[1])
        added = {
            0: self._kept_table(0, lefts, found.codes),
            1: self._kept_table(1, rights, both.codes),
        }
        meetings = (
            self._meeting(state[SIDES[1]], 0, lefts, GroupCodes(found.codes, both.keys, both.count)),
            self._meeting(state[SIDES[0]], 1, rights, both),
            self._meeting(added[0], 1, rights, both),
        )
        new_left = New(causes_of(left)[lefts.rows], lefts.values)
        new_right = New(causes_of(right)[rights.rows], rights.values)
        pairs = in_sequence(self._pairing, meetings, new_left, new_right, ORDER)
        after = self._kept({**state, **lefts.state, **rights.state, KEYS: both.keys}, added)
        first = lefts.step(after, self.nothing())
        return first, rights.step(after, (pairs,))

    def _meeting(self, partners: pa.Table, port: int, arrived: Arrived, found: GroupCodes) -> Meeting:
        """The arrived tuples, each with the range of partners that its key and the window allow."""
        rows = _with_keys(numbers(column(partners, KEY)), found)
        values = numbers(column(partners, ORDER))[rows]
        starts, places, laid_out = lay_out(numbers(column(partners, KEY))[rows], values, found.count)
        lows = first_near(found.codes, arrived.values, starts, laid_out, self._size)
        highs = first_beyond(found.codes, arrived.values, starts, laid_out, self._size)
        layout = places if isinstance(rows, slice) else rows[places]
        return Meeting(port, arrived.batch, arrived.rows, partners, layout, lows, highs)

    # --- what is kept

    def _kept(self, state: State, added: Mapping[int, pa.Table]) -> State:
        """The state with what arrived, and without what is now out of reach of either side."""
        both = []
        for port, side in enumerate(SIDES):
            kept = state[side]
            if 1 - port in added:
                reachable = self._reachable(state, port, kept)
                kept = _only(kept, reachable) if pays(reachable) else kept
            if port in added:
                kept = stacked([kept, _only(added[port], self._reachable(state, port, added[port]))])
            both.append(kept)
        keys, left, right = self._keys.compact(state[KEYS], *both)
        return {**state, KEYS: keys, SIDES[0]: left, SIDES[1]: right}

    def _kept_table(self, port: int, arrived: Arrived, codes: Indexes) -> pa.Table:
        schema = self._kept_arrow(port)
        columns = [arrived.batch[name] for name in schema.names[:-2]]
        return pa.Table.from_arrays([*columns, pa.array(arrived.values), pa.array(codes)], schema=schema)

    def _kept_arrow(self, port: int) -> pa.Schema:
        order = pa.field(ORDER, pa.from_numpy_dtype(self._sides[port].values_dtype))
        return self._schemas[port].arrow_with_ts.append(order).append(pa.field(KEY, pa.int64()))

    def _reachable(self, state: State, port: int, tuples: pa.Table) -> Mask:
        """Which tuples may still pair with a future tuple of the other side."""
        codes = numbers(column(tuples, KEY))
        passed = self._keys.passed(state[KEYS], port, codes, self._sides[1 - port], state)
        return self._is_reachable(tuples, passed)

    def _is_reachable(self, tuples: pa.Table, passed: Passed | None) -> Mask:
        """Which tuples may still pair, given what the other side has passed for them, if that is known."""
        codes = numbers(column(tuples, KEY))
        if passed is None:
            return codes != NO_KEY
        beyond = passed.values - numbers(column(tuples, ORDER)) > self._size
        return (codes != NO_KEY) & (passed.open | ~beyond)


def _with_keys(codes: Indexes, found: GroupCodes) -> Indexes | slice:
    """The rows of kept tuples whose key a batch has; all of them if selecting would not pay."""
    if len(codes) < SORT_OUT_FROM * len(found.codes):
        return slice(None)
    # Tuples of the batch without a key mark the place after all keys.
    wanted = np.zeros(found.count + 1, np.bool_)
    wanted[found.codes] = True
    return np.flatnonzero(wanted[codes])


def _only(tuples: pa.Table, kept: Mask) -> pa.Table:
    return tuples if kept.all() else tuples.filter(arrow(kept, pa.bool_()))
