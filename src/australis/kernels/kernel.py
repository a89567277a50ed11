"""What every kernel does: made from a box and its schemas, it maps a state and a batch to the next ones.

A kernel holds no state of its own. Its state is a few named Arrow tables, so that it can be written to a
file, moved to another node and rebuilt. Batches have the columns of their schema and the hidden columns:
`TS`, a tuple's arrival time, and in outputs `CAUSE`, the row of the input batch that made the kernel emit it,
by which the outputs of several partitions are merged.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from australis.algebra.schema import Schema
from australis.errors import KernelError, Problem
from australis.kernels.arrays import Indexes, Mask, Numbered, PortKeys, column, numbers
from australis.kernels.marks import Marks

CAUSE = "#cause"
"""The hidden column of outputs: the input row that caused each tuple, ascending; -1 for timeouts and flush.
"""
REASON = "#reason"
"""The hidden column of rejected tuples: the reason for the quarantine."""

State = Mapping[str, pa.Table]
NEVER_DUE = np.iinfo(np.int64).max


class Due(NamedTuple):
    """When groups have to be seen though no tuple of theirs comes: at a mark, or at a local time."""

    marks: npt.NDArray[np.float64]
    """Infinite for never; rounded, which a comparison has to allow for."""
    times: Indexes
    """NEVER_DUE for never."""
    quiet: Mask
    """Whether they will only be forgotten then, which can wait for the next event."""

    def reached(self, mark: float, now: int) -> Mask:
        """Which of them are due."""
        found: Mask = (self.marks <= mark) | (self.times <= now)
        return found


class LocalTimes(NamedTuple):
    """The local times of the tuples of one or more events, by cause.

    >>> times = LocalTimes(np.array([5, 8]), np.array([100, 130]))
    >>> times.first, times.of(np.array([5, 7, 8, 9])).tolist()
    (100, [100, 100, 130, 130])
    """

    begins: Indexes
    """The cause from which on each time holds; ascending."""
    times: Indexes

    @classmethod
    def at(cls, now: int) -> LocalTimes:
        """One time for all tuples."""
        return cls(np.zeros(1, np.int64), np.array([now], np.int64))

    @property
    def first(self) -> int:
        """The time at which timeouts fire: all are before or at it, or after the last time."""
        return int(self.times[0])

    @property
    def is_one(self) -> bool:
        """Whether all tuples have the same time."""
        return len(self.times) == 1

    def of(self, causes: Indexes) -> Indexes:
        """The times of tuples with these causes; what comes before all of them has the first."""
        found: Indexes = self.times[np.maximum(np.searchsorted(self.begins, causes, side="right") - 1, 0)]
        return found


@dataclass(frozen=True)
class Step:
    """The result of one event: the next state, the output batches by port, what was rejected or late."""

    state: State
    outputs: tuple[pa.Table, ...]
    rejected: pa.Table | None = None
    late: int = 0
    ignored: int = 0
    """In-order tuples that belonged only to windows that had already timed out."""
    unread: int = 0
    """Tuples emitted on unread ports, which are counted but not produced."""
    late_tuples: pa.Table | None = None
    """The late tuples as they came, with their causes, if they have an output of their own."""


class Kernel(ABC):
    """A box, vectorised. Made once for a box and its input schemas, and used for any number of states."""

    output_schemas: tuple[Schema, ...]
    progress_on: Mapping[int, str] = {}
    """The attribute of each port that is ordered by progress."""
    shared_tables: frozenset[str] = frozenset()
    """The tables of its state that all partitions have alike, whatever their tuples: they are kept once."""
    unread_ports: frozenset[int] = frozenset()
    """Output ports that nothing reads: a kernel may leave them empty and only count."""

    @abstractmethod
    def start(self) -> State:
        """The state before the first tuple."""

    @abstractmethod
    def step(self, state: State, port: int, batch: pa.Table, now: int) -> Step:
        """Take a batch that arrived on a port at local time `now` (microseconds); due timeouts fire first."""

    def step_at(self, state: State, port: int, batch: pa.Table, times: Indexes) -> Step:
        """Take a batch whose tuples arrived at several local times, between which no timeout is due."""
        return self.step(state, port, batch, int(times[0]))

    def advance(
        self, state: State, batches: Mapping[int, pa.Table], now: LocalTimes, marks: Mapping[int, Marks]
    ) -> tuple[tuple[int, Step], ...]:
        """Take batches with causes and the marks of the orders by progress; a step for each port.

        A port without tuples has no batch, one without marks none in `marks`. What is emitted names causes of
        the event.
        """
        name = type(self).__name__.removesuffix("Kernel")
        raise KernelError(Problem("", f"{name} has no order by progress", "a slack"))

    def tick(self, state: State, now: int) -> Step:
        """Let time pass: fire the timeouts that are due at `now`."""
        return Step(state, self.nothing())

    def flush(self, state: State, now: int) -> Step:
        """End the streams: release every buffer and close every window, in order; then start again."""
        return Step(self.start(), self.nothing())

    def completed(self, state: State) -> State:
        """A state from a file, which an older version may have written, with all that this one keeps."""
        return state

    def unloaded(self, state: State) -> State:
        """The state without the rows of a stored table."""
        return state

    def deadline(self, state: State) -> int | None:
        """The earliest local time at which a timeout is due, for a scheduler to wake up; None for never."""
        return None

    def awaits_marks(self, state: State) -> bool:
        """Whether marks alone may make it emit, because it holds something back; only by progress."""
        return bool(self.progress_on)

    def kept_by(self, keys: PortKeys) -> tuple[Numbered, ...]:
        """The parts of the state kept by key, if these keys partition the tuples; raises if they cannot."""
        name = type(self).__name__.removesuffix("Kernel")
        raise KernelError(Problem("", f"{name} keeps one state for all its tuples", "one partition"))

    @property
    def separated_by(self) -> PortKeys:
        """The attributes of each port by whose values the whole state falls into groups; none if it does not.

        Then `kept_by` holds for them, what a tuple does depends on its own groups alone, and what groups emit
        together does not depend on their numbers.
        """
        return ()

    def due(self, state: State) -> Due | None:
        """When each row of the first table kept by key has to be seen; None if that is never by itself."""
        return None

    def nothing(self) -> tuple[pa.Table, ...]:
        """Empty output batches."""
        return tuple(empty_output(schema) for schema in self.output_schemas)


def refused(batch: pa.Table, rows: npt.NDArray[np.int64], reasons: Sequence[str | None]) -> pa.Table:
    """Rows of a batch for the quarantine, with the reason and, where no cause is known, the row."""
    tuples = batch.take(pa.array(rows)).append_column(REASON, pa.array(reasons, pa.string()))
    return tuples if CAUSE in batch.column_names else tuples.append_column(CAUSE, pa.array(rows))


def causes_of(batch: pa.Table) -> Indexes:
    """The causes of a stream's tuples."""
    return numbers(column(batch, CAUSE))


def empty_output(schema: Schema) -> pa.Table:
    """An output batch without tuples."""
    return output_schema(schema).empty_table()


def output_schema(schema: Schema) -> pa.Schema:
    """The schema of a box's output batches with these attributes."""
    return schema.arrow_with_ts.append(pa.field(CAUSE, pa.int64(), False))
