"""Calibration: the cost and selectivity of each box of a network, measured on a sample."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import takewhile

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from australis.algebra.counters import Counters
from australis.algebra.network import Network, Ref
from australis.algebra.schema import TS, Schema
from australis.algebra.types import TIMESTAMP
from australis.engine.calibrate.samples import Sample, made_up
from australis.engine.store import SEQ, encode
from australis.kernels.pipeline import Passage, Pipeline, PipelineState
from australis.policy.analysis import Cost, Costs

TRAIN_US = 50_000.0
"""The time that 95 of 100 small trains took at most, on two cores (docs/performance.md)."""
_FEW = 10_000
_UNMEASURED = 0.25
"""The part of a sample that only fills windows."""
_REHEARSAL_S, _MEASURED_S = 5.0, 10.0
"""The longest time a calibration takes, apart from the round that is running."""
_TIMES = 3

Clock = Callable[[], int]
"""Computing time in nanoseconds."""


@dataclass(frozen=True)
class Calibration:
    """What was measured, on how many tuples, and notes about it."""

    costs: Costs
    tuples: int
    notes: tuple[str, ...]


@dataclass
class _Measured:
    """The tuples that went through the boxes of a pipeline, and how long they took."""

    tuples: int = 0
    counters: dict[str, Counters] = field(default_factory=dict)
    nanoseconds: dict[str, int] = field(default_factory=dict)
    ports: dict[Ref, int] = field(default_factory=dict)

    def add(self, passage: Passage, tuples: int) -> None:
        self.tuples += tuples
        for box, counted in passage.counters.items():
            self.counters[box] = self.counters.get(box, Counters()) + counted
            self.nanoseconds[box] = self.nanoseconds.get(box, 0) + passage.costs[box]
        for ref, emitted in passage.ports.items():
            self.ports[ref] = self.ports.get(ref, 0) + emitted

    def emitted(self, box: str) -> int:
        return self.counters[box].emitted

    def cost(self, network: Network, box: str) -> Cost:
        """The cost of a box; nothing is known of one that received nothing."""
        received, ports = self.counters[box].received, range(network.boxes[box].box.outputs)
        if not received:
            return Cost(0.0, (0.0,) * len(ports))
        selectivity = tuple(self.ports[Ref(box, port)] / received for port in ports)
        return Cost(self.nanoseconds[box] / 1000 / received, selectivity)


def calibrate(network: Network, given: Sample, *, clock: Clock = time.process_time_ns) -> Calibration:
    """Send a sample through the kernels of a network, and measure all but the beginning.

    Measuring begins once kernels are compiled and windows are filled.
    """
    pipeline = Pipeline(network, clock)
    start = _loaded(pipeline, given)
    _rehearse(pipeline, start, given)
    measured = _measure(pipeline, start, given)
    boxes = {box: measured.cost(network, box) for box in network.order}
    inputs_us, outputs_us = ends_us(network, clock)
    notes = (*given.notes, *_notes(network, measured))
    return Calibration(Costs(boxes, inputs_us, outputs_us, TRAIN_US), measured.tuples, notes)


def _loaded(pipeline: Pipeline, given: Sample) -> PipelineState:
    state = pipeline.start()
    for name, rows in given.tables.items():
        state = pipeline.load(state, name, rows).state
    return state


def _rehearse(pipeline: Pipeline, state: PipelineState, given: Sample) -> None:
    """Run some rounds without measuring: whatever is compiled on first use is compiled then."""
    for number in _in_time(given.rounds, _REHEARSAL_S):
        if given.until(number) > _UNMEASURED and number > 0:
            break
        state = pipeline.advance(state, given.round(number), _now(given, number)).state


def _measure(pipeline: Pipeline, state: PipelineState, given: Sample) -> _Measured:
    """Measure all rounds but the first ones; if time runs out, the last one alone."""
    measured, last = _Measured(), None
    for number in _in_time(given.rounds, _MEASURED_S):
        arrivals = given.round(number)
        passage = pipeline.advance(state, arrivals, _now(given, number))
        state, last = passage.state, (passage, sum(table.num_rows for table in arrivals.values()))
        if given.until(number) > _UNMEASURED:
            measured.add(*last)
    if last is not None and not measured.tuples:
        measured.add(*last)
    return measured


def _in_time(rounds: int, seconds: float) -> Iterator[int]:
    """The numbers of rounds, until time runs out."""
    deadline = time.monotonic() + seconds
    return takewhile(lambda number: number == 0 or time.monotonic() < deadline, range(rounds))


def _now(given: Sample, number: int) -> int:
    """The local time at the end of a round: it advances as it would at the given rates."""
    return round(given.seconds * given.until(number) * 1e6)


def _notes(network: Network, measured: _Measured) -> Iterator[str]:
    if measured.tuples < _FEW:
        yield f"only {measured.tuples:,} tuples were measured: in short batches each costs more"
    idle = [box for box in network.order if not measured.counters[box].received]
    if idle:
        yield f"no tuple came to {', '.join(idle)}: nothing is known of their costs, and 0 is assumed"
    mute = [box for box in network.order if measured.counters[box].received and not measured.emitted(box)]
    if mute:
        yield f"nothing came out of {', '.join(mute)}: a longer sample closes longer windows"


# --- the ends


def ends_us(
    network: Network, clock: Clock = time.process_time_ns
) -> tuple[dict[str, float], dict[str, float]]:
    """The time it takes to queue and to read a tuple of each input, and to write one of each output."""
    inputs = {name: given.schema for name, given in network.inputs.items() if not given.table}
    outputs = {name: network.output_schema(name) for name in network.outputs}
    return (
        {name: _tuple_us(_queued(name, schema, clock)) for name, schema in inputs.items()},
        {name: _tuple_us(_written(name, schema, clock)) for name, schema in outputs.items()},
    )


def _tuple_us(each: Iterable[tuple[int, int]]) -> float:
    """The time per tuple: the best of some measurements of many tuples."""
    return min(nanoseconds / 1000 / tuples for nanoseconds, tuples in each)


def _queued(name: str, schema: Schema, clock: Clock) -> Iterator[tuple[int, int]]:
    rows = made_up(name, schema).batch(0)
    for _ in range(_TIMES):
        began = clock()
        pq.ParquetFile(pa.BufferReader(encode(rows)), page_checksum_verification=True).read()
        yield clock() - began, rows.num_rows


def _written(name: str, schema: Schema, clock: Clock) -> Iterator[tuple[int, int]]:
    rows = made_up(name, schema).batch(0)
    numbers = np.arange(rows.num_rows)
    rows = rows.append_column(TS, pa.array(numbers).cast(TIMESTAMP.arrow)).append_column(
        SEQ, pa.array(numbers)
    )
    for _ in range(_TIMES):
        began = clock()
        encode(rows)
        yield clock() - began, rows.num_rows
