"""The kernel of Changes, over Arrow batches: what would be `src/australis/kernels/changes.py`."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from tests.example_box.value import Changes

from australis.algebra.schema import Schema
from australis.kernels.arrays.columns import Indexes, column, grown, joined, rows_of
from australis.kernels.arrays.groups import dense, encode, normalised
from australis.kernels.arrays.numbered_rows import Numbered, PortKeys, by_group
from australis.kernels.kernel import CAUSE, Kernel, State, Step

LAST = "#last"
NOTHING = -1
"""The code of the value before a group's first one."""


class ChangesKernel(Kernel):
    """Compares each tuple with the one before it in its group.

    The state: `groups` in the order of their first arrivals, with the last value of each.
    """

    def __init__(self, box: Changes, schemas: tuple[Schema, ...], timezone: str = "UTC") -> None:
        schema = schemas[0]
        self.output_schemas = box.output_schemas(schema)
        self._on, self._keys = box.on, list(box.group_by)
        fields = [pa.field(name, schema[name].type.arrow) for name in self._keys]
        self._groups = pa.schema([*fields, pa.field(LAST, schema[box.on].type.arrow)])
        self._names = schema.arrow_with_ts.names

    def start(self) -> State:
        return {"groups": self._groups.empty_table()}

    def step(self, state: State, port: int, batch: pa.Table, now: int) -> Step:
        if not batch.num_rows:
            return Step(state, self.nothing())
        groups = state["groups"]
        found = encode(groups.select(self._keys), groups.num_rows, batch)
        last, values = column(groups, LAST), normalised(column(batch, self._on))
        codes = dense(last, values)
        before = grown(codes[: len(last)], found.count, NOTHING)
        kept = _changes(found.codes, codes[len(last) :], before)
        latest = np.arange(found.count)
        latest[found.codes] = len(last) + np.arange(batch.num_rows)  # Of equal indexes the last one counts.
        columns = [column(found.keys, name) for name in self._keys]
        after = pa.Table.from_arrays(
            [*columns, joined(last, values).take(pa.array(latest))], schema=self._groups
        )
        output = rows_of(batch.select(self._names), kept)
        return Step(
            {"groups": after},
            (output.append_column(pa.field(CAUSE, pa.int64(), False), pa.array(kept)),),
        )

    def kept_by(self, keys: PortKeys) -> tuple[Numbered, ...]:
        return (by_group("groups", self._keys, keys[0], {}),)


def _changes(groups: Indexes, values: Indexes, before: Indexes) -> Indexes:
    """The rows whose value is not that of the row before in their group; `before` are the known groups'."""
    order = np.argsort(groups, kind="stable")
    group, value = groups[order], values[order]
    previous = np.roll(value, 1)
    first = np.diff(group, prepend=-1) != 0
    previous[first] = before[group[first]]
    return np.sort(order[value != previous])
