"""Number: counts the tuples of each group, batch by batch."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from australis.algebra.boxes import Number
from australis.algebra.schema import TS, Schema
from australis.kernels.arrays import Indexes, Numbered, PortKeys, by_group, column, encode, grown, numbers
from australis.kernels.boxes.quiet_groups import QuietGroups
from australis.kernels.compiled import njit
from australis.kernels.kernel import Due, Kernel, State, Step, output_schema

COUNT = "#count"


class NumberKernel(Kernel):
    """Adds the number of each tuple in its group.

    The state: `groups` in the order of their first arrivals, with how many tuples each has had.
    """

    def __init__(self, box: Number, schemas: tuple[Schema, ...], timezone: str = "UTC") -> None:
        schema = schemas[0]
        self.output_schemas = box.output_schemas(schema)
        self._keys, self._start, self._names = list(box.group_by), box.start, schema.names
        fields = [pa.field(name, schema[name].type.arrow) for name in self._keys]
        self._quiet = QuietGroups(box.forget_us, box.group_by, {})
        self._groups = pa.schema([*fields, pa.field(COUNT, pa.int64()), *self._quiet.fields])

    def start(self) -> State:
        return {"groups": self._groups.empty_table()}

    def step(self, state: State, port: int, batch: pa.Table, now: int) -> Step:
        return self.step_at(state, port, batch, np.full(batch.num_rows, now))

    def step_at(self, state: State, port: int, batch: pa.Table, times: Indexes) -> Step:
        if not batch.num_rows:
            return Step(state, self.nothing())
        groups = self._quiet.without(state, batch, times)["groups"]
        found = encode(groups.select(self._keys), groups.num_rows, batch)
        counts = np.array(grown(numbers(column(groups, COUNT)), found.count))
        given = _numbered(found.codes, counts)
        keys = [column(found.keys, name) for name in self._keys]
        arrived = self._quiet.columns(groups, found, times)
        after = pa.Table.from_arrays([*keys, pa.array(counts), *arrived], schema=self._groups)
        columns = [*(batch[name] for name in self._names), pa.array(given + self._start), batch[TS]]
        causes = pa.array(np.arange(batch.num_rows))
        output = pa.Table.from_arrays([*columns, causes], schema=output_schema(self.output_schemas[0]))
        return Step({"groups": after}, (output,))

    @property
    def separated_by(self) -> PortKeys:
        return (tuple(self._keys),)

    def due(self, state: State) -> Due | None:
        return self._quiet.due(state)

    def kept_by(self, keys: PortKeys) -> tuple[Numbered, ...]:
        return (by_group("groups", self._keys, keys[0], {}),)


@njit(nogil=True)
def _numbered(codes: Indexes, counts: Indexes) -> Indexes:
    """The number of each row in its group, which had `counts` rows before; raises the counts."""
    given = np.empty(codes.shape[0], np.int64)
    for row in range(codes.shape[0]):
        given[row] = counts[codes[row]]
        counts[codes[row]] += 1
    return given
