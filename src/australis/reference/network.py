"""A whole network, run by the reference: one batch at a time through the boxes in topological order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from australis.algebra.counters import BEFORE, BEHIND, Counters
from australis.algebra.expr import Value
from australis.algebra.network import QUARANTINE, Network, Node, Ref
from australis.algebra.quarantine_text import null_reason, tuple_as_json
from australis.algebra.schema import Schema
from australis.errors import KernelError
from australis.reference.machine import Machine
from australis.reference.machines import machine_of
from australis.reference.order import Number
from australis.reference.progress import Maker, passed_marks
from australis.reference.row import Item, Rejected, Row, Tuple


@dataclass(frozen=True)
class Emission:
    """A tuple that left the network on an output."""

    output: str
    values: Mapping[str, Value]
    ts: int


class ReferenceRun:
    """A running network.

    The event of a network is a batch of tuples on one input, or only the passing of time, or the end. The
    boxes are visited once each, in `network.order`. A box first fires its due timeouts, then takes everything
    that the event has put on its ports, ordered by the tuple of the batch that caused it and then by port; at
    the end of the streams it is flushed and starts again. So each stream has one sequence, however the
    batches are cut. The emissions of an event are ordered by output, as the network lists them, each in the
    sequence of its stream; `quarantine` comes last, first the inputs' tuples and then box by box.

    Stored tables are loaded before the first event.
    """

    def __init__(self, network: Network) -> None:
        self.network = network
        self.machines: dict[str, Machine] = {
            box_id: machine_of(network.boxes[box_id].box, network.input_schemas(box_id), network.timezone)
            for box_id in network.order
        }
        self._marks: dict[Ref, dict[str, Number]] = {}
        self._makers: dict[str, Maker] = {}
        self._start_progress()
        self._received = dict.fromkeys(network.order, 0)
        self._emitted = dict.fromkeys(network.order, 0)

    # --- events

    def load(self, table: str, rows: Iterable[Row]) -> list[Emission]:
        """Read a stored table; rows that do not fit its schema go to the quarantine, with a ts of 0."""
        event = _Event(self.network, self._marks)
        for row in event.admit(table, [Tuple(values, 0) for values in rows]):
            for box_id, _ in self.network.consumers[Ref(table)]:
                self.machines[box_id].load(row.values)
        return event.quarantine

    def push(self, input_name: str, values: Row, ts: int, now: int) -> list[Emission]:
        """Push one tuple on an input."""
        return self.push_batch(input_name, [(values, ts)], now)

    def push_batch(self, input_name: str, rows: Iterable[tuple[Row, int]], now: int) -> list[Emission]:
        """Push tuples, each with its ts, together on an input."""
        event = _Event(self.network, self._marks)
        admitted = event.admit(input_name, [Tuple(values, ts) for values, ts in rows])
        event.streams[Ref(input_name)] = list(enumerate(admitted))
        self._make_marks(event, now)
        return self._run(event, now, ending=False)

    def set_aside(self, input_name: str, values: Row, now: int) -> list[Emission]:
        """Leave out a tuple on which a box fails: only the mark that it makes counts."""
        event = _Event(self.network, self._marks)
        self._begin(event, now)
        maker, given = self._makers.get(input_name), self.network.inputs[input_name]
        if maker is not None and misfit(weighed(values, given.weight), given.schema) is None:
            maker.take(values, now)
            event.mark(Ref(input_name), maker.on, 0, maker.mark)
        return self._run(event, now, ending=False)

    def promise(self, input_name: str, mark: Value, now: int) -> list[Emission]:
        """Note a promise of a source: no later tuple is below it."""
        event, maker = _Event(self.network, self._marks), self._makers[input_name]
        self._begin(event, now)
        maker.promise(maker.units(mark))
        event.mark(Ref(input_name), maker.on, BEFORE, maker.mark)
        return self._run(event, now, ending=False)

    def tick(self, now: int) -> list[Emission]:
        """Let time pass."""
        event = _Event(self.network, self._marks)
        self._begin(event, now)
        return self._run(event, now, ending=False)

    def flush(self, now: int) -> list[Emission]:
        """End all streams; later tuples start again."""
        event = _Event(self.network, self._marks)
        self._begin(event, now)
        emitted = self._run(event, now, ending=True)
        self._start_progress()
        return emitted

    def counters(self) -> dict[str, Counters]:
        """What went through each box so far."""
        return {
            box_id: Counters(
                self._received[box_id], self._emitted[box_id], machine.late, machine.ignored, machine.rejected
            )
            for box_id, machine in self.machines.items()
        }

    # --- marks

    def _start_progress(self) -> None:
        """Forget all marks: the state in which the streams begin."""
        self._marks = {ref: {} for ref in self.network.schemas}
        makers = {name: given.progress for name, given in self.network.inputs.items() if given.progress}
        self._makers = {
            name: Maker(progress.bind(self.network.inputs[name].schema)) for name, progress in makers.items()
        }

    def _begin(self, event: _Event, now: int) -> None:
        """Let the marks of idle inputs follow the clock."""
        for name, maker in self._makers.items():
            maker.begin(now)
            event.mark(Ref(name), maker.on, BEFORE, maker.mark)

    def _make_marks(self, event: _Event, now: int) -> None:
        """Make the marks of what has arrived: each mark comes after the tuple that it is due to."""
        self._begin(event, now)
        for name, maker in self._makers.items():
            for cause, each in event.streams[Ref(name)]:
                maker.take(each.values, now)
                event.mark(Ref(name), maker.on, cause, maker.mark)

    def _pass_marks(self, event: _Event, box_id: str) -> None:
        """Derive the marks of a box's outputs from those at its inputs."""
        node, schemas = self.network.boxes[box_id], self.network.input_schemas(box_id)
        passings = node.box.passings(*schemas)
        marks = {
            (port, name): mark
            for port, source in enumerate(node.sources)
            for name, mark in self._marks[source].items()
        }
        for cause, port, name, mark in [(BEFORE, -1, "", 0), *event.risen(node.sources)]:
            if port >= 0:
                marks[port, name] = mark
            for output, each in enumerate(passings):
                for attribute, made in passed_marks(each, marks, self.network.timezone).items():
                    event.mark(Ref(box_id, output), attribute, cause, made)

    def _keep_marks(self, event: _Event) -> None:
        for ref, risen in event.marks.items():
            for _, name, mark in risen:
                self._marks[ref][name] = mark

    # --- how a batch travels

    def _run(self, event: _Event, now: int, ending: bool) -> list[Emission]:
        for box_id in self.network.order:
            for cause, item in self._visit(event, box_id, now, ending):
                if isinstance(item, Rejected):
                    schema = self.network.input_schemas(box_id)[item.port]
                    event.reject(box_id, item.tuple, schema, item.reason)
                else:
                    port, emitted = item
                    event.streams[Ref(box_id, port)].append((cause, emitted))
                    self._emitted[box_id] += 1
            self._pass_marks(event, box_id)
        self._keep_marks(event)
        return event.emissions()

    def _visit(self, event: _Event, box_id: str, now: int, ending: bool) -> list[tuple[int, Item]]:
        """What a box emits in an event, each item with its cause; errors name the box."""
        try:
            return self._items(event, box_id, now, ending)
        except KernelError as error:
            raise error.under(f"{self.network.name}.{box_id}") from error

    def _items(self, event: _Event, box_id: str, now: int, ending: bool) -> list[tuple[int, Item]]:
        machine, node = self.machines[box_id], self.network.boxes[box_id]
        items = [(BEFORE, item) for item in machine.tick(now)]
        arrivals, risen = event.arrivals(node.sources), event.risen_orders(node)
        for cause in sorted(arrivals.keys() | risen.keys()):
            for port, arriving in arrivals.get(cause, ()):
                self._received[box_id] += 1
                items += [(cause, item) for item in machine.push(port, arriving, now)]
            if cause in risen:
                items += [(cause, item) for item in machine.progress(risen[cause])]
        return items + [(BEHIND, item) for item in machine.flush(now)] if ending else items


