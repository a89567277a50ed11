"""What a box declares about itself, checked against the reference with random tuples.

`check_answers` draws a box by a maker of `random_networks.py` and raises where the reference contradicts it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from random import Random
from typing import Any

from tests.conformance.events import rows_of
from tests.conformance.random_networks import (
    ORDER_TYPES,
    VALUES,
    Draft,
    Event,
    Made,
    add_box,
    random_events,
    random_rows,
)
from tests.conformance.test_networks import table_of

from australis.algebra.boxes import Box
from australis.algebra.counters import Counters
from australis.algebra.network import QUARANTINE, Input, Network, Node, Output, Ref
from australis.algebra.schema import TS, Schema, parse_schema
from australis.kernels.make import kernel_for
from australis.kernels.run import PipelineRun
from australis.reference.network import Emission, ReferenceRun
from australis.reference.order import Key, comparable, group_key

NAME = "box"
LONG_AFTER = 2**60
"""Later than every timeout."""
Rows = list[dict[str, Any]]


@dataclass(frozen=True)
class Case:
    """A network of one box, whose input ports read different inputs, and its events."""

    network: Network
    stored: Rows
    events: list[Event]

    @property
    def box(self) -> Box:
        return self.network.boxes[NAME].box

    @property
    def schemas(self) -> tuple[Schema, ...]:
        return self.network.input_schemas(NAME)

    def inputs(self) -> list[str]:
        """The input that each port reads."""
        return [source.id for source in self.network.boxes[NAME].sources]

    def rows(self, port: int) -> Rows:
        """Everything that a port gets."""
        name = self.inputs()[port]
        given = [row for event in self.events if event.input_name == name for row, _ in event.rows]
        return self.stored if self.network.inputs[name].table else given

    def run(self) -> Ran:
        """What the reference does with it."""
        run = ReferenceRun(self.network)
        if "stored" in self.network.inputs:
            run.load("stored", self.stored)
        emitted = [_event(run, event) for event in self.events]
        return Ran([[e for e in each if e.output != QUARANTINE] for each in emitted], run.counters()[NAME])

    def with_rows(self, port: int, changed: Callable[[dict[str, Any]], dict[str, Any] | None]) -> Case:
        """The case with other rows at a port; None removes one."""
        name = self.inputs()[port]
        if self.network.inputs[name].table:
            return replace(self, stored=[row for row in map(changed, self.stored) if row is not None])
        events = [
            replace(
                event, rows=tuple((new, ts) for row, ts in event.rows if (new := changed(row)) is not None)
            )
            if event.input_name == name
            else event
            for event in self.events
        ]
        return replace(self, events=events)


@dataclass(frozen=True)
class Ran:
    """What each event made the box emit, and what it counted."""

    emitted: list[list[Emission]]
    counters: Counters

    def only(self, wanted: list[frozenset[str]]) -> list[list[str]]:
        """The wanted attributes of each output, as texts."""
        return [
            [_text(e, [name for name in e.values if name in wanted[_port(e)]]) for e in each]
            for each in self.emitted
        ]


def _port(emission: Emission) -> int:
    return int(emission.output.removeprefix("out"))


def _text(emission: Emission, names: Iterable[str]) -> str:
    return repr((emission.output, {name: emission.values[name] for name in names}, emission.ts))


def _event(run: ReferenceRun, event: Event) -> list[Emission]:
    if event.ending:
        return run.flush(event.now)
    if event.input_name is None:
        return run.tick(event.now)
    return run.push_batch(event.input_name, event.rows, event.now)


def drawn(random: Random, maker: Callable[[Draft], Made]) -> Case | None:
    """A box on inputs of one schema, some of whose attributes may not be NULL; None if it does not fit."""
    kind = random.choice(ORDER_TYPES)
    parts = [
        f"{part}{random.choice(['', ' not null'])}" for part in ("g string", "k int", "x double", "b boolean")
    ]
    schema = parse_schema(", ".join([f"at {kind}{random.choice(['', ' not null'])}", *parts]))
    names = ["in0", "in1", "in2"]
    draft = Draft(
        random, kind, {name: Input(schema) for name in names}, {}, dict.fromkeys(map(Ref, names), schema)
    )
    draft.inputs["stored"] = Input(parse_schema("g string, w long"), table=True)
    add_box(draft, NAME, [maker])
    if NAME not in draft.boxes:
        return None
    node = draft.boxes[NAME]
    apart = tuple(
        Ref(names[port]) if source.id in names else source for port, source in enumerate(node.sources)
    )
    outputs = {f"out{port}": Output(Ref(NAME, port)) for port in range(node.box.outputs)}
    inputs = {ref.id: draft.inputs[ref.id] for ref in apart}
    network = Network("answers", inputs, {NAME: Node(node.box, apart)}, outputs)
    stored = random_rows(random, draft.inputs["stored"].schema, 5) if "stored" in inputs else []
    events = [replace(event, rows=_fitting(network, event)) for event in random_events(random, network)]
    return Case(network, stored, events)


def _fitting(network: Network, event: Event) -> tuple[tuple[dict[str, Any], int], ...]:
    """The tuples of an event without forbidden NULLs, which the box never sees."""
    if event.input_name is None:
        return ()
    needed = [f.name for f in network.inputs[event.input_name].schema if not f.nullable]
    return tuple((row, ts) for row, ts in event.rows if all(row[name] is not None for name in needed))


def check_answers(random: Random, maker: Callable[[Draft], Made]) -> None:
    """Draw a box and check each of its declarations against what it does."""
    case = drawn(random, maker)
    if case is None:
        return
    ran = case.run()
    check_rejects(case, ran)
    check_timeout(case)
    check_ordered(case, ran)
    check_reads(random, case, ran)
    check_keeps_tuples(random, case, ran)
    check_origins(case, ran)
    check_partition_keys(random, case, ran)


def check_rejects(case: Case, ran: Ran) -> None:
    """A box that never rejects has rejected nothing."""
    assert case.box.rejects(*case.schemas) or ran.counters.rejected == 0


def check_timeout(case: Case) -> None:
    """A box without a timeout emits nothing when only time passes."""
    waiting = replace(case, events=[*case.events[:-1], Event(LONG_AFTER)])
    assert case.box.timeout_us is not None or not waiting.run().emitted[-1]


def check_ordered(case: Case, ran: Ran) -> None:
    """A box that is not order-sensitive treats a tuple the same if it comes alone."""
    if case.box.ordered:
        return
    names = _all_names(case)
    alone = [
        text
        for event in case.events
        for row in event.rows
        for text in replace(case, events=[replace(event, rows=(row,))]).run().only(names)[0]
    ]
    assert sorted(alone) == sorted(text for each in ran.only(names) for text in each)


def _all_names(case: Case) -> list[frozenset[str]]:
    ports = range(case.box.outputs)
    return [frozenset(case.network.output_schema(f"out{port}").names) for port in ports]


def _some_names(random: Random, case: Case) -> list[frozenset[str]]:
    return [frozenset(name for name in sorted(names) if random.random() < 0.5) for names in _all_names(case)]


def check_reads(random: Random, case: Case, ran: Ran) -> None:
    """What it does not need may be anything, or missing: it emits the same wanted attributes."""
    wanted = _some_names(random, case)
    needed = case.box.reads(*case.schemas, wanted=wanted)
    changed = case
    for port, (schema, names) in enumerate(zip(case.schemas, needed, strict=True)):
        changed = changed.with_rows(port, partial(_scrambled, random, schema, names))
    found = changed.run()
    assert found.only(wanted) == ran.only(wanted)
    assert replace(found.counters, received=0) == replace(ran.counters, received=0)
    narrow = [
        _narrowed(schema, names | {name for name in schema.names if random.random() < 0.3})
        for schema, names in zip(case.schemas, needed, strict=True)
    ]
    for was, now, names in zip(
        case.box.output_schemas(*case.schemas), case.box.output_schemas(*narrow), wanted, strict=True
    ):
        assert [f for f in was if f.name in names] == [f for f in now if f.name in names]


def _scrambled(random: Random, schema: Schema, but: frozenset[str], row: dict[str, Any]) -> dict[str, Any]:
    """A row with other values, except for some attributes."""
    values = {f.name: [v for v in VALUES[f.type.name] if f.nullable or v is not None] for f in schema}
    return {name: row[name] if name in but else random.choice(values[name]) for name in values}


def _narrowed(schema: Schema, names: frozenset[str]) -> Schema:
    return Schema(tuple(f for f in schema if f.name in names) or schema.fields[:1])


def check_keeps_tuples(random: Random, case: Case, ran: Ran) -> None:
    """The state of a box without whole tuples continues when attributes that it does not need go."""
    if case.box.keeps_tuples or not case.box.ordered:
        return
    wanted = _some_names(random, case)
    needed = case.box.reads(*case.schemas, wanted=wanted)
    narrow = {
        name: Input(_narrowed(schema, names))
        for name, schema, names in zip(case.inputs(), case.schemas, needed, strict=True)
    }
    before, after = case.network, replace(case.network, inputs=narrow)
    first, second, middle = PipelineRun(before), PipelineRun(after), len(case.events) // 2
    if case.stored:
        first.load("stored", table_of(before, "stored", [(row, 0) for row in case.stored]))
    found = [_on_kernels(first, before, event, wanted) for event in case.events[:middle]]
    second.state = first.state
    found += [_on_kernels(second, after, event, wanted) for event in case.events[middle:]]
    assert found == ran.only(wanted)


def _on_kernels(run: PipelineRun, network: Network, event: Event, wanted: list[frozenset[str]]) -> list[str]:
    if event.ending:
        outputs = run.flush(event.now)
    elif event.input_name is None:
        outputs = run.tick(event.now)
    else:
        outputs = run.push(event.input_name, table_of(network, event.input_name, event.rows), event.now)
    emitted = [
        Emission(name, row, row.pop(TS))
        for name, table in outputs.items()
        if name != QUARANTINE
        for row in rows_of(table)
    ]
    return Ran([emitted], Counters()).only(wanted)[0]


def check_origins(case: Case, ran: Ran) -> None:
    """Attributes that come from an input have its type, and values that arrived there."""
    emitted = [emission for each in ran.emitted for emission in each]
    origins = case.box.origins(*case.schemas)
    assert len(origins) == len(case.schemas)
    outputs = [case.network.output_schema(f"out{port}") for port in range(case.box.outputs)]
    for names, schema in zip(origins, case.schemas, strict=True):
        for name, of in names.items():
            assert all(out[name].type == schema[of].type for out in outputs if name in out)
    for name in {name for names in origins for name in names}:
        came = {
            comparable(row[names[name]])
            for port, names in enumerate(origins)
            if name in names
            for row in case.rows(port)
        }
        assert {comparable(each.values[name]) for each in emitted if name in each.values} <= came


def check_partition_keys(random: Random, case: Case, ran: Ran) -> None:
    """Without some groups it emits the same for the others; and its kernel can keep its state by group."""
    for port, names in enumerate(case.box.origins(*case.schemas)):
        keys = tuple(case.box.partition_keys(port))
        shown = {of: name for name, of in names.items()}
        if not keys or case.network.inputs[case.inputs()[port]].table:
            continue
        assert case.box.ordered, "groups are what a state is kept by"
        if len(case.schemas) == 1:
            kernel_for(case.box, case.schemas).kept_by((keys,))
        if not set(keys) <= shown.keys():
            continue
        groups = {group_key(row, keys) for row in case.rows(port)}
        kept = {group for group in sorted(groups, key=repr) if random.random() < 0.5}
        fewer = case.with_rows(port, partial(_if_in, keys, kept))
        there = tuple(shown[key] for key in keys)
        # Late tuples have the names of their input, and those of other ports are not in these groups.
        late = {f"out{case.box.outputs - 1 - place}" for place in range(len(case.box.late_ports))}
        expected = [
            [each for each in event if each.output not in late and group_key(each.values, there) in kept]
            for event in ran.emitted
        ]
        found = [[each for each in event if each.output not in late] for event in fewer.run().emitted]
        assert _texts(found) == _texts(expected)


def _texts(events: list[list[Emission]]) -> list[list[str]]:
    return [[_text(each, each.values) for each in event] for event in events]


def _if_in(keys: tuple[str, ...], kept: set[Key], row: dict[str, Any]) -> dict[str, Any] | None:
    return row if group_key(row, keys) in kept else None
