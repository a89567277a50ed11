"""A network that shares parts with a known one is what it is without it, down to its problems."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.conformance.random_networks import random_network
from tests.operations import operations

from australis.algebra.boxes import Filter, Map, Union
from australis.algebra.builder import NetworkBuilder
from australis.algebra.network import Network, Node, Output, Ref
from australis.algebra.schema import Schema
from australis.errors import NetworkError


def faults(network: Network, boxes: dict[str, Node], known: Network | None) -> list[str] | Network:
    """The network with other boxes, or all that is wrong with it."""
    try:
        return replace(network, boxes=boxes, known=known)
    except NetworkError as error:
        return [str(problem) for problem in error.problems]


@given(st.randoms(use_true_random=False))
def test_the_same_is_found_with_and_without_a_known_network(random: Random) -> None:
    network, other = random_network(random), random_network(random)
    boxes = dict(network.boxes)
    for number in range(random.randint(0, 3)):
        ref = random.choice(list(network.schemas))
        nodes = [
            Node(Filter(("true",)), (ref,)),
            Node(Filter(("missing > 0",)), (ref,)),
            Node(Map((("a", "1"),)), (Ref("nowhere"),)),
            Node(Union(), (ref, Ref(f"more{number}"))),
        ]
        boxes[random.choice([f"more{number}", *network.boxes])] = random.choice(nodes)
    if random.random() < 0.3:
        boxes = {box_id: node for box_id, node in boxes.items() if random.random() < 0.8}
    alone = faults(network, boxes, None)
    for known in (network, other):
        found = faults(network, boxes, known)
        assert found == alone
        if isinstance(found, Network) and isinstance(alone, Network):
            assert (found.order, dict(found.schemas)) == (alone.order, dict(alone.schemas))


def test_boxes_of_a_known_network_are_not_bound_again(monkeypatch: pytest.MonkeyPatch) -> None:
    net = NetworkBuilder("n")
    stream = net.input("s", "k long")
    for number in range(20):
        stream.filter(f"k > {number}", as_=f"f{number}").output(f"o{number}")
    known = net.build()
    boxes = {**known.boxes, "more": Node(Filter(("k > 7",)), (Ref("f3"),))}
    outputs = {**known.outputs, "more": Output(Ref("more"))}
    bound: list[Filter] = []
    plain = Filter.output_schemas

    def noting(box: Filter, *given: Schema) -> tuple[Schema, ...]:
        bound.append(box)
        return plain(box, *given)

    monkeypatch.setattr(Filter, "output_schemas", noting)
    found = replace(known, boxes=boxes, outputs=outputs, known=known)
    assert bound == [boxes["more"].box]
    assert found.schemas[Ref("more")] == known.inputs["s"].schema
    assert operations(lambda: replace(known, known=known)) < operations(lambda: replace(known)) / 2
