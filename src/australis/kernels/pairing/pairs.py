"""Pairs of an arriving batch with the kept tuples of the other side: those that satisfy the predicate."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from australis.algebra.boxes import conjuncts, equalities
from australis.algebra.expr import Call, Expr, attributes
from australis.algebra.schema import TS, Schema
from australis.algebra.types import BOOLEAN
from australis.kernels.arrays import Indexes, column, members, numbers
from australis.kernels.expressions import arrow, evaluate, truths
from australis.kernels.kernel import empty_output

CANDIDATES_MOST = 1 << 20
"""How many candidate pairs a predicate is evaluated on at once, which bounds memory."""
SIDES = ("left", "right")


@dataclass(frozen=True)
class Meeting:
    """A batch, and the kept tuples that each of its tuples may pair with: rows `layout[low:high]`.

    Without a layout these are the rows from `low` to `high`.
    """

    port: int
    batch: pa.Table
    causes: Indexes
    """The row of each tuple in the original batch."""
    partners: pa.Table
    layout: Indexes | None
    lows: Indexes
    highs: Indexes


class Pairing:
    """Makes pairs from meetings, using the part of a predicate that the keys do not decide."""

    def __init__(self, predicate: Expr, output: Schema, timezone: str) -> None:
        self._residual = residual(predicate)
        self._output = empty_output(output).schema
        self._timezone = timezone

    def pairs(self, meeting: Meeting) -> pa.Table:
        """The pairs by the tuples of the batch, then by the layout of their partners."""
        owners, partners = self.rows(meeting)
        return self.table(meeting, owners, partners)

    def rows(self, meeting: Meeting) -> tuple[Indexes, Indexes]:
        """The row in the batch and the row among the partners of each pair."""
        found = list(self._satisfying(meeting))
        owners = np.concatenate([rows for rows, _ in found]) if found else np.zeros(0, np.int64)
        partners = np.concatenate([rows for _, rows in found]) if found else np.zeros(0, np.int64)
        return owners, partners

    def table(self, meeting: Meeting, owners: Indexes, partners: Indexes) -> pa.Table:
        """The table of the pairs that some rows form."""
        arrived, kept = _columns(meeting.batch, owners), _columns(meeting.partners, partners)
        ts = _oldest(meeting, owners, partners)
        both = arrived + kept if meeting.port == 0 else kept + arrived
        return pa.Table.from_arrays([*both, ts, pa.array(meeting.causes[owners])], schema=self._output)

    def _satisfying(self, meeting: Meeting) -> Iterator[tuple[Indexes, Indexes]]:
        """Rows of the batch and of its partners that form pairs."""
        ends = np.cumsum(meeting.highs - meeting.lows)
        total = int(ends[-1]) if len(ends) else 0
        step = CANDIDATES_MOST if self._residual is not None else max(total, 1)
        for begin in range(0, total, step):
            owners, places = members(meeting.lows, ends, begin, min(begin + step, total))
            partners = places if meeting.layout is None else meeting.layout[places]
            if self._residual is not None:
                holds = self._holds(self._residual, meeting, owners, partners)
                owners, partners = owners[holds], partners[holds]
            yield owners, partners

    def _holds(self, predicate: Expr, meeting: Meeting, owners: Indexes, partners: Indexes) -> pa.Array:
        tables = (meeting.batch, meeting.partners)[:: 1 if meeting.port == 0 else -1]
        rows = [pa.array(each) for each in ((owners, partners) if meeting.port == 0 else (partners, owners))]
        read = {}
        for name in sorted(attributes(predicate)):
            side, _, attribute = name.partition(".")
            at = SIDES.index(side)
            read[name] = column(tables[at], attribute).take(rows[at])
        # A predicate without attributes still needs to know the number of pairs.
        table = pa.table(read) if read else pa.table({"": rows[0]})
        return truths(evaluate(predicate, table, self._timezone))


def residual(predicate: Expr) -> Expr | None:
    """The rest of a predicate without the equalities of attributes; None if there is none."""
    rest = [each for each in conjuncts(predicate) if not equalities(each)]
    if not rest:
        return None
    return rest[0] if len(rest) == 1 else Call("and", tuple(rest), BOOLEAN)


def _columns(table: pa.Table, rows: Indexes) -> list[pa.Array]:
    """The attributes of some tuples, without the hidden columns."""
    indexes = pa.array(rows)
    return [column(table, name).take(indexes) for name in table.column_names if not name.startswith("#")]


def _oldest(meeting: Meeting, owners: Indexes, partners: Indexes) -> pa.Array:
    """The lesser ts of each pair; rows of a stored table have no ts."""
    arrived = numbers(column(meeting.batch, TS))[owners]
    if TS in meeting.partners.column_names:
        arrived = np.minimum(arrived, numbers(column(meeting.partners, TS))[partners])
    return arrow(arrived, meeting.batch.schema.field(TS).type)
