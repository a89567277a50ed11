"""Drop boxes are those of the plainest shedding, and a step works out again only what it has touched."""

from __future__ import annotations

import math
from dataclasses import replace
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.operations import operations
from tests.policy.schedule.random_nodes import random_node
from tests.policy.shed import plain_shed as plain

from australis.algebra.quality import Quality
from australis.policy.load import Goal, Situation, Stage
from australis.policy.shed.drop_boxes import places, shed
from australis.policy.shed.flow import Flow

LOSSES = (
    (),
    ((0, 0), (1, 1)),
    ((0, 0), (0.8, 1), (1, 1)),
    ((0, 0), (0.25, 0.5), (0.5, 0.75), (1, 1)),
)


def lossy(random: Random) -> Situation:
    """A random node, on which most outputs may lose something."""
    node = random_node(random)
    goals = {
        name: replace(goal, quality=replace(goal.quality, loss=random.choice(LOSSES)))
        for name, goal in node.goals.items()
    }
    stages = {
        name: replace(stage, direct=random.choice([0.0, 16.0, 2048.0]), feeds=_feeds(random, stage))
        for name, stage in node.stages.items()
    }
    return replace(node, stages=stages, goals=goals)


def _feeds(random: Random, stage: Stage) -> dict[str, float]:
    return {name: random.choice([0.0, 0.5, 1.0, 3.0]) for name in stage.feeds}


@given(st.integers(0, 10**9))
def test_drop_boxes_are_those_of_the_plainest_shedding(seed: int) -> None:
    random = Random(seed)
    for _ in range(20):
        check(random)


def check(random: Random) -> None:
    """A random need on a random node is met in the same way."""
    node, horizon_s = lossy(random), random.choice([2.0, 8.0, math.inf])
    found, wanted = Flow(node, horizon_s=horizon_s), plain.Flow(node, horizon_s=horizon_s)
    losing = frozenset(name for name in node.goals if random.random() < 0.8)
    assert list(places(found, losing)) == list(plain.places(wanted, losing))
    need = wanted.need() * random.choice([0.1, 0.5, 1.0, 2.0])
    each, evenness = random.choice([0.25, 1.0, math.inf]), random.choice([0.0, 0.25, 1.0])
    one = shed(found, need, each=each, evenness=evenness)
    other = plain.shed(wanted, need, each=each, evenness=evenness)
    assert one.recovered == pytest.approx(other.recovered, abs=1e-6)
    assert math.fsum(one.lost.values()) == pytest.approx(math.fsum(other.lost.values()), abs=1e-5)
    if evenness:
        rates = ({name: box.rate for name, box in each.boxes.items()} for each in (one, other))
        assert next(rates) == pytest.approx(next(rates), abs=1e-5)


def branches(outputs: int) -> Situation:
    """As many branches, of which each must shed a part."""
    names = [f"s{number}" for number in range(outputs)]
    stages = {
        name: Stage(name, {}, frozenset({name}), rate=1_000.0, tuple_us=100.0 + number)
        for number, name in enumerate(names)
    }
    goals = {name: Goal(name, Quality(loss=((0, 0), (0.5, 0.9), (1, 1))), (name,)) for name in names}
    return Situation(0, stages, goals)


def test_the_work_of_shedding_is_in_proportion_to_the_branches() -> None:
    once, twice = (_work(branches(outputs)) for outputs in (50, 100))
    assert twice < 2.3 * once


def _work(node: Situation) -> int:
    flow = Flow(node)
    need = flow.asked({}) * 0.4
    assert len(shed(flow, need).boxes) > len(node.stages) // 2
    return operations(lambda: shed(Flow(node), need))


@pytest.mark.parametrize("place", ["s0", "s7"])
def test_a_place_is_beside_those_that_lead_where_it_leads(place: str) -> None:
    node = branches(10)
    first = Stage("first", dict.fromkeys(["s0", "s1"], 1.0), frozenset({"s0", "s1"}))
    flow = Flow(replace(node, stages={"first": first, **node.stages}))
    assert flow.beside(place) == (["first", "s0"] if place == "s0" else ["s7"])
    assert flow.after("first") == ["first", "s0", "s1"]
    assert flow.before("s1") == ["first", "s1"]
