"""Join of a stream with a stored table, which is a window of infinite size (Aurora 5.2.2.3).

The table is loaded as a batch on its port, before the stream. It is kept by key, the rows of one key as they
arrived; tuples of the stream are matched with it and not kept.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa

from australis.algebra.boxes import ANTI, INNER, SEMI, Join, equalities
from australis.algebra.schema import Schema
from australis.kernels.arrays import Indexes, Numbered, PortKeys, column, numbers, stacked
from australis.kernels.causes import with_causes
from australis.kernels.kernel import Kernel, LocalTimes, State, Step, causes_of
from australis.kernels.marks import Marks
from australis.kernels.ordering import Arrived, Side
from australis.kernels.pairing import (
    KEY,
    KEYS,
    NO_KEY,
    SIDES,
    Keys,
    Meeting,
    Pairing,
    Rows,
    alone,
    gathered,
    merged,
)

INDEX = "index"
"""The table of the state with an index of the keys."""


class TableJoinKernel(Kernel):
    """A Join with a stored table on one side."""

    def __init__(self, box: Join, schemas: tuple[Schema, ...], timezone: str = "UTC") -> None:
        assert box.table_side is not None, "one side is a table"
        self.output_schemas = box.output_schemas(*schemas)[:1]
        predicate = box.bind(*schemas).predicate
        self._table_port = box.table_side
        self._table = SIDES[box.table_side]
        self.shared_tables = frozenset({self._table, KEYS, INDEX})
        self._table_schema = schemas[box.table_side]
        self._how, self._unmatched = box.how, box.unmatched
        port = 1 - box.table_side
        order = box.sides[port]
        self._stream = None if order is None else Side(SIDES[port], order, schemas[port])
        self.progress_on = {port: order.on} if order is not None and order.by_progress else {}
        self._keys = Keys(equalities(predicate), schemas[0])
        self._pairing = Pairing(predicate, self.output_schemas[0], timezone)

    def start(self) -> State:
        kept = self._table_schema.arrow.append(pa.field(KEY, pa.int64()))
        return {
            **self._indexed({self._table: kept.empty_table(), KEYS: self._keys.start()}),
            **self._beginning(),
        }

    def completed(self, state: State) -> State:
        """A state, as older versions wrote it without an index, if it has the rows."""
        return self._indexed(state) if KEYS in state and INDEX not in state else state

    def step(self, state: State, port: int, batch: pa.Table, now: int) -> Step:
        if port == self._table_port:
            return Step(self._indexed(self._loaded(state, batch)), self.nothing())
        arrived = _whole(batch) if self._stream is None else self._stream.arrive(state, batch)
        results = self._results(self._meeting(state, port, arrived))
        return Step(
            {**state, **arrived.state},
            (results,),
            arrived.rejected,
            arrived.late,
            late_tuples=arrived.late_tuples,
        )

    def advance(
        self, state: State, batches: Mapping[int, pa.Table], now: LocalTimes, marks: Mapping[int, Marks]
    ) -> tuple[tuple[int, Step], ...]:
        """Only what is late depends on marks; a lookup waits for nothing."""
        port = 1 - self._table_port
        if port not in batches:
            return ((port, Step(state, self.nothing())),)
        assert self._stream is not None, "an order by progress is an order"
        arrived = self._stream.arrive(state, batches[port], marks.get(port))
        results = self._results(self._meeting(state, port, arrived))
        results = with_causes(results, causes_of(batches[port])[causes_of(results)])
        return (
            (
                port,
                Step(
                    {**state, **arrived.state},
                    (results,),
                    arrived.rejected,
                    arrived.late,
                    late_tuples=arrived.late_tuples,
                ),
            ),
        )

    def awaits_marks(self, state: State) -> bool:
        return False

    def flush(self, state: State, now: int) -> Step:
        """Start the stream again; the table is not a stream, and stays."""
        return Step({**state, **self._beginning()}, self.nothing())

    def unloaded(self, state: State) -> State:
        return self._indexed({**state, self._table: state[self._table].slice(0, 0), KEYS: self._keys.start()})

    def kept_by(self, keys: PortKeys) -> tuple[Numbered, ...]:
        """What the order of the stream remembers; every partition has the whole of the table."""
        return () if self._stream is None else (self._stream.kept_by(keys[1 - self._table_port]),)

    def _beginning(self) -> State:
        """The state of the stream before its first tuple; without an order it has none."""
        return {} if self._stream is None else self._stream.start()

    def _results(self, meeting: Meeting) -> pa.Table:
        """What the arrived tuples make of the rows with their keys: pairs, or the tuples alone."""
        if self._how == INNER:
            return self._pairing.pairs(meeting)
        owners, partners = self._pairing.rows(meeting)
        without = np.ones(meeting.batch.num_rows, np.bool_)
        without[owners] = False
        rest = np.flatnonzero(without) if self._unmatched else np.zeros(0, np.int64)
        pairs = Rows(owners, partners, owners) if meeting.port == 0 else Rows(partners, owners, owners)
        if self._how in (SEMI, ANTI):
            pairs = pairs.take(np.flatnonzero(np.diff(owners, prepend=-1)) if self._how == SEMI else rest[:0])
        found = merged(pairs, alone(meeting.port, rest, rest))
        sides = (meeting.batch, meeting.partners)[:: 1 if meeting.port == 0 else -1]
        return gathered(self.output_schemas[0], (sides[0], sides[1]), found, meeting.causes[found.keys])

    def _loaded(self, state: State, rows: pa.Table) -> State:
        """The state with more rows of the table, by key; rows with a NULL in their key have no partners."""
        found = self._keys.encode(state[KEYS], self._table_port, rows)
        columns = [*(rows[name] for name in self._table_schema.names), pa.array(found.codes)]
        table = stacked([state[self._table], pa.Table.from_arrays(columns, schema=state[self._table].schema)])
        codes = numbers(column(table, KEY))
        layout = np.argsort(codes, kind="stable")[np.count_nonzero(codes == NO_KEY) :]
        return {**state, KEYS: found.keys, self._table: table.take(pa.array(layout))}

    def _indexed(self, state: State) -> State:
        """A state with the index of its keys."""
        return {**state, INDEX: self._keys.index(state[KEYS])}

    def _meeting(self, state: State, port: int, arrived: Arrived) -> Meeting:
        """The arrived tuples, each with the range of the table's rows that have its key."""
        table, count = state[self._table], self._keys.count(state[KEYS])
        codes = self._keys.look_up(state[KEYS], state[INDEX], port, arrived.batch)
        lows, highs = _ranges(numbers(column(table, KEY)), codes, count)
        return Meeting(port, arrived.batch, arrived.rows, table, None, lows, highs)


def _ranges(kept: Indexes, codes: Indexes, count: int) -> tuple[Indexes, Indexes]:
    """Where the rows of some codes begin and end among those of `count` codes, which are ascending."""
    if len(codes) < count:
        return np.searchsorted(kept, codes), np.searchsorted(kept, codes, "right")
    starts = np.searchsorted(kept, np.arange(count + 1))
    known = (codes != NO_KEY) & (codes < count)
    return starts[np.where(known, codes, count)], starts[np.where(known, codes + 1, count)]


def _whole(batch: pa.Table) -> Arrived:
    """A batch of a stream without an order: all its tuples are welcome."""
    nothing = np.zeros(0, np.int64)
    rows = np.arange(batch.num_rows)
    return Arrived({}, batch, nothing, rows, nothing, nothing, nothing, rejected=None, late=0)
