"""The best routing: the paper's numbers, a linear program as second opinion, no routing that is better."""

from __future__ import annotations

from itertools import chain, combinations
from math import inf

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from tests.policy.route.plans import operators, plans, weights

from australis.errors import PolicyError
from australis.policy.route.examples import DS3, DS3_RESOURCES, J3, S3
from australis.policy.route.optimum import (
    best_data_rate,
    best_response_time,
    best_shared_data_rate,
    best_shared_response_time,
)
from australis.policy.route.plan import DistributedPlan, Operator, RoutedStream, any_order, in_order, plan_of
from australis.policy.route.queueing import (
    MOST_QUEUED,
    average_response_time,
    compute_rate,
    maximum_data_rate,
    shares,
    throughput,
)


def test_s3_takes_what_the_paper_says() -> None:
    best = best_data_rate(S3)
    assert best.value == pytest.approx(243.7, abs=0.05)
    assert best.value == pytest.approx(maximum_data_rate(S3, best.weights))


@pytest.mark.parametrize(("rate", "paper"), [(200, 0.14), (210, 0.17), (220, 0.25), (230, 0.43), (240, 1.57)])
def test_response_times_of_s3(rate: float, paper: float) -> None:
    assert round(best_response_time(S3, rate).value, 2) == paper


def test_j3() -> None:
    widest, fastest = best_data_rate(J3), best_response_time(J3, 120)
    assert widest.value == pytest.approx(153.4, abs=0.05)
    assert widest.weights["op1", "op3"] == pytest.approx(0.24, abs=0.005)
    assert round(fastest.value, 2) == 0.08
    assert fastest.weights["op1", "op3"] == pytest.approx(0, abs=1e-6)


def test_ds3_is_better_than_where_the_paper_stopped() -> None:
    best = best_shared_data_rate(DS3, DS3_RESOURCES)
    assert best.value == pytest.approx(588.2, abs=0.05)
    assert max(best.resources, key=best.resources.__getitem__) == "op2"
    assert sum(best.resources.values()) == pytest.approx(DS3_RESOURCES)
    assert maximum_data_rate(S3.with_resources(best.resources), best.weights) == pytest.approx(best.value)


@pytest.mark.parametrize(("rate", "paper"), [(200, 0.04), (300, 0.06), (400, 0.09), (500, 0.23)])
def test_response_times_of_ds3_are_below_those_of_the_paper(rate: float, paper: float) -> None:
    best = best_shared_response_time(DS3, rate, DS3_RESOURCES)
    assert best.value < paper
    divided = DS3.with_resources(best.resources)
    found = compute_rate(divided, best.weights, shares(divided, rate))
    assert average_response_time(divided, found) == pytest.approx(best.value, rel=1e-6)


def test_too_much_is_refused_with_what_would_be_possible() -> None:
    with pytest.raises(
        PolicyError, match=r"rate: 250 is more than any routing can take; expected under 243\.7"
    ):
        best_response_time(S3, 250)
    with pytest.raises(PolicyError, match=r"expected under 588\.2"):
        best_shared_response_time(DS3, 600, DS3_RESOURCES)


def test_a_plan_without_a_choice() -> None:
    plan = plan_of(tuple(S3.operators.values()), (RoutedStream("x", in_order("op1", "op2", "op3")),))
    assert best_data_rate(plan, inf).value == pytest.approx(100)
    assert best_response_time(plan, 50).value == pytest.approx(0.02 + 0.005 / 0.875 + 0.025 / 0.875)
    assert best_shared_data_rate(plan, 20, inf).value == pytest.approx(20 / (0.1 + 0.05 + 0.05))


@given(operators(most=3))
def test_the_linear_program_of_all_routings_finds_the_same(ops: tuple[Operator, ...]) -> None:
    """Flows from each set of visited operators are linear; with three operators weights reach them all."""
    plan = plan_of(ops, (RoutedStream("x", any_order(*(op.id for op in ops))),))
    assert best_data_rate(plan).value == pytest.approx(_most_of_all(plan), rel=1e-5)


def _most_of_all(plan: DistributedPlan) -> float:
    names = tuple(plan.operators)
    sets = [frozenset(s) for s in chain.from_iterable(combinations(names, n) for n in range(len(names) + 1))]
    steps = [(visited, op) for visited in sets for op in names if op not in visited]
    kept, used = np.zeros((len(sets) - 1, len(steps) + 1)), np.zeros((len(names), len(steps) + 1))
    for place, (visited, op) in enumerate(steps):
        kept[sets.index(visited), place] -= 1
        if visited | {op} != sets[-1]:
            kept[sets.index(visited | {op}), place] += plan.operators[op].made_of("x")
        used[names.index(op), place] = 1
    kept[0, -1] = 1
    goal = np.zeros(len(steps) + 1)
    goal[-1] = -1
    ends = [throughput(op, MOST_QUEUED) for op in plan.operators.values()]
    return float(-linprog(goal, used, ends, kept, np.zeros(len(kept))).fun)


@given(st.data())
@settings(max_examples=25)
def test_no_random_routing_is_better(data: st.DataObject) -> None:
    plan = data.draw(plans())
    routing = data.draw(weights(plan))
    widest = best_data_rate(plan, inf)
    assert widest.value >= maximum_data_rate(plan, routing, inf) * (1 - 1e-6)
    rate = 0.9 * maximum_data_rate(plan, routing, inf)
    found = average_response_time(plan, compute_rate(plan, routing, shares(plan, rate)))
    assert best_response_time(plan, rate).value <= found * (1 + 1e-6)


@given(st.data())
@settings(max_examples=25)
def test_no_random_division_of_resources_is_better(data: st.DataObject) -> None:
    plan = data.draw(plans())
    routing = data.draw(weights(plan))
    whole = sum(op.resources for op in plan.operators.values())
    best = best_shared_data_rate(plan, whole)
    assert best.value >= maximum_data_rate(plan, routing) * (1 - 1e-6)
    rate = 0.9 * maximum_data_rate(plan, routing, inf)
    found = average_response_time(plan, compute_rate(plan, routing, shares(plan, rate)))
    assert best_shared_response_time(plan, rate, whole).value <= found * (1 + 1e-6)
