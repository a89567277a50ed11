"""The keys of a join: the attributes that its predicate equates, with one numbering for both sides.

SQL's `=` decides: NULL equals nothing, so such a tuple has no code; NaN equals NaN and -0.0 equals 0.0.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from australis.algebra.order import SortKey
from australis.algebra.schema import Schema
from australis.errors import KernelError, Problem
from australis.kernels.arrays import (
    GroupCodes,
    Indexes,
    Numbered,
    Numbers,
    PortKeys,
    column,
    encode,
    grown,
    members,
    numbered,
    numbers,
    rows_of,
    spark_hash,
)
from australis.kernels.expressions import nulls
from australis.kernels.functions import combined_keys
from australis.kernels.kernel import State
from australis.kernels.ordering import Arrived, Passed, Side
from australis.kernels.pairing.moments import in_sequence_of

KEY = "#key"
"""The column of kept tuples with the code of their key."""
NO_KEY = -1
"""The code of a tuple whose key equals no other."""
SPARE_KEYS = 1024
"""How many keys may be kept, besides one for each kept tuple, before unused ones are removed."""
HASH, ROW = "#hash", "#row"
"""The columns of an index of keys: their hashes, ascending, and the row of each key."""
INDEX_FROM = 32
"""How many keys there must be per tuple of a batch before it pays to look them up by the index."""
_INDEX = pa.schema([pa.field(HASH, pa.int32()), pa.field(ROW, pa.int32())])


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

    def encode(self, known: pa.Table, port: int, batch: pa.Table) -> GroupCodes:
        """The codes of a batch of one side, and the keys including new ones."""
        arrays = [column(batch, name) for name in self._names[port]]
        if not arrays:
            return GroupCodes(np.zeros(batch.num_rows, np.int64), known, 1)
        found = encode(known, known.num_rows, pa.table(arrays, schema=known.schema))
        missing = nulls(*arrays)
        if missing is None:
            return found
        return GroupCodes(np.where(missing, NO_KEY, found.codes), found.keys, found.count)

    def index(self, known: pa.Table) -> pa.Table:
        """An index of the keys, so that those of a few tuples are found without a look at all of them."""
        if not known.num_rows:
            return _INDEX.empty_table()
        hashes = spark_hash([column(known, name) for name in known.column_names])
        rows = np.argsort(hashes, kind="stable")
        return pa.table([hashes[rows], rows.astype(np.int32)], schema=_INDEX)

    def look_up(self, known: pa.Table, index: pa.Table, port: int, batch: pa.Table) -> Indexes:
        """The codes of a batch of one side; other codes than those of the keys if it has others."""
        if not self._fields or index.num_rows < INDEX_FROM * batch.num_rows:
            return self.encode(known, port, batch).codes
        wanted = np.unique(spark_hash([column(batch, name) for name in self._names[port]]))
        hashes = column(index, HASH).to_numpy()
        lows, highs = (np.searchsorted(hashes, wanted, side) for side in ("left", "right"))
        ends = np.cumsum(highs - lows)
        places = members(lows, ends, 0, int(ends[-1]))[1] if len(ends) else lows
        # Keys of one hash need not be equal.
        rows = column(index, ROW).to_numpy()[places].astype(np.int64)
        codes = self.encode(rows_of(known, rows), port, batch).codes
        return np.append(rows, known.num_rows)[np.minimum(codes, len(rows))]

    def encode_arrived(self, known: pa.Table, port: int, arrived: Arrived, side: Side) -> GroupCodes:
        """The codes of the tuples that arrived on one side.

        Where the group of a tuple determines its key, one tuple of each group is encoded for all.
        """
        names = self._names[port]
        if side.order.by_progress or not names or not set(names) <= set(side.order.group_by):
            return self.encode(known, port, arrived.batch)
        groups, firsts = numbered(arrived.codes)
        found = self.encode(known, port, rows_of(arrived.batch.select(list(dict.fromkeys(names))), firsts))
        return GroupCodes(found.codes[groups], found.keys, found.count)

    def asked(self, port: int, batch: pa.Table) -> pa.Table:
        """The distinct keys of a batch of the other side, without NULLs, under the names at a port.

        An attribute that equals two others has the values of the first one.
        """
        found = self.encode(self.start(), 1 - port, batch).keys
        names = self._names[port]
        once = [place for place, name in enumerate(names) if name not in names[:place]]
        return found.drop_null().select(once).rename_columns([names[place] for place in once])

    def passed(self, known: pa.Table, port: int, codes: Indexes, side: Side, state: State) -> Passed | None:
        """What the other side has passed for tuples of a port with these key codes; None if it is unknown.

        If the other side's order has no groups, one value applies to all tuples.
        """
        groups = self.groups(known, port, codes, side, state)
        return None if groups is None else _by_group(side.passed(state), groups)

    def groups(self, known: pa.Table, port: int, codes: Indexes, side: Side, state: State) -> Indexes | None:
        """The group of the other side in which the partners of tuples with these key codes are.

        A key must determine the group; else it is None. Groups that are not known yet have numbers after the
        others. If the other side's order has no groups, one number applies to all tuples.
        """
        names = self._names[1 - port]
        if not set(side.order.group_by) <= set(names):
            return None
        if not side.order.group_by:
            return np.zeros(1, np.int64)
        groups = side.keys(state)
        columns = [known.column(names.index(name)) for name in side.order.group_by]
        by_key = encode(groups, groups.num_rows, pa.table(columns, names=groups.column_names)).codes
        return by_key[codes]

    def sequence(
        self, known: pa.Table, codes: Indexes, values: Numbers, moments: Indexes, count: int
    ) -> Indexes:
        """The tuples whose moment, of `count`, has come: by moment, order value, key, then by row.

        So the sequence in which several keys emit together does not depend on their numbers.
        """
        rows = in_sequence_of(moments, values, count)
        own, own_values, own_moments = codes[rows], values[rows], moments[rows]
        is_tie = (np.diff(own_values) == 0) & (np.diff(own_moments) == 0)
        if not (is_tie & (np.diff(own) != 0)).any():
            return rows
        return rows[np.lexsort((self.ranks(known, own), own_values, own_moments))]

    def ranks(self, known: pa.Table, codes: Indexes) -> Indexes:
        """Whole numbers that compare as the keys with some codes do; NO_KEY may have any."""
        if not known.num_rows:
            return np.zeros(len(codes), np.int64)
        found = rows_of(known, np.maximum(codes, 0))
        names = found.column_names
        return combined_keys([column(found, name) for name in names], [SortKey(name) for name in names])

    def separating(self, sides: tuple[Side, Side]) -> PortKeys:
        """The attributes of each side that are equated, if their values separate all that its tuples do.

        Then a tuple is passed with others of its own key alone, or by a mark.
        """
        pairs = zip(sides, self._names, strict=True)
        is_apart = all(
            side.order.by_progress or set(names) <= set(side.order.group_by) for side, names in pairs
        )
        return self._names if is_apart and self._fields else ()

    def kept_by(self, table: str, keys: PortKeys, *kept: str) -> Numbered:
        """The keys in a table of the state, if the tuples of both sides are partitioned by some of them."""
        names = tuple(field.name for field in self._fields)
        partitioned_by = tuple(names[self._place(*pair)] for pair in zip(*keys, strict=True))
        return Numbered(table, names, partitioned_by, dict.fromkeys(kept, KEY))

    def _place(self, left: str, right: str) -> int:
        """The index of the equality of two attributes."""
        pairs = list(zip(*self._names, strict=True))
        if (left, right) in pairs:
            return pairs.index((left, right))
        what = f"left.{left} and right.{right} need not be equal, so pairs cannot be partitioned by them"
        raise KernelError(Problem("predicate", what, "attributes that the predicate equates"))

    def compact(self, known: pa.Table, *tables: pa.Table, at_once: bool = False) -> tuple[pa.Table, ...]:
        """The keys without unused ones, once these are many or at once; the tables with their new codes."""
        kept = 0 if at_once else SPARE_KEYS + sum(table.num_rows for table in tables)
        if known.num_rows <= kept:
            return (known, *tables)
        used = np.zeros(known.num_rows, np.bool_)
        for table in tables:
            used[numbers(column(table, KEY))] = True
        if used.all():
            return (known, *tables)
        codes = np.cumsum(used) - 1
        return (known.take(pa.array(np.flatnonzero(used))), *(_recoded(table, codes) for table in tables))


def _by_group(passed: Passed, groups: Indexes) -> Passed:
    """What some groups have passed; groups after the last one are unknown."""
    count = len(passed.values)
    values, is_open = grown(passed.values, count + 1), grown(passed.open, count + 1, True)
    groups = np.minimum(groups, count)
    return Passed(values[groups], is_open[groups])


def _recoded(table: pa.Table, codes: Indexes) -> pa.Table:
    at = table.column_names.index(KEY)
    return table.set_column(at, table.schema.field(at), pa.array(codes[numbers(column(table, KEY))]))
