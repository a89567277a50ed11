"""What runs in a Python worker: a share of a train, from segments to segments.

The task reads the tuples of its share, lets them through the kernels of the superbox, and writes the states
and output segments, all to new files. Nothing of it can be seen before the driver commits its manifest.
"""

from __future__ import annotations

import pickle
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field

import numpy as np
import pyarrow as pa
from pyspark import TaskContext

from australis.algebra.network import QUARANTINE, Ref
from australis.algebra.running import BEFORE, BEHIND, Counters
from australis.algebra.schema import TS
from australis.compile.spread import SpreadKind
from australis.compile.superboxes import QUARANTINE_ARC, Superbox
from australis.engine.faults import crash_point
from australis.engine.plans import read_plan
from australis.engine.storage.cache import Cache
from australis.engine.storage.root import Root
from australis.engine.storage.segments import SEQ, Segment, merged, read_segment, write_segment
from australis.engine.storage.states import read_state, write_state
from australis.engine.waybills import Manifest, Moment, Share, Waybill, WrittenState
from australis.errors import AustralisError
from australis.kernels.hashing import partitions
from australis.kernels.kernel import CAUSE, State
from australis.kernels.pipeline import Passage, Pipeline, PipelineState

WAYBILL_PROPERTY = "australis.waybill"
"""The local property of a Spark job that holds a train's waybill."""
MANIFEST, FAILURE = b"M", b"F"
ARRIVAL_STEP_US = 1000
"""Arrival times are told in steps of this, so that a manifest stays small."""

_pipelines: dict[tuple[str, str], tuple[Superbox, Pipeline]] = {}
_segments: Cache[pa.Table] = Cache()
_states: Cache[State] = Cache()


def superbox_of(root: Root, plan: str, superbox: str) -> tuple[Superbox, Pipeline]:
    """A superbox of a plan file and its kernels, made once in a worker."""
    key = (root.uri_of(plan), superbox)
    if key not in _pipelines:
        for each in read_plan(root, plan).values():
            _pipelines[key[0], each.id] = each, Pipeline(each.network, time.perf_counter_ns)
    return _pipelines[key]


def serve(index: int, rows: Iterable[int]) -> Iterable[bytes]:
    """A task of a Spark job: what it is to do is in the job's local properties."""
    del rows
    context = TaskContext.get()
    assert context is not None
    waybill = Waybill.from_json(context.getLocalProperty(WAYBILL_PROPERTY) or "")
    yield answer(lambda: Task(waybill, waybill.shares[index], index).run())


def answer(run: Callable[[], Manifest]) -> bytes:
    """What a task sends back: a manifest, or the error that stopped it, which no retry would mend."""
    try:
        return MANIFEST + run().to_json()
    except AustralisError as error:
        return FAILURE + pickle.dumps(error)


def heard(data: bytes) -> Manifest:
    """The manifest that a task sent; raises its error."""
    if data[:1] == FAILURE:
        raise pickle.loads(data[1:])
    return Manifest.from_json(data[1:])


@dataclass
class _Done:
    """What a share has done so far."""

    outputs: dict[str, list[pa.Table]] = field(default_factory=dict)
    boxes: dict[str, Counters] = field(default_factory=dict)
    costs: dict[str, int] = field(default_factory=dict)

    def add(self, passage: Passage, moment: Moment) -> None:
        for name, table in passage.outputs.items():
            if table.num_rows:
                self.outputs.setdefault(name, []).append(_numbered(table, moment))
        for box, counted in passage.counters.items():
            self.boxes[box] = self.boxes.get(box, Counters()) + counted
            self.costs[box] = self.costs.get(box, 0) + passage.costs[box]


