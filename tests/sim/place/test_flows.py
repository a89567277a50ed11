"""Streams as flows: what sites and lines pass, what waits, and how late it is."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.policy.place.worlds import random_world, world

from australis.algebra.network import ConnectionPoint, Ref
from australis.policy.place.moves import Limits, Splitting, splits
from australis.policy.place.slide import Direction, Sliding, slides
from australis.sim.place.flows import Flows, FlowStep


def stepped(flows: Flows, rate: float, steps: int) -> list[FlowStep]:
    return [flows.step(float(now), 1.0, {"s": rate}) for now in range(steps)]


def test_where_nothing_is_too_much_all_is_through_in_a_step() -> None:
    flows = Flows(world(1000))
    (step,) = stepped(flows, 1000, 1)
    assert step.delivered["counts"].tuples == pytest.approx(10)
    assert step.delivered["pairs"].tuples == pytest.approx(400)
    assert flows.backlog == 0
    assert step.carried == pytest.approx({line: size for line, size in world(1000).traffic.items() if size})


def test_a_site_lets_in_what_it_can_do() -> None:
    """At 10,000 per second it needs 1.5 times its capacity."""
    flows = Flows(world(10_000))
    steps = stepped(flows, 10_000, 3)
    assert flows.waiting["thin"].tuples == pytest.approx(10_000, rel=0.03)
    assert flows.waiting["count"].tuples == 0, "what is let in goes through"
    assert all(step.work["a"] <= 1.01 for step in steps)


def test_a_line_carries_what_it_can() -> None:
    flows = Flows(world(1000, bandwidth=10_000))
    steps = stepped(flows, 1000, 4)
    assert all(step.carried["sensor", "a"] <= 10_100 for step in steps)
    waiting = flows.underway[Ref("s"), "sensor", "a"]
    assert waiting.tuples == pytest.approx(2000, rel=0.03)


def test_what_waits_is_late() -> None:
    flows = Flows(world(10_000))
    late = []
    for now in range(60):
        pairs = flows.step(float(now), 1.0, {"s": 10_000}).delivered["pairs"]
        late.append(now - pairs.born / pairs.tuples)
    assert late[0] == pytest.approx(0)
    assert all(later > sooner for sooner, later in pairwise(late))


def test_a_box_that_is_held_does_nothing_and_loses_nothing() -> None:
    flows = Flows(world(1000))
    flows.held = frozenset(["count"])
    assert stepped(flows, 1000, 2)[1].delivered["counts"].tuples == 0
    assert flows.waiting["count"].tuples == pytest.approx(200)
    flows.held = frozenset()
    assert stepped(flows, 1000, 1)[0].delivered["counts"].tuples == pytest.approx(30)


def test_a_connection_point_is_on_the_way() -> None:
    seen = world(1000, sites={"count": "b", "pair": "b"})
    points = {"kept": ConnectionPoint(Ref("thin"), "1 h")}
    kept = replace(
        seen,
        network=replace(seen.network, connection_points=points),
        placement=replace(seen.placement, points={"kept": "desk"}),
    )
    (step,) = stepped(Flows(kept), 1000, 1)
    assert step.carried["a", "desk"] == step.carried["desk", "b"] == pytest.approx(2000)
    assert step.delivered["pairs"].tuples == pytest.approx(400)


@given(st.integers(0, 2**32))
def test_nothing_is_lost_or_made_up(seed: int) -> None:
    """Through moves too: what arrived is delivered, or waits, each as many tuples as it will become."""
    random = Random(seed)
    flows = Flows(random_world(random))
    rate = flows.survey.rates["s"]
    delivered = 0.0
    for now in range(12):
        delivered += sum(a.tuples for a in flows.step(float(now), 1.0, {"s": rate}).delivered.values())
        if now % 4 == 3:
            moved(random, flows)
    assert delivered + worth(flows) == pytest.approx(12 * rate * gain(flows, Ref("s")))


def moved(random: Random, flows: Flows) -> None:
    """Some move or other, possible or not."""
    survey = flows.survey
    moves: list[Sliding | Splitting] = []
    for site in survey.sites:
        moves += [*slides(survey, site), *splits(survey, site, Limits(low=0.6, gain_least=0.0))]
    if moves:
        move = random.choice(moves)
        copies = {}
        if isinstance(move, Splitting):
            copies[move.parting.copy] = (move.parting.box, 1 - move.portion.kept)
        flows.change(move.apply(survey), copies)


def worth(flows: Flows) -> float:
    """What everything that waits will become, once it is out."""
    survey = flows.survey
    boxes = sum(
        amount.tuples
        * sum(share * gain(flows, Ref(box_id, port)) for port, share in enumerate(shares(flows, box_id)))
        for box_id, amount in flows.waiting.items()
    )
    legs = 0.0
    for (ref, _, target), amount in flows.underway.items():
        readers = [b for b, _ in survey.network.consumers[ref] if survey.placement.boxes[b] == target]
        ends = [
            n
            for n, o in survey.network.outputs.items()
            if o.source == ref and survey.placement.outputs[n] == target
        ]
        each = sum(
            share * gain(flows, Ref(b, port)) for b in readers for port, share in enumerate(shares(flows, b))
        )
        legs += amount.tuples * (each + len(ends))
    return boxes + legs + sum(amount.tuples for amount in flows.brought.values())


def shares(flows: Flows, box_id: str) -> tuple[float, ...]:
    return flows.survey.statistics.of(flows.survey.network, box_id).selectivity


def gain(flows: Flows, ref: Ref) -> float:
    """How many tuples come out for one of a stream."""
    network = flows.survey.network
    found = float(sum(output.source == ref for output in network.outputs.values()))
    for box_id, _ in network.consumers[ref]:
        found += sum(
            share * gain(flows, Ref(box_id, port)) for port, share in enumerate(shares(flows, box_id))
        )
    return found


def test_what_waits_for_a_box_that_is_split_is_parted() -> None:
    survey = world(10_000)
    flows = Flows(survey)
    stepped(flows, 10_000, 3)
    split = next(each for each in splits(survey, "a", Limits()) if each.parting.box == "thin")
    whole = flows.waiting["thin"].tuples
    flows.change(split.apply(survey), {"thin_copy": ("thin", 1 - split.portion.kept)})
    assert flows.waiting["thin"].tuples == pytest.approx(split.portion.kept * whole)
    assert flows.waiting["thin_copy"].tuples + flows.waiting["thin"].tuples == pytest.approx(whole)


def test_a_slide_takes_along_what_is_on_its_way() -> None:
    survey = world(1000, bandwidth=10_000)
    flows = Flows(survey)
    stepped(flows, 1000, 4)
    flows.change(Sliding(("thin",), "a", "sensor", Direction.UP).apply(survey), {})
    assert flows.waiting["thin"].tuples == pytest.approx(2000, rel=0.03)
    assert (Ref("s"), "sensor", "a") not in flows.underway
