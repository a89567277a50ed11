"""The sequence of the pairs of batches on both ports of a Join, as if their tuples had arrived one by one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from australis.kernels.arrays import Indexes, Numbers, column, numbers, rows_of, stacked
from australis.kernels.causes import with_causes
from australis.kernels.pairing.pairs import Meeting, Pairing


@dataclass(frozen=True)
class New:
    """The new tuples of a side: their causes, and their order values."""

    causes: Indexes
    values: Numbers


@dataclass(frozen=True)
class Departures:
    """When each pair is emitted: with its later tuple, then by the partner's order, then by its arrival."""

    cause: Indexes
    port: Indexes
    row: Indexes
    order: Numbers
    rank: Indexes

    def sequence(self) -> Indexes:
        """The pairs in the order in which they are emitted."""
        return np.lexsort((self.rank, self.order, self.row, self.port, self.cause))


def in_sequence(
    pairing: Pairing,
    meetings: tuple[Meeting, Meeting, Meeting],
    left: New,
    right: New,
    order_column: str,
) -> pa.Table:
    """The pairs of three meetings: new left with kept right, new right with kept left, both new."""
    rows = [pairing.rows(meeting) for meeting in meetings]
    tables = [pairing.table(meeting, *found) for meeting, found in zip(meetings, rows, strict=True)]
    kept_right, kept_left = (numbers(column(meeting.partners, order_column)) for meeting in meetings[:2])
    parts = [
        _with_kept(0, *rows[0], left, kept_right),
        _with_kept(1, *rows[1], right, kept_left),
        _with_new(*rows[2], left, right, len(kept_left), len(kept_right)),
    ]
    joined = [np.concatenate(each) for each in zip(*(vars(part).values() for part in parts), strict=True)]
    departures = Departures(*joined)
    sequence = departures.sequence()
    return with_causes(rows_of(stacked(tables), sequence), departures.cause[sequence])


def _with_kept(port: int, owners: Indexes, partners: Indexes, new: New, kept: Numbers) -> Departures:
    """Pairs of new tuples with kept ones: the new one is the later."""
    ports = np.full(len(owners), port)
    return Departures(new.causes[owners], ports, owners, kept[partners], partners)


def _with_new(
    rights: Indexes, lefts: Indexes, left: New, right: New, kept_left: int, kept_right: int
) -> Departures:
    """Pairs of two new tuples: the later has the later cause; for one cause it is the right tuple."""
    left_cause, right_cause = left.causes[lefts], right.causes[rights]
    is_left = left_cause > right_cause
    return Departures(
        np.where(is_left, left_cause, right_cause),
        np.where(is_left, 0, 1),
        np.where(is_left, lefts, rights),
        np.where(is_left, right.values[rights], left.values[lefts]),
        np.where(is_left, kept_right + rights, kept_left + lefts),
    )
