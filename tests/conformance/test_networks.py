"""Whole networks on kernels do what the reference does: random ones, on all their streams."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import takewhile
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st
from tests.conformance.events import rows_of, text_of
from tests.conformance.random_networks import (
    Event,
    make_aggregate,
    make_filter,
    make_lag,
    make_number,
    make_tumble,
    make_wsort,
    random_events,
    random_network,
    random_rows,
    with_ends,
)

from australis.algebra.network import QUARANTINE, Network
from australis.algebra.schema import TS
from australis.kernels.kernel import CAUSE, LocalTimes
from australis.kernels.pipeline import Passage, Pipeline, PipelineState
from australis.kernels.progress import mark_of
from australis.kernels.run import PipelineRun
from australis.reference.network import Emission, ReferenceRun

RANDOM = st.randoms(use_true_random=False)
TIMED = (make_aggregate, make_tumble, make_tumble, make_wsort, make_lag, make_number, make_filter)
"""Draw boxes with timeouts or that forget, and some for tuples to come through before these."""


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


def together(network: Network, stored: list[dict[str, Any]], events: list[Event]) -> dict[str, list[str]]:
    """What the kernels emit if they take as many events at once as no timeout is due between."""
    whole: dict[str, list[str]] = {name: [] for name in (*network.outputs, QUARANTINE)}
    for passage in passages(network, stored, events):
        for name, table in passage.outputs.items():
            rows = rows_of(table.drop_columns([CAUSE]))
            whole[name] += [_text(row, row.pop(TS)) for row in rows]
    return {**whole, QUARANTINE: sorted(whole[QUARANTINE])}


def passages(network: Network, stored: list[dict[str, Any]], events: list[Event]) -> Iterator[Passage]:
    pipeline = Pipeline(network)
    state, rest = pipeline.start(), events
    if "stored" in network.inputs:
        rows = table_of(network, "stored", [(row, 0) for row in stored])
        yield (passage := pipeline.load(state, "stored", rows))
        state = passage.state
    while rest:
        taken = before_end(rest, pipeline.quiet_until(state, rest[0].now)) or rest[:1]
        yield (passage := pipeline.advance(state, *as_one(network, taken), ending=taken[0].ending))
        if not any(node.box.forget_us for node in network.boxes.values()):
            # When what is forgotten goes is not part of the meaning.
            assert states(passage.state) == states(apart(pipeline, state, taken))
        state, rest = passage.state, rest[len(taken) :]


def before_end(events: list[Event], until: int) -> list[Event]:
    """The first events, up to an end of the streams or a local time."""
    return list(takewhile(lambda event: not event.ending and event.now < until, events))


def apart(pipeline: Pipeline, state: PipelineState, events: list[Event]) -> PipelineState:
    """The state after some events, one after the other."""
    for event in events:
        arrivals, times = as_one(pipeline.network, [event])
        state = pipeline.advance(state, arrivals, times.first, ending=event.ending).state
    return state


def states(state: PipelineState) -> dict[str, str]:
    return {box_id: text_of(each) for box_id, each in state.items()}


def as_one(network: Network, events: list[Event]) -> tuple[dict[str, pa.Table], LocalTimes]:
    """The tuples of some events by input, with numbers as causes, and their local times."""
    begins = np.cumsum([0, *(1 + len(event.rows) for event in events)])
    batches: dict[str, list[pa.Table]] = {}
    for event, begin in zip(events, begins[:-1], strict=True):
        if event.input_name is not None:
            batch = table_of(network, event.input_name, event.rows)
            causes = pa.array(begin + 1 + np.arange(batch.num_rows))
            batches.setdefault(event.input_name, []).append(batch.append_column(CAUSE, causes))
    arrivals = {name: pa.concat_tables(each) for name, each in batches.items()}
    return arrivals, LocalTimes(begins[:-1], np.array([event.now for event in events]))


@given(RANDOM)
def test_events_that_pass_together(random: Random) -> None:
    """Events between which no timeout is due may pass together, each tuple with its own local time."""
    network = random_network(random, 3, TIMED, progress=False)
    stored = random_rows(random, network.inputs["stored"].schema, 5) if "stored" in network.inputs else []
    events = with_ends(random, random_events(random, network))
    assert together(network, stored, events) == agree(network, stored, events)
