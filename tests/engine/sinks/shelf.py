"""An output arc on a shelf: tables with sequence numbers, and consumers in a database that stays."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa

from australis.algebra.schema import TS, parse_schema
from australis.engine.sinks import Kept
from australis.engine.store.segments import SEQ

SCHEMA = parse_schema("n long, word string, half double")


def tuples(count: int) -> pa.Table:
    """So many tuples; three at a time share a sequence number, and between them numbers are left out."""
    numbers = range(count)
    columns = {
        "n": pa.array(numbers, pa.int64()),
        "word": pa.array([None if n % 5 == 0 else f'a "word",\n{n}' for n in numbers]),
        "half": pa.array([n / 2 for n in numbers]),
        TS: pa.array([datetime(2024, 1, 1, tzinfo=UTC)] * count, pa.timestamp("us", "UTC")),
        SEQ: pa.array([n // 3 * 10 + 5 for n in numbers], pa.int64()),
    }
    return pa.table(columns)


class Shelf:
    """Gives an arc out `step` sequence numbers at a time, from where a consumer stands."""

    def __init__(self, folder: Path, table: pa.Table, step: int = 20) -> None:
        self._table, self._step = table, step
        self._db = sqlite3.connect(folder / "consumers.sqlite", isolation_level=None)
        self._db.execute("pragma synchronous = off")  # a kill takes nothing from the system's buffers
        self._db.execute("create table if not exists consumer (name, arc, seq, position, unique (name, arc))")

    def subscribe(self, output: str, *, consumer: str, follow: bool = True) -> Iterator[pa.Table]:
        """Each table is acknowledged when the next one is asked for, as a node does it."""
        seq, _ = self.consumer(consumer, output)
        numbers = self._table[SEQ].to_numpy()
        while seq <= numbers[-1]:
            cut = min(seq + self._step, int(numbers[-1]) + 1)
            lo, hi = numbers.searchsorted(seq), numbers.searchsorted(cut)
            yield self._table.slice(lo, hi - lo)
            seq = cut
            self._db.execute(
                "update consumer set seq = ? where name = ? and arc = ?", (seq, consumer, output)
            )

    def kept(self, output: str, begin: int, rows: int | None = None) -> Kept:
        """What is there from a number on; with `rows` one step of it. A tuple counts 10 bytes."""
        numbers = self._table[SEQ].to_numpy()
        last = int(numbers[-1]) + 1
        end = last if rows is None else min(begin + self._step, last)
        count = int(numbers.searchsorted(end) - numbers.searchsorted(begin))
        return Kept(max(begin, end), count, 10 * count)

    def read(self, output: str, begin: int, end: int) -> pa.Table:
        lo, hi = self._table[SEQ].to_numpy().searchsorted([begin, end])
        return self._table.slice(lo, hi - lo)

    def consumer(self, consumer: str, output: str) -> tuple[int, str | None]:
        query = "select seq, position from consumer where name = ? and arc = ?"
        found = self._db.execute(query, (consumer, output)).fetchone()
        return (found[0], found[1]) if found else (0, None)

    def acknowledge(self, consumer: str, output: str, seq: int, position: str | None = None) -> None:
        self._db.execute(
            "insert or replace into consumer values (?, ?, ?, ?)", (consumer, output, seq, position)
        )
