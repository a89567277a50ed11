"""The keys of a join: the attributes that its predicate equates, numbered for both sides alike.

SQL's `=` decides: NULL equals nothing, so such a tuple has no code; NaN equals NaN and -0.0 equals 0.0.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from australis.algebra.schema import Schema
from australis.kernels.columns import Indexes, column, numbers
from australis.kernels.expressions.arrays import nulls
from australis.kernels.groups import Groups, encode
from australis.kernels.kernel import State
from australis.kernels.sides import Passed, Side

KEY = "#key"
"""The column of kept tuples with the code of their key."""
NO_KEY = -1
"""The code of a tuple that equals none."""
SPARE_KEYS = 1024
"""How many keys may be remembered, beside one for each kept tuple, before those out of use are forgotten."""


class Keys:
    """Codes for keys. Without equalities there is one code, 0, for all tuples."""

    def __init__(self, equated: list[tuple[str, str]], left: Schema) -> None:
        self._names = (tuple(pair[0] for pair in equated), tuple(pair[1] for pair in equated))
        self._fields = [pa.field(str(i), left[name].type.arrow) for i, name in enumerate(self._names[0])]

    def start(self) -> pa.Table:
        """The keys before the first tuple, one column for each equality."""
        return pa.schema(self._fields).empty_table()

    def count(self, known: pa.Table) -> int:
        """How many codes there are."""
        return int(known.num_rows) if self._fields else 1

    def encode(self, known: pa.Table, port: int, batch: pa.Table) -> Groups:
        """The codes of a batch of one side, and the keys with the new ones behind those that were known."""
        arrays = [column(batch, name) for name in self._names[port]]
        if not arrays:
            return Groups(np.zeros(batch.num_rows, np.int64), known, 1)
        found = encode(known, known.num_rows, pa.table(arrays, schema=known.schema))
        missing = nulls(*arrays)
        if missing is None:
            return found
        return Groups(np.where(missing, NO_KEY, found.codes), found.keys, found.count)

    def passed(self, known: pa.Table, port: int, side: Side, state: State) -> Passed | None:
        """What the other side has passed for the tuples of a port, by their key; None if that cannot be told.

        Where the other side's order has groups, a tuple's key must say in which of them its partners are.
        """
        names = self._names[1 - port]
        if not set(side.order.group_by) <= set(names):
            return None
        keys = side.keys(state)
        columns = [known.column(names.index(name)) for name in side.order.group_by]
        if columns:
            codes = encode(keys, keys.num_rows, pa.table(columns, names=keys.column_names)).codes
        else:
            codes = np.zeros(self.count(known), np.int64)
        return _by_code(side.passed(state), codes)

    def compact(self, known: pa.Table, *tables: pa.Table) -> tuple[pa.Table, ...]:
        """The keys without those that no table uses, once these are many; and the tables with their codes."""
        if known.num_rows <= SPARE_KEYS + sum(table.num_rows for table in tables):
            return (known, *tables)
        used = np.zeros(known.num_rows, np.bool_)
        for table in tables:
            used[numbers(column(table, KEY))] = True
        codes = np.cumsum(used) - 1
        return (known.take(pa.array(np.flatnonzero(used))), *(_recoded(table, codes) for table in tables))


def _by_code(passed: Passed, codes: Indexes) -> Passed:
    """What the groups with some codes have passed; greater codes are of groups that are not known."""
    known = codes < len(passed.values)
    codes = np.where(known, codes, 0)
    if not len(passed.values):
        return Passed(np.zeros(len(codes), passed.values.dtype), ~known)
    return Passed(passed.values[codes], passed.open[codes] | ~known)


def _recoded(table: pa.Table, codes: Indexes) -> pa.Table:
    at = table.column_names.index(KEY)
    return table.set_column(at, table.schema.field(at), pa.array(codes[numbers(column(table, KEY))]))
