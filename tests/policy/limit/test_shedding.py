"""The shedder against the bound, in a node where tuples are a fluid, under loads that last."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from random import Random

import pytest
from tests.policy.shed.fluid import Node, Overload, Queue, overload

from australis.algebra.quality import Quality
from australis.policy.limit import Bound, Work, attainable, bound
from australis.policy.load import Goal, Stage
from australis.policy.shed.shedder import Manners, Shedder
from australis.qos.fairness import jain
from australis.qos.utility import Delivery, total, worth

STEPS_PER_S = 10
URGENT = Quality(delay=((0, 1), (1, 1), (3, 0)), weight=4)
SCENE = {
    "alarms": (URGENT, 160.0),
    "visits": (Quality(((0, 1), (2, 1), (6, 0)), ((0, 0), (0.5, 0.7), (1, 1)), weight=2), 170.0),
    "averages": (Quality(((0, 1), (3, 1), (8, 0)), ((0, 0), (0.3, 0.9), (1, 1)), weight=1.5), 230.0),
    "archive": (Quality(((0, 1), (4, 1), (8, 0)), ((0, 0), (1, 1)), weight=1), 330.0),
}
"""Outputs that share a stage, with what a tuple costs each of them: about those of `benchmarks/qos`."""
SHARED_US = 110.0


@dataclass
class Counting(Node):
    """A node that counts what it delivers."""

    delivered: dict[str, dict[float, int]] = field(default_factory=dict)
    """The tuples of each output by their delay in seconds, in thousandths of a tuple."""

    def _serve(self, queue: Queue, seconds: float) -> float:
        stage, (ts, _) = queue.stage, queue.chunks[0]
        used = super()._serve(queue, seconds)
        delay_s, tuples = (self.now - ts) / 1e6, used / (stage.tuple_us * self.dearer / 1e6)
        for name in stage.outputs:
            if self.goals[name].way[-1] == stage.id:
                found = self.delivered.setdefault(name, {})
                found[delay_s] = found.get(delay_s, 0) + round(1_000 * tuples)
        return used


def scene() -> Overload:
    feeds = dict.fromkeys(SCENE, 1.0)
    stages = {"shared": Stage("shared", feeds, frozenset(SCENE), tuple_us=SHARED_US)}
    stages |= {name: Stage(name, {}, frozenset({name}), tuple_us=cost) for name, (_, cost) in SCENE.items()}
    goals = {name: Goal(name, quality, ("shared", name)) for name, (quality, _) in SCENE.items()}
    return Overload(stages, goals, {"shared": 1_000.0}, 1.0, 1.0)


@dataclass(frozen=True)
class Outcome:
    """What outputs had under a load that lasts, and what they could have had."""

    utilities: Mapping[str, float]
    bound: Bound

    @property
    def part(self) -> float:
        return sum(self.utilities.values()) / self.bound.utility


def outcome(
    story: Overload, load: float, *, settled_s: int = 15, fairness: float = 0.0, sheds: bool = True
) -> Outcome:
    """A load in parts of what the node can do; it is judged for ten seconds once it has settled."""
    rates = {name: rate * load / story.asked(1.0) for name, rate in story.rates.items()}
    node = Counting(story.stages, story.goals, Shedder(Manners(fairness=fairness)), story.dearer)
    if not sheds:
        node.shedder.decide = lambda *_, **__: ()  # type: ignore[method-assign]
    for _ in range(settled_s * STEPS_PER_S):
        node.step(rates)
    node.delivered.clear()
    for _ in range(10 * STEPS_PER_S):
        node.step(rates)
    arriving = dict.fromkeys(story.stages, 0.0) | rates
    for stage in story.stages.values():
        for fed, part in stage.feeds.items():
            arriving[fed] += arriving[stage.id] * part
    utilities = {}
    for name, goal in story.goals.items():
        delays = node.delivered.get(name, {})
        fraction = min(sum(delays.values()) / (10_000 * arriving[goal.way[-1]]), 1.0)
        utilities[name] = total([worth(goal.quality, Delivery(delays, fraction))])
    work = Work(
        {s.id: arriving[s.id] * s.tuple_us * story.dearer / 1e6 for s in story.stages.values()},
        {name: goal.way for name, goal in story.goals.items()},
        {name: attainable(goal.quality) for name, goal in story.goals.items()},
    )
    return Outcome(utilities, bound(work, 1.0))


@pytest.mark.parametrize(("load", "least"), [(1.0, 1.0), (1.5, 0.9), (2.0, 0.9), (3.0, 0.8)])
def test_it_reaches_what_is_possible(load: float, least: float) -> None:
    found = outcome(scene(), load)
    assert least - 1e-6 <= found.part <= 1.02


def test_without_shedding_it_does_not() -> None:
    assert outcome(scene(), 2.0, sheds=False).part < 0.1


@pytest.mark.parametrize("load", [1.5, 3.0])
def test_nothing_exceeds_the_bound_in_the_long_run(load: float) -> None:
    """On random nodes, whose costs the shedder knows only about; queues have filled by then."""
    parts = {seed: outcome(overload(Random(seed)), load, settled_s=60).part for seed in range(15)}
    assert {seed: part for seed, part in parts.items() if part > 1.02} == {}
    assert max(parts.values()) > 0.9, "some reach it"


@pytest.mark.parametrize("load", [1.5, 2.0])
def test_fairness_is_traded_for_utility(load: float) -> None:
    plain, fair = (outcome(scene(), load, fairness=each) for each in (0.0, 0.8))
    weights = {name: quality.weight for name, (quality, _) in SCENE.items()}
    index = [jain(u / weights[name] for name, u in each.utilities.items()) for each in (plain, fair)]
    assert index[0] is not None
    assert index[1] is not None
    assert index[1] > index[0] + 0.02
    assert plain.part >= fair.part > 0.8
