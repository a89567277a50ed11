"""Networks whose states are in layers do what the reference does, however the layers are merged."""

from __future__ import annotations

from random import Random

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.conformance.random_networks import (
    HOWS,
    ORDER_TYPES,
    Draft,
    Event,
    random_events,
    random_network,
    random_progress,
    random_rows,
    size,
    with_ends,
)
from tests.conformance.test_networks import kernel_event, one_by_one, reference_event, table_of

from australis.algebra.boxes import AsOf, Box, Join, Resample
from australis.algebra.network import Input, Network, Node, Output, Ref
from australis.algebra.order import Order
from australis.algebra.schema import Schema, parse_schema
from australis.errors import AlgebraError, NetworkError
from australis.kernels.kernel import Kernel, State
from australis.kernels.layers import Layer, LayeredState, merged_blocks, packed, shape_of, unpack_layer
from australis.kernels.run import PipelineRun
from australis.reference.network import ReferenceRun

RANDOM = st.randoms(use_true_random=False)


class LayeredRun(PipelineRun):
    """Keeps every state that falls into groups in layers."""

    def __init__(self, network: Network, random: Random) -> None:
        super().__init__(network)
        self._random = random
        self.layered = 0

    def relay(self) -> None:
        """Lay states that are whole in layers, merge some layers, and read them from bytes again."""
        kernels = self.pipeline.kernels
        self.state = {box: self._relaid(kernels[box], state) for box, state in self.state.items()}

    def _relaid(self, kernel: Kernel, state: State) -> State:
        shape = shape_of(kernel)
        if shape is None:
            return state
        if not isinstance(state, LayeredState):
            if self._random.random() < 0.3:
                return state
            state = LayeredState.of(shape, state)
        self.layered += 1
        layers = list(state.layers)
        if len(layers) > 1 and self._random.random() < 0.5:
            begin = self._random.randrange(len(layers) - 1)
            end = self._random.randrange(begin + 1, len(layers)) + 1
            bytes_most = self._random.choice([None, 20, 200, 2_000])
            made = merged_blocks(shape, layers[begin:end], lowest=begin == 0, bytes_most=bytes_most)
            layers[begin:end] = [Layer(tuple(made))]
        if self._random.random() < 0.5:
            layers = [unpack_layer(pa.py_buffer(b"".join(packed(layer.blocks)))) for layer in layers]
        return LayeredState(shape, tuple(layers))


def agree(network: Network, stored: list[dict[str, object]], events: list[Event], random: Random) -> int:
    """Every event has the same outputs in both, in the same sequence."""
    kernels, reference = LayeredRun(network, random), ReferenceRun(network)
    if "stored" in network.inputs:
        kernels.load("stored", table_of(network, "stored", [(row, 0) for row in stored]))
        reference.load("stored", stored)
    for event in events:
        kernels.relay()
        assert kernel_event(kernels, network, event) == reference_event(reference, network, event)
    return kernels.layered


@given(RANDOM)
def test_states_in_layers(random: Random) -> None:
    network = random_network(random)
    stored = random_rows(random, network.inputs["stored"].schema, 5) if "stored" in network.inputs else []
    events = with_ends(random, random_events(random, network))
    agree(network, stored, random.choice([events, one_by_one(events)]), random)


def joined_network(random: Random) -> Network:
    """One box with two inputs, whose orders by slack have the attributes equated as groups."""
    draft = Draft(random, random.choice(ORDER_TYPES))
    schema = parse_schema(f"at {draft.order_type}, g string, k int, x double")
    for name in ("in0", "in1"):
        promised = random_progress(random, schema) if random.random() < 0.7 else None
        draft.inputs[name] = Input(schema, progress=promised)
        draft.streams[Ref(name)] = schema
    equated = random.choice((("g",), ("g",), ("x",), ("k", "g")))
    more = tuple(random.sample(["k"], random.choice([0, 0, 1]))) if equated == ("g",) else ()
    orders = [keyed_order(random, each, (*equated, *more), schema) for each in draft.inputs.values()]
    predicate = " and ".join(f"left.{name} = right.{name}" for name in equated)
    try:
        box = random.choice((a_join, an_asof, a_resample))(random, orders, predicate, schema)
    except AlgebraError:
        # These orders do not fit together.
        return joined_network(random)
    draft.boxes["box"] = Node(box, (Ref("in0"), Ref("in1")))
    try:
        return Network("joined", draft.inputs, draft.boxes, {"out": Output(Ref("box"))})
    except NetworkError:
        return joined_network(random)


def keyed_order(random: Random, given: Input, group_by: tuple[str, ...], schema: Schema) -> Order:
    if given.progress is not None and random.random() < 0.8:
        return Order(given.progress.on, 0, group_by if random.random() < 0.5 else (), "progress")
    return Order("at", random.choice([0, 0, 1, 2]), group_by)


def a_join(random: Random, orders: list[Order], predicate: str, schema: Schema) -> Box:
    rest = random.choice(("", "", " and left.k <= right.k"))
    return Join(predicate + rest, size(random, schema, orders[0].on), *orders, random.choice(HOWS))


def an_asof(random: Random, orders: list[Order], predicate: str, schema: Schema) -> Box:
    within = random.choice([None, size(random, schema, orders[0].on)])
    return AsOf(orders[0], orders[1], predicate, within, random.choice(("left", "inner")))


def a_resample(random: Random, orders: list[Order], predicate: str, schema: Schema) -> Box:
    width, keep = size(random, schema, orders[0].on), random.choice([(), ("k",)])
    return Resample({"n": "count(*)", "last": "last_value(k)"}, width, *orders, predicate, keep)


@pytest.mark.parametrize("tuples_most", [6, 24])
@given(RANDOM)
def test_joins_in_layers(tuples_most: int, random: Random) -> None:
    network = joined_network(random)
    events = with_ends(random, random_events(random, network, tuples_most))
    agree(network, [], random.choice([events, one_by_one(events)]), random)


def test_joins_are_in_layers() -> None:
    """Of the networks that are drawn for them, most fall into groups."""
    shapes = [
        shape_of(PipelineRun(joined_network(Random(seed))).pipeline.kernels["box"]) for seed in range(60)
    ]
    assert sum(shape is not None for shape in shapes) > 40