class Task:
    """A share of a train."""

    def __init__(self, waybill: Waybill, share: Share, part: int) -> None:
        self._waybill, self._share, self._part = waybill, share, part
        self._root = Root(waybill.root)
        self._superbox, self._pipeline = superbox_of(self._root, waybill.plan, waybill.superbox)
        self._spent: dict[str, int] = {}
        _segments.budget = _states.budget = waybill.cache

    def run(self, given: Mapping[str, pa.Table] | None = None) -> Manifest:
        """Read, compute, write; `given` are the tuples of the one partition, if Spark has read them."""
        clock = time.perf_counter_ns
        began = clock()
        streams = self._read() if given is None else given
        read = clock()
        crash_point("task.read")
        done, states, deadlines, received = _Done(), {}, [], 0
        parts = self._partitioned(streams) if given is None else [(self._share.partitions[0], streams)]
        for partition, tuples in parts:
            received += sum(table.num_rows for table in tuples.values())
            before = self._state(partition, done)
            after = self._advance(before, tuples, done)
            states[partition] = (before, after)
            deadlines.append(self._pipeline.deadline(after))
        computed = clock()
        written = self._write_states(states)
        crash_point("task.states")
        segments = tuple(self._write_outputs(done))
        crash_point("task.outputs")
        self._spent |= {"read": read - began, "compute": computed - read, "write": clock() - computed}
        return Manifest(
            segments,
            written,
            {box: {**asdict(c), "nanoseconds": done.costs[box]} for box, c in done.boxes.items()},
            {self._arc(name): _arrivals(tables) for name, tables in done.outputs.items()},
            min((each for each in deadlines if each is not None), default=None),
            received,
            self._spent,
        )

    # --- in

    def _read(self) -> dict[str, pa.Table]:
        return {name: self._stream(name, found) for name, found in self._waybill.streams.items() if found}

    def _stream(self, name: str, segments: tuple[Segment, ...]) -> pa.Table:
        columns = list(self._superbox.network.inputs[name].schema.names)
        lo = max(self._waybill.moments[0].lo, self._share.lo)
        hi = min(self._waybill.moments[-1].hi, self._share.hi)
        priority = self._waybill.priorities.get(name, 0.0)
        tables = [self._segment(each, columns, lo, hi, priority) for each in segments]
        return merged(tables).combine_chunks().rename_columns({SEQ: CAUSE})

    def _segment(self, segment: Segment, columns: list[str], lo: int, hi: int, priority: float) -> pa.Table:
        """A segment's tuples; one that the train takes in part will be asked for again, so it is kept."""
        if lo <= segment.base and segment.end <= hi:
            return read_segment(self._root, segment, columns, lo, hi)
        whole = _segments.get(
            segment.name,
            lambda: read_segment(self._root, segment, columns, segment.base, segment.end),
            lambda table: table.nbytes,
            priority,
        )
        start, stop = np.searchsorted(whole[SEQ].to_numpy(), [lo, hi])
        return whole.slice(start, stop - start)

    def _partitioned(self, streams: Mapping[str, pa.Table]) -> Iterator[tuple[int, Mapping[str, pa.Table]]]:
        """The tuples of each partition of the share."""
        spread = self._superbox.spread
        if spread.kind is not SpreadKind.KEYS or self._waybill.partitions == 1:
            yield self._share.partitions[0], streams
            return
        count = self._waybill.partitions
        owners = {name: partitions(t, spread.keys[Ref(name)], count) for name, t in streams.items()}
        for partition in self._share.partitions:
            mine = {name: streams[name].filter(pa.array(owners[name] == partition)) for name in streams}
            yield partition, mine

    # --- through

    def _state(self, partition: int, done: _Done) -> PipelineState:
        if not self._waybill.states and self._waybill.tables:
            return self._loaded(done)
        start = self._pipeline.start()
        return {box: self._kept(box, partition, start[box]) for box in self._pipeline.kernels}

    def _kept(self, box: str, partition: int, start: State) -> State:
        name = self._waybill.states.get(f"{box}/{partition}")
        if name is None:
            return start
        return _states.get(name, lambda: read_state(self._root, name), _size)

    def _loaded(self, done: _Done) -> PipelineState:
        """The state before the first train, with the stored tables."""
        state = self._pipeline.start()
        for name, segments in self._waybill.tables.items():
            columns = list(self._superbox.network.inputs[name].schema.names)
            for segment in segments:
                rows = read_segment(self._root, segment, columns, segment.base, segment.end)
                passage = self._pipeline.load(state, name, rows.rename_columns({SEQ: CAUSE}))
                done.add(passage, Moment(segment.base, segment.end, 0, segment.base))
                state = passage.state
        return state

    def _advance(self, state: PipelineState, streams: Mapping[str, pa.Table], done: _Done) -> PipelineState:
        for moment in self._waybill.moments:
            arrivals = {name: _between(table, moment) for name, table in streams.items()}
            passage = self._pipeline.advance(state, arrivals, moment.now, ending=moment.ending)
            done.add(passage, moment)
            state = passage.state
        return state

    # --- out

    def _write_states(
        self, states: Mapping[int, tuple[PipelineState, PipelineState]]
    ) -> tuple[WrittenState, ...]:
        written = []
        for partition, (before, after) in states.items():
            for box in self._superbox.ordered:
                first = f"{box}/{partition}" not in self._waybill.states
                if first or after[box] is not before[box]:
                    name, size = write_state(self._root, box, partition, after[box])
                    _states.put(name, after[box], _size(after[box]))
                    _states.drop(self._waybill.states.get(f"{box}/{partition}", ""))
                    written.append(WrittenState(box, partition, name, size))
        return tuple(written)

    def _write_outputs(self, done: _Done) -> Iterator[Segment]:
        for name, tables in done.outputs.items():
            table = merged(tables)
            if name == QUARANTINE:
                table = self._own_rejects(table)
            elif name not in self._superbox.writes:
                continue
            if table.num_rows:
                yield write_segment(
                    self._root, self._arc(name), table, writer=self._superbox.id, part=self._part
                )

    def _arc(self, name: str) -> str:
        return QUARANTINE_ARC if name == QUARANTINE else self._superbox.writes.get(name, "")

    def _own_rejects(self, table: pa.Table) -> pa.Table:
        """Without what another superbox that reads the same input has quarantined."""
        network = self._superbox.network
        others = {f"{network.name}.{name}" for name in network.inputs if name not in self._superbox.admits}
        kept = [path not in others for path in table["path"].to_pylist()]
        return table.filter(pa.array(kept, pa.bool_()))


def _between(table: pa.Table, moment: Moment) -> pa.Table:
    if table.num_rows == 0:
        return table
    start, stop = np.searchsorted(table[CAUSE].to_numpy(), [moment.lo, moment.hi])
    return table.slice(start, stop - start)


def _numbered(table: pa.Table, moment: Moment) -> pa.Table:
    """An output with the sequence numbers of its causes."""
    causes = table[CAUSE].to_numpy()
    if causes[0] == BEFORE or causes[-1] == BEHIND:
        causes = np.where(causes == BEFORE, moment.before, causes)
        causes = np.where(causes == BEHIND, moment.before + 1, causes)
    return table.drop_columns([CAUSE]).append_column(SEQ, pa.array(causes))


def _arrivals(tables: list[pa.Table]) -> list[tuple[int, int]]:
    times = np.concatenate([table[TS].cast(pa.int64()).to_numpy() for table in tables])
    steps, counts = np.unique(times // ARRIVAL_STEP_US, return_counts=True)
    return list(zip((steps * ARRIVAL_STEP_US).tolist(), counts.tolist(), strict=True))


def _size(state: State) -> int:
    return sum(table.nbytes for table in state.values())
