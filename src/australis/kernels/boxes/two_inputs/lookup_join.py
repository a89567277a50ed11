"""Join of a stream with a stored table that is not kept: its rows are looked up by key (Aurora 2.1).

The paper's iterative substitution, a batch at a time: it looks up the rows of the table that have one of the
distinct keys of the batch. The function that answers is passed in.
"""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa

from australis.algebra.boxes import Join
from australis.algebra.schema import Schema
from australis.kernels.boxes.two_inputs.table_join import INDEX, TableJoinKernel
from australis.kernels.kernel import State, Step
from australis.kernels.ordering import Arrived
from australis.kernels.pairing import KEYS, Meeting

Ask = Callable[[pa.Table], pa.Table]
"""For distinct keys, in columns named like the table's attributes, all rows that have one of them."""


class LookupJoinKernel(TableJoinKernel):
    """A Join one side of which is looked up."""

    def __init__(self, box: Join, schemas: tuple[Schema, ...], timezone: str, ask: Ask) -> None:
        super().__init__(box, schemas, timezone)
        self._ask = ask

    def step(self, state: State, port: int, batch: pa.Table, now: int) -> Step:
        if port == self._table_port:
            return Step(state, self.nothing())
        return super().step(state, port, batch, now)

    def _meeting(self, state: State, port: int, arrived: Arrived) -> Meeting:
        """The arrived tuples with the rows that have their keys; none of these rows are kept."""
        empty = {self._table: state[self._table], KEYS: state[KEYS], INDEX: state[INDEX]}
        keys = self._keys.asked(self._table_port, arrived.batch)
        found = self._loaded(empty, self._ask(keys)) if keys.num_rows else empty
        return super()._meeting(found, port, arrived)
