"""Replay: when each tuple is due, by a rate or by a time in the data, and tables cut at what is due."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from australis.algebra.schema import Schema
from australis.algebra.types import DataType
from australis.engine.files import one_chunk
from australis.engine.sources.waiting import Waiter
from australis.errors import EngineError, Problem

SLICE_SECONDS = 0.02
"""The shortest time between two slices: a replay delivers small batches, not single tuples."""

Seconds = npt.NDArray[np.float64]


class Pace(Protocol):
    """When tuples are due, in seconds since the replay began; never earlier than those before."""

    def due(self, table: pa.Table) -> Seconds: ...


@dataclass(frozen=True)
class Rate:
    """A number of tuples per second."""

    tuples_per_s: float

    def start(self) -> Pace:
        return _ByRate(self.tuples_per_s)


@dataclass(frozen=True)
class Speed:
    """As in the data, a number of times faster, by a timestamp or a number of seconds."""

    factor: float
    attribute: str

    def start(self) -> Pace:
        return _ByAttribute(self.factor, self.attribute)

    def check(self, schema: Schema) -> None:
        """Refuse a schema in which the attribute is missing or not a time."""
        if self.attribute not in schema or not is_time(schema[self.attribute].type):
            known = [field.name for field in schema if is_time(field.type)]
            is_there = self.attribute in schema
            what = f"attribute {self.attribute!r} {'is not a time' if is_there else 'is not there'}"
            raise EngineError(Problem("speed", what, f"one of {', '.join(known) or 'none here'}"))


Replay = Rate | Speed


def is_time(data_type: DataType) -> bool:
    """Whether values of a type can be moments: timestamps, or numbers of seconds."""
    return data_type.name == "timestamp" or data_type.is_numeric


class _ByRate:
    def __init__(self, tuples_per_s: float) -> None:
        self._tuples_per_s, self._count = tuples_per_s, 0

    def due(self, table: pa.Table) -> Seconds:
        numbers = np.arange(self._count, self._count + table.num_rows)
        self._count += table.num_rows
        return numbers / self._tuples_per_s


class _ByAttribute:
    """The first tuple is due at once; one out of order, or without a time, comes with those before it."""

    def __init__(self, factor: float, attribute: str) -> None:
        self._factor, self._attribute = factor, attribute
        self._first: float | None = None
        self._latest = 0.0

    def due(self, table: pa.Table) -> Seconds:
        moments = _seconds(one_chunk(table[self._attribute]))
        if self._first is None and np.isfinite(moments).any():
            self._first = float(moments[np.isfinite(moments)][0])
        since = (moments - (self._first or 0.0)) / self._factor
        since[~np.isfinite(since)] = 0.0
        due = np.maximum(np.maximum.accumulate(since), self._latest)
        self._latest = float(due[-1]) if len(due) else self._latest
        return due


def _seconds(column: pa.Array) -> Seconds:
    if pa.types.is_timestamp(column.type):
        column = pc.divide(column.cast(pa.int64()).cast(pa.float64(), safe=False), 1e6)
    return np.array(column.cast(pa.float64(), safe=False).fill_null(np.nan), np.float64)


class Pacer:
    """Cuts tables at what is due, and waits for the rest."""

    def __init__(self, replay: Replay, waiter: Waiter, rows_max: int) -> None:
        self._pace, self._waiter, self._rows_max = replay.start(), waiter, rows_max
        self._began = waiter.now()
        self._next_slice = self._began

    def cuts(self, table: pa.Table) -> Iterator[tuple[int, int]]:
        """The slices of a table, each when it is due; they end early if the waiter is ended."""
        due = self._began + self._pace.due(table)
        begin = 0
        while begin < table.num_rows:
            if not self._waiter.until(max(due[begin], self._next_slice)):
                return
            now = self._waiter.now()
            end = min(int(np.searchsorted(due, now, "right")), begin + self._rows_max)
            if end <= begin:
                continue  # a clock that is a hair early
            yield begin, end
            begin, self._next_slice = end, now + SLICE_SECONDS
