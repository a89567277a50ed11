"""Trials: samples waiting tuples, and tries predicates on them (Aurora 4.5).

For semantic shedding: which tuples at a gate lead to the values of an output that matter least.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from australis.algebra.network import Ref
from australis.engine.ledger import Ledger
from australis.engine.store import SEQ, merged, read_segment
from australis.engine.worker import GateDropBox, binned, let_in
from australis.kernels.kernel import CAUSE
from australis.kernels.pipeline import Pipeline
from australis.plan.superboxes import Plan, Superbox
from australis.policy.shed import DropBox, Gate, Samples, Trial, by_value

SAMPLE = 4_000
"""How many tuples of a stream are sampled."""


@dataclass(frozen=True)
class _Bench:
    """A superbox that writes one output, ready for trials."""

    superbox: Superbox
    pipeline: Pipeline
    gate: Gate
    written: str
    """The output of the superbox that is the output of the network."""


TrialBenches = Mapping[str, _Bench | None]
"""A bench for each superbox where values can decide."""


class Trials:
    """Makes drop boxes that shed by value, for superboxes that lead to one output with a value graph."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._benches: TrialBenches = {}

    def prepare(self, plan: Plan) -> TrialBenches:
        """The benches of a plan that is about to run; unchanged ones stay warm."""
        return {name: self._ensure_bench(plan, superbox) for name, superbox in plan.superboxes.items()}

    def switch(self, benches: TrialBenches) -> None:
        """Switch to another plan."""
        self._benches = benches

    def _ensure_bench(self, plan: Plan, superbox: Superbox) -> _Bench | None:
        before = self._benches.get(superbox.id)
        same = before is not None and before.superbox == superbox
        return before if same else self._warm(_bench(plan, superbox))

    def _warm(self, bench: _Bench | None) -> _Bench | None:
        """Run a bench once: that loads the kernels, which takes longer than all trials."""
        if bench is not None:
            self._tried(bench, {})
        return bench

    def by_value(self, superbox: str, rate: float) -> DropBox | None:
        """A drop box that sheds a fraction by value, at a superbox; None where values cannot decide."""
        bench = self._benches[superbox]
        if bench is None:
            return None
        sample = {name: self._sample(bench.superbox, name) for name in bench.superbox.streams}
        sample = {name: table for name, table in sample.items() if table.num_rows}
        return by_value(
            bench.gate, rate, lambda box: self._trial(bench, sample, box), _columns(bench, sample)
        )

    def _sample(self, superbox: Superbox, stream: str) -> pa.Table:
        """Tuples of the last segment of a stream."""
        arc = superbox.streams[stream]
        last = max(self._ledger.queues.segments[arc], key=lambda each: each.end, default=None)
        if last is None:
            return pa.table({})
        columns = list(superbox.network.inputs[stream].schema.names)
        lo = max(last.base, last.end - SAMPLE) if last.first is not None else last.base
        table = merged([read_segment(self._ledger.root, last, columns, lo, last.end)])
        return table.slice(max(0, table.num_rows - SAMPLE)).rename_columns({SEQ: CAUSE}).combine_chunks()

    def _trial(self, bench: _Bench, sample: Mapping[str, pa.Table], box: DropBox) -> Trial:
        whole = sum(table.num_rows for table in sample.values())
        left = {name: _let_in(bench.superbox, name, table, box) for name, table in sample.items()}
        kept = sum(table.num_rows for table in left.values())
        return Trial(1 - kept / whole if whole else 0.0, self._tried(bench, left))

    def _tried(self, bench: _Bench, streams: Mapping[str, pa.Table]) -> npt.NDArray[np.int64]:
        """The values that come out, by bin, if the streams end after the sample."""
        passage = bench.pipeline.advance(bench.pipeline.start(), streams, 0, ending=True)
        bins = bench.gate.bins
        assert bins is not None
        return binned(bins, passage.outputs[bench.written])


def _bench(plan: Plan, superbox: Superbox) -> _Bench | None:
    """What trials of a superbox need; None if it leads to more than one output, or has no values."""
    outputs = [
        (name, output)
        for name, arc in superbox.writes.items()
        for output in plan.arcs[arc].outputs
        if not plan.arcs[arc].readers
    ]
    if len(outputs) != 1 or len(superbox.writes) != 1 or superbox.tables:
        return None
    written, output = outputs[0]
    quality = plan.network.outputs[output].quality
    if quality is None or quality.value is None:
        return None
    gate = Gate(plan.network, output, tuple(superbox.streams.values()))
    return _Bench(superbox, Pipeline(superbox.network), gate, written)


def _let_in(superbox: Superbox, stream: str, table: pa.Table, box: DropBox) -> pa.Table:
    """What a drop box at the gate would let in of a stream."""
    where = box.where.get(superbox.streams[stream], "")
    if box.where and not where:
        return table
    network = superbox.network
    return let_in(
        GateDropBox(0, box.share, where),
        superbox.id,
        table,
        network.inputs[stream].schema,
        network.timezone,
    )


def _columns(bench: _Bench, sample: Mapping[str, pa.Table]) -> Samples:
    """The values of a sample by stream and attribute, for trials."""
    found: dict[str, dict[str, npt.NDArray[Any]]] = {}
    for stream, table in sample.items():
        arc = str(Ref.parse(bench.superbox.streams[stream]))
        names = bench.superbox.network.inputs[stream].schema.names
        found[arc] = {name: _values(table[name]) for name in names}
    return found


def _values(column: pa.ChunkedArray) -> npt.NDArray[Any]:
    known = column.drop_null()
    if pa.types.is_timestamp(known.type):
        known = known.cast(pa.int64())
    values: npt.NDArray[Any] = known.to_numpy()
    return values[~np.isnan(values)] if values.dtype.kind == "f" else values
