"""Networks whose states are in layers do what the reference does, however the layers are merged."""

from __future__ import annotations

from random import Random

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st
from tests.conformance.random_networks import Event, random_events, random_network, random_rows, with_ends
from tests.conformance.test_networks import kernel_event, one_by_one, reference_event, table_of

from australis.algebra.network import Network
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
