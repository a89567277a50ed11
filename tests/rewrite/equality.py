"""Two networks on kernels over the same events: whether all their outputs are the same, tuple by tuple."""

from __future__ import annotations

import re
from random import Random
from typing import Any

from tests.conformance.random_networks import Event, random_events, random_rows, with_ends
from tests.conformance.test_networks import kernel_event, table_of

from australis.algebra.network import QUARANTINE, Network
from australis.kernels.run import PipelineRun

Emitted = dict[str, list[str]]
Story = tuple[list[dict[str, Any]], list[Event]]


def random_story(random: Random, network: Network) -> Story:
    """The rows of the stored table, and events with some flushes among them."""
    stored = random_rows(random, network.inputs["stored"].schema, 5) if "stored" in network.inputs else []
    return stored, with_ends(random, random_events(random, network))


def run(network: Network, stored: list[dict[str, Any]], events: list[Event]) -> list[Emitted]:
    """What each event makes a network emit: all outputs in their sequence with #ts, the quarantine without.

    A connection point is read as an output is: what it keeps must not change either.
    """
    runner = PipelineRun(network)
    if "stored" in network.inputs:
        runner.load("stored", table_of(network, "stored", [(row, 0) for row in stored]))
    return [kernel_event(runner, network, event) for event in events]


def differences(before: Network, after: Network, story: Story, *, lean: bool = False) -> list[str]:
    """The outputs, and events by number, at which two networks do not emit the same.

    A lean quarantine has the same tuples by their path, reason and #ts, though not whole.
    """
    assert before.outputs.keys() == after.outputs.keys()
    assert all(before.output_schema(name) == after.output_schema(name) for name in before.outputs)
    runs = zip(run(before, *story), run(after, *story), strict=True)
    return [
        f"event {number}, {name}: {one[name]} became {other[name]}"
        for number, (one, other) in enumerate(runs)
        for name in (*before.outputs, QUARANTINE)
        if _seen(one, name, lean) != _seen(other, name, lean)
    ]


def _seen(emitted: Emitted, name: str, lean: bool) -> list[str]:
    if name != QUARANTINE or not lean:
        return emitted[name]
    return sorted(re.sub(r"'tuple': '.*'", "", text) for text in emitted[name])
