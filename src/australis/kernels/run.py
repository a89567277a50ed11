"""A running network on kernels: a pipeline together with its state."""

from __future__ import annotations

import pyarrow as pa

from australis.algebra.counters import Counters
from australis.algebra.network import Network
from australis.kernels.kernel import CAUSE
from australis.kernels.pipeline import Passage, Pipeline, PipelineState
from australis.kernels.state import pack, unpack

_COUNTERS = "#counters"
"""The table of a snapshot with the counters; the others are `box id/table`."""


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
        self._counters = {box_id: Counters() for box_id in network.order}

    def load(self, name: str, rows: pa.Table) -> dict[str, pa.Table]:
        """Read rows of a stored table, before the first event."""
        return self._after(self.pipeline.load(self.state, name, rows))

    def push(self, name: str, batch: pa.Table, now: int) -> dict[str, pa.Table]:
        """Push tuples together on an input; returns the batches of all outputs, `quarantine` included."""
        return self._after(self.pipeline.push(self.state, name, batch, now))

    def tick(self, now: int) -> dict[str, pa.Table]:
        """Let time pass."""
        return self._after(self.pipeline.tick(self.state, now))

    def flush(self, now: int) -> dict[str, pa.Table]:
        """End all streams; later tuples start again."""
        return self._after(self.pipeline.flush(self.state, now))

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
        return pack({**tables, _COUNTERS: pa.Table.from_pylist(counted)})

    def restore(self, snapshot: bytes) -> None:
        """Continue from a snapshot of a run of the same network."""
        tables = dict(unpack(snapshot))
        counted = tables.pop(_COUNTERS).to_pylist()
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
