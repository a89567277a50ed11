"""The stream of the demonstration as a source: a table that arrives at a rate."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pyarrow as pa

from australis.engine.sources import Delivery, Pacer, Positions, Rate, Waiter

_BATCH = 10_000


@dataclass(frozen=True)
class TableSource:
    """A table for an input, at a number of tuples per second."""

    input: str
    table: pa.Table
    rate: Rate

    at_rest = False
    is_endless = False

    def start(self, positions: Positions, waiter: Waiter) -> RunningTable:
        return RunningTable(self, waiter)


class RunningTable:
    """A table that is arriving."""

    notes: tuple[str, ...] = ()

    def __init__(self, source: TableSource, waiter: Waiter) -> None:
        self._source, self._waiter = source, waiter
        self.turn = 0

    def deliveries(self) -> Iterator[Delivery]:
        """The table, slice by slice as each is due."""
        source = self._source
        for begin, end in Pacer(source.rate, self._waiter, _BATCH).cuts(source.table):
            self.turn += 1
            yield Delivery(source.input, source.table.slice(begin, end - begin), source.input, str(end))
