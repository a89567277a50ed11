"""Sifting: sets aside tuples that make a box fail; the rest passes as if they had never come.

A pipeline changes nothing when it fails, and dividing its input changes no result. So a failing batch is
retried in halves, from the same state, down to one sequence number, and then down to the tuple.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from australis.algebra.counters import Counters
from australis.algebra.network import QUARANTINE
from australis.engine.worker.waybill import TimeSlice
from australis.errors import KernelError, Problem
from australis.kernels.kernel import CAUSE, REASON, LocalTimes
from australis.kernels.pipeline import Passage, Pipeline, PipelineState
from australis.kernels.progress import StreamMarks
from australis.kernels.quarantine import QUARANTINE_ARROW, quarantined

IN_A_ROW_MOST = 1_000
"""How many tuples in a row may fail: if more do, the fault is hardly in the tuples, and the train fails."""
Arrivals = Mapping[str, pa.Table]
"""The tuples of each stream, with their sequence numbers in CAUSE."""


@dataclass(frozen=True)
class Piece:
    """Tuples of streams with consecutive numbers, and the marks that come with these."""

    arrivals: Arrivals
    marks: Mapping[str, StreamMarks]

    def before(self, number: int) -> Piece:
        """What comes before a number."""
        arrivals = {name: table.slice(0, _place(table, number)) for name, table in self.arrivals.items()}
        return Piece(arrivals, self._marks(0, number))

    def after(self, number: int) -> Piece:
        """What comes with a number and later ones."""
        arrivals = {name: table.slice(_place(table, number)) for name, table in self.arrivals.items()}
        return Piece(arrivals, self._marks(number, ALL))

    def taken(self, rows: list[tuple[str, int]]) -> Piece:
        """Some rows of each stream, with all the marks."""
        places = {name: [row for stream, row in rows if stream == name] for name in self.arrivals}
        taken = {
            name: table.take(pa.array(places[name], pa.int64())) for name, table in self.arrivals.items()
        }
        return Piece(taken, self.marks)

    def passed(self) -> Piece:
        """Nothing more, after all of it."""
        return Piece({}, self._marks(ALL, ALL))

    def _marks(self, lo: int, hi: int) -> dict[str, StreamMarks]:
        return {
            name: {on: each.between(lo, hi) for on, each in marks.items()}
            for name, marks in self.marks.items()
        }


ALL = 1 << 62
"""A number after all others."""


class Sieve:
    """Takes tuples through a pipeline, without those that make it fail."""

    def __init__(self, pipeline: Pipeline) -> None:
        self._pipeline = pipeline
        self._in_a_row = 0

    def advance(self, state: PipelineState, piece: Piece, time_slice: TimeSlice) -> Iterator[Passage]:
        """Take the tuples of a time slice through, in as few passages as possible."""
        try:
            whole = self._pass(state, piece, time_slice.times, ending=time_slice.ending)
        except KernelError as error:
            if not any(table.num_rows for table in piece.arrivals.values()):
                raise
            yield from self._sift(state, piece, time_slice, error)
        else:
            yield whole

    def _pass(self, state: PipelineState, piece: Piece, now: LocalTimes, *, ending: bool = False) -> Passage:
        return self._pipeline.advance(state, piece.arrivals, now, ending=ending, marks=piece.marks)

    def _sift(
        self, state: PipelineState, piece: Piece, time_slice: TimeSlice, error: KernelError
    ) -> Iterator[Passage]:
        """Take the tuples of a time slice that has just failed through the pipeline."""
        now, is_ending = time_slice.times, time_slice.ending
        # The end alone may be what fails: then the tuples pass, and there is nothing to set aside.
        passages = self._halves(state, piece, now) if is_ending else self._cut(state, piece, now, error)
        for passage in passages:
            state = passage.state
            yield passage
        if is_ending:
            yield self._pass(state, piece.passed(), now, ending=True)

    def set_aside(self, state: PipelineState, arrivals: Arrivals, box: str, reason: str) -> Passage:
        """Send all of some tuples to the quarantine, because of a box; the state stays as it is."""
        error = KernelError(Problem(f"{self._pipeline.network.name}.{box}", reason))
        return self._rejected(state, [self._reject(name, table, error) for name, table in arrivals.items()])

    # --- by sequence number

    def _halves(self, state: PipelineState, piece: Piece, now: LocalTimes) -> Iterator[Passage]:
        """Take tuples through, dividing them where they fail."""
        try:
            passage = self._pass(state, piece, now)
        except KernelError as error:
            if not any(table.num_rows for table in piece.arrivals.values()):
                raise
            yield from self._cut(state, piece, now, error)
        else:
            self._in_a_row = 0
            yield passage

    def _cut(
        self, state: PipelineState, piece: Piece, now: LocalTimes, error: KernelError
    ) -> Iterator[Passage]:
        """Take tuples through that have just failed together."""
        numbers = np.unique(np.concatenate([_numbers(table) for table in piece.arrivals.values()]))
        if len(numbers) == 1:
            yield from self._isolate(state, piece, now, error)
            return
        middle = int(numbers[len(numbers) // 2])
        for half in (piece.before(middle), piece.after(middle)):
            for passage in self._halves(state, half, now):
                state = passage.state
                yield passage

    # --- tuples of one number: they stay together, so each is found by trials from the same state

    def _isolate(
        self, state: PipelineState, piece: Piece, now: LocalTimes, error: KernelError
    ) -> Iterator[Passage]:
        # A failure without any tuple is not their fault.
        arrivals = piece.arrivals
        self._pass(state, piece.taken([]), now)
        rows = [(name, row) for name, table in arrivals.items() for row in range(table.num_rows)]
        rejected = []
        while True:
            guilty, error = self._first_guilty(state, piece, rows, now, error)
            name, row = rows.pop(guilty)
            rejected.append(self._reject(name, arrivals[name].slice(row, 1), error))
            self._count(error)
            try:
                passage = self._pass(state, piece.taken(rows), now)
            except KernelError as another:
                error = another
            else:
                break
        if rows:
            self._in_a_row = 0
        yield passage
        yield self._rejected(passage.state, rejected)

    def _first_guilty(
        self,
        state: PipelineState,
        piece: Piece,
        rows: list[tuple[str, int]],
        now: LocalTimes,
        error: KernelError,
    ) -> tuple[int, KernelError]:
        """The last tuple of the shortest prefix that fails, given that all together fail; and the failure."""
        passes, fails = 0, len(rows)
        while fails - passes > 1:
            middle = (passes + fails) // 2
            try:
                self._pass(state, piece.taken(rows[:middle]), now)
                passes = middle
            except KernelError as earlier:
                fails, error = middle, earlier
        return fails - 1, error

    def _count(self, error: KernelError) -> None:
        self._in_a_row += 1
        if self._in_a_row > IN_A_ROW_MOST:
            many = f"{IN_A_ROW_MOST:,} tuples in a row failed, so the fault is hardly theirs"
            problem = error.problem
            raise Unsiftable(Problem(problem.path, f"{many}: {problem.what}", problem.expected)) from error

    # --- what is set aside

    def _reject(self, name: str, tuples: pa.Table, error: KernelError) -> pa.Table:
        problem = error.problem
        reason = f"{problem.what}; expected {problem.expected}" if problem.expected else problem.what
        reasons = pa.repeat(pa.scalar(reason, pa.string()), tuples.num_rows)
        schema = self._pipeline.network.inputs[name].schema
        return quarantined(tuples.append_column(REASON, reasons), problem.path, schema)

    def _rejected(self, state: PipelineState, rejected: list[pa.Table]) -> Passage:
        found = pa.concat_tables([QUARANTINE_ARROW.empty_table(), *rejected])
        counters = dict(self._counted(found))
        return Passage(state, {QUARANTINE: found}, counters, dict.fromkeys(counters, 0), {}, {})

    def _counted(self, found: pa.Table) -> Iterator[tuple[str, Counters]]:
        """Count tuples that are set aside as received and rejected by the boxes that failed."""
        for path, count in Counter(found["path"].to_pylist()).items():
            box = path.removeprefix(f"{self._pipeline.network.name}.")
            if box in self._pipeline.kernels:
                yield box, Counters(received=count, rejected=count)


class Unsiftable(KernelError):
    """A failure that no tuple is to blame for."""


def _numbers(table: pa.Table) -> npt.NDArray[np.int64]:
    found: npt.NDArray[np.int64] = table[CAUSE].to_numpy()
    return found


def _place(table: pa.Table, number: int) -> int:
    """The index of the first tuple with a number or a later one."""
    return int(np.searchsorted(_numbers(table), number))
