"""Plans of any network are those of the plainest planner, and take time in proportion to its boxes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.operations import operations
from tests.plan.plain_planner import plain_outputs_of, plain_plan, plain_upstream
from tests.plan.random_points import random_points

from australis.algebra.boxes import Filter
from australis.algebra.builder import NetworkBuilder
from australis.algebra.grafting import grafted
from australis.algebra.network import Network, Ref
from australis.algebra.order import Order
from australis.algebra.quality import Quality
from australis.plan.parts import outputs_of
from australis.plan.superboxes import QUARANTINE, Discipline, Plan, plan

DISCIPLINES = st.sampled_from(list(Discipline))
QUALITY = Quality(delay=((0, 1), (2, 1), (10, 0)))


def asking(network: Network) -> tuple[Network, tuple[str, ...]]:
    """The network with a query on each of its connection points."""
    queries = {}
    for name, point in network.connection_points.items():
        ask = NetworkBuilder(f"ask_{name}", timezone=network.timezone)
        ask.input(name, network.schemas[point.at]).filter("true", as_="some").output("found")
        queries[f"ask_{name}"] = ask.build()
    return grafted(network, queries), tuple(queries)


@given(st.randoms(use_true_random=False), DISCIPLINES)
def test_plans_are_those_of_the_plainest_planner(random: Random, discipline: Discipline) -> None:
    network, queries = asking(random_points(random))
    found, wanted = plan(network, discipline, queries), plain_plan(network, discipline, queries)
    assert list(found.superboxes.items()) == list(wanted.superboxes.items())
    assert list(found.arcs.items()) == list(wanted.arcs.items())
    assert outputs_of(network) == plain_outputs_of(network)


@given(st.randoms(use_true_random=False), DISCIPLINES)
def test_ways_and_outputs_are_those_that_a_climb_from_each_output_finds(
    random: Random, discipline: Discipline
) -> None:
    found = plan(random_points(random), discipline)
    ways = {
        output: plain_upstream(found, arc.writer) if arc.writer else []
        for arc in found.arcs.values()
        for output in arc.outputs
    }
    led = {name for way in ways.values() for name in way}
    assert found.ways == {**ways, "": [name for name in found.superboxes if name not in led]}
    after = {name: frozenset(o for o, way in ways.items() if name in way) for name in found.superboxes}
    assert found.outputs_after == after
    assert found.outputs_downstream() == {name: len(outputs) for name, outputs in after.items()}
    assert all(list(found.upstream(name)) == plain_upstream(found, name) for name in found.superboxes)


def fan(boxes: int) -> Network:
    """As many filters of one input, each with an output."""
    net = NetworkBuilder("fan")
    stream = net.input("x", "k long")
    for index in range(boxes):
        stream.filter(f"k > {index}", as_=f"f{index}").output(f"o{index}", QUALITY)
    return net.build()


def comb(boxes: int) -> Network:
    """A chain of filters, each with an output."""
    net = NetworkBuilder("comb")
    stream = net.input("x", "k long")
    for index in range(boxes):
        stream = stream.filter(f"k > {index}", as_=f"f{index}")
        stream.output(f"o{index}", QUALITY)
    return net.build()


@pytest.mark.parametrize("discipline", list(Discipline))
@pytest.mark.parametrize("make", [fan, comb])
def test_twice_the_boxes_are_twice_the_work(make: Callable[[int], Network], discipline: Discipline) -> None:
    once, twice = (_work(make(boxes), discipline) for boxes in (100, 200))
    assert twice < 2.2 * once


def _work(network: Network, discipline: Discipline) -> int:
    """The operations of planning, once all expressions are parsed."""
    plan(network, discipline)
    return operations(lambda: plan(network, discipline))


def test_a_chain_of_any_length_is_planned() -> None:
    network = comb(3_000)
    found: Plan = plan(network, Discipline.BOX)
    assert found.ways["o2999"] == list(network.order)
    assert found.outputs_downstream()["f0"] == len(network.outputs)
    assert found.outputs[QUARANTINE] in found.arcs
    assert found.joined(("f0", "f1")).boxes == ("f0", "f1")
    assert found.arcs["f0"].readers == ("f1",)
    assert network.schemas[Ref("f0")] == network.inputs["x"].schema


@given(st.randoms(use_true_random=False), DISCIPLINES)
def test_what_is_the_same_in_the_plan_before_is_taken_over(random: Random, discipline: Discipline) -> None:
    small = random_points(random)
    large, queries = asking(small)
    before: Plan | None = None
    for network, asked in [(small, ()), (large, queries), (small, ())]:
        found, anew = (plan(network, discipline, asked, each) for each in (before, None))
        assert found == anew
        known = {} if before is None else before.superboxes
        same = [name for name, each in anew.superboxes.items() if known.get(name) == each]
        assert all(found.superboxes[name] is known[name] for name in same)
        before = found


@given(st.randoms(use_true_random=False), DISCIPLINES)
def test_a_plan_does_not_depend_on_the_one_before(random: Random, discipline: Discipline) -> None:
    first, other = random_points(random), random_points(random)
    before: Plan | None = None
    for network in (first, _altered(random, first), _altered(random, first), other, first):
        found = plan(network, discipline, (), before)
        assert found == plan(network, discipline)
        assert list(found.superboxes) == list(plan(network, discipline).superboxes)
        before = found


def typed(value: str, by: str) -> Network:
    """A box that reads what another one computes, and two windows in one component."""
    net = NetworkBuilder("typed")
    first = net.input("s", "k long, j long, t long").map(
        {"k": "k", "j": "j", "t": "t", "v": value}, as_="first"
    )
    first.filter("v > 0", as_="some").output("some")
    for name, group in (("one", "k"), ("other", by)):
        order = Order("t", group_by=(group,))
        first.aggregate({"n": "count(*)"}, order, size=5, as_=name).output(name)
    return net.build()


@pytest.mark.parametrize("discipline", [Discipline.TRAIN, Discipline.BRANCH])
@pytest.mark.parametrize("change", [("k * 0.5", "k"), ("k", "j")])
def test_an_equal_box_in_other_surroundings_is_another_superbox(
    discipline: Discipline, change: tuple[str, str]
) -> None:
    before, network = plan(typed("k", "k"), discipline), typed(*change)
    found = plan(network, discipline, (), before)
    assert found == plan(network, discipline)
    assert found.superboxes != before.superboxes


def _altered(random: Random, network: Network) -> Network:
    """The network with another box in the place of one, or without one of its ends."""
    boxes, outputs, points = dict(network.boxes), dict(network.outputs), dict(network.connection_points)
    filters = [box_id for box_id, node in boxes.items() if isinstance(node.box, Filter)]
    if filters and random.random() < 0.6:
        chosen = random.choice(filters)
        others = ("false", *boxes[chosen].box.predicates[1:])  # type: ignore[attr-defined]
        boxes[chosen] = replace(boxes[chosen], box=replace(boxes[chosen].box, predicates=others))  # type: ignore[call-arg]
    elif len(outputs) + len(points) > 1:
        ends: dict[str, object] = random.choice([each for each in (outputs, points) if each])  # type: ignore[assignment]
        del ends[random.choice(list(ends))]
    return replace(network, boxes=boxes, outputs=outputs, connection_points=points)
