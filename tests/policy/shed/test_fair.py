"""The setting of fairness: from the highest total utility to outputs that are served alike."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from australis.algebra.quality import Points, Quality
from australis.policy.load import Goal, Situation, Stage
from australis.policy.shed import Flow, shed
from australis.policy.shed.fair import fair
from australis.qos.fairness import jain
from australis.qos.graphs import utility

LOSS: Points = ((0.0, 0.0), (0.5, 0.75), (1.0, 1.0))
STEPS = (0.0, 0.3, 0.6, 0.9, 1.0)


def owners(*weights: float, costs_us: tuple[float, ...] = ()) -> Situation:
    """The outputs of some owners on one node: a branch each, alike but for weights and costs."""
    names = [f"owner{number}" for number in range(len(weights))]
    goals = {
        name: Goal(name, Quality(loss=LOSS, weight=weight), (name,))
        for name, weight in zip(names, weights, strict=True)
    }
    costs = costs_us or (1_000.0,) * len(weights)
    stages = {
        name: Stage(name, outputs=frozenset({name}), rate=1_000, tuple_us=cost)
        for name, cost in zip(names, costs, strict=True)
    }
    return Situation(0, stages, goals)


def served(situation: Situation, fairness: float, need: float = 1.0) -> dict[str, float]:
    """What each output has of its best utility."""
    found = shed(Flow(situation), need, evenness=0.0, fairness=fairness)
    assert not found.missing
    return {name: utility(LOSS, each) for name, each in found.delivered.items()}


def total(situation: Situation, parts: dict[str, float]) -> float:
    return sum(situation.goals[name].quality.weight * each for name, each in parts.items())


def test_without_it_the_sum_decides_and_with_it_all_are_served_alike() -> None:
    """One core of two is there. Without fairness the important owner has all of it."""
    situation = owners(4, 1)
    assert served(situation, 0.0) == pytest.approx({"owner0": 1.0, "owner1": 0.0})
    alike = served(situation, 1.0)
    assert alike["owner0"] == pytest.approx(alike["owner1"], abs=0.05)


@pytest.mark.parametrize(
    "situation", [owners(4, 1), owners(3, 2, 1), owners(1, 1, costs_us=(2_000.0, 500.0)), owners(5, 1, 1, 1)]
)
def test_it_trades_the_sum_for_fairness(situation: Situation) -> None:
    found = [served(situation, each) for each in STEPS]
    fairness = [jain(each.values()) or 0.0 for each in found]
    totals = [total(situation, each) for each in found]
    assert np.all(np.diff(fairness) >= -1e-6), "more of the setting is never less fair"
    assert np.all(np.diff(totals) <= 1e-6), "and never has a higher total"
    assert fairness[-1] > 0.99
    assert totals[0] > totals[-1]


@pytest.mark.parametrize("fairness", [0.3, 0.5, 0.8])
def test_the_walk_finds_the_best_for_what_it_weighs(fairness: float) -> None:
    """An exhaustive search of what two outputs may lose."""
    situation, need = owners(4, 1, costs_us=(1_500.0, 500.0)), 1.0
    found = shed(Flow(situation), need, evenness=0.0, fairness=fairness)

    def lost(first: float) -> float:
        """What is lost if the first gets a fraction, and the other what the rest of the time allows."""
        second = (2.0 - need - 1.5 * first) / 0.5
        power = 1 / (1 - fairness)
        parts = (utility(LOSS, first), utility(LOSS, second))
        return 4 * (1 - parts[0]) ** power + (1 - parts[1]) ** power

    best = min(map(lost, np.linspace(1 / 3, 2 / 3, 2_001)))
    assert lost(found.delivered["owner0"]) == pytest.approx(best, rel=0.02)


@given(st.lists(st.tuples(st.floats(0.05, 1), st.floats(0.05, 1)), min_size=1, max_size=4), st.floats(0, 1))
def test_a_bent_curve_keeps_its_ends_and_stays_concave(
    steps: list[tuple[float, float]], fairness: float
) -> None:
    steps = sorted(steps, key=lambda step: -step[1] / step[0])
    xs, ys = (np.append(0, np.cumsum(each)) for each in zip(*steps, strict=True))
    curve = tuple(zip((xs / xs[-1]).tolist(), (ys / ys[-1]).tolist(), strict=True))
    bent = fair(curve, fairness)
    assert bent[0] == pytest.approx((0.0, 0.0))
    assert bent[-1] == pytest.approx((1.0, 1.0))
    slopes = np.diff([y for _, y in bent]) / np.diff([x for x, _ in bent])
    assert np.all(slopes >= -1e-9)
    assert np.all(np.diff(slopes) <= 1e-6)
