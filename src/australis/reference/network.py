"""A whole network, run by the reference: one batch at a time through the boxes in topological order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from australis.algebra.counters import BEFORE, BEHIND, Counters
from australis.algebra.expr import Value
from australis.algebra.network import QUARANTINE, Network, Ref
from australis.algebra.quarantine_text import null_reason, tuple_as_json
from australis.algebra.schema import Schema
from australis.errors import KernelError
from australis.reference.machine import Machine
from australis.reference.machines import machine_of
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
        self._received = dict.fromkeys(network.order, 0)
        self._emitted = dict.fromkeys(network.order, 0)

    # --- events

    def load(self, table: str, rows: Iterable[Row]) -> list[Emission]:
        """Read a stored table; rows that do not fit its schema go to the quarantine, with a ts of 0."""
        event = _Event(self.network)
        for row in event.admit(table, [Tuple(values, 0) for values in rows]):
            for box_id, _ in self.network.consumers[Ref(table)]:
                self.machines[box_id].load(row.values)
        return event.quarantine

    def push(self, input_name: str, values: Row, ts: int, now: int) -> list[Emission]:
        """Push one tuple on an input."""
        return self.push_batch(input_name, [(values, ts)], now)

    def push_batch(self, input_name: str, rows: Iterable[tuple[Row, int]], now: int) -> list[Emission]:
        """Push tuples, each with its ts, together on an input."""
        event = _Event(self.network)
        admitted = event.admit(input_name, [Tuple(values, ts) for values, ts in rows])
        event.streams[Ref(input_name)] = list(enumerate(admitted))
        return self._run(event, now, ending=False)

    def tick(self, now: int) -> list[Emission]:
        """Let time pass."""
        return self._run(_Event(self.network), now, ending=False)

    def flush(self, now: int) -> list[Emission]:
        """End all streams; later tuples start again."""
        return self._run(_Event(self.network), now, ending=True)

    def counters(self) -> dict[str, Counters]:
        """What went through each box so far."""
        return {
            box_id: Counters(
                self._received[box_id], self._emitted[box_id], machine.late, machine.ignored, machine.rejected
            )
            for box_id, machine in self.machines.items()
        }

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
        return event.emissions()

    def _visit(self, event: _Event, box_id: str, now: int, ending: bool) -> list[tuple[int, Item]]:
        """What a box emits in an event, each item with its cause; errors name the box."""
        try:
            return self._items(event, box_id, now, ending)
        except KernelError as error:
            raise error.under(f"{self.network.name}.{box_id}") from error

    def _items(self, event: _Event, box_id: str, now: int, ending: bool) -> list[tuple[int, Item]]:
        machine = self.machines[box_id]
        items = [(BEFORE, item) for item in machine.tick(now)]
        for cause, port, arriving in event.arrivals(self.network.boxes[box_id].sources):
            self._received[box_id] += 1
            items += [(cause, item) for item in machine.push(port, arriving, now)]
        return items + [(BEHIND, item) for item in machine.flush(now)] if ending else items


class _Event:
    """What one event has put on each stream so far, and what it sent to the quarantine."""

    def __init__(self, network: Network) -> None:
        self._network = network
        self.streams: dict[Ref, list[tuple[int, Tuple]]] = {ref: [] for ref in network.schemas}
        """The tuples of each stream, each with its cause: the number of the batch's tuple that it comes from.
        """
        self.quarantine: list[Emission] = []

    def arrivals(self, sources: tuple[Ref, ...]) -> list[tuple[int, int, Tuple]]:
        """What has arrived for a box as (cause, port, tuple), by cause, then by port."""
        found = [(cause, port, each) for port, ref in enumerate(sources) for cause, each in self.streams[ref]]
        return sorted(found, key=lambda arrival: arrival[:2])

    def admit(self, input_name: str, tuples: list[Tuple]) -> list[Tuple]:
        """The tuples that fit the schema of an input; the others go to the quarantine."""
        schema = self._network.inputs[input_name].schema
        admitted = []
        for each in tuples:
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
