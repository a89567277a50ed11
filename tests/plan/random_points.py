"""Random networks some of whose streams are views, or have history."""

from __future__ import annotations

from random import Random

from tests.conformance.random_networks import random_network

from australis.algebra.network import ConnectionPoint, Network


def random_points(random: Random) -> Network:
    """A random network some of whose streams are views, or have history."""
    network = random_network(random, boxes_most=9)
    refs = random.sample(list(network.schemas), k=min(3, len(network.schemas)))
    points = {
        f"p{index}": ConnectionPoint(ref, history=10, importance=random.choice([None, 0.0, 2.0]))
        for index, ref in enumerate(refs)
        if not (ref.id in network.inputs and network.inputs[ref.id].table)
    }
    kept = dict(random.sample(list(network.outputs.items()), k=random.randint(0, len(network.outputs))))
    parts = network.name, network.inputs, network.boxes, kept if points else network.outputs, points
    return Network(*parts, timezone=network.timezone)
