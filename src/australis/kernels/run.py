"""A running network on kernels: a pipeline together with its state."""

from __future__ import annotations

import pyarrow as pa

from australis.algebra.counters import Counters
from australis.algebra.network import Network
from australis.errors import KernelError
from australis.kernels.kernel import CAUSE
from australis.kernels.pipeline import Passage, Pipeline, PipelineState
from australis.kernels.progress import InputProgress
from australis.kernels.state import pack, unpack

_COUNTERS = "#counters"
_PROGRESS = "#progress"
"""The tables of a snapshot with the counters and with what the inputs promised; others are `box id/table`."""


class PipelineRun:
    """A running network.

    >>> from australis.algebra.builder import NetworkBuilder
    >>> net = NetworkBuilder("soldiers")
    >>> _ = net.input("pos", "sid int, pos int").filter("pos >= 30").output("across")
    >>> run = PipelineRun(net.build())
    >>> run.push("pos", pa.table({"sid": [1, 2], "pos": [29, 31]}), now=5)["across"]["sid"].to_pylist()
    [2]
    """

    def __init__(self, network: Network) -> None:
        self.pipeline = Pipeline(network)
        self.state: PipelineState = self.pipeline.start()
        self._progress = InputProgress(network)
        self._counters = {box_id: Counters() for box_id in network.order}

    def load(self, name: str, rows: pa.Table) -> dict[str, pa.Table]:
        """Read rows of a stored table, before the first event."""
        return self._after(self.pipeline.load(self.state, name, rows))

    def push(self, name: str, batch: pa.Table, now: int) -> dict[str, pa.Table]:
        """Push tuples together on an input; returns the batches of all outputs, `quarantine` included."""
        try:
            passage = self._pushed(self.state, name, batch, now)
        except KernelError as error:
            raise self._narrowed(name, batch, now, error) from error
        return self._after(passage)

    def _pushed(self, state: PipelineState, name: str, batch: pa.Table, now: int) -> Passage:
        """Push tuples; if that fails, the progress of inputs is as before."""
        known = dict(self._progress.known)
        try:
            return self.pipeline.advance(state, {name: batch}, now, marks=self._progress)
        except KernelError:
            self._progress.known = known
            raise

    def _narrowed(self, name: str, batch: pa.Table, now: int, error: KernelError) -> KernelError:
        """The error of the first tuple that fails, which can name it; `error` if none does by itself."""
        state, known = self.state, dict(self._progress.known)
        while batch.num_rows:
            half = batch.slice(0, (batch.num_rows + 1) // 2)
            try:
                state = self._pushed(state, name, half, now).state
                batch = batch.slice(half.num_rows)
            except KernelError as narrower:
                error = narrower
                if half.num_rows == 1:
                    break
                batch = half
        self._progress.known = known
        return error

    def promise(self, name: str, mark: int | float, now: int) -> dict[str, pa.Table]:
        """Note a promise of a source, in the units of its order: no later tuple is below it."""
        marks = self._progress.event(now, promises={name: mark})
        return self._after(self.pipeline.tick(self.state, now, marks))

    def tick(self, now: int) -> dict[str, pa.Table]:
        """Let time pass."""
        return self._after(self.pipeline.tick(self.state, now, self._progress.event(now)))

    def flush(self, now: int) -> dict[str, pa.Table]:
        """End all streams; later tuples start again."""
        flushed = self.pipeline.flush(self.state, now, self._progress.event(now))
        self._progress.start()
        return self._after(flushed)

    def deadline(self) -> int | None:
        """The earliest local time at which a timeout will be due; None for never."""
        return self.pipeline.deadline(self.state)

    def counters(self) -> dict[str, Counters]:
        """What went through each box so far."""
        return dict(self._counters)

    def snapshot(self) -> bytes:
        """The state and the counters, as `restore` takes them."""
        tables = {
            f"{box}/{name}": table for box, state in self.state.items() for name, table in state.items()
        }
        counted = [{"box": box_id, **vars(counters)} for box_id, counters in self._counters.items()]
        return pack({**tables, _COUNTERS: pa.Table.from_pylist(counted), _PROGRESS: self._progress.table()})

    def restore(self, snapshot: bytes) -> None:
        """Continue from a snapshot of a run of the same network."""
        tables = dict(unpack(snapshot))
        counted = tables.pop(_COUNTERS).to_pylist()
        self._progress.restore(tables.pop(_PROGRESS))
        self._counters = {row.pop("box"): Counters(**row) for row in counted}
        states: dict[str, dict[str, pa.Table]] = {box_id: {} for box_id in self.state}
        for path, table in tables.items():
            box_id, _, name = path.partition("/")
            states[box_id][name] = table
        self.state = states

    def _after(self, passage: Passage) -> dict[str, pa.Table]:
        self.state = passage.state
        for box_id, counted in passage.counters.items():
            self._counters[box_id] += counted
        return {name: table.drop_columns([CAUSE]) for name, table in passage.outputs.items()}
