"""Join, vectorised: a symmetric join that keeps of each side what the other may still need (Aurora 5.2.2.3).

State: for each side its kept tuples as they arrived, with their order value and the code of their key; the
keys by their codes, for both sides; and what the order of each side remembers. An arriving batch meets the
other side's tuples laid out by key and order value, where every tuple's partners lie in one range.
"""

from __future__ import annotations

import pyarrow as pa

from australis.algebra.boxes import Join, equalities
from australis.algebra.schema import Schema
from australis.kernels.band import arrange, first_behind, first_near
from australis.kernels.columns import Indexes, column, numbers, stacked
from australis.kernels.expressions.arrays import arrow
from australis.kernels.kernel import Kernel, State, Step
from australis.kernels.keys import KEY, NO_KEY, Keys
from australis.kernels.pairs import SIDES, Meeting, Pairing
from australis.kernels.sides import Arrived, Side

ORDER = "#order"
"""The column of kept tuples with their order value, in units."""
KEYS = "keys"


class JoinKernel(Kernel):
    """A Join of two streams."""

    def __init__(self, box: Join, schemas: tuple[Schema, ...], timezone: str = "UTC") -> None:
        self.output_schemas = box.output_schemas(*schemas)
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
        found = self._keys.encode(state[KEYS], port, arrived.batch)
        pairs = self._pairing.pairs(self._meeting(state, port, arrived, found.codes))
        after = {**state, **arrived.state, KEYS: found.keys}
        return Step(self._kept(after, port, arrived, found.codes), (pairs,), arrived.rejected, arrived.late)

    def _meeting(self, state: State, port: int, arrived: Arrived, codes: Indexes) -> Meeting:
        """The arrived tuples, each with the range of partners that its key and the band allow."""
        partners = state[SIDES[1 - port]]
        values = numbers(column(partners, ORDER))
        starts, layout = arrange(numbers(column(partners, KEY)), values, self._keys.count(state[KEYS]))
        laid_out = values[layout]
        lows = first_near(codes, arrived.values, starts, laid_out, self._size)
        highs = first_behind(codes, arrived.values, starts, laid_out, self._size)
        return Meeting(port, arrived.batch, arrived.rows, partners, layout, lows, highs)

    # --- what is kept

    def _kept(self, state: State, port: int, arrived: Arrived, codes: Indexes) -> State:
        """The state with the arrived tuples, and without those of both sides that are out of reach."""
        added = self._kept_table(port, arrived, codes)
        both = [state[side] for side in SIDES]
        both[port] = stacked([both[port], self._reachable(state, port, added)])
        both[1 - port] = self._reachable(state, 1 - port, both[1 - port])
        keys, left, right = self._keys.compact(state[KEYS], *both)
        return {**state, KEYS: keys, SIDES[0]: left, SIDES[1]: right}

    def _kept_table(self, port: int, arrived: Arrived, codes: Indexes) -> pa.Table:
        schema = self._kept_arrow(port)
        columns = [arrived.batch[name] for name in schema.names[:-2]]
        return pa.Table.from_arrays([*columns, pa.array(arrived.values), pa.array(codes)], schema=schema)

    def _kept_arrow(self, port: int) -> pa.Schema:
        order = pa.field(ORDER, pa.from_numpy_dtype(self._sides[port].values_dtype))
        return self._schemas[port].arrow_with_ts.append(order).append(pa.field(KEY, pa.int64()))

    def _reachable(self, state: State, port: int, tuples: pa.Table) -> pa.Table:
        """Without the tuples that no tuple of the other side that is yet to come can pair with."""
        codes = numbers(column(tuples, KEY))
        passed = self._keys.passed(state[KEYS], port, self._sides[1 - port], state)
        kept = codes != NO_KEY
        if passed is not None and len(codes):
            beyond = passed.values[codes] - numbers(column(tuples, ORDER)) > self._size
            kept &= passed.open[codes] | ~beyond
        return tuples if kept.all() else tuples.filter(arrow(kept, pa.bool_()))
