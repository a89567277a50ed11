"""Whole networks on kernels do what the reference does: random ones, on all their streams."""

from __future__ import annotations

from random import Random
from typing import Any

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st
from tests.conformance.events import rows_of
from tests.conformance.random_networks import Event, random_events, random_network, random_rows, with_ends

from australis.algebra.network import QUARANTINE, Network
from australis.algebra.schema import TS
from australis.kernels.progress import mark_of
from australis.kernels.run import PipelineRun
from australis.reference.network import Emission, ReferenceRun

RANDOM = st.randoms(use_true_random=False)


def kernel_event(run: PipelineRun, network: Network, event: Event) -> dict[str, list[str]]:
    """What an event makes the kernels emit, by output."""
    if event.ending:
        outputs = run.flush(event.now)
    elif event.input_name is None:
        outputs = run.tick(event.now)
    elif event.promise is not None:
        outputs = run.promise(event.input_name, mark_in(network, event), event.now)
    else:
        outputs = run.push(event.input_name, table_of(network, event.input_name, event.rows), event.now)
    found = {name: [_text(row, row.pop(TS)) for row in rows_of(table)] for name, table in outputs.items()}
    return {**found, QUARANTINE: sorted(found[QUARANTINE])}


def mark_in(network: Network, event: Event) -> int | float:
    """The mark that a promise is about."""
    assert event.input_name is not None
    given = network.inputs[event.input_name]
    assert given.progress is not None
    return mark_of(pa.array([event.promise], given.schema[given.progress.on].type.arrow))


def table_of(network: Network, input_name: str, rows: Any) -> pa.Table:
    schema = network.inputs[input_name].schema
    columns = [pa.array([row[f.name] for row, _ in rows], f.type.arrow) for f in schema]
    ts = pa.array([ts for _, ts in rows], schema.arrow_with_ts.field(TS).type)
    return pa.Table.from_arrays([*columns, ts], schema=schema.arrow_with_ts)


def reference_event(run: ReferenceRun, network: Network, event: Event) -> dict[str, list[str]]:
    """What it makes the reference emit."""
    if event.ending:
        emissions = run.flush(event.now)
    elif event.input_name is None:
        emissions = run.tick(event.now)
    elif event.promise is not None:
        emissions = run.promise(event.input_name, event.promise, event.now)
    else:
        emissions = run.push_batch(event.input_name, event.rows, event.now)
    return by_output(network, emissions)


def by_output(network: Network, emissions: list[Emission]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {name: [] for name in (*network.outputs, QUARANTINE)}
    for emission in emissions:
        found[emission.output].append(_text(dict(emission.values), emission.ts))
    return {**found, QUARANTINE: sorted(found[QUARANTINE])}


def _text(values: dict[str, Any], ts: int) -> str:
    """A tuple as text: NaN equals NaN, and -0.0 is not 0.0."""
    return repr((values, ts))


def agree(network: Network, stored: list[dict[str, Any]], events: list[Event]) -> dict[str, list[str]]:
    """Every event has the same outputs in both, in the same sequence; snapshots change nothing."""
    whole: dict[str, list[str]] = {name: [] for name in (*network.outputs, QUARANTINE)}
    kernels, reference = PipelineRun(network), ReferenceRun(network)
    if "stored" in network.inputs:
        kernels.load("stored", table_of(network, "stored", [(row, 0) for row in stored]))
        reference.load("stored", stored)
    for number, event in enumerate(events):
        found = kernel_event(kernels, network, event)
        assert found == reference_event(reference, network, event)
        for name, tuples in found.items():
            whole[name] += tuples
        if number == len(events) // 2:
            snapshot, kernels = kernels.snapshot(), PipelineRun(network)
            kernels.restore(snapshot)
    counted = {box_id: vars(counters) for box_id, counters in reference.counters().items()}
    assert {box_id: vars(counters) for box_id, counters in kernels.counters().items()} == counted
    # The quarantine has no order within an event.
    return {**whole, QUARANTINE: sorted(whole[QUARANTINE])}


def one_by_one(events: list[Event]) -> list[Event]:
    """The same tuples at the same times, each in a batch of its own."""
    return [
        piece
        for event in events
        for piece in ([Event(event.now, event.input_name, (row,)) for row in event.rows] or [event])
    ]


@given(RANDOM)
def test_random_networks(random: Random) -> None:
    network = random_network(random)
    stored = random_rows(random, network.inputs["stored"].schema, 5) if "stored" in network.inputs else []
    events = with_ends(random, random_events(random, network))
    assert agree(network, stored, events) == agree(network, stored, one_by_one(events))
