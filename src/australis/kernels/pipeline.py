"""A whole network on kernels: one event at a time travels through the boxes, each visited once.

In: batches on inputs, the passing of time, the end. Out: the batches of the outputs. A `Pipeline` has no
state of its own: it takes that of the network, a mapping from box ids to states, and returns the next one.
See "How a batch travels" in docs/semantics.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from australis.algebra.counters import BEHIND, Counters
from australis.algebra.network import QUARANTINE, Network, Ref
from australis.algebra.schema import TS, Schema
from australis.algebra.types import TIMESTAMP
from australis.errors import AlgebraError, AustralisError, KernelError, Problem
from australis.kernels.arrays import column, stacked
from australis.kernels.arrivals import Taken, take
from australis.kernels.boxes import Ask
from australis.kernels.causes import NOBODY, by_cause, caused
from australis.kernels.kernel import CAUSE, NEVER_DUE, Kernel, LocalTimes, State, empty_output
from australis.kernels.layers import LayeredState, Part
from australis.kernels.make import kernel_for
from australis.kernels.marks import Marks
from australis.kernels.progress import InputProgress, StreamMarks, box_marks
from australis.kernels.quarantine import QUARANTINE_ARROW, admitted, quarantined
from australis.kernels.weights import weighed

PipelineState = Mapping[str, State]
"""The state of every box by its id."""


@dataclass(frozen=True)
class Passage:
    """The result of one event: the next state, the batches of the outputs, and what went through each box.

    The batches have the column CAUSE. Costs are in the units of the pipeline's clock.
    """

    state: PipelineState
    outputs: dict[str, pa.Table]
    counters: dict[str, Counters]
    costs: dict[str, int]
    unread: dict[str, int]
    """Of what each box emitted, the tuples on unread ports."""
    ports: dict[Ref, int]
    """Of what each box emitted, the tuples on each port; an unread port may be left empty."""


@dataclass
class _Event:
    """What an event has put on each stream so far."""

    now: LocalTimes
    ending: bool = False
    marks: dict[Ref, StreamMarks] = field(default_factory=dict)
    """The marks of each stream, by attribute."""
    streams: dict[Ref, pa.Table] = field(default_factory=dict)
    quarantine: list[pa.Table] = field(default_factory=list)
    counters: dict[str, Counters] = field(default_factory=dict)
    costs: dict[str, int] = field(default_factory=dict)
    unread: dict[str, int] = field(default_factory=dict)
    ports: dict[Ref, int] = field(default_factory=dict)


class Pipeline:
    """The kernels of a network's boxes, in an order in which batches can travel through them.

    `clock` is read before and after each box; without a clock, costs are unknown. `asks` answer for the
    stored tables that are looked up instead of loaded.
    """

    def __init__(
        self,
        network: Network,
        clock: Callable[[], int] = lambda: 0,
        asks: Mapping[str, Ask] | None = None,
    ) -> None:
        self.network = network
        self._clock = clock
        self.kernels: dict[str, Kernel] = {
            box_id: _kernel(network, box_id, asks or {}) for box_id in network.order
        }
        for box_id, kernel in self.kernels.items():
            kernel.unread_ports = _unread(network, box_id)
        times = {
            box_id: [each for each in (node.box.timeout_us, node.box.forget_us) if each is not None]
            for box_id, node in network.boxes.items()
        }
        self._timed = {box_id: min(found) for box_id, found in times.items() if found}

    def start(self) -> PipelineState:
        """The state before the first event."""
        return {box_id: kernel.start() for box_id, kernel in self.kernels.items()}

    # --- events

    def load(self, state: PipelineState, name: str, rows: pa.Table, *, reload: bool = False) -> Passage:
        """Load rows of a stored table, in addition to those it has or, with `reload`, instead of them."""
        event = _Event(LocalTimes.at(0))
        table = self._admitted(event, name, rows)
        after = dict(state)
        for box_id, port in self.network.consumers[Ref(name)]:
            kernel = self.kernels[box_id]
            before = kernel.unloaded(state[box_id]) if reload else state[box_id]
            after[box_id] = kernel.step(before, port, table, 0).state
        return Passage(after, self._outputs(event), {}, {}, {}, {})

    def push(self, state: PipelineState, name: str, batch: pa.Table, now: int) -> Passage:
        """Push tuples that arrive together on an input; without a TS column, their TS is `now`."""
        return self.advance(state, {name: batch}, now)

    def advance(
        self,
        state: PipelineState,
        arrivals: Mapping[str, pa.Table],
        now: int | LocalTimes,
        *,
        ending: bool = False,
        marks: Mapping[str, StreamMarks] | InputProgress | None = None,
    ) -> Passage:
        """Push tuples on any inputs, interleaved by their CAUSE; then, with `ending`, end the streams.

        `marks` are those of the inputs, or make them from the tuples that are admitted. Tuples may have come
        at several local times if no timeout is due after the first and up to the last of them.
        """
        times = now if isinstance(now, LocalTimes) else LocalTimes.at(now)
        event = _Event(times, ending)
        for name, batch in arrivals.items():
            event.streams[Ref(name)] = self._admitted(event, name, batch)
        if isinstance(marks, InputProgress):
            marks = marks.event(times.first, {ref.id: batch for ref, batch in event.streams.items()})
        event.marks = {Ref(name): found for name, found in (marks or {}).items()}
        return self._run(state, event)

    def tick(self, state: PipelineState, now: int, marks: Mapping[str, StreamMarks] | None = None) -> Passage:
        """Let time pass."""
        return self.advance(state, {}, now, marks=marks)

    def flush(
        self, state: PipelineState, now: int, marks: Mapping[str, StreamMarks] | None = None
    ) -> Passage:
        """End all streams; later tuples start again."""
        return self.advance(state, {}, now, ending=True, marks=marks)

    def deadline(self, state: PipelineState) -> int | None:
        """The earliest local time at which a timeout of some box will be due; None for never."""
        deadlines = (_deadline(kernel, state[box_id]) for box_id, kernel in self.kernels.items())
        return min((deadline for deadline in deadlines if deadline is not None), default=None)

    def quiet_until(self, state: PipelineState, now: int) -> int:
        """The local time before which no timeout is due, whatever comes from `now` on; at least the next.

        What is due at `now` fires first. What begins at `now` or later is due after its timeout, and no group
        that has a tuple from then on is forgotten before another one can come.
        """
        due = self.deadline(state)
        begun = min((now + timeout + 1 for timeout in self._timed.values()), default=NEVER_DUE)
        return begun if due is None else max(now + 1, min(due, begun))

    def awaits_marks(self, state: PipelineState) -> bool:
        """Whether marks alone may make some box emit."""
        return any(_awaits_marks(kernel, state[box_id]) for box_id, kernel in self.kernels.items())

    # --- how a batch travels

    def _run(self, state: PipelineState, event: _Event) -> Passage:
        after = {}
        for box_id in self.kernels:
            began = self._clock()
            try:
                after[box_id] = self._visit(box_id, state[box_id], event)
            except KernelError as error:
                raise error.under(self._path(box_id)) from error
            except (AustralisError, MemoryError):
                raise
            except Exception as error:
                what = f"failed: {type(error).__name__}: {error}"
                raise KernelError(Problem(self._path(box_id), what)) from error
            event.costs[box_id] = self._clock() - began
        outputs = self._outputs(event)
        return Passage(after, outputs, event.counters, event.costs, event.unread, event.ports)

    def _visit(self, box_id: str, state: State, event: _Event) -> State:
        """Let a box take what the event has put on its ports, and put its output on its streams."""
        emitted: list[tuple[pa.Table, ...]] = []
        late: dict[int, list[pa.Table]] = {}
        counted = Counters()
        whole, part = state, None
        if isinstance(whole, LayeredState):
            part = self._concerned(box_id, whole, event)
            state = part.state
        for taken in self._steps(box_id, state, event):
            step = taken.step
            state = step.state
            emitted.append(step.outputs)
            leaving = sum(map(len, step.outputs)) + step.unread
            if step.late_tuples is not None and step.late_tuples.num_rows:
                late.setdefault(taken.port, []).append(step.late_tuples)
                leaving += step.late_tuples.num_rows
            event.unread[box_id] = event.unread.get(box_id, 0) + step.unread
            counted += Counters(taken.received, leaving, step.late, step.ignored)
            if step.rejected is not None and step.rejected.num_rows:
                counted += Counters(rejected=step.rejected.num_rows)
                schema = self.network.input_schemas(box_id)[taken.port]
                event.quarantine.append(quarantined(step.rejected, self._path(box_id), schema))
        for port, batches in enumerate(zip(*emitted, strict=True)):
            ref = Ref(box_id, port)
            event.streams[ref] = by_cause(stacked(batches))
            event.ports[ref] = event.streams[ref].num_rows
        for ref, tuples in self._late_streams(box_id, late):
            event.streams[ref] = by_cause(stacked(tuples))
            event.ports[ref] = event.streams[ref].num_rows
        event.counters[box_id] = counted
        if event.marks:
            event.marks |= box_marks(self.network, box_id, event.marks)
        if isinstance(whole, LayeredState) and part is not None:
            return whole if state is part.state else whole.after(part, state)
        return state

    def _concerned(self, box_id: str, state: LayeredState, event: _Event) -> Part:
        """The groups of a state in layers that an event concerns."""
        batches, marks = self._batches(box_id, event), self._marks(box_id, event)
        return state.concerned(batches, marks, event.now.first, ending=event.ending)

    def _batches(self, box_id: str, event: _Event) -> dict[int, pa.Table]:
        """What an event has put on the ports of a box."""
        streams = [event.streams.get(source) for source in self.network.boxes[box_id].sources]
        return {port: batch for port, batch in enumerate(streams) if batch is not None and batch.num_rows}

    def _late_streams(
        self, box_id: str, late: Mapping[int, list[pa.Table]]
    ) -> Iterator[tuple[Ref, list[pa.Table]]]:
        """The streams of late tuples, from those of the input ports."""
        box = self.network.boxes[box_id].box
        first = box.outputs - len(box.late_ports)
        for place, port in enumerate(box.late_ports):
            if port in late:
                yield Ref(box_id, first + place), late[port]

    def _steps(self, box_id: str, state: State, event: _Event) -> Iterator[Taken]:
        """The steps of a box: due timeouts, the arrivals in the order of their causes, the end."""
        kernel = self.kernels[box_id]
        if box_id in self._timed and not kernel.progress_on:
            step = kernel.tick(state, event.now.first)
            state = step.state
            yield Taken(step)
        batches = self._batches(box_id, event)
        for taken in take(kernel, state, batches, event.now, self._marks(box_id, event)):
            state = taken.step.state
            yield taken
        if event.ending:
            yield Taken(caused(kernel.flush(state, event.now.first), NOBODY, BEHIND))

    def _marks(self, box_id: str, event: _Event) -> dict[int, Marks]:
        """The marks of the orders by progress of a box, by port."""
        sources = self.network.boxes[box_id].sources
        found = {
            port: event.marks.get(sources[port], {}).get(name)
            for port, name in self.kernels[box_id].progress_on.items()
        }
        return {port: marks for port, marks in found.items() if marks is not None}

    # --- inputs and outputs

    def _admitted(self, event: _Event, name: str, batch: pa.Table) -> pa.Table:
        """The tuples that fit an input, in the form of its schema; the others go to the quarantine."""
        if name not in self.network.inputs:
            known = ", ".join(self.network.inputs)
            raise AlgebraError(Problem(self.network.name, f"there is no input {name!r}", f"one of {known}"))
        given = self.network.inputs[name]
        schema = given.schema
        checked = self._checked(name, weighed(batch, given.weight), schema)
        stamped = _numbered(_stamped(checked, event.now.first))
        fitting, rejected = admitted(stamped, schema)
        if rejected is not None:
            event.quarantine.append(quarantined(rejected, self._path(name), schema))
        return _shaped(fitting, schema)

    def _checked(self, name: str, batch: pa.Table, schema: Schema) -> pa.Table:
        missing = [each for each in schema.names if each not in batch.column_names]
        if missing:
            given = ", ".join(batch.column_names) or "no columns"
            raise AlgebraError(
                Problem(
                    self._path(name), f"the batch has no column {missing[0]!r}, but {given}", f"({schema})"
                )
            )
        return batch

    def _outputs(self, event: _Event) -> dict[str, pa.Table]:
        outputs = {}
        for name, output in self.network.outputs.items():
            found = event.streams.get(output.source)
            outputs[name] = empty_output(self.network.output_schema(name)) if found is None else found
        return {**outputs, QUARANTINE: by_cause(stacked([*event.quarantine, QUARANTINE_ARROW.empty_table()]))}

    def _path(self, place: str) -> str:
        return f"{self.network.name}.{place}"


def _deadline(kernel: Kernel, state: State) -> int | None:
    return state.deadline if isinstance(state, LayeredState) else kernel.deadline(state)


def _awaits_marks(kernel: Kernel, state: State) -> bool:
    return state.awaits_marks if isinstance(state, LayeredState) else kernel.awaits_marks(state)


def _kernel(network: Network, box_id: str, asks: Mapping[str, Ask]) -> Kernel:
    node = network.boxes[box_id]
    asked = (asks.get(source.id) for source in node.sources if network.inputs.get(source.id))
    ask = next((each for each in asked if each is not None), None)
    return kernel_for(node.box, network.input_schemas(box_id), network.timezone, ask)


def _unread(network: Network, box_id: str) -> frozenset[int]:
    """The output ports of a box that no box and no output reads."""
    read = {output.source for output in network.outputs.values()}
    ports = range(network.boxes[box_id].box.outputs)
    refs = {port: Ref(box_id, port) for port in ports}
    return frozenset(port for port, ref in refs.items() if ref not in read and not network.consumers[ref])


def _stamped(batch: pa.Table, now: int) -> pa.Table:
    """The batch with a TS."""
    if TS in batch.column_names:
        return batch
    return batch.append_column(TS, pa.repeat(pa.scalar(now, TIMESTAMP.arrow), batch.num_rows))


def _numbered(batch: pa.Table) -> pa.Table:
    """The batch with causes; by default, its rows."""
    if CAUSE in batch.column_names:
        return batch
    return batch.append_column(CAUSE, pa.array(np.arange(batch.num_rows)))


def _shaped(batch: pa.Table, schema: Schema) -> pa.Table:
    """The batch with the columns of a schema, of its types and one chunk each, and its causes."""
    target = empty_output(schema).schema
    columns = [column(batch, field.name).cast(field.type) for field in target]
    return pa.Table.from_arrays(columns, schema=target)
