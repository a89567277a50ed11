"""Tuples that make a box fail are set aside, and all else is what the reference makes of the others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any
from unittest.mock import patch

import pyarrow as pa
import pytest
from hypothesis import given, settings
from tests.conformance.engine_runs import Expectation, Journey, Numbered, Seen, several_tasks, tables
from tests.conformance.random_networks import Event
from tests.conformance.test_engine import IS_DEEP, RANDOM, any_journey, keyed_journey, some

from australis import register_function
from australis.algebra.boxes import Filter
from australis.algebra.expr import Value
from australis.algebra.network import QUARANTINE, Network, Node, Ref
from australis.engine.light.runner import LightRunner
from australis.errors import KernelError, Problem
from australis.kernels.functions import plain
from australis.kernels.kernel import CAUSE
from australis.kernels.pipeline import Passage, Pipeline, PipelineState
from australis.kernels.progress import StreamMarks
from australis.reference.network import misfit

FAILURE = "is made to fail"
GATE = "gate_"


class Remainder(Expectation):
    """What is right without the tuples of some numbers."""

    def __init__(self, network: Network, poison: frozenset[int]) -> None:
        super().__init__(network)
        self._poison = poison

    def event(self, event: Event) -> None:
        rows, event = event.rows, replace(event, rows=())
        super().event(event)
        for values, ts in rows:
            assert event.input_name is not None
            if self._end in self._poison:
                found = self._run.set_aside(event.input_name, values, event.now)
            else:
                found = self._run.push(event.input_name, values, ts, event.now)
            self._emitted(self._end, found)
            self._end += 1


@dataclass
class Poisoned(Journey):
    """A journey on which some tuples make boxes fail."""

    poison: frozenset[int] = frozenset()
    set_aside: set[int] = field(default_factory=set)

    def _expectation(self) -> Expectation:
        right = Remainder(self.network, self.poison)
        for name in tables(self.network):
            right.load(name, self.stored)
        for event in self.events:
            right.event(event)
        return right

    def _run(self, root: str) -> Seen:
        found = super()._run(root)
        quarantine = found.outputs[QUARANTINE]
        self.set_aside = {number for number, text in quarantine if FAILURE in text}
        rest: Numbered = [each for each in quarantine if FAILURE not in each[1]]
        counters = {box: _without_rejected(box, counted) for box, counted in found.counters.items()}
        return Seen({**found.outputs, QUARANTINE: rest}, counters)


def _without_rejected(box: str, counted: dict[str, int]) -> dict[str, int]:
    """What a filter that fails has counted, as if what was set aside had never come."""
    if not box.startswith(GATE):
        return counted
    return {**counted, "received": counted["received"] - counted["rejected"], "rejected": 0}


def poisoned(journey: Journey, poison: frozenset[int]) -> Poisoned:
    return Poisoned(**{**vars(journey), "poison": poison})


def numbers(journey: Journey) -> Iterator[tuple[int, str, dict[str, Any]]]:
    """The tuples of a journey with their sequence numbers and inputs."""
    end = sum(1 + len(journey.stored) for _ in tables(journey.network))
    for event in journey.events:
        end += 2 if event.ending else 1
        for values, _ in event.rows:
            assert event.input_name is not None
            yield end, event.input_name, values
            end += 1


@contextmanager
def failing_on(poison: frozenset[int], network: Network) -> Iterator[None]:
    """Pipelines in this process fail where a tuple of one of some numbers comes in from outside.

    What boxes emit at the mark of such a tuple has its number too, and does not fail.
    """
    advance = Pipeline.advance

    def fail(
        pipeline: Pipeline,
        state: PipelineState,
        arrivals: Mapping[str, pa.Table],
        now: int,
        *,
        ending: bool = False,
        marks: Mapping[str, StreamMarks] | None = None,
    ) -> Passage:
        came = [table for name, table in arrivals.items() if name in network.inputs]
        found = {number for table in came for number in table[CAUSE].to_pylist()}
        if found & poison:
            raise KernelError(Problem("n.some", FAILURE))
        return advance(pipeline, state, arrivals, now, ending=ending, marks=marks)

    with patch.object(Pipeline, "advance", fail):
        yield


@given(RANDOM)
@some
def test_any_network_does_without_them(random: Random) -> None:
    journey = random.choice([any_journey, keyed_journey])(random)
    share = random.choice([0.02, 0.2, 1.0])
    poison = frozenset(number for number, _, _ in numbers(journey) if random.random() < share)
    case = poisoned(journey, poison)
    with several_tasks(rows_per_task=random.choice([2, 5, 60_000])), failing_on(poison, journey.network):
        case.check()
    assert case.set_aside == poison


# --- in processes of their own: a function fails


def is_poison(value: Value) -> bool:
    """Whether a time that tuples are ordered by makes the function fail."""
    try:
        return value is not None and int(value) % 4 == 3  # type: ignore[arg-type]
    except (ValueError, OverflowError):
        # NaN and the infinities are harmless.
        return False


def check(values: pa.Array) -> pa.Array:
    """True for every value, but some raise."""
    if any(map(is_poison, plain(values))):
        raise ValueError(FAILURE)
    return pa.array([True] * len(values))


def checked(network: Network) -> Network:
    """The network with a filter after each stream that fails on some tuples."""
    streams = [name for name, given in network.inputs.items() if not given.table]
    gates = {Ref(name): Ref(f"{GATE}{name}") for name in streams}
    types = {name: network.inputs[name].schema["at"].type for name in streams}
    for name, type_ in types.items():
        register_function(f"test_poison:check_{name}", check, takes=(str(type_),), returns="boolean")
    boxes = {
        box: replace(node, sources=tuple(gates.get(source, source) for source in node.sources))
        for box, node in network.boxes.items()
    }
    boxes |= {
        f"{GATE}{name}": Node(Filter((f"`test_poison:check_{name}`(at)",)), (Ref(name),)) for name in streams
    }
    outputs = {
        name: replace(out, source=gates.get(out.source, out.source)) for name, out in network.outputs.items()
    }
    return replace(network, boxes=boxes, outputs=outputs)


@pytest.fixture(scope="module")
def light() -> Iterator[LightRunner]:
    with LightRunner(2) as runner:
        yield runner


@given(RANDOM)
@settings(max_examples=200 if IS_DEEP else 4)
def test_a_function_that_fails_in_light_processes(light: LightRunner, random: Random) -> None:
    journey = random.choice([any_journey, keyed_journey])(random)
    journey.network, journey.runner = checked(journey.network), light
    schemas = {name: given.schema for name, given in journey.network.inputs.items()}
    poison = frozenset(
        number
        for number, name, values in numbers(journey)
        if is_poison(values["at"]) and misfit(values, schemas[name]) is None
    )
    case = poisoned(journey, poison)
    with several_tasks(rows_per_task=random.choice([2, 5, 60_000])):
        case.check()
    assert case.set_aside == poison
