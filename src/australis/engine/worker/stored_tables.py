"""What a task loads of stored tables: a version becomes part of the states of the boxes that read it."""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa

from australis.algebra.network import Ref
from australis.algebra.schema import Schema
from australis.engine.store import SEQ, Root, read_segment
from australis.engine.worker.waybill import TimeSlice, Waybill
from australis.kernels.kernel import CAUSE
from australis.kernels.pipeline import Passage, Pipeline, PipelineState


class StoredTables:
    """The versions of stored tables that a share of a train needs, each loaded once for all partitions."""

    def __init__(
        self,
        root: Root,
        waybill: Waybill,
        pipeline: Pipeline,
        report: Callable[[Passage, TimeSlice], None] | None,
    ) -> None:
        self._root, self._waybill, self._pipeline, self._report = root, waybill, pipeline, report
        self._loads: dict[tuple[str, int], PipelineState] = {}
        """What versions become in states, by the number that they begin with."""

    def load_first(self, state: PipelineState) -> PipelineState:
        """Load the first versions into the state before the first train."""
        for name, segments in self._waybill.tables.items():
            logged = [each.lo + 1 for each in self._waybill.time_slices if each.load == name]
            base = min(logged or (segment.base for segment in segments), default=0)
            state = self.renew(state, name, base)
        return state

    def renew(self, state: PipelineState, name: str, base: int) -> PipelineState:
        """Load the version whose rows begin with a number; a table that is asked has none."""
        if name in self._waybill.asked:
            return state
        if (name, base) not in self._loads:
            self._loads[name, base] = self._loaded(name, base)
        return {**state, **{box: {**state[box], **each} for box, each in self._loads[name, base].items()}}

    def _loaded(self, name: str, base: int) -> PipelineState:
        """What a version becomes in the states of the boxes that read it."""
        network = self._pipeline.network
        schema = network.inputs[name].schema
        found = [each for each in self._waybill.tables.get(name, ()) if each.base == base]
        columns = list(schema.names)
        tables = [read_segment(self._root, each, columns, each.base, each.end) for each in found]
        rows = tables[0] if tables else _no_rows(schema)
        passage = self._pipeline.load(self._pipeline.start(), name, rows.rename_columns({SEQ: CAUSE}))
        if self._report is not None:
            self._report(passage, TimeSlice(base, base + rows.num_rows, 0, base))
        kernels = {box: self._pipeline.kernels[box] for box, _ in network.consumers[Ref(name)]}
        return {
            box: {table: passage.state[box][table] for table in kernel.shared_tables}
            for box, kernel in kernels.items()
        }


def _no_rows(schema: Schema) -> pa.Table:
    return schema.arrow_with_ts.append(pa.field(SEQ, pa.int64())).empty_table()
