"""Join of a stream with a stored table, which is a window of infinite size (Aurora 5.2.2.3).

The table is loaded as a batch on its port, before the stream. It is kept by key, the rows of one key as they
arrived; tuples of the stream are matched with it and not kept.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from australis.algebra.boxes import Join, equalities
from australis.algebra.schema import Schema
from australis.kernels.arrays import Indexes, Numbered, PortKeys, column, numbers, stacked
from australis.kernels.kernel import Kernel, State, Step
from australis.kernels.ordering import Arrived, Side
from australis.kernels.pairing import KEY, NO_KEY, SIDES, Keys, Meeting, Pairing

KEYS = "keys"


class TableJoinKernel(Kernel):
    """A Join with a stored table on one side."""

    def __init__(self, box: Join, schemas: tuple[Schema, ...], timezone: str = "UTC") -> None:
        assert box.table_side is not None, "one side is a table"
        self.output_schemas = box.output_schemas(*schemas)
        predicate = box.bind(*schemas).predicate
        self._table_port = box.table_side
        self._table = SIDES[box.table_side]
        self._table_schema = schemas[box.table_side]
        order = box.left or box.right
        assert order is not None, "one side is a stream"
        self._stream = Side(SIDES[1 - box.table_side], order, schemas[1 - box.table_side])
        self._keys = Keys(equalities(predicate), schemas[0])
        self._pairing = Pairing(predicate, self.output_schemas[0], timezone)

    def start(self) -> State:
        kept = self._table_schema.arrow.append(pa.field(KEY, pa.int64()))
        return {self._table: kept.empty_table(), KEYS: self._keys.start(), **self._stream.start()}

    def step(self, state: State, port: int, batch: pa.Table, now: int) -> Step:
        if port == self._table_port:
            return Step(self._loaded(state, batch), self.nothing())
        arrived = self._stream.arrive(state, batch)
        pairs = self._pairing.pairs(self._meeting(state, port, arrived))
        return Step({**state, **arrived.state}, (pairs,), arrived.rejected, arrived.late)

    def flush(self, state: State, now: int) -> Step:
        """Start the stream again; the table is not a stream, and stays."""
        return Step({**state, **self._stream.start()}, self.nothing())

    def unloaded(self, state: State) -> State:
        return {**state, self._table: state[self._table].slice(0, 0), KEYS: self._keys.start()}

    def kept_by(self, keys: PortKeys) -> tuple[Numbered, ...]:
        """If the table has no keys, every partition has the whole of it."""
        groups = self._stream.kept_by(keys[1 - self._table_port])
        if not keys[self._table_port]:
            return (groups,)
        return (groups, self._keys.kept_by(KEYS, keys, self._table))

    def _loaded(self, state: State, rows: pa.Table) -> State:
        """The state with more rows of the table, by key; rows with a NULL in their key have no partners."""
        found = self._keys.encode(state[KEYS], self._table_port, rows)
        columns = [*(rows[name] for name in self._table_schema.names), pa.array(found.codes)]
        table = stacked([state[self._table], pa.Table.from_arrays(columns, schema=state[self._table].schema)])
        codes = numbers(column(table, KEY))
        layout = np.argsort(codes, kind="stable")[np.count_nonzero(codes == NO_KEY) :]
        return {**state, KEYS: found.keys, self._table: table.take(pa.array(layout))}

    def _meeting(self, state: State, port: int, arrived: Arrived) -> Meeting:
        """The arrived tuples, each with the range of the table's rows that have its key."""
        table, count = state[self._table], self._keys.count(state[KEYS])
        codes = self._keys.encode(state[KEYS], port, arrived.batch).codes
        starts = np.searchsorted(numbers(column(table, KEY)), np.arange(count + 1))
        known = (codes != NO_KEY) & (codes < count)
        lows, highs = starts[np.where(known, codes, count)], starts[np.where(known, codes + 1, count)]
        layout: Indexes = np.arange(table.num_rows)
        return Meeting(port, arrived.batch, arrived.rows, table, layout, lows, highs)