class _Event:
    """What one event has put on each stream so far, and what it sent to the quarantine."""

    def __init__(self, network: Network, marks: Mapping[Ref, Mapping[str, Number]]) -> None:
        self._network, self._marks = network, marks
        self.streams: dict[Ref, list[tuple[int, Tuple]]] = {ref: [] for ref in network.schemas}
        """The tuples of each stream, each with its cause: the number of the batch's tuple that it comes from.
        """
        self.marks: dict[Ref, list[tuple[int, str, Number]]] = {ref: [] for ref in network.schemas}
        """The marks that have risen on each stream, as (cause, attribute, mark)."""
        self._last: dict[tuple[Ref, str], Number] = {}
        """The last of these of each stream and attribute."""
        self.quarantine: list[Emission] = []

    def mark(self, ref: Ref, name: str, cause: int, mark: Number | None) -> None:
        """Raise a mark, if this is a rise."""
        before = self._last.get((ref, name), self._marks[ref].get(name))
        if mark is not None and (before is None or mark > before):
            self.marks[ref].append((cause, name, mark))
            self._last[ref, name] = mark

    def risen(self, sources: tuple[Ref, ...]) -> list[tuple[int, int, str, Number]]:
        """The marks that have risen at the ports of a box as (cause, port, attribute, mark), by cause."""
        found = [
            (cause, port, name, mark)
            for port, ref in enumerate(sources)
            for cause, name, mark in self.marks[ref]
        ]
        return sorted(found, key=lambda each: each[0])

    def risen_orders(self, node: Node) -> dict[int, dict[int, Number]]:
        """The marks of the orders by progress of a box that have risen with each cause, by port."""
        orders = {port: order.on for port, order in node.box.orders.items() if order.by_progress}
        found: dict[int, dict[int, Number]] = {}
        for cause, port, name, mark in self.risen(node.sources):
            if orders.get(port) == name:
                found.setdefault(cause, {})[port] = mark
        return found

    def arrivals(self, sources: tuple[Ref, ...]) -> dict[int, list[tuple[int, Tuple]]]:
        """What has arrived for a box with each cause as (port, tuple), by port."""
        found: dict[int, list[tuple[int, Tuple]]] = {}
        for port, ref in enumerate(sources):
            for cause, each in self.streams[ref]:
                found.setdefault(cause, []).append((port, each))
        return found

    def admit(self, input_name: str, tuples: list[Tuple]) -> list[Tuple]:
        """The tuples that fit the schema of an input; the others go to the quarantine."""
        given = self._network.inputs[input_name]
        schema, admitted = given.schema, []
        for arriving in tuples:
            each = replace(arriving, values=weighed(arriving.values, given.weight))
            reason = misfit(each.values, schema)
            if reason is None:
                admitted.append(each)
            else:
                self.reject(input_name, each, schema, reason)
        return admitted

    def reject(self, place: str, tuple: Tuple, schema: Schema, reason: str) -> None:
        """Send a tuple to the quarantine, with the path of the input or box that could not process it."""
        text = tuple_as_json(tuple.values, schema)
        values = {"path": f"{self._network.name}.{place}", "reason": reason, "tuple": text}
        self.quarantine.append(Emission(QUARANTINE, values, tuple.ts))

    def emissions(self) -> list[Emission]:
        """Everything that left the network."""
        outputs = self._network.outputs.items()
        left = [
            Emission(name, each.values, each.ts)
            for name, out in outputs
            for _, each in self.streams[out.source]
        ]
        return left + self.quarantine


def misfit(values: Row, schema: Schema) -> str | None:
    """Why a row of values of the right types does not fit a schema; None if it does."""
    for attribute in schema:
        if attribute.name not in values:
            return f"{attribute.name!r} is missing"
        if values[attribute.name] is None and not attribute.nullable:
            return null_reason(attribute.name)
    return None


def weighed(values: Row, weight: str | None) -> Row:
    """The values of a tuple that arrives, with its weight: 1 if it comes without."""
    if weight is None or values.get(weight) is not None:
        return values
    return {**values, weight: 1.0}
