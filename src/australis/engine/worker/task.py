"""A task: runs a share of a train in a worker, from segments to segments.

The task reads the tuples of its share, runs them through the kernels of the superbox, and writes states and
output segments, all to new files. Nothing is visible before the driver commits its manifest.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from australis.algebra.counters import BEFORE, BEHIND, Counters
from australis.algebra.network import QUARANTINE, Ref
from australis.algebra.schema import TS
from australis.algebra.user_functions import limit_calls
from australis.engine.crash_points import crash_point
from australis.engine.store import (
    EVERY_PARTITION,
    SEQ,
    Data,
    Root,
    Segment,
    encode_segment,
    merged,
)
from australis.engine.tables import lookups, renew
from australis.engine.worker.call_limits import interrupt_after
from australis.engine.worker.counts import binned, time_counts
from australis.engine.worker.intake import (
    Intake,
    Keys,
    Partitions,
    are_tuples,
    by_partition,
    narrowed,
    parts,
)
from australis.engine.worker.keeping import (
    Place,
    forget_states,
    kept_state,
    limit_states,
    parts_of,
    written_state,
)
from australis.engine.worker.latest import Latest
from australis.engine.worker.plan_files import PlanFile
from australis.engine.worker.shedding import let_in
from australis.engine.worker.sifting import Piece, Sieve
from australis.engine.worker.slicing import mark_runs, marks_between, tuples_between
from australis.engine.worker.stored_tables import StoredTables
from australis.engine.worker.waybill import (
    Manifest,
    Share,
    TimeSlice,
    Waybill,
    WrittenState,
    logged_at,
)
from australis.errors import KernelError
from australis.kernels.boxes import Ask
from australis.kernels.kernel import CAUSE, State
from australis.kernels.pipeline import Passage, Pipeline, PipelineState
from australis.kernels.progress import StreamMarks
from australis.kernels.weights import scaled
from australis.plan.spread import SpreadKind
from australis.plan.superboxes import QUARANTINE_ARC, Superbox
from australis.qos.histograms import bins_of

PIPELINES_MOST = 1_000
"""How many superboxes a worker keeps ready; those of old plans would pile up."""
PLAN_FILES_MOST = 1_000
"""How many plan files a worker keeps open: it knows where in them superboxes are."""


_States = dict[int, tuple[PipelineState, PipelineState]]
"""The states of each partition, before and after."""


class Ready(NamedTuple):
    """A superbox and its kernels, and kernels for streams with fewer attributes, if those are enough."""

    superbox: Superbox
    whole: Pipeline
    narrow: Pipeline | None


_plan_files: Latest[PlanFile] = Latest(PLAN_FILES_MOST)
_ready: Latest[Ready] = Latest(PIPELINES_MOST)


def forget() -> None:
    """Forget everything that this process keeps between tasks, as a new process would."""
    _plan_files.clear()
    _ready.clear()
    forget_states()
    parts.clear()


def ready_for(root: Root, waybill: Waybill) -> Ready:
    """The superbox of a train and its kernels; the least recently used ones are forgotten."""
    file = root.uri_of(waybill.plan)
    return _ready.get(f"{file} {waybill.superbox}", lambda: _loaded(root, file, waybill))


def _loaded(root: Root, file: str, waybill: Waybill) -> Ready:
    plan = _plan_files.get(file, lambda: PlanFile(root, waybill.plan))
    superbox = plan.superbox(waybill.superbox)
    return _made_ready(superbox, lookups(root.uri, superbox.network, waybill.asked))


def _made_ready(superbox: Superbox, asks: Mapping[str, Ask]) -> Ready:
    whole, narrow = superbox.network, narrowed(superbox)
    made = [Pipeline(each, time.perf_counter_ns, asks) for each in (whole, narrow) if each is not None]
    return Ready(superbox, made[0], made[1] if narrow is not None else None)


@dataclass
class _Done:
    """What a share has done so far."""

    outputs: dict[str, list[pa.Table]] = field(default_factory=dict)
    boxes: dict[str, Counters] = field(default_factory=dict)
    costs: dict[str, int] = field(default_factory=dict)
    unread: dict[str, int] = field(default_factory=dict)
    ports: dict[str, int] = field(default_factory=dict)
    received: dict[str, int] = field(default_factory=dict)
    """The tuples of each input that were let through."""
    shed: dict[str, int] = field(default_factory=dict)
    rejected: dict[str, int] = field(default_factory=dict)
    """The tuples of each input that do not fit it."""

    def add(self, passage: Passage, time_slice: TimeSlice) -> None:
        for name, table in passage.outputs.items():
            if table.num_rows:
                self.outputs.setdefault(name, []).append(_numbered(table, time_slice))
        for box, counted in passage.counters.items():
            self.boxes[box] = self.boxes.get(box, Counters()) + counted
            self.costs[box] = self.costs.get(box, 0) + passage.costs[box]
            self.unread[box] = self.unread.get(box, 0) + passage.unread.get(box, 0)
        for ref, tuples in passage.ports.items():
            self.ports[str(ref)] = self.ports.get(str(ref), 0) + tuples

    def take(self, streams: Mapping[str, pa.Table]) -> None:
        """Count tuples that are let through."""
        for name, table in streams.items():
            self.received[name] = self.received.get(name, 0) + table.num_rows

    def gates(self) -> dict[str, tuple[int, int]]:
        """What reached each input, and how much of it was shed."""
        shed = {name: self.shed.get(name, 0) for name in self.received}
        return {name: (kept + shed[name], shed[name]) for name, kept in self.received.items()}

    def counted(self) -> dict[str, dict[str, int]]:
        """The counters in a manifest of each box, and of inputs with tuples that do not fit."""
        counted = {**self.boxes, **{name: Counters(rejected=n) for name, n in self.rejected.items()}}
        return {
            name: {
                **asdict(each),
                "unread": self.unread.get(name, 0),
                "nanoseconds": self.costs.get(name, 0),
            }
            for name, each in counted.items()
        }


class Task:
    """A share of a train."""

    def __init__(self, waybill: Waybill, share: Share, part: int) -> None:
        self._waybill, self._share, self._part = waybill, share, part
        self._root = Root(waybill.root)
        self._ready = ready_for(self._root, waybill)
        self._superbox = self._ready.superbox
        self._pipeline = self._first_pipeline(waybill)
        limit_calls(interrupt_after)
        parts.budget = waybill.cache // 2
        limit_states(waybill.cache // 2)
        renew(self._root.uri, self._superbox.network, waybill.asked, waybill.cache // 4)

    def _first_pipeline(self, waybill: Waybill) -> Pipeline:
        """The first pipeline to try: the one for fewer attributes, if these are likely to be enough."""
        narrow = None if waybill.drop_boxes or waybill.set_aside else self._ready.narrow
        return narrow or self._ready.whole

    def run(self, given: Mapping[str, pa.Table] | None = None) -> Manifest:
        """Read, compute, write; `given` are the tuples of the only partition, if Spark has read them."""
        try:
            return self._run(given)
        except MemoryError:
            # What is cached takes memory that fewer tuples may need.
            forget()
            raise

    def _run(self, given: Mapping[str, pa.Table] | None) -> Manifest:
        began = time.perf_counter_ns()
        if given is not None:
            self._pipeline = self._ready.whole
        try:
            done, states = self._compute(given)
        except KernelError:
            if self._pipeline is self._ready.whole:
                raise
            # A tuple that is set aside has to be quarantined whole.
            self._pipeline = self._ready.whole
            done, states = self._compute(given)
        outputs = dict(self._outputs(done))
        written = self._write(states, outputs)
        deadlines = [self._pipeline.deadline(after) for _, after in states.values()]
        return Manifest(
            *written,
            done.counted(),
            {self._arc(name): _arrivals(table) for name, table in outputs.items()},
            min((each for each in deadlines if each is not None), default=None),
            done.gates(),
            done.ports,
            dict(self._values(outputs)),
            (time.perf_counter_ns() - began) // 1000,
            self._triggers(outputs),
            any(self._pipeline.awaits_marks(after) for _, after in states.values()),
        )

    def _compute(self, given: Mapping[str, pa.Table] | None) -> tuple[_Done, _States]:
        """Run the tuples through the boxes, partition by partition."""
        done, states = _Done(), {}
        found = self._partitions(done) if given is None else {self._share.partitions[0]: given}
        crash_point("task.read")
        # Each task loads the stored tables, and one of them reports the rows that do not fit.
        report = done.add if self._part == 0 else None
        tables = StoredTables(self._root, self._waybill, self._pipeline, report)
        for partition, tuples in found.items():
            done.take(tuples)
            before = self._state(partition, tables)
            states[partition] = (before, self._advance(before, tuples, tables, done))
        return done, states

    # --- input

    def _partitions(self, done: _Done) -> Partitions:
        """The tuples that are let in, by partition of the share."""
        keys = self._keys
        if keys is None or (self._numbers_are_unique and not self._scales(keys)):
            found = self._read(keys)
            return {each: self._let_in(streams, done, counts=True) for each, streams in found.items()}
        # The rank of a tuple among those of its number decides whether it is shed, and what is scaled may
        # decide its partition. So each task looks at all tuples, and only the first one reports what is shed.
        (whole,) = self._read(None).values()
        let_in = self._let_in(whole, done, counts=self._part == 0)
        return by_partition(let_in, keys, self._waybill.partitions, self._share.partitions)

    @property
    def _keys(self) -> Keys | None:
        """The keys by which tasks have partitions, if they have."""
        is_keyed = self._superbox.spread.kind is SpreadKind.KEYS and self._waybill.partitions > 1
        return self._superbox.spread.keys if is_keyed else None

    @property
    def _numbers_are_unique(self) -> bool:
        """Whether no two tuples of a stream with a drop box have one number."""
        gates = [self._waybill.streams.get(name, ()) for name in self._waybill.drop_boxes]
        return all(segment.first is not None for segments in gates for segment in segments)

    def _scales(self, keys: Keys) -> bool:
        """Whether the gates change a value by which tuples are divided."""
        return any(weight in keys[Ref(name)] for name, (weight, _) in self._waybill.weights.items())

    def _read(self, keys: Keys | None) -> Partitions:
        """The tuples of the streams, whole if a drop box looks at them or one has to be quarantined."""
        intake, network = Intake(self._root, self._waybill, self._share), self._pipeline.network
        found = intake.read(network, keys)
        is_narrow = self._pipeline is not self._ready.whole
        if is_narrow and not all(are_tuples(streams, network) for streams in found.values()):
            self._pipeline = self._ready.whole
            return intake.read(self._superbox.network, keys)
        return found

    def _let_in(self, streams: Mapping[str, pa.Table], done: _Done, *, counts: bool) -> dict[str, pa.Table]:
        """What the drop boxes at the superbox's gates let in."""
        network, found = self._superbox.network, dict(streams)
        for name, drop_box in self._waybill.drop_boxes.items():
            if name in found:
                schema, came = network.inputs[name].schema, found[name].num_rows
                found[name] = let_in(drop_box, self._superbox.id, found[name], schema, network.timezone)
                shed = came - found[name].num_rows if counts else 0
                done.shed[name] = done.shed.get(name, 0) + shed
        for name, (weight, factor) in self._waybill.weights.items():
            if name in found:
                found[name] = scaled(found[name], weight, factor)
        return found

    # --- processing

    def _state(self, partition: int, tables: StoredTables) -> PipelineState:
        start = self._pipeline.start()
        if self._waybill.unloaded:
            start = tables.load_first(start)
        return {box: self._kept(box, partition, start[box]) for box in self._pipeline.kernels}

    def _kept(self, box: str, partition: int, start: State) -> State:
        kernel = self._pipeline.kernels[box]
        files = [names for each in (partition, EVERY_PARTITION) if (names := self._files(box, each))]
        found = [kept_state(self._root, kernel, names) for names in files]
        if not kernel.shared_tables:
            return found[0] if found else start
        return {name: table for state in (start, *found) for name, table in state.items()}

    def _files(self, box: str, partition: int) -> tuple[str, ...]:
        return self._waybill.states.get(f"{box}/{partition}", ())

    def _advance(
        self, state: PipelineState, streams: Mapping[str, pa.Table], tables: StoredTables, done: _Done
    ) -> PipelineState:
        runs = mark_runs(self._waybill)
        for time_slice in self._waybill.time_slices:
            if time_slice.load:
                state = tables.renew(state, time_slice.load, time_slice.lo + 1)
            rest: TimeSlice | None = time_slice
            while rest is not None:
                quiet, rest = self._quiet(state, rest)
                arrivals = {name: tuples_between(table, quiet) for name, table in streams.items()}
                marks = {name: marks_between(found, quiet) for name, found in runs.items()}
                for passage in self._passages(state, arrivals, quiet, marks):
                    done.add(passage, quiet)
                    state = passage.state
        return state

    def _quiet(self, state: PipelineState, time_slice: TimeSlice) -> tuple[TimeSlice, TimeSlice | None]:
        """The events of a time slice that come before the next timeout is due, and the others."""
        if not time_slice.later:
            return time_slice, None
        return time_slice.divided(self._pipeline.quiet_until(state, time_slice.now))

    def _passages(
        self,
        state: PipelineState,
        arrivals: Mapping[str, pa.Table],
        time_slice: TimeSlice,
        marks: Mapping[str, StreamMarks],
    ) -> Iterator[Passage]:
        """The results of the tuples of a time slice; those that make a box fail are set aside."""
        if self._pipeline is not self._ready.whole:
            times, ending = time_slice.times, time_slice.ending
            yield self._pipeline.advance(state, arrivals, times, ending=ending, marks=marks)
            return
        sieve, reason = Sieve(self._pipeline), self._waybill.set_aside
        if reason:
            yield sieve.set_aside(state, arrivals, self._superbox.id, reason)
            arrivals = {}
        yield from sieve.advance(state, Piece(arrivals, marks), time_slice)

    # --- output

    def _write(
        self, states: _States, outputs: Mapping[str, pa.Table]
    ) -> tuple[tuple[Segment, ...], tuple[WrittenState, ...]]:
        """Write the changed states and the outputs together."""
        files: dict[str, Data] = {}
        written = []
        for box, partition, before, after in self._state_parts(states):
            known = self._files(box, partition)
            if not known or after is not before:
                kernel = self._pipeline.kernels[box]
                place = Place(self._root, box, partition, kernel, known, self._waybill.layered_from)
                file = written_state(place, before, after)
                files[file.name] = file.data
                made = box, partition, file.name, file.size, file.replaces, file.is_whole
                written.append(WrittenState(*made))
        segments = dict(self._encoded(name, table) for name, table in outputs.items())
        files |= {segment.name: data for segment, data in segments.items()}
        crash_point("task.writing")
        self._root.write_all(files)
        crash_point("task.written")
        return tuple(segments), tuple(written)

    def _state_parts(self, states: _States) -> Iterator[tuple[str, int, State, State]]:
        """The parts of the boxes' states that have files of their own: before and after."""
        for partition, (before, after) in states.items():
            # One task answers for what all partitions have alike.
            is_first = self._part == 0 and partition == self._share.partitions[0]
            for box in self._superbox.ordered:
                both = before[box], after[box]
                for part in parts_of(self._pipeline.kernels[box], partition, *both, with_shared=is_first):
                    yield box, *part

    def _outputs(self, done: _Done) -> Iterator[tuple[str, pa.Table]]:
        """The tuples that somebody reads, by output."""
        for name, tables in done.outputs.items():
            if name == QUARANTINE or name in self._superbox.writes:
                table = self._own_rejects(merged(tables)) if name == QUARANTINE else merged(tables)
                if name == QUARANTINE:
                    done.rejected = self._rejected_at_inputs(table)
                if table.num_rows:
                    yield name, table

    def _values(self, outputs: Mapping[str, pa.Table]) -> Iterator[tuple[str, list[int]]]:
        """The value histograms of the network's outputs that have a value graph."""
        for name, graphs in self._waybill.watched.items():
            for output, graph in graphs.items():
                if name in outputs:
                    yield output, binned(bins_of(graph), outputs[name]).tolist()

    def _triggers(self, outputs: Mapping[str, pa.Table]) -> dict[str, list[tuple[int, int]]]:
        """When the causes of the outputs' tuples were logged, if somebody asks."""
        moments = self._waybill.moments
        numbers = {self._arc(name): table[SEQ].to_numpy() for name, table in outputs.items() if moments}
        return {arc: time_counts(logged_at(moments, found)) for arc, found in numbers.items()}

    def _encoded(self, name: str, table: pa.Table) -> tuple[Segment, pa.Buffer]:
        arc = self._arc(name)
        writer = self._superbox.writers.get(arc, self._superbox.id)
        splitting = self._waybill.splits.get(arc)
        division = None if splitting is None else splitting.division(table)
        return encode_segment(self._root, arc, table, writer=writer, part=self._part, division=division)

    def _arc(self, name: str) -> str:
        return QUARANTINE_ARC if name == QUARANTINE else self._superbox.writes[name]

    def _own_rejects(self, table: pa.Table) -> pa.Table:
        """The rejected tuples, without those that another superbox reading the same input has quarantined."""
        network = self._superbox.network
        others = {f"{network.name}.{name}" for name in network.inputs if name not in self._superbox.admits}
        kept = [path not in others for path in table["path"].to_pylist()]
        return table.filter(pa.array(kept, pa.bool_()))

    def _rejected_at_inputs(self, table: pa.Table) -> dict[str, int]:
        """How many quarantined rows are tuples that do not fit their input; boxes count the others."""
        paths = {f"{self._superbox.network.name}.{name}": name for name in self._superbox.admits}
        counted = table["path"].value_counts().to_pylist()
        return {paths[each["values"]]: each["counts"] for each in counted if each["values"] in paths}


def _numbered(table: pa.Table, time_slice: TimeSlice) -> pa.Table:
    """An output with the sequence numbers of its causes."""
    causes = table[CAUSE].to_numpy()
    if causes[0] == BEFORE or causes[-1] == BEHIND:
        causes = np.where(causes == BEFORE, time_slice.before, causes)
        causes = np.where(causes == BEHIND, time_slice.before + 1, causes)
    return table.drop_columns([CAUSE]).append_column(SEQ, pa.array(causes))


def _arrivals(table: pa.Table) -> list[tuple[int, int]]:
    return time_counts(table[TS].cast(pa.int64()).to_numpy())
